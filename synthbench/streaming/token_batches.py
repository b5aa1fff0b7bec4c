"""Batches of one task's rows as token ids, masks and labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from synthbench.checks import needs
from synthbench.errors import UsageError
from synthbench.sampling.blocks import KeyedRows
from synthbench.streaming.batches import Batches
from synthbench.streaming.tokenizer_form import TokenizerForm
from synthbench.tasks.base import Block, Task
from synthbench.tasks.form import Batch, TokenForm
from synthbench.tasks.forms import check_text, form_of


def placed(batch: Batch, device: str | None) -> dict[str, Any]:
    """A batch as tensors of int64 on a device; as it is if the device is None."""
    if device is None:
        return dict(batch)
    import torch  # late, as NumPy arrays need none of it

    tensors = {name: torch.from_numpy(one.astype(np.int64)) for name, one in batch.items()}
    return {name: one.to(device) for name, one in tensors.items()}


class FormView:
    """Shows rows in a form, as NumPy arrays or as tensors on a device."""

    compact = True

    def __init__(self, form: TokenForm, device: str | None) -> None:
        self.form, self._device = form, device

    def round(self, rows: KeyedRows) -> Block:
        """What batches need of a round."""
        return self.form.read(rows.block)

    def batch(self, block: Block) -> dict[str, Any]:
        """A batch in the form."""
        return placed(self.form.batch(block), self._device)


class TokenBatches(Batches[dict[str, Any]]):
    """Batches of `tokens`, with what a model for them needs to know.

    Attributes:
        form: name of the form.
        vocabulary_size: the number of ids that `input_ids` can have, padding included.
        outputs: the number of classes or tokens that a model scores.
        input_tokens: the token of each id of `input_ids`.
        output_tokens: the class or token of each number in `labels`.
    """

    _view: FormView

    @property
    def form(self) -> str:
        """The form's name."""
        return self._view.form.name

    @property
    def vocabulary_size(self) -> int:
        """The number of ids that `input_ids` can have, padding included."""
        return len(self.input_tokens)

    @property
    def padding(self) -> int:
        """The id that fills rows up."""
        return self._view.form.padding

    @property
    def outputs(self) -> int:
        """The number of classes or tokens that a model scores."""
        return len(self.output_tokens)

    @property
    def input_tokens(self) -> tuple[str, ...]:
        """The token of each id: padding, the task's tokens, then the form's special tokens."""
        return self._view.form.input_tokens

    @property
    def output_tokens(self) -> tuple[str, ...]:
        """The class or token of each number in `labels`."""
        return self._view.form.output_tokens


def chosen_form(task: Task, form: str | None, tokenizer: Any | None) -> TokenForm:
    """The form that is asked for; arguments as in `tokens`.

    Raises:
        UsageError: the task or the tokenizer has no such form.
    """
    if tokenizer is None:
        return form_of(task, form)
    if form not in (None, "causal-lm"):
        raise UsageError(f"Form {form!r}: with a tokenizer, allowed is 'causal-lm'.")
    return TokenizerForm(check_text(task), tokenizer)


def checked_device(device: Any) -> str | None:
    """A device of PyTorch as text, None if none is asked for.

    Raises:
        UsageError: PyTorch knows no such device.
        SynthbenchError: PyTorch is not installed.
    """
    if device is None:
        return None
    with needs("device=", "PyTorch", "train"):
        import torch
    try:
        return str(torch.empty(0, device=device).device)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise UsageError(f"Device {device!r}: {str(error).splitlines()[0]}") from None
