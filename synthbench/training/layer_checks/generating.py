"""A check that a model of tokens may generate: scores do not depend on later tokens."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from synthbench.training.layer_checks.looking_ahead import Change, change_by_later_inputs
from synthbench.training.models.moved import MOVED, moved

#: The size of later inputs that stands for padding. Any other size draws tokens.
_PADDING = 0
#: The share of a score that counts as rounding in any case.
_SHARE = 1e-4
#: By how far parameters move for a measure of rounding.
_ROUNDING = 1e-7


@torch.no_grad()
def sees_what_follows(model: nn.Module, vocabulary: int, width: int) -> str | None:
    """Find where scores change with later tokens, or with their number, if anywhere.

    A module that says so itself, in its attribute `sees_what_follows`, is believed.

    Args:
        model: a model of tokens whose scores are `(rows, width, outputs)`.
        vocabulary: the number of ids, padding included.
        width: tokens of the longest row.
    """
    if any(getattr(module, "sees_what_follows", False) for module in model.modules()):
        return "any position, as the model declares"
    parameters = list(model.parameters())
    device = parameters[0].device if parameters else torch.device("cpu")

    def draw(size: int, seed: int) -> Tensor:
        if size == _PADDING:
            return torch.zeros(1, width, dtype=torch.int64, device=device)
        numbers = torch.Generator().manual_seed(seed)
        return torch.randint(1, vocabulary, (1, width), generator=numbers).to(device)

    def run(tokens: Tensor) -> Tensor:
        state = torch.get_rng_state()
        scores: Tensor = model(tokens, (tokens != 0).sum(1)).scores
        torch.set_rng_state(state)  # a model may draw, the same at every call
        return scores.float()

    def run_rounded(tokens: Tensor) -> Tensor:
        with moved(parameters, _ROUNDING):
            return run(tokens)

    was_training = model.training
    model.eval()
    tokens = draw(1, 0)
    share = max(_SHARE, 4 * torch.finfo(model(tokens, (tokens != 0).sum(1)).scores.dtype).eps)
    description: str | None = None
    for shift in (MOVED, 0.0):  # parameters that are moved may give scores that are not finite
        with moved(parameters, shift):
            if shift and not run(tokens).isfinite().all():
                continue
            change = change_by_later_inputs(run, tokens, draw, (1, _PADDING), share, run_rounded)
        if isinstance(change, Change):
            description = str(change)
        break
    model.train(was_training)
    return description
