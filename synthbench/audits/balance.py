"""Balance: how often each label, level, operator and the like occurs in each split."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from synthbench.audits.census import Census
from synthbench.audits.sample import Sample
from synthbench.audits.subject import Subject
from synthbench.tasks.scrutiny import Columns, Values


@dataclasses.dataclass(frozen=True)
class Trait:
    """How often each value of something occurs.

    Attributes:
        name: what it is.
        values: the values, in order.
        counts: how often each occurs, by split; in rows, or in what rows have several of.
        every_row: whether all rows were counted, or only those that shortcuts are scored on.
    """

    name: str
    values: list[str]
    counts: dict[str, list[int]]
    every_row: bool

    def share(self, split: str, value: int) -> float:
        """The share of one of the values in a split."""
        return self.counts[split][value] / max(1, sum(self.counts[split]))

    def most_frequent(self, split: str) -> tuple[str, float]:
        """A split's most frequent value and its share, of equally frequent ones the first."""
        value = int(np.argmax(self.counts[split]))
        return self.values[value], self.share(split, value)


def weigh(
    subject: Subject, censuses: Mapping[str, Census], samples: Mapping[str, Sample]
) -> list[Trait]:
    """Count what there is to count: labels and levels, lengths and tokens, the task's own traits.

    Args:
        subject: what is audited.
        censuses: all rows of each split.
        samples: the rows of each split that are looked at closely.
    """
    levels, tokens = subject.levels, subject.tokens
    found = []
    if all(len(one.labels) for one in censuses.values()):
        labels = {name: one.labels for name, one in censuses.items()}
        found.append(_trait("label", labels, subject.label_text, every_row=True))
    of_levels = {name: one.levels for name, one in censuses.items()}
    found.append(_trait(levels.name, of_levels, levels.label, every_row=True))
    looks: dict[str, Callable[[Columns], Values]] = {}
    if tokens is not None:
        looks["number of tokens"] = lambda columns: pc.list_value_length(tokens(columns)).to_numpy()
        looks["tokens"] = lambda columns: tokens(columns).flatten().to_pylist()
    for name, look in {**looks, **subject.scrutiny.traits}.items():
        seen = {split: np.asarray(look(sample.columns)) for split, sample in samples.items()}
        found.append(_trait(name, seen, str, every_row=False))
    return found


def _trait(
    name: str, values: Mapping[str, NDArray[Any]], label: Callable[[Any], str], every_row: bool
) -> Trait:
    different = np.unique(np.concatenate(list(values.values())))
    return Trait(
        name,
        [label(value) for value in different.tolist()],
        {
            split: np.bincount(np.searchsorted(different, one), minlength=len(different)).tolist()
            for split, one in values.items()
        },
        every_row,
    )
