"""Names that a shell completes: tasks, variants, levels, splits, models, formats, directories.

`COMPLETED` says what each argument and option takes, in whatever command it is. The words on the
command line so far is in the context, as far as it can be read. Where that says too little, nothing
is offered.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem

from synthbench.errors import SynthbenchError

#: A function of the names allowed in a place, given the arguments and options so far.
Names = Callable[[Mapping[str, Any]], Iterable[str]]


def add_completion(parameter: click.Parameter) -> None:
    """Have the shell complete an argument or an option that `COMPLETED` knows."""
    names = next((COMPLETED[option] for option in parameter.opts if option in COMPLETED), None)
    if names is None:
        return

    def complete(context: click.Context, incomplete: str) -> list[CompletionItem]:
        if isinstance(names, str):
            return [CompletionItem(incomplete, type=names)]
        with contextlib.suppress(SynthbenchError, OSError, ImportError):
            allowed = [str(name) for name in dict.fromkeys(names(_given(context)))]
            return [CompletionItem(name) for name in allowed if name.startswith(incomplete)]
        return []

    setattr(parameter, "shell_complete", complete)  # noqa: B010  (a method, for this one alone)


def _given(context: click.Context) -> dict[str, Any]:
    """The command's name, and its arguments and options so far.

    Where an option lacks the value that is being typed, click leaves the arguments unread.
    """
    arguments = [
        parameter for parameter in context.command.params if isinstance(parameter, click.Argument)
    ]
    unread = {argument.name: word for argument, word in zip(arguments, context.args, strict=False)}
    known = {name: value for name, value in context.params.items() if value is not None}
    return {"command": context.info_name, **unread, **known}


def _tasks(values: Mapping[str, Any]) -> Iterable[str]:
    from synthbench.tasks.registry import list_tasks

    return [*list_tasks(), *(["all"] if values["command"] == "generate" else [])]


def _variants(values: Mapping[str, Any]) -> Iterable[str]:
    """The variants of the dataset in DIR, or of TASK."""
    from synthbench.tasks.registry import task_class

    if "task" not in values:
        return _variants_of_dataset(values)
    names = task_class(values["task"]).variants
    return [*names, *(["all"] if values["command"] == "generate" else [])]


def _splits(values: Mapping[str, Any]) -> Iterable[str]:
    """The splits of the dataset in DIR, or of TASK at its defaults."""
    from synthbench.tasks.registry import as_task

    if "task" not in values:
        return [name for splits in _variants_of_dataset(values).values() for name in splits]
    return [split.name for split in as_task(values["task"]).splits]


def _variants_of_dataset(values: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    from synthbench.dataset.dataset import DatasetDirectory

    places = values.get("dataset") or values.get("datasets") or ()
    place = places if isinstance(places, str) else next(iter(places), None)
    return DatasetDirectory.open(place).manifest.variants if place else {}


def _levels(values: Mapping[str, Any]) -> Iterable[str]:
    from synthbench.tasks.registry import task_class

    return task_class(values.get("task", "")).levels


def _formats(values: Mapping[str, Any]) -> Iterable[str]:
    from synthbench.sharing.export import FORMATS

    return FORMATS


def _models(values: Mapping[str, Any]) -> Iterable[str]:
    """The models that can be trained. Those of a server only the server knows."""
    if values["command"] not in ("train", "reproduce"):
        return []
    from synthbench.training.recipes import find_study
    from synthbench.training.recipes.borrowed import model_names

    profile, study = values.get("profile") or "cpu", values.get("study") or "main"
    return model_names(find_study(values.get("task", ""), profile, study))


def _studies(values: Mapping[str, Any]) -> Iterable[str]:
    from synthbench.training.recipes import STUDIES

    return [study.name for study in STUDIES if study.task == values.get("task")]


def _probed(values: Mapping[str, Any]) -> Iterable[str]:
    from synthbench.probing.probe import GROUPS

    return GROUPS


def _words(*words: str) -> Names:
    return lambda values: words


#: The values of an argument or option, by its metavar: names, or `dir` or `file`.
COMPLETED: Mapping[str, Names | str] = {
    "task": _tasks,
    "dataset": "dir",
    "datasets": "dir",
    "runs": "dir",
    "predictions": "file",
    "corpus": "file",
    "--task": _tasks,
    "--report": "file",
    "--variant": _variants,
    "--level": _levels,
    "--split": _splits,
    "--to": _formats,
    "--model": _models,
    "--study": _studies,
    "--suite": _words("layers"),
    "--preset": _words("paper", "small"),
    "--profile": _words("cpu", "paper", "quick"),
    "--engine": _words("local", "dask"),
    "--read": _words("value", "text"),
    "--device": _words("auto", "cpu", "cuda"),
    "--precision": _words("float32", "bfloat16"),
    "--out": "dir",
    "--dataset": "dir",
    "--source-dir": "dir",
    "--layer": "file",
    "layer": "file",
    "source": "file",
    "--evaluation": "file",
    "--scorer": "file",
    "--scorer-reads": _words("reply", "answer"),
    "--only": _probed,
}
