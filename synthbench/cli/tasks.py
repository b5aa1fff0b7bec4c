"""Commands on tasks: list, info, preview, check-task, new-task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from synthbench.cli.options import (
    WithExamples,
    chosen_task,
    json_option,
    level_option,
    seed_option,
    set_option,
    show,
    show_json,
    source_option,
    task_argument,
    variant_option,
)
from synthbench.text.tables import items, styled

if TYPE_CHECKING:
    from synthbench.verification.conformance.check import CheckResult


@click.command("list", cls=WithExamples, epilog="synthbench list")
@json_option
def list_(as_json: bool) -> None:
    """Show all tasks with variants, splits and default sizes."""
    from synthbench.tasks import describe

    if as_json:
        show_json(describe.all_facts())
    else:
        show(describe.describe_tasks())


@click.command(cls=WithExamples, epilog="synthbench info listops")
@task_argument
@json_option
def info(task: str, as_json: bool) -> None:
    """Show summary, parameters, columns and paper of TASK."""
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
@click.option(
    "-n", "rows", type=click.IntRange(1, 1000), default=5, show_default=True, help="How many rows."
)
@seed_option
@click.option("--split", metavar="S", help="Default: the task's first.")
@level_option
@set_option
@click.option("--out", metavar="FILE.png", help="Where to write a contact sheet of images.")
@source_option
def preview(
    task: str,
    variant: str | None,
    seed: int,
    level: str | None,
    settings: Sequence[str],
    **keywords: Any,
) -> None:
    """Show rows of TASK in readable form."""
    from synthbench.sampling.preview import preview as show_rows

    show(show_rows(chosen_task(task, variant, seed, level, settings), **keywords))


@click.command("check-task", cls=WithExamples, epilog="synthbench check-task parity")
@task_argument
@click.option("--variant", metavar="V", help="Default: all of the task.")
@level_option
@click.option(
    "--time-limit",
    type=click.FloatRange(min=1),
    default=120,
    show_default=True,
    metavar="SECONDS",
    help="How long one check may take.",
)
@source_option
def check_task(task: str, variant: str | None, level: str | None, time_limit: float) -> int:
    """Check that TASK, yours or ours, does what every task must.

    If all checks hold, each prints a line that ends in yes. Otherwise those
    that fail print a line that ends in no, followed by the fault, and the
    exit status is 1.
    """
    from synthbench.text.progress import progress_bar
    from synthbench.verification.conformance.check import CHECKS
    from synthbench.verification.conformance.check import check_task as check

    findings: list[CheckResult] = []
    subject = chosen_task(task, variant, 0, level, ()) if variant or level else task
    with progress_bar(True, f"check {task}", "checks", CHECKS) as bar:
        for finding in check(subject, seconds=time_limit):
            findings.append(finding)
            bar.update(1, now=f"{finding.variant}: {finding.statement}")
    failed = [finding for finding in findings if finding.problems]
    shown = failed or findings
    for before, finding in zip([None, *shown], shown, strict=False):
        if before is None or before.variant != finding.variant:
            show(styled(f"{task}, variant {finding.variant}:", "bold"))
        verdict = styled("no", "red") if finding.problems else styled("yes", "green")
        problems = [items(finding.problems)] if finding.problems else []
        show(styled(f"{finding.statement}: ", whole=True) + verdict, *problems)
    if failed:
        show(styled(f"{task} fails {len(failed)} of {len(findings)} checks.", "red"))
        return 1
    show(styled(f"{task} passes all {len(findings)} checks.", "green"))
    return 0


@click.command(
    "new-task",
    cls=WithExamples,
    epilog="""
    synthbench new-task my-task
    synthbench new-task pairs --checked
    """,
)
@click.argument("name")
@click.option("--checked", is_flag=True, help="A question has several right answers.")
def new_task(name: str, checked: bool) -> None:
    """Write a package with a task of your own to ./NAME.

    It has a small working task, its card, a test and a README. Once installed,
    it passes `synthbench check-task`.
    """
    from synthbench.tasks.new_task import write_package

    for path in write_package(name, checked=checked):
        show(str(path))
    show(f"Next: pip install -e {name} && synthbench check-task {name}")
