"""Shared parts of the commands: the form of help and results, and options of several commands."""

from __future__ import annotations

import importlib.abc
import inspect
import json
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from synthbench.cli.completion import add_completion
from synthbench.errors import UsageError
from synthbench.text.tables import render, takes_colors

if TYPE_CHECKING:
    from synthbench.tasks.base import Task


#: Options that say which dataset is made. Commands that read a dataset lack them.
OF_TASKS = ("--level", "--set", "--seed", "--preset", "--rows")


class WithExamples(click.Command):
    """A command whose epilog has examples, and whose names the shell completes."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for parameter in self.params:
            add_completion(parameter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments. An option that belongs to a task is explained to users of datasets.

        Raises:
            UsageError: a command that reads a dataset gets an option with which a dataset is made.
        """
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            arguments = [
                parameter for parameter in self.params if isinstance(parameter, click.Argument)
            ]
            reads = any(argument.name in ("dataset", "datasets") for argument in arguments)
            if not (reads and error.option_name in OF_TASKS):
                raise
            raise UsageError(_made_first(ctx.info_name, words, error.option_name)) from None

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the examples in a section of their own."""
        if self.epilog:
            with formatter.section("Examples"):
                formatter.write_text(f"\b\n{inspect.cleandoc(self.epilog)}")

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, after a quick import of pyarrow and NumPy."""
        if not isinstance(self, click.Group):
            _import_arrow_and_numpy(linear_algebra=self.name == "audit")
        return super().invoke(ctx)


def _made_first(command: str | None, words: Sequence[str], option: str) -> str:
    """The error for an option of `generate` in a command that reads a dataset."""
    at = next(number for number, word in enumerate(words) if word.partition("=")[0] == option)
    _, sign, value = words[at].partition("=")
    value = value if sign else next(iter(words[at + 1 :]), "")
    name = "TASK" if not words[:at] or words[0].startswith("-") else words[0]
    make = shlex.join(["synthbench", "generate", name, option, value or "..."])
    return (
        f"No such option: {option}. A dataset is made with it: {make} --out DIR, then "
        f"synthbench {command} DIR."
    )


class _NoPandas(importlib.abc.MetaPathFinder):
    """Finds no pandas; None in `sys.modules` would not do, as pyarrow takes it for pandas."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname)


def _import_arrow_and_numpy(linear_algebra: bool) -> None:
    """Import pyarrow without pandas, and NumPy without threads for linear algebra.

    At its first array pyarrow imports pandas to recognise types of pandas, which no command uses.
    NumPy's OpenBLAS starts a thread for each core, and even idle threads use the processor at
    first. Later imports of pandas succeed, and other libraries choose their threads themselves.
    """
    finder = _NoPandas()
    limit_threads = not linear_algebra and "OPENBLAS_NUM_THREADS" not in os.environ
    sys.meta_path.insert(0, finder)
    if limit_threads:
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
    try:
        import pyarrow as pa

        pa.array([0])
    finally:
        sys.meta_path.remove(finder)
        if limit_threads:
            del os.environ["OPENBLAS_NUM_THREADS"]


def show(*parts: Any) -> None:
    """Print texts, tables and other renderables of `rich`, below each other.

    Control characters are escaped. A closed pipe, as of `head`, is not an error.
    """
    try:
        click.echo(render(*parts, colors=takes_colors(sys.stdout)))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def show_json(values: Any) -> None:
    """Print a result as JSON."""
    show(json.dumps(values, indent=2))


def pairs(words: Sequence[str], option: str, form: str = "KEY=VALUE") -> dict[str, str]:
    """`KEY=VALUE` words as a mapping; `form` is their form in errors.

    Raises:
        UsageError: a word has another form, or a key is given twice.
    """
    pairs: dict[str, str] = {}
    for word in words:
        key, sign, value = word.partition("=")
        if not sign or not key:
            raise UsageError(f"{option} {word!r}: expected {form}.")
        key = key.strip().replace("-", "_") if option == "--set" else key.strip()
        if key in pairs:
            raise UsageError(f"{option} {word!r}: {key} is given already, as {pairs[key]!r}.")
        pairs[key] = value
    return pairs


def fields(words: Sequence[str]) -> dict[str, Any]:
    """`KEY=VALUE` words as fields of a request. A value is JSON, or else a text.

    Raises:
        UsageError: a word has another form, or a key is given twice.
    """
    values: dict[str, Any] = {}
    for key, text in pairs(words, "--request").items():
        try:
            values[key] = json.loads(text)
        except ValueError:
            values[key] = text
    return values


def row_counts(words: Sequence[str]) -> dict[str, int]:
    """`SPLIT=N` words as numbers of rows by split.

    Raises:
        UsageError: a word has another form, or a split is given twice.
    """
    rows = {}
    for name, text in pairs(words, "--rows", "SPLIT=N").items():
        try:
            rows[name] = int(text.replace("_", ""))
        except ValueError:
            raise UsageError(f"Rows {name}={text!r}: allowed are whole numbers from 0.") from None
    return rows


def weighted(names: Sequence[str], weights: str | None) -> dict[str, int]:
    """The names with their weights. Each is 1 by default.

    Args:
        names: the weighted things.
        weights: whole numbers, separated by commas.

    Raises:
        UsageError: the weights are something else, or more or fewer than the names.
    """
    words = ["1"] * len(names) if weights is None else weights.split(",")
    if len(words) != len(names) or not all(word.strip().isdecimal() for word in words):
        raise UsageError(
            f"--weights {weights!r}: expected a whole number for each of {', '.join(names)}, such "
            f"as {','.join(['1'] * len(names))}."
        )
    if len(set(names)) < len(names):
        raise UsageError(f"{', '.join(names)}: each may be there once. For more rows give weights.")
    return {name: int(word) for name, word in zip(names, words, strict=True)}


def chosen_task(
    name: str,
    variant: str | None,
    seed: int,
    level: str | None,
    settings: Sequence[str],
) -> Task:
    """The task that the options of a command choose.

    Raises:
        UsageError: an unknown name, or a `--set` word other than `KEY=VALUE`.
        ParameterError: a parameter with an impossible value.
    """
    from synthbench.tasks.registry import level_parameters, task_class, task_from

    of_level = level_parameters(task_class(name), level)
    return task_from(name, variant, {**of_level, **pairs(settings, "--set")}, seed)


def choice_option(name: str, *words: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """An option with these values, first its default. The library itself refuses any other."""
    *others, last = words
    return click.option(
        name,
        default=words[0],
        show_default=True,
        metavar="NAME",
        help=f"{', '.join(others)} or {last}.",
    )


task_argument = click.argument("task")
dataset_argument = click.argument("dataset", metavar="DIR")
set_option = click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="A parameter of the task."
)
level_option = click.option(
    "--level", metavar="L", help="A named set of parameters, such as easy. See info."
)
variant_option = click.option("--variant", metavar="V", help="Default: the task's first.")
variants_option = click.option(
    "--variant",
    "variants",
    multiple=True,
    metavar="V",
    help="Default: all. Repeatable.",
)


def _use_source_dir(context: click.Context, _: click.Parameter, directories: Sequence[str]) -> None:
    """Have the command search for source images where the option says."""
    from synthbench.tasks.images.source_dirs import use_source_dir

    context.with_resource(use_source_dir(directories))


source_option = click.option(
    "--source-dir",
    multiple=True,
    expose_value=False,
    callback=_use_source_dir,
    metavar="[NAME=]DIR",
    help="Where source images are; NAME: mnist, fashion, cifar or folder:PATH. Repeatable.",
)
workers_option = click.option(
    "--workers", type=int, metavar="N", help="At most 256. Default: the number of usable cores."
)
shots_option = click.option(
    "--shots", type=int, metavar="K", help="Worked examples before each question, from train."
)
system_option = click.option("--system", metavar="TEXT", help="A system message.")
offset_option = click.option(
    "--offset", type=int, default=0, metavar="N", help="Leave out the first N rows."
)
request_option = click.option(
    "--request",
    multiple=True,
    metavar="KEY=VALUE",
    help="A field of every request: temperature=0, max_tokens=64. Repeatable.",
)
quiet_option = click.option("--quiet", is_flag=True, help="Show no progress bar and no summary.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
seed_option = click.option("--seed", type=int, default=0, show_default=True)
