"""The columns of a table of predictions, and its entries by id or in the order of rows."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from synthbench.evaluation.chat_replies import running_text
from synthbench.evaluation.prediction_files import PredictionSource
from synthbench.evaluation.rows import ANSWERS, ID, PREDICTION, RIGHT_ANSWERS, SPLIT
from synthbench.tasks.numeric import read_whole_number
from synthbench.text.lines import one_line, short

#: How predictions were read, as reports call it.
VALUE, TEXT, SCORES, ONE_HOT = "value", "text", "argmax of scores", "one-hot"
EMPTY = " is empty: it holds no predictions."
#: The id of an entry of a table without ids.
NO_ID = object()
#: Names of columns that number the rows: those of pandas for an index that was saved, and others.
_POSITIONS = ("", "index", "idx", "row", "unnamed: 0", "__index_level_0__")
#: Names of columns of finish reasons.
FINISH_REASONS = ("finish_reason", "stop_reason")
#: Names of columns that seem to hold ids under another name than `ID`, such as `example_id`.
_LIKE_ID = re.compile(r"(.*[_\-. ])?(id|uid|uuid|guid|key|hash)|.*[a-z](Id|ID)", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Predictions:
    """Predictions, either by id or in the order of rows.

    Attributes:
        by_id: the (first) prediction of each id; None if in order.
        in_order: one prediction for each row; None if by id.
        repeated: the ids that have more than one prediction.
        read_as: `VALUE`, or `SCORES` or `ONE_HOT` if they are the classes of the largest numbers.
        shape: the shape of the array that they were given as, if it has several axes.
    """

    by_id: Mapping[str, Any] | None = None
    in_order: Sequence[Any] | None = None
    repeated: tuple[str, ...] = ()
    read_as: str = VALUE
    shape: tuple[int, ...] | None = None


class Entry(NamedTuple):
    """An entry of a table: the number of its line or row, and its cells.

    `name` is `NO_ID` in a table without ids; `split` and `position` are None where it lacks them.
    """

    number: int
    prediction: Any
    name: Any
    split: Any
    position: Any


class ChosenColumns(NamedTuple):
    """The names of the columns that are read of a table; None for a column that it lacks.

    Attributes:
        answers: the predictions.
        ids: the ids. Without them predictions are in the order of rows.
        split: the splits.
        positions: without ids, the numbers of the rows.
        reasons: the finish reasons of a model's replies. Predictions beside them are read as
            running text.
    """

    answers: str
    ids: str | None
    split: str | None
    positions: str | None
    reasons: str | None

    @property
    def names(self) -> list[str]:
        """The columns that there are."""
        return [name for name in self if name is not None]

    def entry(self, number: int, cells: Iterable[Any]) -> Entry:
        """The entry with these cells, in the order of `names`."""
        values = dict(zip(self.names, cells, strict=True))
        name = NO_ID if self.ids is None else values[self.ids]
        split = None if self.split is None else values[self.split]
        position = None if self.positions is None else values[self.positions]
        prediction = values[self.answers]
        if self.reasons is not None:
            prediction = running_text(prediction, values[self.reasons])
        return Entry(number, prediction, name, split, position)


def choose_columns(
    names: Sequence[str], origin: PredictionSource, number: int | None = None
) -> ChosenColumns:
    """The columns to read.

    Raises:
        SynthbenchError: of the origin's class, if a column is missing, ambiguous or repeated, or
            if ids seem to be in a column of another name.
    """
    answers = [PREDICTION] if PREDICTION in names else [name for name in ANSWERS if name in names]
    if not answers:
        raise origin.error(f": no {PREDICTION!r}; {_expected(names)}", number)
    if len(answers) > 1:
        both = " and ".join(map(repr, answers))
        raise origin.error(f": both {both}. Name one of them {PREDICTION!r}.", number)
    has_ids = ID in names
    if not has_ids and (like := [name for name in names if _LIKE_ID.fullmatch(str(name))]):
        text = f": no {ID!r}, but {like[0]!r}: name the column of ids {ID!r}, or leave it out."
        raise origin.error(text, number)
    positions = [] if has_ids else [name for name in names if str(name).lower() in _POSITIONS]
    columns = ChosenColumns(
        answers[0],
        ID if has_ids else None,
        SPLIT if SPLIT in names else None,
        positions[0] if positions else None,
        next((name for name in FINISH_REASONS if name in names), None),
    )
    for name in columns.names:
        if list(names).count(name) > 1:
            raise origin.error(f": {name!r} appears more than once.", number)
    return columns


def _expected(names: Sequence[str]) -> str:
    right = [name for name in RIGHT_ANSWERS if name in names]
    if right:
        return (
            f"{right[0]!r} is a name of right answers. If it holds predictions, name it "
            f"{PREDICTION!r}."
        )
    got = one_line(", ".join(map(str, names))) or "nothing"
    others = " or ".join(map(repr, ANSWERS))
    return f"expected {ID!r} and {PREDICTION!r} (or {others}), got {got}."


def names_predictions(names: Iterable[Any]) -> bool:
    """True if some name is that of a column of predictions."""
    return any(name in (PREDICTION, *ANSWERS) for name in names)


def collect(entries: Iterable[Entry], split: str | None, origin: PredictionSource) -> Predictions:
    """The predictions of a table, without those for other splits.

    Args:
        entries: all with ids, or all without.
        split: the split that is evaluated.
        origin: where they come from.

    Raises:
        SynthbenchError: of the origin's class, if this split lacks predictions, ids or
            splits are not text, or the order is unclear.
    """
    by_id: dict[str, Any] = {}
    in_order: list[Any] = []
    repeated: dict[str, None] = {}
    others: set[str] = set()
    for count, entry in enumerate(entries):
        _check_entry(entry, count, split, origin)
        if split is not None and entry.split is not None and entry.split != split:
            others.add(entry.split)
        elif entry.name is NO_ID and not by_id:
            in_order.append(entry.prediction)
        elif entry.name is NO_ID or in_order:
            raise origin.error(f": no {ID!r}, which other entries have.", entry.number)
        elif entry.name in by_id:
            repeated[entry.name] = None
        else:
            by_id[entry.name] = entry.prediction
    if in_order:
        return Predictions(in_order=in_order)
    if not by_id:
        named = one_line(", ".join(sorted(others)))
        text = f" has no predictions for split {split!r}. It has some for: {named}."
        raise origin.error(text if others else EMPTY)
    return Predictions(by_id=by_id, repeated=tuple(repeated))


def _check_entry(entry: Entry, count: int, split: str | None, origin: PredictionSource) -> None:
    """Check the cells of the entry that `count` entries precede."""
    number = entry.number
    if not (entry.name is NO_ID or isinstance(entry.name, str)):
        raise origin.error(f": id {short(entry.name)} is not text.", number)
    if not (entry.split is None or isinstance(entry.split, str)):
        raise origin.error(f": split {short(entry.split)} is not text.", number)
    if entry.name is NO_ID and entry.split is not None and split is None:
        text = f": a prediction for split {entry.split!r} without an id. Name the split to evaluate"
        raise origin.error(f"{text}, or give ids.", number)
    if entry.position is not None and read_whole_number(entry.position) != count:
        raise origin.error(
            f": the rows are numbered, but {short(entry.position)} is where {count} is expected. "
            f"Give predictions in the order of the rows, or ids in a column {ID!r}.",
            number,
        )
