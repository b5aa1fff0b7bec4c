"""Commands that show tasks and make datasets: list, info, preview, generate."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import click

from synthbench.commands import completion
from synthbench.commands.console import (
    WithExamples,
    choice_option,
    pairs,
    row_counts,
    seed_option,
    set_option,
    show,
    source_option,
    task_argument,
    variant_option,
)


@click.command("list", cls=WithExamples, epilog="synthbench list")
def list_() -> None:
    """Show all tasks with their variants, splits and default sizes."""
    from synthbench import preview

    show(preview.list_tasks())


@click.command(cls=WithExamples, epilog="synthbench info listops")
@task_argument
def info(task: str) -> None:
    """Show what TASK is, its parameters, columns and paper."""
    from synthbench import preview

    show(preview.describe(task))


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
@click.option("--out", metavar="FILE.png", help="Where a contact sheet of images goes.")
@source_option
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
    from synthbench.preview import preview as show_rows
    from synthbench.sources import use_source_dir

    with use_source_dir(source_dir):
        show(show_rows(task, variant, rows, seed, split, pairs(settings, "--set"), out))


@click.command(
    cls=WithExamples,
    epilog="""
    synthbench generate listops
    synthbench generate ctl --variant all --rows train=5000 --set symbols=6
    synthbench generate all --preset small --out benchmarks
    """,
)
@task_argument
@click.option(
    "--variant",
    "variants",
    multiple=True,
    metavar="V",
    help="May be repeated; or all.",
    shell_complete=completion.variants,
)
@click.option("--out", metavar="DIR", help="Default: ./TASK.")
@seed_option
@choice_option("--preset", "paper", "small")
@click.option("--rows", multiple=True, metavar="SPLIT=N", help="Rows of one split.")
@set_option
@click.option("--shard-rows", type=int, metavar="N", help="Rows of a Parquet file.")
@click.option("--workers", type=int, metavar="N", help="Default: the usable cores.")
@choice_option("--engine", "local", "dask")
@click.option("--scheduler", metavar="ADDRESS", help="Of a running Dask cluster.")
@source_option
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
    """Make the dataset of TASK, or of all tasks, as Parquet files."""
    from synthbench import generation
    from synthbench.summary import summary

    started = time.perf_counter()
    outcomes = generation.run_all(
        task,
        variant=list(variants) or None,
        out=out,
        rows=row_counts(rows),
        parameters=pairs(settings, "--set"),
        progress=not quiet,
        **options,
    )
    for outcome in outcomes:
        if not quiet:
            show(summary(outcome, time.perf_counter() - started))
            started = time.perf_counter()
