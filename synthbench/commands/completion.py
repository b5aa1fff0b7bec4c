"""What the shell offers where a word is begun: tasks, variants, models, places, choices."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def one_of(*words: str) -> Completer:
    """Offer these words."""

    def complete(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
        return _matching(words, begun)

    return complete


def tasks(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Offer the names of the tasks."""
    from synthbench.registry import task_names

    return _matching(task_names(), begun)


def variants(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Offer the variants of the task that stands before."""
    from synthbench.registry import task_class, task_names

    task = _task(context)
    return _matching(task_class(task).variants, begun) if task in task_names() else []


def models(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Offer the models that have a recipe for the task that stands before."""
    from synthbench.train.recipes import STUDIES

    task = _task(context)
    recipes = [recipe for study in STUDIES if study.task == task for recipe in study.recipes]
    return _matching(dict.fromkeys(recipe.name for recipe in recipes), begun)


def directories(
    context: click.Context, parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Have the shell offer directories."""
    return [CompletionItem(begun, type="dir")]


def files(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Have the shell offer files."""
    return [CompletionItem(begun, type="file")]


def _task(context: click.Context) -> str | None:
    """The task that stands before.

    Where an option waits for its value, click leaves positional words as it found them.
    """
    return context.params.get("task") or next(iter(context.args), None)


def _matching(words: Iterable[str], begun: str) -> list[str]:
    return [word for word in words if word.startswith(begun)]
