"""The command that asks a model behind a server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from synthbench.cli.options import (
    WithExamples,
    chosen_task,
    fields,
    json_option,
    level_option,
    offset_option,
    request_option,
    seed_option,
    set_option,
    shots_option,
    show,
    show_json,
    source_option,
    system_option,
    task_argument,
    variant_option,
)
from synthbench.errors import UsageError

if TYPE_CHECKING:
    from synthbench.tasks.base import Task


@click.command(
    cls=WithExamples,
    epilog="""
    synthbench ask parity --base-url http://127.0.0.1:8000/v1 --model NAME
    synthbench ask ctl --base-url URL --model NAME --shots 8 --level easy
    synthbench ask ctl --base-url URL --model NAME --request max_tokens=64
    """,
)
@task_argument
@click.option("--base-url", required=True, metavar="URL", help="The server: http://HOST:PORT/v1.")
@click.option("--model", required=True, metavar="NAME", help="The model's name at the server.")
@variant_option
@level_option
@seed_option
@set_option
@click.option("--split", default="test", show_default=True, metavar="S")
@click.option(
    "-n", "limit", type=int, default=100, show_default=True, metavar="N", help="How many rows."
)
@offset_option
@shots_option
@system_option
@click.option(
    "--samples", type=int, default=1, show_default=True, help="Replies to each row, for pass@k."
)
@request_option
@click.option("--out", metavar="DIR", help="Default: asked/TASK/VARIANT/MODEL.")
@click.option(
    "--concurrency", type=int, default=16, show_default=True, help="Requests under way at once."
)
@click.option(
    "--retries", type=int, default=8, show_default=True, help="How often a request is tried again."
)
@click.option(
    "--timeout", type=float, default=300, show_default=True, help="Seconds that one try may take."
)
@source_option
@json_option
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
def ask(
    task: str,
    variant: str | None,
    seed: int,
    level: str | None,
    settings: Sequence[str],
    shots: int | None,
    request: Sequence[str],
    out: str | None,
    model: str,
    as_json: bool,
    quiet: bool,
    **keywords: Any,
) -> int:
    """Ask a model behind a server that speaks OpenAI's chat API.

    TASK is a task's name or a dataset directory. Replies are kept in DIR. The
    same command goes on where it stopped, and may ask for more rows or samples.
    The key is read from the environment variable OPENAI_API_KEY. The exit
    status is 1 if some requests got no reply.
    """
    from synthbench.llm import ask as ask_model

    source = _task_or_directory(task, variant, seed, level, settings)
    report = ask_model(
        source,
        model,
        shots=shots or 0,
        request=fields(request),
        out=_default_out(source, model) if out is None else out,
        progress=not quiet,
        **keywords,
    )
    show_json(report.to_dict()) if as_json else show(report)
    return 1 if report.failures else 0


def _task_or_directory(
    task: str, variant: str | None, seed: int, level: str | None, settings: Sequence[str]
) -> Task | Path:
    from synthbench.tasks.registry import list_tasks

    if task in list_tasks() or not Path(task).exists():
        return chosen_task(task, variant, seed, level, settings)
    if variant is not None or seed or level is not None or settings:
        raise UsageError(
            f"{task!r} is a dataset directory, which has its own variant, seed and parameters; "
            "leave out --variant, --seed, --level and --set."
        )
    return Path(task)


def _default_out(source: Task | Path, model: str) -> Path:
    """A place for replies that is named by the request."""
    words = [source.name] if isinstance(source, Path) else [source.name, source.variant]
    name = "".join(
        character if character.isalnum() or character in "._-" else "-" for character in model
    ).lstrip(".")
    return Path("asked", *words, name or "model")
