"""Rows and batches as tensors.

Rows are kept in the smallest types that hold them. A batch has what a model takes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from synthbench.tasks.form import NOT_ASKED


@dataclasses.dataclass(frozen=True)
class Rows:
    """Rows as tensors. The first axis of each counts them."""

    inputs: Tensor  # tokens or colours uint8, int16 or int32, pixels uint8, else float32
    #: tokens or cells of each row, int64 `(rows,)`; None if all rows have one shape
    lengths: Tensor | None
    #: classes int64 `(rows,)`, of each token or cell int16 or int32 `(rows, width)`, -100 where
    #: nothing is asked. Vectors float32 `(rows, dims)`. None if there is nothing to learn
    targets: Tensor | None
    #: the task's own positions of tokens, int32 `(rows, width)`; None: 0, 1, 2 and so on
    positions: Tensor | None = None

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def parts(self) -> tuple[Tensor | None, ...]:
        """All tensors."""
        return self.inputs, self.lengths, self.targets, self.positions

    def select(self, indices: Tensor | slice) -> Rows:
        """The rows at `indices`, int64 `(rows,)`, in this order, or a slice of them."""
        return Rows(*(None if part is None else part[indices] for part in self.parts))  # type: ignore[arg-type]

    def to(self, device: torch.device) -> Rows:
        """The same rows on a device."""
        return Rows(*(None if part is None else part.to(device) for part in self.parts))  # type: ignore[arg-type]


class Batch(NamedTuple):
    """The input of a model and its targets."""

    #: tokens or colours int64 `(rows, width)`, images float32 `(rows, 3, height, width)` in 0..1,
    #: vectors `(rows, dims)` or points `(rows, points, 2)` float32
    inputs: Tensor
    lengths: Tensor | None  # tokens or cells of each row, int64 `(rows,)`, or None
    #: classes int64 `(rows,)`, of each token or cell int64 `(rows, width)`, -100 where nothing is
    #: asked. Vectors float32 `(rows, dims)`. Empty if there is nothing to learn
    targets: Tensor
    positions: Tensor | None = None  # the task's own, int64 `(rows, width)`, or None

    def to(self, device: torch.device) -> Batch:
        """The batch on a device, copied from pinned memory without waiting for the copy."""
        if self.inputs.device.type == device.type:
            return self
        parts = (None if part is None else part.pin_memory() for part in self)
        return Batch(
            *(None if part is None else part.to(device, non_blocking=True) for part in parts)  # type: ignore[arg-type]
        )


def concatenate(parts: Sequence[Rows]) -> Rows:
    """The rows of all parts, in order, padded to the longest of all."""
    inputs, lengths, targets, positions = zip(*(part.parts for part in parts), strict=True)
    return Rows(_join(inputs), _join(lengths), _join(targets, NOT_ASKED), _join(positions))  # type: ignore[arg-type]


def _join(parts: Sequence[Tensor | None], fill: int = 0) -> Tensor | None:
    tensors = [part for part in parts if part is not None]
    if not tensors:
        return None
    if tensors[0].ndim == 2:
        widest = max(part.shape[1] for part in tensors)
        tensors = [
            torch.nn.functional.pad(part, (0, widest - part.shape[1]), value=fill)
            for part in tensors
        ]
    return torch.cat(tensors)
