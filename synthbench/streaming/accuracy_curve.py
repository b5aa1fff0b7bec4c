"""`curve`: the accuracy of a model by difficulty, on fresh rows that are held out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from synthbench.checks import check_whole_number
from synthbench.errors import UsageError, unknown_name
from synthbench.evaluation.scores import Score, by_value, score_of, score_table, scores_by
from synthbench.sampling.blocks import KeyedRows
from synthbench.streaming.rounds import Rounds
from synthbench.streaming.token_batches import checked_device, chosen_form, placed
from synthbench.tasks.base import Breakdown, Task
from synthbench.tasks.form import TokenForm
from synthbench.tasks.numeric import to_array
from synthbench.tasks.registry import as_task
from synthbench.text.lines import short
from synthbench.text.tables import Table, render

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclasses.dataclass(frozen=True, repr=False)
class Curve(Score):
    """Scores on the rows of a stream, over all of them and by difficulty. Prints as a table.

    Attributes:
        rows, metrics, intervals: the score of all rows, as in `Score`.
        drawn: how many rows of the stream were drawn. Those that repeated were not asked again,
            so `rows` counts distinct rows.
        unparsed: to how many of these rows no answer could be read (scores that are NaN, or an id
            outside the tokens of answers). They count as wrong.
        title: task, variant, split and form.
        column: the column by which rows are grouped.
        by: the score of the rows with each value of that column.
    """

    drawn: int
    unparsed: int
    title: str
    column: str
    by: dict[Any, Score]

    def to_dict(self) -> dict[str, Any]:
        """The scores as JSON values."""
        counts = {"drawn": self.drawn, "unparsed": self.unparsed}
        by = by_value(self.by)
        return {**super().to_dict(), **counts, "column": self.column, "by": by}

    def __repr__(self) -> str:
        return render(self._table())

    def _table(self) -> Table:
        text = f"{self.rows:,} distinct rows were asked"
        if self.rows < self.drawn:
            text += f" of {self.drawn:,} drawn. No row was asked twice"
        notes = ["", f"{self.title}: {text}."]
        if self.unparsed:
            notes.append(
                f"{self.unparsed:,} of {self.rows:,} predictions cannot be read and count as wrong."
            )
        return score_table(self, {self.column or "rows": {**self.by, "all": self}}, notes=notes)


def curve(
    task: str | Task,
    predict: Callable[[dict[str, Any]], Any],
    *,
    by: str | None = None,
    rows: int = 1_000,
    split: str = "test",
    form: str | None = None,
    batch_size: int = 256,
    seed: int | None = None,
    tokenizer: PreTrainedTokenizerBase | None = None,
    device: str | None = None,
    start: bool = False,
) -> Curve:
    """The accuracy of a model on fresh held-out rows, by difficulty, with intervals.

    The rows are the first of `synthbench.tokens(task, split=split, seed=seed)`: endless, and
    held out from every training stream and training split. A row that repeats is not asked
    again.

    Args:
        task: a task, or the name of one with its defaults.
        predict: a function from a batch to predictions. The batch is a dict of `input_ids`,
            `attention_mask` and perhaps `position_ids`, as in `tokens` but without labels. It
            returns, as an array of any library: classes `(rows,)` for `sequence-classification`,
            classes `(rows, width)` for `token-classification`, the ids of tokens at every place
            `(rows, width)` for `masked-lm`, or scores with one more axis, whose largest counts.
            For `causal-lm` questions end with the separator and are padded on the left, and
            `predict` returns the ids that follow, `(rows, any)`. Ids behind the end token
            is left out.
        by: the column by which rows are grouped, such as `length`. Default: the column that the
            split is balanced over.
        rows: how many rows of the stream are drawn.
        split: name of the split.
        form: one of the task's forms. Default: the first.
        batch_size: the most rows of a batch.
        seed: of the draws. Default: the task's.
        tokenizer: a tokenizer of Transformers, as in `tokens`.
        device: where batches lie, as tensors of PyTorch. Default: NumPy arrays.
        start: whether rows have a start symbol, as in `tokens`.

    Returns:
        The scores, which print as a table.

    Raises:
        UsageError: a name that does not exist, a number that is not allowed, or predictions of
            another shape.

    Example:
        >>> import synthbench
        >>> always_third = lambda batch: batch["input_ids"][:, 2] - 1
        >>> score = synthbench.curve("parity", always_third, rows=10_000)
        >>> score.drawn, score.rows
        (10000, 1844)
        >>> round(score.accuracy, 2)
        0.52
    """
    task = as_task(task)
    rows = check_whole_number("Rows", rows, least=1)
    batch_size = check_whole_number("Batch size", batch_size, least=1)
    if by is not None and by not in task.columns:
        raise unknown_name(f"column of {task.name}", by, task.columns)
    if not isinstance(start, bool):
        raise UsageError(f"Start {short(start)}: allowed are True and False.")
    token_form, on = chosen_form(task, form, tokenizer, start), checked_device(device)
    rounds = Rounds(task, split, seed)
    distinct = _distinct(rounds, rows)
    columns = {name: array.to_pylist() for name, array in task.rendered(distinct.block).items()}
    records = _records(columns)
    answers = [
        task.read_answer(row, answer)
        for row, answer in zip(
            records, _answers(token_form, distinct, predict, batch_size, on), strict=True
        )
    ]
    values = np.array(
        [
            [measured[name] for name in task.metrics]
            for measured in map(task.measure, records, answers)
        ],
        np.float64,
    )
    column = by or (task.bucket_name if task.bucket_name in task.columns else "")
    widths = {
        breakdown.column: breakdown.width for breakdown in task.group_by if not breakdown.across
    }
    grouped, predicted = {}, np.ones(len(values), np.bool_)
    if column:
        breakdown = Breakdown(column, widths.get(column, 0))
        grouped = scores_by(task, breakdown, [columns[column]], values, predicted)
    score = score_of(task, values, predicted)
    title = f"{task.name}, {task.variant}, {split}, {token_form.name}"
    unparsed = sum(answer is None for answer in answers)
    return Curve(
        **vars(score), drawn=rows, unparsed=unparsed, title=title, column=column, by=grouped
    )


def _distinct(rounds: Rounds, count: int) -> KeyedRows:
    """The first rows of a stream, each at its first occurrence."""
    parts = [rounds.rows(number).take(part) for number, part in rounds.slices(0, count)]
    drawn = KeyedRows.concatenate(parts)
    _, first = np.unique(drawn.fingerprints, return_index=True)
    return drawn.take(np.sort(first))


def _records(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    cells = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in cells]


def _answers(
    form: TokenForm,
    rows: KeyedRows,
    predict: Callable[[dict[str, Any]], Any],
    batch_size: int,
    device: str | None,
) -> list[Any]:
    """The answers to all rows, as `Task.read_answer` takes them."""
    read, answers = form.read(rows.block), []
    for first in range(0, len(rows), batch_size):
        part = read.take(slice(first, first + batch_size))
        predicted = predict(placed(form.questions(part), device))
        answers += form.answers(form.batch(part), _predictions(predicted, len(part)))
    return answers


def _predictions(predicted: Any, rows: int) -> NDArray[Any]:
    """The result of `predict`, as an array of so many rows."""
    try:
        array = to_array(predicted)
    except (ValueError, TypeError, ArithmeticError, RuntimeError) as error:
        raise UsageError(f"predict returned {type(predicted).__name__}: {error}") from None
    if array.shape[:1] != (rows,):
        raise UsageError(f"predict returned an array {array.shape} for a batch of {rows} rows.")
    return array
