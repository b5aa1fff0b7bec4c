"""Commands that judge: verify a dataset, audit it, evaluate predictions."""

from __future__ import annotations

import click

from synthbench.commands import completion
from synthbench.commands.console import (
    WithExamples,
    directory_argument,
    show,
    source_option,
    variant_option,
)


@click.command(cls=WithExamples, epilog="synthbench verify listops")
@directory_argument
@click.option("--workers", type=int, metavar="N", help="Default: the usable cores.")
@source_option
@click.option("--quiet", is_flag=True, help="No bar.")
def verify(directory: str, workers: int | None, source_dir: str | None, quiet: bool) -> int:
    """Derive every row of a dataset again, from its files alone."""
    from synthbench.verification import verify as check

    verdict = check(directory, workers=workers, source_dir=source_dir, progress=not quiet)
    show(str(verdict))
    return 0 if verdict.ok else 1


@click.command(cls=WithExamples, epilog="synthbench audit listops --out audited")
@directory_argument
@click.option("--variant", metavar="V", help="Default: every variant that is there.")
@click.option("--out", metavar="REPORT_DIR", help="Where audit.html and audit.json go.")
@click.option("--overwrite", is_flag=True, help="Replace a report that is there.")
@click.option("--json", "as_json", is_flag=True, help="Print the audit as JSON.")
@click.option("--quiet", is_flag=True, help="No bar.")
def audit(
    directory: str,
    variant: str | None,
    out: str | None,
    overwrite: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Show what shortcuts score, what leaks, what is uneven in DIR."""
    import json

    from synthbench.auditing import audit as look
    from synthbench.audits.page import report_place, write_report

    place = None if out is None else report_place(out, overwrite)
    found = look(directory, variant=variant, progress=not quiet)
    if place is not None:
        write_report(found, place)
    show(json.dumps(found.to_dict(), indent=2) if as_json else str(found))


@click.command(
    cls=WithExamples,
    epilog="""
    synthbench evaluate listops predictions.jsonl
    synthbench evaluate listops predictions.jsonl --split test --json
    """,
)
@directory_argument
@click.argument("predictions", shell_complete=completion.files)
@click.option("--split", metavar="S", help="Default: every split that has predictions.")
@variant_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def evaluate(
    directory: str, predictions: str, split: str | None, variant: str | None, as_json: bool
) -> None:
    """Score PREDICTIONS on the dataset in DIR.

    PREDICTIONS is a .jsonl or .parquet file with `id` and `prediction`.
    """
    import json

    from synthbench.evaluation import evaluate as judge

    report = judge(directory, predictions, split=split, variant=variant)
    show(json.dumps(report.to_dict(), indent=2) if as_json else str(report))
