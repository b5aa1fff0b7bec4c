"""Shell completion of tasks, variants, models, paths and choices."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem, get_completion_class

from synthbench.errors import UsageError

Completer = Callable[[click.Context, click.Parameter, str], list[str]]

#: The shell's script sets it to ask for completions, to `bash_complete`, `zsh_complete` and so on.
VARIABLE = "_SYNTHBENCH_COMPLETE"


def check_request(program: click.Command) -> None:
    """If a shell asks for completions, make sure that its command line can be read.

    Raises:
        UsageError: a variable that the shell's script sets is missing or cannot be read.
    """
    shell, _, instruction = os.environ.get(VARIABLE, "").partition("_")
    reader = get_completion_class(shell)
    if instruction != "complete" or reader is None:
        return
    try:
        reader(program, {}, "synthbench", VARIABLE).get_completion_args()
    except (IndexError, KeyError, ValueError):
        given = [f"{name}={os.environ.get(name)!r}" for name in ("COMP_WORDS", "COMP_CWORD")]
        number = "the word being typed" if shell == "fish" else "the number of a word"
        raise UsageError(
            f"Completion of {', '.join(given)}: expected the command line in COMP_WORDS and "
            f"{number} in COMP_CWORD."
        ) from None


def one_of(*words: str) -> Completer:
    """Offer these words."""

    def complete(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
        return _matching(words, begun)

    return complete


def tasks(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Offer the names of the tasks."""
    from synthbench.tasks.registry import list_tasks

    return _matching(list_tasks(), begun)


def variants(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Offer the variants of the task on the command line."""
    from synthbench.tasks.registry import list_tasks, task_class

    task = _task(context)
    return _matching(task_class(task).variants, begun) if task in list_tasks() else []


def models(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Offer the models that have a recipe for the task on the command line."""
    from synthbench.training.recipes import STUDIES

    task = _task(context)
    recipes = [recipe for study in STUDIES if study.task == task for recipe in study.recipes]
    return _matching(dict.fromkeys(recipe.name for recipe in recipes), begun)


def directories(
    context: click.Context, parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Have the shell offer directories."""
    return [CompletionItem(_as_text(begun), type="dir")]


def files(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Have the shell offer files."""
    return [CompletionItem(_as_text(begun), type="file")]


def _as_text(begun: str) -> str:
    """A word with `?` for bytes that are not UTF-8, which click could not print."""
    return begun.encode("utf-8", "replace").decode("utf-8")


def _task(context: click.Context) -> str | None:
    """The task on the command line.

    While an option waits for its value, click has not parsed the positional words yet.
    """
    return context.params.get("task") or next(iter(context.args), None)


def _matching(words: Iterable[str], begun: str) -> list[str]:
    return [word for word in words if word.startswith(begun)]
