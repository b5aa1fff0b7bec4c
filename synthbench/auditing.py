"""What can be had without solving a task: shortcuts, leaks and imbalance in a dataset.

A benchmark says with figures that it can only be solved by solving it. Every row is looked at for
leaks; shortcuts are fitted on rows of train and scored on other rows of every split, a bounded
number of rows, drawn in the same way every time.
"""

from __future__ import annotations

from pathlib import Path

from tqdm import tqdm

from synthbench import __version__
from synthbench.audits.balance import weigh
from synthbench.audits.census import take_census
from synthbench.audits.claims import check_claim
from synthbench.audits.general import choose_shortcuts
from synthbench.audits.leaks import find_leaks
from synthbench.audits.linear import need_sklearn
from synthbench.audits.results import Audit, VariantAudit
from synthbench.audits.sample import draw_samples
from synthbench.audits.scoring import prepare, score_shortcut
from synthbench.audits.subject import Subject
from synthbench.audits.verdict import findings
from synthbench.dataset import Dataset

__all__ = ["Audit", "audit"]


def audit(directory: str | Path, *, variant: str | None = None, progress: bool = False) -> Audit:
    """Look for ways to answer a dataset's rows without solving its task.

    Args:
        directory: the dataset directory.
        variant: the variant; default: every one that is there.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        What shortcuts score on every split and level, what leaks, how balanced the rows are, and
        which of them need less than they claim.

    Raises:
        UsageError: there is no such variant.
        DatasetError: there is no dataset, or a shard of it cannot be read.
        SynthbenchError: scikit-learn is not installed.

    Example:
        >>> import synthbench
        >>> manifest = synthbench.generate("parity", preset="small")
        >>> found = synthbench.audit("parity")
        >>> found.variants["default"].leaks["test"].repeated
        0
    """
    need_sklearn()
    dataset = Dataset.open(directory)
    names = list(dataset.manifest.variants) if variant is None else [dataset.variant(variant)]
    with tqdm(disable=None if progress else True, unit=" parts", leave=False) as bar:
        variants = {name: _audit_variant(dataset, name, bar) for name in names}
    manifest = dataset.manifest
    return Audit(manifest.task, manifest.seed, manifest.parameters, __version__, variants)


def _audit_variant(dataset: Dataset, variant: str, bar: tqdm[None]) -> VariantAudit:
    subject = Subject.open(dataset, variant)

    def step(what: str) -> None:
        bar.set_description(f"{subject.task.name} {variant}: {what}")
        bar.update()

    censuses = {}
    for name in subject.splits:
        step(f"all rows of {name}")
        censuses[name] = take_census(subject, name)
    leaks = find_leaks(subject, censuses)
    step("rows for shortcuts")
    samples = draw_samples(subject)
    balance = weigh(subject, censuses, samples.score)
    claims = [check_claim(claim, samples.score) for claim in subject.scrutiny.claims]
    shortcuts, left_out = choose_shortcuts(subject, samples.fit)
    splits = {name: prepare(subject, sample) for name, sample in samples.score.items()}
    scores = []
    for shortcut in shortcuts:
        step(shortcut.name)
        scores.append(score_shortcut(subject, shortcut, samples.fit, splits))
    return VariantAudit(
        metrics=subject.task.metrics,
        level_name=subject.levels.name,
        fitted=0 if samples.fit is None else len(samples.fit),
        splits={name: split.rows() for name, split in splits.items()},
        shortcuts=scores,
        left_out=left_out,
        leaks=leaks,
        balance=balance,
        claims=claims,
        findings=findings(subject, scores, leaks, claims),
    )
