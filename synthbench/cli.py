"""The command line: every command parses, calls one function and prints."""

from __future__ import annotations

import errno
import os
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import click

from synthbench import __version__
from synthbench.errors import SynthbenchError, UsageError, unknown_name


class Commands(click.Group):
    """A group that offers the nearest command and gives errors in one line or two."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one was probably meant."""
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            raise unknown_name("command", args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    sys.exit(_run(commands, arguments))


def _run(command: click.Command, arguments: Sequence[str] | None) -> int:
    """Exit status of a command: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    try:
        status = command.main(arguments, prog_name="synthbench", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except (KeyboardInterrupt, click.exceptions.Abort):  # click makes the second of the first
        return _failed("Interrupted; the same command goes on from here.", 130)
    except click.ClickException as error:
        return _failed(error.format_message(), error.exit_code)
    except SynthbenchError as error:
        return _failed(str(error), error.exit_status)
    except OSError as error:
        text = "No space left on the device" if error.errno == errno.ENOSPC else error.strerror
        place = f": {error.filename}" if error.filename else "."
        return _failed(f"{text or error}{place}", 1)
    except Exception as error:
        text = f"Unexpected {type(error).__name__}: {error}".splitlines()[0]
        return _failed(f"{text}\nThis is a mistake of ours; SYNTHBENCH_DEBUG=1 shows where.", 1)


def _failed(text: str, status: int) -> int:
    if os.environ.get("SYNTHBENCH_DEBUG") == "1":
        traceback.print_exc()
    click.echo(f"Error: {text}" if status != 130 else text, err=True)
    return status


def _show(text: str) -> None:
    """Print a result. A reader that has gone, as `head` does, is told no more."""
    try:
        click.echo(text)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _pairs(given: Sequence[str], option: str) -> dict[str, str]:
    """`KEY=VALUE` words as a mapping."""
    pairs: dict[str, str] = {}
    for word in given:
        key, sign, value = word.partition("=")
        if not sign or not key:
            raise UsageError(f"{option} {word!r}: expected KEY=VALUE.")
        key = key.strip().replace("-", "_") if option == "--set" else key.strip()
        if key in pairs:
            raise UsageError(f"{option} {word!r}: {key} is given already, as {pairs[key]!r}.")
        pairs[key] = value
    return pairs


def _rows(given: Sequence[str]) -> dict[str, int]:
    rows = {}
    for name, text in _pairs(given, "--rows").items():
        try:
            rows[name] = int(text.replace("_", ""))
        except ValueError:
            raise UsageError(f"Rows {name}={text!r}: allowed are whole numbers from 1.") from None
    return rows


def _set_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--set", "settings", multiple=True, metavar="KEY=VALUE", help="A parameter of the task."
    )(function)


_variant_option = click.option("--variant", metavar="V", help="Default: the task's first.")
_seed_option = click.option("--seed", type=int, default=0, show_default=True)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="synthbench")
@click.pass_context
def commands(context: click.Context) -> int:
    """Algorithmic-reasoning benchmarks: the same bytes everywhere, free of leaks."""
    if context.invoked_subcommand is not None:
        return 0
    click.echo(context.get_help(), err=True)
    return UsageError.exit_status


@commands.command("list")
def list_() -> None:
    """Show all tasks with their variants, splits and default sizes."""
    from synthbench import preview

    _show(preview.list_tasks())


@commands.command()
@click.argument("task")
def info(task: str) -> None:
    """Show what TASK is, its parameters, columns and paper."""
    from synthbench import preview

    _show(preview.describe(task))


@commands.command()
@click.argument("task")
@_variant_option
@click.option("-n", "rows", type=click.IntRange(1, 1000), default=5, show_default=True)
@_seed_option
@click.option("--split", metavar="S", help="Default: the task's first.")
@_set_option
@click.option("--out", metavar="FILE.png", help="Where a contact sheet of images goes.")
@click.option("--source-dir", metavar="DIR", help="Where source images lie.")
def preview(
    task: str,
    variant: str | None,
    rows: int,
    seed: int,
    split: str | None,
    settings: Sequence[str],
    out: str | None,
    source_dir: str | None,
) -> None:
    """Show rows of TASK as a person reads them."""
    from synthbench.preview import preview as show
    from synthbench.sources import use_source_dir

    with use_source_dir(source_dir):
        _show(show(task, variant, rows, seed, split, _pairs(settings, "--set"), out))


@commands.command()
@click.argument("task")
@click.option("--variant", "variants", multiple=True, metavar="V", help="May be repeated; or all.")
@click.option("--out", metavar="DIR", help="Default: ./TASK.")
@_seed_option
@click.option("--preset", default="paper", show_default=True, metavar="paper|small")
@click.option("--rows", multiple=True, metavar="SPLIT=N", help="Rows of one split.")
@_set_option
@click.option("--shard-rows", type=int, metavar="N", help="Rows of a Parquet file.")
@click.option("--workers", type=int, metavar="N", help="Default: the usable cores.")
@click.option("--engine", default="local", show_default=True, metavar="local|dask")
@click.option("--scheduler", metavar="ADDRESS", help="Of a running Dask cluster.")
@click.option("--source-dir", metavar="DIR", help="Where source images lie.")
@click.option("--overwrite", is_flag=True, help="Replace a dataset that is there.")
@click.option("--quiet", is_flag=True, help="No bar and no summary.")
def generate(
    task: str,
    variants: Sequence[str],
    out: str | None,
    rows: Sequence[str],
    settings: Sequence[str],
    quiet: bool,
    **options: Any,
) -> None:
    """Make the dataset of TASK (or of all tasks) as a directory of Parquet files."""
    from synthbench import generation
    from synthbench.summary import summary

    started = time.perf_counter()
    outcomes = generation.run_all(
        task,
        variant=list(variants) or None,
        out=out,
        rows=_rows(rows),
        parameters=_pairs(settings, "--set"),
        progress=not quiet,
        **options,
    )
    for outcome in outcomes:
        if not quiet:
            _show(summary(outcome, time.perf_counter() - started))
            started = time.perf_counter()


@commands.command()
@click.argument("directory", metavar="DIR")
@click.option("--workers", type=int, metavar="N", help="Default: the usable cores.")
@click.option("--source-dir", metavar="DIR", help="Where source images lie.")
@click.option("--quiet", is_flag=True, help="No bar.")
def verify(directory: str, workers: int | None, source_dir: str | None, quiet: bool) -> int:
    """Derive every row of a dataset again, from its files alone."""
    from synthbench.verification import verify as check

    verdict = check(directory, workers=workers, source_dir=source_dir, progress=not quiet)
    _show(str(verdict))
    return 0 if verdict.ok else 1


@commands.command()
@click.argument("directory", metavar="DIR")
@click.argument("predictions")
@click.option("--split", metavar="S", help="Default: every split that has predictions.")
@_variant_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def evaluate(
    directory: str, predictions: str, split: str | None, variant: str | None, as_json: bool
) -> None:
    """Score PREDICTIONS (.jsonl or .parquet with id and prediction) on the dataset in DIR."""
    import json

    from synthbench.evaluation import evaluate as judge

    report = judge(directory, predictions, split=split, variant=variant)
    _show(json.dumps(report.to_dict(), indent=2) if as_json else str(report))


if __name__ == "__main__":
    main()
