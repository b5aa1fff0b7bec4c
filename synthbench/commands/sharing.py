"""Commands that give a dataset away: export it for other tools, push it to the Hub."""

from __future__ import annotations

from collections.abc import Sequence

import click

from synthbench.commands.console import show


@click.command()
@click.argument("directory", metavar="DIR")
@click.option("--to", required=True, metavar="FORMAT", help="jsonl, tsv, lm-eval, torch, croissant")
@click.option("--out", required=True, metavar="PATH", help="What to write; not there yet.")
@click.option("--variant", "variants", multiple=True, metavar="V", help="May be repeated.")
@click.option("--split", "splits", multiple=True, metavar="S", help="May be repeated.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier export.")
@click.option("--quiet", is_flag=True, help="No bar and no summary.")
def export(
    directory: str,
    to: str,
    out: str,
    variants: Sequence[str],
    splits: Sequence[str],
    overwrite: bool,
    quiet: bool,
) -> None:
    """Write the dataset in DIR in the form of another tool."""
    from synthbench import exporting
    from synthbench.tables import text_table

    sizes = exporting.export(
        directory,
        to,
        out,
        variants=variants,
        splits=splits,
        overwrite=overwrite,
        progress=not quiet,
    )
    if not quiet:
        rows = [(file, f"{size:,}") for file, size in sizes.items()]
        show(f"{text_table(('file', 'bytes'), rows, right=(1,))}\n{directory} as {to}: {out}")
