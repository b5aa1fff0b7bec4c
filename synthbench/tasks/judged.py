"""Verdicts on answers: how a task reads a prediction, and the metrics that it gets."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from synthbench.tasks.answer_check import CHECKED, passes
from synthbench.tasks.block import Breakdown
from synthbench.tasks.column import Column
from synthbench.tasks.features import LABEL, row_values


class Judged:
    """The part of a task that judges answers, each method with a default."""

    name: ClassVar[str]
    bucket_name: ClassVar[str]
    scored_columns: ClassVar[tuple[str, ...]]
    if TYPE_CHECKING:

        @property
        def columns(self) -> dict[str, Column]:
            """As in `Task`."""

        @property
        def answer(self) -> Column:
            """As in `Task`."""

    def read_answer(self, row: Mapping[str, Any], prediction: Any) -> Any:
        """The prediction as a value of the label's type, None if it cannot be read."""
        return self.answer.read(prediction, row.get(LABEL))

    @property
    def group_by(self) -> tuple[Breakdown, ...]:
        """Tables of the report: by bucket, and by `length` of sequences. An attribute will do."""
        names = [self.bucket_name, *(["length"] if self.answer.vocabulary is not None else [])]
        return tuple(Breakdown(name) for name in dict.fromkeys(names) if name in self.columns)

    def check(self, row: Mapping[str, Any], answer: Any) -> bool:
        """True if an answer is right. Defined by tasks whose questions have several right answers.

        The label is then any of these, and all scores come from `check`. By default, only the label
        is right.

        Args:
            row: the row as plain values; `label` may be missing.
            answer: the value that `read_answer` returned, never None.
                If it cannot be parsed, `check` returns False. It never raises and changes nothing.
        """
        return self.answer.measure(row[LABEL], answer)[self.answer.metrics[0]] == 1

    @functools.cached_property  # asked for three times with each answer
    def is_checked(self) -> bool:
        """True if the task defines `check`."""
        return type(self).check is not Judged.check

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics of one answer; `score` returns the first. A class attribute will do."""
        return CHECKED if self.is_checked else self.answer.metrics

    @property
    def binary_metrics(self) -> tuple[str, ...]:
        """The metrics that are 0 or 1 for each row, whose means get an interval."""
        return CHECKED if self.is_checked else self.answer.binary_metrics

    def measure(self, row: Mapping[str, Any], answer: Any) -> dict[str, float]:
        """The metrics of one answer, as `read_answer` returns it; None gets the worst values."""
        if self.is_checked:
            return {CHECKED[0]: float(passes(self, row, answer))}
        return self.answer.measure(row[LABEL], answer)

    def right_places(self, row: Mapping[str, Any], answer: Any) -> dict[int, bool]:
        """The verdict on each place of a sequence that counts, from 1. Empty for other labels."""
        return self.answer.right_places(row.get(LABEL), answer)

    def score(self, row: Mapping[str, Any], prediction: Any) -> float:
        """The first metric of one prediction. A prediction that cannot be read is wrong."""
        row = row_values(self._judging, row)
        return self.measure(row, self.read_answer(row, prediction))[self.metrics[0]]

    @functools.cached_property
    def _judging(self) -> dict[str, Column]:
        """The columns by which answers are judged."""
        columns = self.columns
        return {name: columns[name] for name in self.scored_columns or columns}
