"""Rows of texts as tokens for models, in four forms. Padding is 0. Labels that are not asked, -100.

    the row  [MAX 3 7 ]   with the label 7

    sequence-classification    input_ids  [MAX 3 7 ]
                               labels     7                       one class a row
    token-classification       input_ids  1    0    1             (the parity so far)
                               labels     1    1    0             the class of place i is of input i
    masked-lm                  input_ids  [MAX 3    7    ]    <mask>
                               labels     -100 -100 -100 -100 7   read at the masks, all at once
    causal-lm                  input_ids  [MAX 3    7    ]    <separator> 7 <end>
                               labels     -100 -100 -100 -100 -100        7 <end>

Names and conventions are those of Hugging Face: labels are not shifted, as the models of
Transformers shift them themselves, and cross-entropy leaves out -100.
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import UsageError, unknown_name
from synthbench.tasks.base import Block, Task, TextTask
from synthbench.tasks.form import (
    END,
    MASK,
    NOT_ASKED,
    PADDING,
    SEPARATOR,
    Batch,
    TokenForm,
    all_answer_tokens,
    answer_tokens,
    as_ids,
    inputs_of,
    lengths_of,
    named,
)
from synthbench.tasks.start_symbol import StartSymbol


class SequenceClassification(TokenForm):
    """A class for each row."""

    name = "sequence-classification"
    has_one_width = True

    @property
    def output_tokens(self) -> tuple[str, ...]:
        return self.task.labels or ()

    def batch(self, read: Block) -> Batch:
        return {**inputs_of(read, read["tokens"]), "labels": read["answer"].astype(np.int32)}

    def answers(self, batch: Batch, predicted: NDArray[np.integer[Any]]) -> list[Any]:
        return list(as_ids(predicted, 1, self).tolist())


class TokenClassification(TokenForm):
    """A class for each token; `labels[i]` is the class of the token `input_ids[i]`."""

    name = "token-classification"
    at_positions = has_one_width = True

    @functools.cached_property
    def output_tokens(self) -> tuple[str, ...]:
        return answer_tokens(self.task)

    def _as_targets(
        self, tokens: NDArray[np.integer[Any]], answer: NDArray[np.integer[Any]]
    ) -> NDArray[np.integer[Any]]:
        """As of other forms. A ValueError if a row has not as many labels as tokens."""
        labelled, lengths = np.count_nonzero(answer, axis=1), np.count_nonzero(tokens, axis=1)
        if wrong := np.flatnonzero(labelled != lengths).tolist():
            raise ValueError(
                f"{self.task.name}: token-classification needs a label for each token, but a row "
                f"has {labelled[wrong[0]]} for {lengths[wrong[0]]} tokens"
            )
        return answer[:, : tokens.shape[1]].astype(np.int16)

    def batch(self, read: Block) -> Batch:
        labels = np.full(read["tokens"].shape, NOT_ASKED, np.int32)
        is_asked = (read["answer"] > 0) & (read["answer"] <= len(self.output_tokens))
        width = read["answer"].shape[1]
        labels[:, :width][is_asked] = read["answer"][is_asked] - 1
        return {**inputs_of(read, read["tokens"]), "labels": labels}

    def answers(self, batch: Batch, predicted: NDArray[np.integer[Any]]) -> list[Any]:
        labels, tokens = batch["labels"], (*self.output_tokens, self.task.answer.ignored or "")
        predicted = as_ids(predicted, 2, self)[:, : labels.shape[1]]
        ids = np.full(labels.shape, -1)
        ids[:, : predicted.shape[1]] = predicted
        ids[labels == NOT_ASKED] = len(tokens) - 1
        rows = zip(ids.tolist(), np.count_nonzero(batch["input_ids"], axis=1), strict=True)
        return [named(row[:length], tokens) for row, length in rows]


class _LanguageModel(TokenForm):
    """The base of masked and causal language models: the answer as tokens of the input."""

    specials: ClassVar[tuple[str, ...]]

    @functools.cached_property
    def input_tokens(self) -> tuple[str, ...]:
        known = (*self.task.tokens, *all_answer_tokens(self.task))
        return (PADDING, *dict.fromkeys(known), *self.specials)

    @property
    def output_tokens(self) -> tuple[str, ...]:
        return self.input_tokens

    @functools.cached_property
    def answer_ids(self) -> tuple[int, ...]:
        """The ids of the tokens that an answer can have, in order."""
        return tuple(sorted(map(self.id_of, answer_tokens(self.task))))

    def id_of(self, token: str) -> int:
        """The id of a token."""
        return self.input_tokens.index(token)

    @functools.cached_property
    def _input_ids(self) -> NDArray[np.int32]:
        """The id as an input of each token of an answer, 0 for padding, `(1 + tokens,)`."""
        names = all_answer_tokens(self.task)
        return np.array([0, *map(self.id_of, names)], np.int32)

    def _as_targets(
        self, tokens: NDArray[np.integer[Any]], answer: NDArray[np.integer[Any]]
    ) -> NDArray[np.integer[Any]]:
        """The ids as inputs `(rows, width)`, padded with 0."""
        if answer.ndim == 1:  # classes, from 0
            answer = answer[:, None] + 1
        return self._input_ids.take(answer)

    def _place(self, read: Block, gap: int, extra: int) -> tuple[Batch, NDArray[np.bool_]]:
        """The question, `gap` places, the answer and `extra` places, and where the answer is."""
        tokens, answer = read["tokens"], read["answer"]
        room = np.zeros((len(tokens), gap + answer.shape[1] + extra), np.int32)
        inputs = np.hstack([tokens, room], dtype=np.int32)
        places, start = np.arange(inputs.shape[1]), lengths_of(read)[:, None] + gap
        counts = np.count_nonzero(answer, axis=1)[:, None]
        at_answer = (places >= start) & (places < start + counts)
        batch = inputs_of(read, inputs, gap)
        batch["attention_mask"] = (places < start + counts + extra).astype(np.int32)
        if "position_ids" in batch:
            batch["position_ids"] *= batch["attention_mask"]
        batch["labels"] = np.full(inputs.shape, NOT_ASKED, np.int32)
        batch["labels"][at_answer] = answer[answer > 0]
        if (ignored := self.task.answer.ignored) is not None:
            batch["labels"][batch["labels"] == self.id_of(ignored)] = NOT_ASKED
        return batch, at_answer

    def _answer(self, tokens: list[str]) -> Any:
        if self.task.answer.vocabulary is not None:
            return tokens
        return tokens[0] if len(tokens) == 1 else None


class MaskedLM(_LanguageModel):
    """The question, then as many mask tokens as the answer has. Read at these, all at once."""

    name = "masked-lm"
    at_positions = True
    specials = (MASK,)

    @functools.cached_property
    def mask_id(self) -> int:  # type: ignore[override]
        """The id of the mask."""
        return self.id_of(MASK)

    def batch(self, read: Block) -> Batch:
        batch, at_answer = self._place(read, gap=0, extra=0)
        batch["input_ids"][at_answer] = self.mask_id
        return batch

    def answers(self, batch: Batch, predicted: NDArray[np.integer[Any]]) -> list[Any]:
        """The answers that predicted tokens give. A UsageError if their shape is another."""
        predicted, at_answer = as_ids(predicted, 2, self), batch["input_ids"] == self.mask_id
        if predicted.shape != at_answer.shape:
            raise UsageError(
                f"Predictions of {self.name}: expected a token for every place of input_ids "
                f"{at_answer.shape}; got {predicted.shape}."
            )
        if (ignored := self.task.answer.ignored) is not None:
            predicted = np.where(batch["labels"] == NOT_ASKED, self.id_of(ignored), predicted)
        rows = zip(predicted, at_answer, strict=True)
        return [self._answer(named(row[there].tolist(), self.input_tokens)) for row, there in rows]


class CausalLM(_LanguageModel):
    """Question, separator, answer, end. The loss is on the answer and the end."""

    name = "causal-lm"
    specials = (SEPARATOR, END)

    @functools.cached_property
    def separator_id(self) -> int:  # type: ignore[override]
        """The id of the separator."""
        return self.id_of(SEPARATOR)

    @functools.cached_property
    def end_id(self) -> int:  # type: ignore[override]
        """The id of the end."""
        return self.id_of(END)

    @functools.cached_property
    def answer_ids(self) -> tuple[int, ...]:
        """The ids of the tokens that an answer can have, and of the end, in order."""
        return tuple(sorted((*super().answer_ids, self.end_id)))

    def batch(self, read: Block) -> Batch:
        batch, at_answer = self._place(read, gap=1, extra=1)
        rows, lengths = np.arange(len(at_answer)), lengths_of(read)
        ends = lengths + 1 + np.count_nonzero(at_answer, axis=1)
        batch["input_ids"][at_answer] = read["answer"][read["answer"] > 0]
        batch["input_ids"][rows, lengths] = self.separator_id
        batch["input_ids"][rows, ends] = batch["labels"][rows, ends] = self.end_id
        return batch

    def questions(self, read: Block) -> Batch:
        """Questions and separators, padded on the left, as generation needs them."""
        width = read["tokens"].shape[1] + 1
        whole = self.batch(read)
        source = np.arange(width) - (width - 1 - lengths_of(read))[:, None]
        there = source >= 0
        batch = {
            name: np.where(there, np.take_along_axis(array, np.maximum(source, 0), axis=1), 0)
            for name, array in whole.items()
            if name in ("input_ids", "position_ids")
        }
        return {**batch, "attention_mask": there.astype(np.int32)}

    def answers(self, batch: Batch, predicted: NDArray[np.integer[Any]]) -> list[Any]:
        rows = as_ids(predicted, 2, self).tolist()
        upto = [row[: row.index(self.end_id)] if self.end_id in row else row for row in rows]
        return [self._answer(named(row, self.input_tokens)) for row in upto]


#: The forms by name.
FORMS = {
    form.name: form for form in (SequenceClassification, TokenClassification, MaskedLM, CausalLM)
}


def form_of(task: Task, name: str | None = None, start: bool = False) -> TokenForm:
    """A form for a task's rows, by default the task's first, perhaps with a start symbol.

    Raises:
        UsageError: the task has no such form, or no form at all.

    Example:
        >>> from synthbench.tasks.forms import form_of
        >>> from synthbench.tasks.registry import task
        >>> form = form_of(task("parity"), "masked-lm")
        >>> form.input_tokens[-3:]
        ('10', '=', '<mask>')
    """
    text = check_text(task)
    if not text.forms:
        raise UsageError(
            f"Task {task.name!r}: its label is neither a class nor a sequence of tokens, so that "
            "its rows are no tokens for a model; `synthbench.stream` gives its columns."
        )
    if name is not None and name not in text.forms:
        raise unknown_name(f"form of {task.name}", name, text.forms)
    form = FORMS[name or text.forms[0]](text)
    return StartSymbol(form) if start else form


def check_text(task: Task) -> TextTask:
    """The task, if its rows are texts. A UsageError if they are not."""
    if isinstance(task, TextTask):
        return task
    raise UsageError(
        f"Task {task.name!r}: its rows are not texts, so that they are no tokens for a model; "
        f"`synthbench.stream` gives its columns ({', '.join(task.columns)})."
    )
