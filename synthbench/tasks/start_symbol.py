"""A start symbol before each row of any form, with a token of its own.

In `causal-lm`:

    input_ids  <start> [MAX 3    7    ]    <separator> 7 <end>
    labels     -100    -100 -100 -100 -100 -100        7 <end>
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.base import Block
from synthbench.tasks.form import NOT_ASKED, START, Batch, TokenForm

if TYPE_CHECKING:
    import pyarrow as pa


class StartSymbol(TokenForm):
    """Another form with a start symbol before each row.

    The symbol has the last id. Its label is -100, and its position, if there are any, is 0.

    Args:
        form: the form of the rows.
    """

    def __init__(self, form: TokenForm) -> None:
        super().__init__(form.task)
        self._form = form
        self.name, self.columns = form.name, form.columns  # type: ignore[misc]
        self.at_positions = form.at_positions  # type: ignore[misc]
        self.has_one_width = form.has_one_width  # type: ignore[misc]
        self.mask_id, self.separator_id, self.end_id = (
            form.mask_id,
            form.separator_id,
            form.end_id,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._form,)

    @property
    def input_tokens(self) -> tuple[str, ...]:
        return (*self._form.input_tokens, START)

    @property
    def output_tokens(self) -> tuple[str, ...]:
        """Those of the form. A language model also scores the start symbol."""
        tokens = self._form.output_tokens
        return self.input_tokens if tokens == self._form.input_tokens else tokens

    @property
    def answer_ids(self) -> tuple[int, ...]:
        return self._form.answer_ids

    def read(self, block: Block) -> Block:
        return self._form.read(block)

    def read_columns(self, columns: Mapping[str, pa.Array]) -> Block:
        return self._form.read_columns(columns)

    def batch(self, read: Block) -> Batch:
        return self._started(self._form.batch(read))

    def questions(self, read: Block) -> Batch:
        return self._started(self._form.questions(read))

    def answers(self, batch: Batch, predicted: NDArray[np.integer[Any]]) -> list[Any]:
        if self.at_positions and predicted.ndim > 1:
            predicted = predicted[:, 1:]
        plain = {name: array[:, 1:] if array.ndim > 1 else array for name, array in batch.items()}
        return self._form.answers(plain, predicted)

    def _started(self, batch: Batch) -> Batch:
        """A batch whose rows, padded on the right or on the left, begin with the symbol."""
        rows, first = np.arange(len(batch["input_ids"])), batch["attention_mask"].argmax(axis=1)
        symbol = {
            "input_ids": len(self._form.input_tokens),
            "attention_mask": 1,
            "labels": NOT_ASKED,
            "position_ids": 0,
        }
        started = {}
        for name, array in batch.items():
            if array.ndim > 1:
                array = np.pad(array, [(0, 0), (1, 0)])
                array[rows, first] = symbol[name]
            started[name] = array
        return started
