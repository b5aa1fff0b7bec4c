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
    names = next((COMPLETED[one] for one in parameter.opts if one in COMPLETED), None)
    if names is None:
        return

    def complete(context: click.Context, incomplete: str) -> list[CompletionItem]:
        if isinstance(names, str):
            return [CompletionItem(incomplete, type=names)]
        with contextlib.suppress(SynthbenchError, OSError, ImportError):
            found = [str(name) for name in dict.fromkeys(names(_given(context)))]
            return [CompletionItem(name) for name in found if name.startswith(incomplete)]
        return []

    setattr(parameter, "shell_complete", complete)  # noqa: B010  (a method, for this one alone)


def _given(context: click.Context) -> dict[str, Any]:
    """The command's name, and its arguments and options so far.

    Where an option lacks the value that is being typed, click leaves the arguments unread.
    """
    arguments = [one for one in context.command.params if isinstance(one, click.Argument)]
    unread = {one.name: word for one, word in zip(arguments, context.args, strict=False)}
    known = {name: value for name, value in context.params.items() if value is not None}
    return {"command": context.info_name, **unread, **known}


def _tasks(given: Mapping[str, Any]) -> Iterable[str]:
    from synthbench.tasks.registry import list_tasks

    return [*list_tasks(), *(["all"] if given["command"] == "generate" else [])]


def _variants(given: Mapping[str, Any]) -> Iterable[str]:
    """The variants of the dataset in DIR, or of TASK."""
    from synthbench.tasks.registry import task_class

    if "task" not in given:
        return _variants_of_dataset(given)
    names = task_class(given["task"]).variants
    return [*names, *(["all"] if given["command"] == "generate" else [])]


def _splits(given: Mapping[str, Any]) -> Iterable[str]:
    """The splits of the dataset in DIR, or of TASK at its defaults."""
    from synthbench.tasks.registry import as_task

    if "task" not in given:
        return [name for splits in _variants_of_dataset(given).values() for name in splits]
    return [split.name for split in as_task(given["task"]).splits]


def _variants_of_dataset(given: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    from synthbench.dataset.dataset import DatasetDirectory

    places = given.get("dataset") or given.get("datasets") or ()
    place = places if isinstance(places, str) else next(iter(places), None)
    return DatasetDirectory.open(place).manifest.variants if place else {}


def _levels(given: Mapping[str, Any]) -> Iterable[str]:
    from synthbench.tasks.registry import task_class

    return task_class(given.get("task", "")).levels


def _formats(given: Mapping[str, Any]) -> Iterable[str]:
    from synthbench.sharing.export import FORMATS

    return FORMATS


def _models(given: Mapping[str, Any]) -> Iterable[str]:
    """The models that can be trained. Those of a server only the server knows."""
    if given["command"] not in ("train", "reproduce"):
        return []
    from synthbench.training.recipes import find_study
    from synthbench.training.recipes.borrowed import model_names

    profile, study = given.get("profile") or "cpu", given.get("study") or "main"
    return model_names(find_study(given.get("task", ""), profile, study))


def _studies(given: Mapping[str, Any]) -> Iterable[str]:
    from synthbench.training.recipes import STUDIES

    return [study.name for study in STUDIES if study.task == given.get("task")]


def _probed(given: Mapping[str, Any]) -> Iterable[str]:
    from synthbench.probing.probe import GROUPS

    return GROUPS


def _words(*words: str) -> Names:
    return lambda given: words


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
