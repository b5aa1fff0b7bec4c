"""Commands for authors of tasks: check a task, write a package with one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from synthbench.cli.options import WithExamples, show, source_option, task_argument
from synthbench.text.tables import items, styled

if TYPE_CHECKING:
    from synthbench.verification.conformance.check import Finding


@click.command(cls=WithExamples, epilog="synthbench check parity")
@task_argument
@source_option
def check(task: str, source_dir: Sequence[str]) -> int:
    """Check that TASK, yours or ours, does what every task must.

    Each check prints a line that ends in yes or no; a no is followed by the
    problems. The exit status is 1 if any check fails.
    """
    from synthbench.tasks.images.source_dirs import use_source_dir
    from synthbench.verification.conformance.check import check_task

    findings: list[Finding] = []
    with use_source_dir(source_dir):
        for finding in check_task(task):
            if not findings or findings[-1].variant != finding.variant:
                show(styled(f"{task}, variant {finding.variant}:", "bold"))
            verdict = styled("no", "red") if finding.problems else styled("yes", "green")
            problems = [items(finding.problems)] if finding.problems else []
            show(styled(f"{finding.statement}: ") + verdict, *problems)
            findings.append(finding)
    failed = sum(bool(finding.problems) for finding in findings)
    if failed:
        show(styled(f"{task} fails {failed} of {len(findings)} checks.", "red"))
        return 1
    show(styled(f"{task} passes all {len(findings)} checks.", "green"))
    return 0


@click.command("new-task", cls=WithExamples, epilog="synthbench new-task my-task")
@click.argument("name")
def new_task(name: str) -> None:
    """Write a package with a task of your own to ./NAME.

    It has a small working task, its card, a test and a README. Once installed,
    it passes `synthbench check`.
    """
    from synthbench.tasks.new_task import write_package

    for path in write_package(name):
        show(str(path))
    show(f"Next: pip install -e {name} && synthbench check {name}")
