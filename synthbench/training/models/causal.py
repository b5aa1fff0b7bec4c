"""Whether a model of tokens is causal, told by what it does."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch import nn

#: Tokens of the row that a model is tried on, if it takes so many; the last ones are changed.
_WIDTH, _CHANGED = 12, 4
#: How far parameters are moved, so that weights that begin with 0 count.
MOVED = 0.1
#: The difference of two scores, as a share of the largest, up to which they are equal.
_TOLERANCE = 1e-4


@torch.no_grad()
def sees_what_follows(model: nn.Module, vocabulary: int, width: int = _WIDTH) -> bool:
    """Whether the scores of a place change with the tokens behind it, or with their number.

    A module that says so itself, in its attribute `sees_what_follows`, is believed.

    Args:
        model: a model of tokens whose scores are `(rows, width, outputs)`.
        vocabulary: the number of ids, padding included.
        width: tokens of the longest row that the model has to take.
    """
    if any(getattr(one, "sees_what_follows", False) for one in model.modules()):
        return True
    parameters = list(model.parameters())
    device = parameters[0].device if parameters else torch.device("cpu")
    width = min(width, _WIDTH)
    kept = max(1, width - _CHANGED)
    places = torch.arange(width)
    row = 1 + places % (vocabulary - 1)
    other = torch.where(places < kept, row, 1 + row % (vocabulary - 1))
    ended = torch.where(places < places[1:, None], row, 0)  # after 1, 2, 3, ... tokens
    lengths = torch.tensor([width, width, *range(1, width)])
    inputs = torch.cat([row[None], other[None], ended]).to(device)
    was_training = model.training
    for far in (MOVED, 0.0):  # parameters that are moved may give scores that are no numbers
        with moved(parameters, far):
            scores = model.eval()(inputs, lengths.to(device)).scores
        if scores.isfinite().all():
            break
    model.train(was_training)
    whole, *others = scores.float()
    limit = max(_TOLERANCE, 4 * torch.finfo(scores.dtype).eps) * (1 + whole.abs().max())
    return not all(
        bool(((whole - one)[:alike].abs() <= limit).all())
        for one, alike in zip(others, (kept, *range(1, width)), strict=True)
    )


@contextlib.contextmanager
def moved(parameters: list[nn.Parameter], far: float) -> Iterator[None]:
    """Move all parameters a little, and back; no random state changes."""
    before = [one.clone() for one in parameters]
    draws = torch.Generator().manual_seed(0)
    for one in parameters:
        if one.is_floating_point() or one.is_complex():
            one.add_(torch.randn(one.shape, generator=draws).to(one), alpha=far)
    try:
        yield
    finally:
        for one, old in zip(parameters, before, strict=True):
            one.copy_(old)
