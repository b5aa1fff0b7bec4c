"""What an audit found, as values; printed, tables."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from synthbench.audits.balance import Trait
from synthbench.audits.claims import Overstated
from synthbench.audits.leaks import SplitLeaks
from synthbench.audits.scoring import ShortcutScore, SplitRows
from synthbench.audits.statistics import NEAR


@dataclasses.dataclass(frozen=True)
class VariantAudit:
    """What was found in one variant.

    Attributes:
        metrics: names of the task's metrics.
        level_name: what levels are values of.
        fitted: on how many rows of train shortcuts are fitted; 0 where there is no train.
        splits: the rows of each split.
        shortcuts: what each shortcut scores.
        left_out: shortcuts that were not tried, with the reason.
        leaks: what leaks, by split.
        balance: how often what occurs.
        claims: rows that need less than they claim.
        findings: what is worth a second look, in sentences.
    """

    metrics: tuple[str, ...]
    level_name: str
    fitted: int
    splits: dict[str, SplitRows]
    shortcuts: list[ShortcutScore]
    left_out: dict[str, str]
    leaks: dict[str, SplitLeaks]
    balance: list[Trait]
    claims: list[Overstated]
    findings: list[str]


@dataclasses.dataclass(frozen=True, repr=False)
class Audit:
    """What `audit` found in a dataset; printed, tables of the main figures.

    Attributes:
        task: name of the task.
        seed: the dataset's seed.
        parameters: its parameters, as JSON values.
        synthbench: the version that audited it.
        variants: what was found in each variant.
    """

    task: str
    seed: int
    parameters: dict[str, Any]
    synthbench: str
    variants: dict[str, VariantAudit]

    @property
    def findings(self) -> list[str]:
        """What is worth a second look in any variant, in sentences that begin with its name."""
        return [f"{name}, {text}" for name, one in self.variants.items() for text in one.findings]

    def to_dict(self) -> dict[str, Any]:
        """The audit as JSON values: a number that is not finite is None."""
        values: dict[str, Any] = _finite(dataclasses.asdict(self))
        return {"near": NEAR, **values}

    def __repr__(self) -> str:
        from synthbench.audits.text import audit_text

        return audit_text(self)


def _finite(value: Any) -> Any:
    """JSON values out of nested ones."""
    if isinstance(value, dict):
        return {str(key): _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
