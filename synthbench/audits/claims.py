"""Claims: rows that need less than they say of their own difficulty."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from synthbench.audits.sample import Sample
from synthbench.audits.statistics import Figure, figure
from synthbench.tasks.scrutiny import Claim


@dataclasses.dataclass(frozen=True)
class Overstated:
    """The rows whose claim is larger than what they need.

    Attributes:
        name: the column that claims.
        text: what is compared.
        splits: their share in each split.
        claims: their share among rows of each claim, by split.
    """

    name: str
    text: str
    splits: dict[str, Figure]
    claims: dict[str, dict[str, Figure]]


def check_claim(claim: Claim, samples: Mapping[str, Sample]) -> Overstated:
    """Compare what rows claim with what they need."""
    splits: dict[str, Figure] = {}
    claims: dict[str, dict[str, Figure]] = {}
    for name, sample in samples.items():
        claimed, needed = claim.compare(sample.columns)
        less = (needed < claimed).astype(np.float64)
        claims[name] = {
            str(value): figure(less[claimed == value]) for value in np.unique(claimed).tolist()
        }
        splits[name] = figure(less)
    return Overstated(claim.name, claim.text, splits, claims)
