"""Balance: how often each label, level, token and so on occurs in each split."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.auditing.tokens import lengths_of
from synthbench.auditing.variant import AuditedVariant, Sample, SplitScan


@dataclasses.dataclass(frozen=True)
class Distribution:
    """Frequencies of a property's values. A row has one value or several."""

    name: str  # of the property
    values: list[str]  # in ascending order
    counts: dict[str, list[int]]  # for each split, how often each value occurs
    every_row: bool  # False if only the rows that shortcuts are scored on were counted

    def share(self, split: str, value: int) -> float:
        """The share of a value, given by its index, among all values of a split."""
        return self.counts[split][value] / max(1, sum(self.counts[split]))

    def most_frequent(self, split: str) -> tuple[str, float]:
        """A split's most frequent value and its share. Ties go to the first value."""
        value = int(np.argmax(self.counts[split]))
        return self.values[value], self.share(split, value)

    def merged(self, most: int) -> Distribution:
        """The distribution with at most `most` values.

        Numbers are merged with their neighbours. Of values that are not numbers, the most frequent
        stay, and the rest become a single value.
        """
        values, counts = self.values, self.counts
        if len(values) <= most:
            return self
        if all(value.lstrip("-").isdigit() for value in values):
            step = -(-len(values) // most)
            groups = [
                list(range(first, min(first + step, len(values))))
                for first in range(0, len(values), step)
            ]
            names = [f"{values[group[0]]}–{values[group[-1]]}" for group in groups]
        else:
            totals = [sum(of_split) for of_split in zip(*counts.values(), strict=True)]
            order = sorted(range(len(values)), key=lambda value: (-totals[value], value))
            kept = sorted(order[: most - 1])
            groups = [*([value] for value in kept), order[most - 1 :]]
            names = [*(values[value] for value in kept), f"{len(values) - len(kept):,} others"]
        merged = {
            split: [sum(of_split[value] for value in group) for group in groups]
            for split, of_split in counts.items()
        }
        return dataclasses.replace(self, values=names, counts=merged)


def count_all(subject: AuditedVariant, scans: Mapping[str, SplitScan]) -> list[Distribution]:
    """Count the labels and levels of all rows."""
    distributions = []
    if all(len(scan.labels) for scan in scans.values()):
        labels = {name: scan.labels for name, scan in scans.items()}
        distributions.append(_distribution("label", labels, subject.label_text, every_row=True))
    levels = {name: scan.levels for name, scan in scans.items()}
    return [
        *distributions,
        _distribution(subject.levels.name, levels, subject.levels.label, every_row=True),
    ]


def count_sampled(subject: AuditedVariant, samples: Mapping[str, Sample]) -> list[Distribution]:
    """Count the tokens of samples, also of labels, and the properties that the task names."""
    looks, tokens, labels = dict(subject.spec.distributions), subject.tokens, subject.label_tokens
    if labels is not None:
        looks = {
            "number of a label's tokens": lambda rows: lengths_of(labels(rows)),
            "tokens of labels": lambda rows: labels(rows).flatten().to_pylist(),
            **looks,
        }
    if tokens is not None:
        looks = {
            "number of tokens": lambda rows: lengths_of(tokens(rows)),
            "tokens": lambda rows: tokens(rows).flatten().to_pylist(),
            **looks,
        }
    distributions = []
    for name, look in looks.items():
        seen = {split: np.asarray(look(sample.columns)) for split, sample in samples.items()}
        distributions.append(_distribution(name, seen, str, every_row=False))
    return distributions


def _distribution(
    name: str, values: Mapping[str, NDArray[Any]], label: Callable[[Any], str], every_row: bool
) -> Distribution:
    distinct = np.unique(np.concatenate(list(values.values())))
    return Distribution(
        name,
        [label(value) for value in distinct.tolist()],
        {
            split: np.bincount(
                np.searchsorted(distinct, split_values), minlength=len(distinct)
            ).tolist()
            for split, split_values in values.items()
        },
        every_row,
    )
