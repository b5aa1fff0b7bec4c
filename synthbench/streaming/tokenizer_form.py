"""Rows as a tokenizer of Hugging Face splits them, for causal language models."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import UsageError
from synthbench.tasks.base import LABEL, Block, TextTask
from synthbench.tasks.form import NOT_ASKED, Batch
from synthbench.tasks.forms import CausalLM
from synthbench.tasks.tokens import pad


class TokenizerForm(CausalLM):
    """`causal-lm` by a tokenizer: the row's text and a newline, the answer, the end of text.

    What the tokenizer puts before a text, such as a token for its beginning, comes before the
    question. Batches are as wide as the longest row of a round.

    Args:
        task: the task.
        tokenizer: a tokenizer of Transformers, which has a token for the end of text.
        start: whether each row begins with the tokenizer's token for the beginning of a text,
            also if the tokenizer itself does not add the token.

    Raises:
        UsageError: the tokenizer lacks a token, or the task lacks answers.
    """

    def __init__(self, task: TextTask, tokenizer: Any, start: bool = False) -> None:
        super().__init__(task)
        if LABEL not in task.columns:
            raise UsageError(f"Task {task.name!r} has no column {LABEL!r} to answer with.")
        if getattr(tokenizer, "eos_token_id", None) is None:
            raise UsageError(
                f"tokenizer={type(tokenizer).__name__}: expected a tokenizer of Transformers with "
                "a token for the end of text (eos_token)."
            )
        if start and getattr(tokenizer, "bos_token_id", None) is None:
            raise UsageError(
                f"start=True, tokenizer={type(tokenizer).__name__}: this tokenizer has no token "
                "for the beginning of a text (bos_token). Set bos_token, or leave out start=True."
            )
        self._tokenizer, self._start = tokenizer, start

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.task, self._tokenizer, self._start)

    @functools.cached_property
    def input_tokens(self) -> tuple[str, ...]:
        """The tokenizer's tokens in the order of their ids."""
        return tuple(self._tokenizer.convert_ids_to_tokens(range(len(self._tokenizer))))

    def read(self, block: Block) -> Block:
        """`tokens` `(rows, width)` of question, answer and end, and where each of them begins."""
        columns = self.task.rendered(block)
        show = self.task.columns["text"].show
        texts = [f"{show(text)}\n" for text in columns["text"].to_pylist()]
        answers = [self.task.answer.format_answer(label) for label in columns[LABEL].to_pylist()]
        questions = [self._question(ids) for ids in self._tokenizer(texts)["input_ids"]]
        answered = self._tokenizer(answers, add_special_tokens=False)["input_ids"]
        end = [self._tokenizer.eos_token_id]
        whole = [
            [*question, *other, *end] for question, other in zip(questions, answered, strict=True)
        ]
        lengths = np.array([len(row) for row in whole], np.int32)
        ids = np.array([token for row in whole for token in row], np.int32)
        starts = np.array([len(question) for question in questions], np.int32)
        return Block({"tokens": pad(ids, lengths), "starts": starts, "lengths": lengths})

    def batch(self, read: Block) -> Batch:
        """`input_ids`, `attention_mask` and `labels`."""
        places, ends = np.arange(read["tokens"].shape[1]), read["lengths"][:, None]
        there, answer = places < ends, (places >= read["starts"][:, None]) & (places < ends)
        return {
            "input_ids": np.where(there, read["tokens"], np.int32(self.padding)),
            "attention_mask": there.astype(np.int32),
            "labels": np.where(answer, read["tokens"], NOT_ASKED).astype(np.int32),
        }

    def questions(self, read: Block) -> Batch:
        """Questions padded on the left, as generation needs them."""
        width = int(read["starts"].max())
        source = np.arange(width) - (width - read["starts"])[:, None]
        there = source >= 0
        ids = np.take_along_axis(read["tokens"], np.maximum(source, 0), axis=1)
        return {
            "input_ids": np.where(there, ids, self.padding).astype(np.int32),
            "attention_mask": there.astype(np.int32),
        }

    def answers(self, batch: Batch, predicted: NDArray[np.integer[Any]]) -> list[Any]:
        """The texts of the ids that follow the questions, each up to its end of text."""
        end = self._tokenizer.eos_token_id
        rows = [
            list(itertools.takewhile(lambda token: token != end, row)) for row in predicted.tolist()
        ]
        texts: list[str] = self._tokenizer.batch_decode(rows, skip_special_tokens=True)
        return texts

    def _question(self, ids: list[int]) -> list[int]:
        """The ids of a question without those that a tokenizer puts behind every text."""
        special = {self._tokenizer.eos_token_id, *getattr(self._tokenizer, "all_special_ids", ())}
        ids = list(itertools.dropwhile(special.__contains__, reversed(ids)))[::-1]
        if self._start and ids[:1] != [self._tokenizer.bos_token_id]:
            ids = [self._tokenizer.bos_token_id, *ids]
        return ids

    @property
    def padding(self) -> int:
        """The tokenizer's padding, or else its end of text."""
        padding = self._tokenizer.pad_token_id
        return int(self._tokenizer.eos_token_id if padding is None else padding)
