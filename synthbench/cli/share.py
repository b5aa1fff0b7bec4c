"""Commands that give a dataset away: export it for other tools, push it to the Hub."""

from __future__ import annotations

from typing import Any

import click

from synthbench.cli import completion
from synthbench.cli.options import (
    WithExamples,
    dataset_argument,
    show,
    source_option,
    variants_option,
)
from synthbench.text.lines import printable
from synthbench.text.tables import Table


@click.command(
    cls=WithExamples,
    epilog="""
    synthbench export listops --to jsonl --out exported
    synthbench export listops --to lm-eval --split test --out harness
    """,
)
@dataset_argument
@click.option(
    "--to",
    required=True,
    metavar="FORMAT",
    help="jsonl, chat, tsv, lm-eval, torch, croissant",
    shell_complete=completion.one_of("jsonl", "chat", "tsv", "lm-eval", "torch", "croissant"),
)
@click.option("--out", required=True, metavar="PATH", help="Where to write; must not exist yet.")
@variants_option
@click.option("--split", "splits", multiple=True, metavar="S", help="May be repeated.")
@source_option
@click.option("--overwrite", is_flag=True, help="Replace an earlier export.")
@click.option("--quiet", is_flag=True, help="No bar and no summary.")
def export(dataset: str, to: str, out: str, quiet: bool, **chosen: Any) -> None:
    """Write the dataset in DIR in the form of another tool."""
    from synthbench.sharing.export import export as write

    sizes = write(dataset, to, out, progress=not quiet, **chosen)
    if not quiet:
        rows = [(file, f"{size:,}") for file, size in sizes.items()]
        done = printable(f"{dataset} as {to}: {out}")  # one line, whatever their names
        show(Table(("file", "bytes"), rows, right=(1,)), done)


@click.command(
    cls=WithExamples,
    epilog="""
    synthbench push listops USER/listops --dry-run
    synthbench push listops USER/listops --private
    """,
)
@dataset_argument
@click.argument("repo_id", metavar="REPO_ID")
@click.option("--private", is_flag=True, help="Make a new repository private.")
@click.option("--revision", metavar="BRANCH", help="Default: the main branch.")
@click.option(
    "--dry-run", is_flag=True, help="Show what would be uploaded; needs no network and no token."
)
@source_option
@click.option("--quiet", is_flag=True, help="No bar and no summary.")
def push(dataset: str, repo_id: str, quiet: bool, **chosen: Any) -> None:
    """Upload the dataset in DIR to the Hugging Face Hub.

    REPO_ID is USER/NAME, or NAME for the token's own user.
    """
    from synthbench.sharing.push import push as upload

    pushed = upload(dataset, repo_id, progress=not quiet, **chosen)
    if not quiet:
        show(pushed)
