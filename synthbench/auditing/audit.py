"""Find out how well a dataset can be answered without solving its task.

Leaks are found by comparing all rows. Shortcuts are fitted on a limited number of rows of train and
scored on other rows of every split. The same rows are drawn every time.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from concurrent.futures import Future
from os import PathLike
from typing import TYPE_CHECKING, Any

from synthbench import __version__
from synthbench.arguments import checked
from synthbench.auditing.balance import Distribution, count_all, count_sampled
from synthbench.auditing.leaks import SplitLeaks, check_claim, find_leaks
from synthbench.auditing.results import VariantAudit, list_findings
from synthbench.auditing.scoring import NEAR, compare_with, score_shortcut
from synthbench.auditing.sections import show_variant
from synthbench.auditing.shortcuts import choose_shortcuts
from synthbench.auditing.variant import AuditedVariant, draw_samples, scan_split
from synthbench.checks import needs
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.engine.open import open_engine
from synthbench.errors import DatasetError, SynthbenchError
from synthbench.text.progress import Bar, progress_bar
from synthbench.text.tables import render, stack, styled

if TYPE_CHECKING:
    from rich.console import Group


@dataclasses.dataclass(frozen=True, repr=False)
class Audit:
    """The results of `audit`; `str` gives the main tables.

    Attributes:
        task: name of the task.
        seed: the dataset's seed.
        parameters: the dataset's parameters, as JSON values.
        synthbench: the version that audited the dataset.
        variants: the results for each variant.
    """

    task: str
    seed: int
    parameters: dict[str, Any]
    synthbench: str
    variants: dict[str, VariantAudit]

    @property
    def findings(self) -> list[str]:
        """Warnings, as sentences that begin with the variant's name."""
        return [
            f"{name}, {text}"
            for name, variant in self.variants.items()
            for text in variant.findings
        ]

    def to_dict(self) -> dict[str, Any]:
        """The audit as JSON values. A number that is not finite becomes None."""
        values: dict[str, Any] = _finite(dataclasses.asdict(self))
        return {"near": NEAR, **values}

    def __repr__(self) -> str:
        return render(self)

    def __rich__(self) -> Group:
        """The main tables in colours, as `rich.print` and the command line show them."""
        parts: list[Any] = []
        for name, variant in self.variants.items():
            title = styled(f"{self.task}, {name} (seed {self.seed})", "bold")
            parts += [*([""] if parts else []), title, show_variant(variant)]
        return stack(*parts)


def _finite(value: Any) -> Any:
    """Nested values, with None for every number that is not finite and text keys."""
    if isinstance(value, dict):
        return {str(key): _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@checked
def audit(
    dataset: str | PathLike[str],
    *,
    variants: Sequence[str] | None = None,
    progress: bool = True,
) -> Audit:
    """Look for ways to answer a dataset's rows without solving its task.

    Args:
        dataset: the dataset directory.
        variants: which variants. Default: all of the dataset.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        The scores of shortcuts on every split and level, the leaks, the balance of the rows, and
        the share of rows that are easier than their difficulty columns claim.

    Raises:
        UsageError: a variant is unknown, or source images are missing.
        DatasetError: the directory is not a dataset, or a shard cannot be read.
        SynthbenchError: scikit-learn is not installed.

    Example:
        >>> import synthbench
        >>> manifest = synthbench.generate("parity", preset="small")
        >>> found = synthbench.audit("parity")
        >>> found.variants["default"].leaks["test"].repeated
        0
    """
    opened = DatasetDirectory.open(dataset)
    manifest = opened.manifest
    names = list(dict.fromkeys(map(opened.variant, variants or manifest.variants)))
    with needs("An audit", "scikit-learn", "audit"):
        import sklearn  # noqa: F401  # before any work, but slow
    with (
        open_engine(calls=2) as engine,
        progress_bar(progress, f"audit {manifest.task}", "parts", len(names)) as bar,
    ):
        # A worker process compares all rows while this process tries shortcuts on a sample.
        compared = {name: engine.submit(_compare_rows, opened, name) for name in names}
        audited = {}
        for name in names:
            try:
                audited[name] = _audit_variant(opened, name, compared[name], bar)
            except SynthbenchError:
                raise
            except (ArithmeticError, LookupError, ValueError) as error:
                compared[name].result()  # may say which rows are not valid for the task
                raise DatasetError(
                    f"{opened.path}: variant {name!r} cannot be audited "
                    f"({type(error).__name__}: {error}); `synthbench verify` names rows that are "
                    "not valid."
                ) from error
    return Audit(manifest.task, manifest.seed, manifest.parameters, __version__, audited)


#: The leaks of each split, and the balance of all rows.
_Compared = tuple[dict[str, SplitLeaks], list[Distribution]]


def _compare_rows(dataset: DatasetDirectory, variant: str) -> _Compared:
    subject = AuditedVariant.open(dataset, variant)
    scans = {name: scan_split(subject, name) for name in subject.splits}
    return find_leaks(subject, scans), count_all(subject, scans)


def _audit_variant(
    dataset: DatasetDirectory, variant: str, compared: Future[_Compared], bar: Bar
) -> VariantAudit:
    subject = AuditedVariant.open(dataset, variant)
    fit, samples = draw_samples(subject)
    sampled = count_sampled(subject, samples)
    claims = [check_claim(claim, samples) for claim in subject.spec.claims]
    shortcuts, left_out = choose_shortcuts(subject, fit)
    splits = {name: compare_with(subject, sample) for name, sample in samples.items()}
    scores = []
    bar.total += len(shortcuts)
    for shortcut in shortcuts:
        bar.update(0, now=f"{variant}: {shortcut.name}")
        scores.append(score_shortcut(subject, shortcut, fit, samples, splits))
        bar.update()
    bar.update(0, now=f"{variant}: all rows")
    leaks, balance = compared.result()
    bar.update()
    return VariantAudit(
        metrics=subject.task.metrics,
        level_name=subject.levels.name,
        fitted=0 if fit is None else len(fit),
        splits=splits,
        shortcuts=scores,
        left_out=left_out,
        leaks=leaks,
        balance=[*balance, *sampled],
        claims=claims,
        findings=list_findings(subject, scores, leaks, claims),
        notes=[*subject.spec.notes],
    )
