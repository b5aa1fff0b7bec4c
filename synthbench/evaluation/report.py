"""The report of an evaluation: as values, as JSON, as a table and as HTML."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

from synthbench.evaluation.scores import PLACE, Score, by_value, number, score_table
from synthbench.tasks.block import ACROSS
from synthbench.text.tables import Table, captioned, escaped, render

if TYPE_CHECKING:
    from rich.console import Group

#: How many ids of each problem `Report.to_dict` and the printed report name.
_IDS_IN_DICT, _IDS_IN_TEXT = 100, 3
#: The most places of a sequence, or pairs of values, that the printed table has.
_MOST_PLACES = 20


@dataclasses.dataclass(frozen=True, repr=False)
class Report(Score):
    """Scores of predictions, over all evaluated rows and over groups of rows. Prints as a table.

    Attributes:
        rows, asked, metrics, intervals: the score of all evaluated rows, as in `Score`.
        task: name of the task.
        variant: its variant.
        splits: the score of each evaluated split.
        by: for each breakdown's column, the score of the rows with each of its values, whatever
            their split. The values are class names for class labels, bands such as `"11..20"` for
            lengths, and otherwise as in the column. If the label is a sequence, `place` has the
            share of rows that are right at each place of the label, counted from 1.
        missing: ids without a prediction, which scored as wrong, or do not count if
            `answered_only`.
        unknown: ids with a prediction outside the evaluated splits.
        repeated: ids with more than one prediction, of which the first counted.
        unparsed: ids (`"row 7"`, counted from 0, for rows without) whose prediction could not
            be read as an answer and scored as wrong.
        too_long: ids, or `"row 7"`, of predicted sequences that have more tokens than the label.
            Each of these tokens counts as wrong.
        replies: the number of predictions that were read as replies of a language model.
        truncated: ids, or `"row 7"`, of replies that stopped at the limit of tokens, as far as
            their finish reasons are known. They have an answer only where it is marked.
        thoughts_unclosed: ids, or `"row 7"`, of replies that end within their thoughts, which
            leaves no answer.
        baselines: the scores that are possible without solving the task, by name.
        without_predictions: splits that were not evaluated, because no split was named and
            they lack predictions.
        answered_only: whether only the rows with a prediction count.
        parsed: the score of only the rows whose prediction could be read.
        parsed_as: how many of these were read as a value, as text that holds an answer, or as the
            argmax of scores.
        matched_by: `id`, or `order` if predictions without ids were taken in the order of rows.
        warning: if most predictions cannot be read, or are too long, an example and a remedy.
            Else None.
    """

    task: str
    variant: str
    splits: dict[str, Score]
    by: dict[str, dict[Any, Score]]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    repeated: tuple[str, ...]
    unparsed: tuple[str, ...]
    too_long: tuple[str, ...]
    replies: int
    truncated: tuple[str, ...]
    thoughts_unclosed: tuple[str, ...]
    baselines: dict[str, float]
    without_predictions: tuple[str, ...]
    answered_only: bool
    parsed: Score
    parsed_as: dict[str, int]
    matched_by: str = dataclasses.field(compare=False)
    warning: str | None

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values, with the first 100 ids of each kind of problem."""
        values = {"task": self.task, "variant": self.variant, **super().to_dict()}
        values["splits"] = by_value(self.splits)
        values["by"] = {column: by_value(scores) for column, scores in self.by.items()}
        values["replies"] = self.replies
        ended = {"truncated": self.truncated, "thoughts_unclosed": self.thoughts_unclosed}
        for problem, ids in {**self._problems(), **ended}.items():
            values[problem] = len(ids)
            values[f"{problem}_ids"] = list(ids[:_IDS_IN_DICT])
        values["answered_only"] = self.answered_only
        values["parsed"] = self.parsed.to_dict()
        values["parsed_as"] = dict(self.parsed_as)
        values["matched_by"] = self.matched_by
        values["warning"] = self.warning
        values["baselines"] = dict(self.baselines)
        values["without_predictions"] = list(self.without_predictions)
        return values

    def to_pandas(self) -> Any:
        """The scores as a `pandas.DataFrame`, a row for each split and each group of rows.

        Returns:
            Columns `by` (`split`, or a breakdown's column) and `value`, `rows`, `asked`, each
            metric, and for metrics with an interval its ends as `METRIC_low` and `METRIC_high`.
        """
        import pandas as pd

        table = []
        for title, scores in self._groups().items():
            for value, score in scores.items():
                line = {"by": title, "value": value, "rows": score.rows, "asked": score.asked}
                line.update(score.metrics)
                for name in self.intervals:
                    ends = score.intervals.get(name, (math.nan, math.nan))
                    line[f"{name}_low"], line[f"{name}_high"] = ends
                table.append(line)
        return pd.DataFrame(table)

    def __repr__(self) -> str:
        return render(self)

    def __rich__(self) -> Group:
        """The report in colours, as `rich.print` and the command line show it."""
        return captioned(f"{self.task}, {self.variant}", self._table(), self._notes())

    def _repr_html_(self) -> str:
        """The report as notebooks show it."""
        title = f"<p><b>{escaped(f'{self.task}, {self.variant}')}</b></p>"
        notes = "<br>".join(escaped(note) for note in self._notes())
        return "\n".join([title, self._table().html(), f"<p>{notes}</p>"])

    def _problems(self) -> dict[str, tuple[str, ...]]:
        kinds = ("missing", "unknown", "repeated", "unparsed", "too_long")
        return {kind: getattr(self, kind) for kind in kinds}

    def _groups(self) -> dict[str, dict[Any, Score]]:
        """The scores of splits, of all rows and of the answered rows, and of each breakdown."""
        splits: dict[Any, Score] = dict(self.splits)
        if len(splits) > 1:
            splits["all"] = self
        if self.parsed.rows < self.rows:
            splits["answered rows"] = self.parsed
        return {"split": splits, **self.by}

    def _counts(self) -> list[str]:
        """The columns of numbers of rows, by their attributes of `Score`."""
        if self.answered_only:
            return ["asked"]
        return ["rows", "asked"] if self.missing else ["rows"]

    def _table(self) -> Table:
        """The scores by split, then under a heading each the scores by breakdown."""
        shown = {
            title: scores
            for title, scores in self._groups().items()
            if not (title == PLACE or ACROSS in title) or len(scores) <= _MOST_PLACES
        }
        return score_table(self, shown, self._counts())

    def _notes(self) -> list[str]:
        """Baselines, how predictions were read, and their faults."""
        notes = [f"For comparison, {name}: {number(v)}" for name, v in self.baselines.items()]
        if self.parsed_as:
            counts = (f"{read_as} ({count:,})" for read_as, count in self.parsed_as.items())
            notes.append(f"Read as: {', '.join(counts)}")
        if self.matched_by == "order":
            notes.append("Predictions without ids: taken in the order of the rows.")
        if self.replies:
            notes.append(
                f"{self.replies:,} replies: {len(self.truncated):,} truncated, "
                f"{len(self.thoughts_unclosed):,} with unclosed thoughts"
            )
        meaning = {
            "missing": "no prediction, "
            + ("do not count" if self.answered_only else "scored as wrong"),
            "unknown": f"not in {', '.join(self.splits)}",
            "repeated": "the first prediction counts",
            "unparsed": "no answer, scored as wrong",
            "too_long": "more tokens than the label, each of which is wrong",
        }
        faults = {problem: ids for problem, ids in self._problems().items() if ids}
        for problem, ids in faults.items():
            named = ", ".join(f"{row_id!r:.40}" for row_id in ids[:_IDS_IN_TEXT])
            more = ", ..." if len(ids) > _IDS_IN_TEXT else ""
            title = problem.replace("_", " ")
            notes.append(f"{len(ids):,} {title} ({meaning[problem]}): {named}{more}")
        if not faults.keys() - {"too_long"}:
            notes.append("No prediction is missing, unknown, repeated or unreadable.")
        if self.without_predictions:
            named = ", ".join(self.without_predictions)
            notes.append(f"Not evaluated, because they have no predictions: {named}")
        return notes
