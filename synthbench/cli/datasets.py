"""Commands that read a dataset: verify, audit, evaluate, export, push."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import click

from synthbench.cli.options import (
    WithExamples,
    choice_option,
    dataset_argument,
    fields,
    json_option,
    offset_option,
    quiet_option,
    request_option,
    shots_option,
    show,
    show_json,
    source_option,
    system_option,
    variant_option,
    variants_option,
    weighted,
    workers_option,
)
from synthbench.text.lines import printable
from synthbench.text.tables import Table


@click.command(cls=WithExamples, epilog="synthbench verify listops")
@dataset_argument
@click.option("--fast", is_flag=True, help="Do not make the dataset again.")
@workers_option
@source_option
@json_option
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
def verify(dataset: str, as_json: bool, quiet: bool, **keywords: Any) -> int:
    """Check every row of DIR, and make the dataset again."""
    from synthbench.verification.verify import verify as check

    report = check(dataset, progress=not quiet, **keywords)
    show_json(report.to_dict()) if as_json else show(report)
    return 0 if report.ok else 1


@click.command(cls=WithExamples, epilog="synthbench audit listops --out audited")
@dataset_argument
@variants_option
@click.option("--out", metavar="REPORT_DIR", help="Where to write audit.html and audit.json.")
@source_option
@click.option("--overwrite", is_flag=True, help="Replace an earlier report.")
@json_option
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
def audit(
    dataset: str, out: str | None, overwrite: bool, as_json: bool, quiet: bool, **keywords: Any
) -> None:
    """Report shortcuts, leaks and imbalances in DIR."""
    from synthbench.auditing.audit import audit as look
    from synthbench.auditing.page import report_directory, write_report

    page = None if out is None else report_directory(out, overwrite)
    report = look(dataset, progress=not quiet, **keywords)
    if page is not None:
        write_report(report, page)
    show_json(report.to_dict()) if as_json else show(report)


@click.command(
    cls=WithExamples,
    epilog="""
    synthbench evaluate listops predictions.jsonl
    synthbench evaluate listops predictions.jsonl --split test --json
    synthbench evaluate listops predictions.jsonl --read text --answered-only
    """,
)
@dataset_argument
@click.argument("predictions")
@click.option("--split", metavar="S", help="Default: every split that has predictions.")
@variant_option
@source_option
@choice_option("--read", "value", "text")
@click.option("--answered-only", is_flag=True, help="Leave out rows without a prediction.")
@json_option
def evaluate(
    dataset: str, predictions: str, variant: str | None, as_json: bool, **keywords: Any
) -> None:
    """Score PREDICTIONS on the dataset in DIR.

    PREDICTIONS is a .jsonl, .json, .csv, .tsv or .parquet file with `id` and
    `prediction` (or `pred`, `model_output`, `response`, `completion`), or a log
    of Inspect (.eval, or .json) or lm-evaluation-harness. Without ids, and in a
    .txt, .npy, .npz or .pt file, predictions are in the order of the rows of
    one --split. A prediction is the answer and nothing else;
    --read text extracts it from free text, such as "The answer is 7".
    Rows without a prediction score as wrong, unless --answered-only is given.

    Replies that `ask` keeps and output files of OpenAI's batches are read, too.
    Answers in these files are always extracted from free text.
    """
    from synthbench.dataset.dataset import DatasetDirectory
    from synthbench.evaluation.evaluate import evaluate as judge

    task = None if variant is None else DatasetDirectory.open(dataset).make_task(variant)
    report = judge(dataset, predictions, task, **keywords)
    if report.warning:
        click.echo(f"Warning: {report.warning}", err=True)
    show_json(report.to_dict()) if as_json else show(report)


@click.command(
    cls=WithExamples,
    epilog="""
    synthbench export listops --to chat --solutions --split train --out worked
    synthbench export listops --to openai-batch --model NAME -n 200 --out batch
    synthbench export listops --to lm-eval --split test --out harness
    synthbench export listops parity --weights 2,1 --to verl --out mixed
    """,
)
@click.argument("datasets", metavar="DIR...", nargs=-1, required=True)
@click.option(
    "--to",
    required=True,
    metavar="FORMAT",
    help="jsonl, chat, openai-batch, tsv, lm-eval, verl, skyrl, nemo-gym, torch, croissant",
)
@click.option(
    "--out",
    required=True,
    metavar="PATH",
    help="A new directory. For croissant the file DIR/croissant.json.",
)
@click.option(
    "--weights",
    metavar="N,N",
    help="Rows of each dataset in a turn. Default: 1 each.",
)
@variants_option
@click.option(
    "--split",
    "splits",
    multiple=True,
    metavar="S",
    help="Default: all. Test for lm-eval and openai-batch. Repeatable.",
)
@shots_option
@system_option
@click.option("-n", "limit", type=int, metavar="N", help="The most rows of each split.")
@offset_option
@click.option("--model", metavar="NAME", help="Model name to put into each request.")
@request_option
@click.option("--solutions", is_flag=True, help="Answers show the steps that lead to them.")
@source_option
@click.option("--overwrite", is_flag=True, help="Replace an earlier export.")
@quiet_option
def export(
    datasets: tuple[str, ...],
    to: str,
    out: str,
    request: Sequence[str],
    quiet: bool,
    weights: str | None,
    **keywords: Any,
) -> None:
    """Convert the dataset in DIR for another tool.

    Rows of several datasets take turns, in one file for each split. --shots, --system, -n and
    --offset are for chat, openai-batch, lm-eval, verl, skyrl and nemo-gym. --solutions is for
    all of these except lm-eval, --model and --request are for openai-batch.
    """
    from synthbench.sharing.export import export as write

    mixed: dict[str | PathLike[str], int] = dict(weighted(datasets, weights).items())
    sizes = write(mixed, to, out, request=fields(request), progress=not quiet, **keywords)
    if not quiet:
        rows = [(file, f"{size:,}") for file, size in sizes.items()]
        # One line, whatever their names.
        done = printable(f"{' and '.join(datasets)} as {to}: {out}")
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
@click.option("--private", is_flag=True, help="If the repository is new, make it private.")
@click.option("--revision", metavar="BRANCH", help="Default: the main branch.")
@click.option(
    "--dry-run", is_flag=True, help="Show what would be uploaded. Needs no network and no token."
)
@source_option
@quiet_option
def push(dataset: str, repo_id: str, quiet: bool, **keywords: Any) -> None:
    """Upload the dataset in DIR to the Hugging Face Hub.

    REPO_ID is USER/NAME, or NAME for the token's own user.
    """
    from synthbench.sharing.push import push as upload

    pushed = upload(dataset, repo_id, progress=not quiet, **keywords)
    if not quiet:
        show(pushed)
