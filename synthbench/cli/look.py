"""Commands that show tasks without making a dataset: list, info, preview."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from synthbench.cli.options import (
    WithExamples,
    json_option,
    pairs,
    seed_option,
    set_option,
    show,
    show_json,
    source_option,
    task_argument,
    variant_option,
)


@click.command("list", cls=WithExamples, epilog="synthbench list")
@json_option
def list_(as_json: bool) -> None:
    """Show all tasks with their variants, splits and default sizes."""
    from synthbench.tasks import describe
    from synthbench.tasks.registry import list_tasks

    if as_json:
        show_json([describe.task_facts(name) for name in list_tasks()])
    else:
        show(describe.describe_tasks())


@click.command(cls=WithExamples, epilog="synthbench info listops")
@task_argument
@json_option
def info(task: str, as_json: bool) -> None:
    """Show what TASK is, its parameters, columns and paper."""
    from synthbench.tasks import describe

    if as_json:
        show_json(describe.task_facts(task))
    else:
        show(describe.describe(task))


@click.command(
    cls=WithExamples,
    epilog="""
    synthbench preview listops -n 2
    synthbench preview composites --variant cifar --out sheet.png
    """,
)
@task_argument
@variant_option
@click.option("-n", "rows", type=click.IntRange(1, 1000), default=5, show_default=True)
@seed_option
@click.option("--split", metavar="S", help="Default: the task's first.")
@set_option
@click.option("--out", metavar="FILE.png", help="Where to write a contact sheet of images.")
@source_option
def preview(task: str, settings: Sequence[str], source_dir: Sequence[str], **chosen: Any) -> None:
    """Show rows of TASK as a person reads them."""
    from synthbench.sampling.preview import preview as show_rows
    from synthbench.tasks.images.source_dirs import use_source_dir

    with use_source_dir(source_dir):
        show(show_rows(task, parameters=pairs(settings, "--set"), **chosen))
