"""A form for the rows of a task: the base class of all forms, and what they share."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import UsageError
from synthbench.tasks.base import LABEL, Block, Task, TextTask
from synthbench.tasks.tokens import packed

if TYPE_CHECKING:
    import pyarrow as pa

Batch = dict[str, NDArray[np.int32]]

#: The label of a place that is not asked.
NOT_ASKED = -100
#: The names of the ids that are no tokens of a task.
PADDING, MASK, SEPARATOR, END = "<pad>", "<mask>", "<separator>", "<end>"
START = "<start>"


class TokenForm(abc.ABC):
    """A form for the rows of one task: from a block to a batch, and from scores to answers.

    `read` takes from a block what batches need, in small types; `batch` makes a batch of some of
    its rows, and `questions` the same without the answers. `name` is the form's name.
    """

    name: ClassVar[str]
    #: The columns of a dataset that `read_columns` reads; `parse` may take others, too.
    columns: ClassVar[tuple[str, ...]] = ("text", LABEL)
    #: Whether a model predicts something at each position of `input_ids`.
    at_positions: ClassVar[bool] = False
    #: Whether the width of batches is that of `input_ids`, however long answers are.
    has_one_width: ClassVar[bool] = False
    #: The id of the mask at which an answer is read; None in a form without masks.
    mask_id: int | None = None
    #: The ids between a question and its answer, and behind the answer; None in other forms.
    separator_id: int | None = None
    end_id: int | None = None

    def __init__(self, task: TextTask) -> None:
        self.task = task

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.task,)

    @property
    def input_tokens(self) -> tuple[str, ...]:
        """The token of each id of `input_ids`, padding first: a model's vocabulary."""
        return (PADDING, *self.task.tokens)

    @property
    @abc.abstractmethod
    def output_tokens(self) -> tuple[str, ...]:
        """The class or token of each number in `labels`: what a model's scores stand for."""

    @property
    def answer_ids(self) -> tuple[int, ...]:
        """The numbers in `labels` that stand for a token of an answer, in order."""
        return tuple(range(len(self.output_tokens)))

    @property
    def padding(self) -> int:
        """The id that fills rows up."""
        return 0

    def read(self, block: Block) -> Block:
        """`tokens` `(rows, width)`, `answer`, perhaps `positions` and `answer_positions`."""
        task = self.task
        return self._read(task.input_ids(block), task.answer_ids(block), _positions(task, block))

    def read_columns(self, columns: Mapping[str, pa.Array]) -> Block:
        """`read` for rows as a dataset has them.

        Args:
            columns: Arrow arrays by name; `text` and `label` are needed, and what the task's
                `parse` takes if it has positions of its own.

        Raises:
            ValueError: a row that is not one of the task's.
        """
        task, positions = self.task, dict[str, NDArray[np.integer[Any]]]()
        if columns[LABEL].null_count:
            raise ValueError(f"{LABEL} has a null")
        if type(task).position_ids is not TextTask.position_ids:
            positions = _positions(task, task.parse(columns))
        tokens = task.vocabulary.encode(columns["text"])
        return self._read(tokens, task.answer.ids(columns[LABEL]), positions)

    def _read(
        self,
        tokens: NDArray[np.integer[Any]],
        answer: NDArray[np.integer[Any]],
        positions: Mapping[str, NDArray[np.integer[Any]]],
    ) -> Block:
        return Block({"tokens": tokens, "answer": self._as_targets(tokens, answer), **positions})

    def _as_targets(
        self, tokens: NDArray[np.integer[Any]], answer: NDArray[np.integer[Any]]
    ) -> NDArray[np.integer[Any]]:
        """The ids of `Column.ids` as this form needs them."""
        return answer

    @abc.abstractmethod
    def batch(self, read: Block) -> Batch:
        """`input_ids`, `attention_mask`, `labels`, and `position_ids` if there are any."""

    def questions(self, read: Block) -> Batch:
        """The batch without `labels`, and without anything else that gives an answer away."""
        return {name: array for name, array in self.batch(read).items() if name != "labels"}

    @abc.abstractmethod
    def answers(self, batch: Batch, predicted: NDArray[np.integer[Any]]) -> list[Any]:
        """Predictions as `Task.read_answer` takes them.

        Args:
            batch: the rows, as `batch` gives them.
            predicted: the class of each row `(rows,)` or token `(rows, width)`, the token at each
                position of `input_ids`, or the tokens after the question, depending on the form.
        """


def answer_tokens(task: Task) -> tuple[str, ...]:
    """The names of the classes, or the tokens of a sequence that can be asked."""
    return tuple(token for token in all_answer_tokens(task) if token != task.answer.ignored)


def all_answer_tokens(task: Task) -> tuple[str, ...]:
    """The names of the classes, or the tokens of a sequence."""
    vocabulary = task.answer.vocabulary
    return (task.labels or ()) if vocabulary is None else vocabulary.tokens


def _positions(task: TextTask, block: Block) -> dict[str, NDArray[np.integer[Any]]]:
    """`positions` and `answer_positions` of rows, if the task has any."""
    positions = task.position_ids(block)
    answer = None if positions is None else task.answer_positions(block)
    arrays = {"positions": positions, "answer_positions": answer}
    return {name: array for name, array in arrays.items() if array is not None}


def lengths_of(read: Block) -> NDArray[np.int64]:
    """The number of tokens of each row."""
    lengths: NDArray[np.int64] = np.count_nonzero(read["tokens"], axis=1)
    return lengths


def inputs_of(read: Block, ids: NDArray[np.integer[Any]], gap: int = 0) -> Batch:
    """`input_ids`, `attention_mask`, and `position_ids` if the task has them.

    Behind the question positions count on, unless the task has positions for answers; `gap` tokens
    before the answer, the separator of `causal-lm`, still have that of the question's last token.
    """
    ids = packed(ids)
    batch = {"input_ids": ids.astype(np.int32), "attention_mask": (ids > 0).astype(np.int32)}
    if "positions" in read.columns:
        positions = read["positions"][:, : ids.shape[1]].astype(np.int32)
        missing = ids.shape[1] - positions.shape[1]
        lengths = lengths_of(read)[:, None]
        last = np.take_along_axis(positions, lengths - 1, axis=1)
        places = np.arange(ids.shape[1]) - lengths
        behind = (last + 1 + places - gap).astype(np.int32)
        if "answer_positions" in read.columns:
            answer = np.pad(read["answer_positions"].astype(np.int32), [(0, 0), (0, 1)])
            place = np.minimum(places - gap, answer.shape[1] - 1)
            answer = np.take_along_axis(answer, np.maximum(place, 0), axis=1)
            behind = np.where(place < 0, last, answer)
        positions = np.pad(positions, [(0, 0), (0, missing)])
        batch["position_ids"] = np.where(places < 0, positions, behind)
    return batch


def as_ids(predicted: NDArray[Any], axes: int, form: TokenForm) -> NDArray[Any]:
    """Predictions of so many axes. Scores, which have one more, as the best of the last axis.

    Where a score is NaN, the id is -1, which no answer has.

    Raises:
        UsageError: any other array, or scores that leave out a class or token of an answer.
    """
    if predicted.ndim == axes + 1 and predicted.dtype.kind == "f":
        needed = 1 + max(form.answer_ids)
        if predicted.shape[-1] < needed:
            raise UsageError(
                f"Predictions of {form.name}: expected at least {needed} scores, one for each "
                f"number that labels may have. Got {predicted.shape[-1]}, in an array "
                f"{predicted.shape}."
            )
        # `argmax` would take the first NaN for the largest score.
        unknown = np.isnan(predicted).any(axis=-1)
        predicted = np.where(unknown, -1, predicted.argmax(axis=-1))
    if predicted.ndim != axes or predicted.dtype.kind not in "iu":
        raise UsageError(
            f"Predictions of {form.name}: expected whole numbers with {axes} axes, or scores with "
            f"one axis more. Got {predicted.dtype} {predicted.shape}."
        )
    return predicted


def named(ids: Sequence[int], tokens: Sequence[str]) -> list[str]:
    """The token of each id. An id that is none becomes an empty token, which no answer has."""
    return [tokens[token_id] if 0 <= token_id < len(tokens) else "" for token_id in ids]
