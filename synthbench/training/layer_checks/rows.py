"""Questions about a row: what its outputs depend on, and which rows a layer takes."""

from __future__ import annotations

import dataclasses
import functools
import itertools

import torch
from torch import Tensor

from synthbench.errors import SynthbenchError
from synthbench.training.layer_checks.answer import FAIL, NOT_APPLICABLE, PASS, Answer, reason
from synthbench.training.layer_checks.looking_ahead import (
    Change,
    Unchanged,
    change_by_later_inputs,
    cuts,
)
from synthbench.training.layer_checks.rounding import Yardstick, percent, rounded
from synthbench.training.layer_checks.trial import Trial

#: The share of an output by which it may differ where a row has another shape or company.
_OTHER_SHAPE = 1e-4
#: The same where the very same row is asked again.
_REPEATED = 1e-5
#: The number of rows in a batch, and the place of the row that is compared.
_ROWS, _PLACE = 4, 1


def causal(trial: Trial) -> Answer:
    """Early outputs when later inputs are drawn anew, at three sizes."""
    if trial.not_causal:
        return Answer("causal", NOT_APPLICABLE, f"the layer looks ahead: {trial.not_causal}")
    if trial.length < 2:
        return Answer("causal", NOT_APPLICABLE, "a single position lacks later inputs")
    results = [
        change_by_later_inputs(
            functools.partial(trial.run, shift=shift),
            trial.draw(trial.length),
            lambda size, cut: size * trial.draw(trial.length, seed=cut + size),
        )
        for shift in trial.shifts
    ]
    changes = [result for result in results if isinstance(result, Change)]
    if changes:
        worst = max(changes, key=lambda change: change.share)
        seen = f"outputs change by {percent(worst.share)} with later inputs"
        return Answer("causal", FAIL, f"{seen} {worst.size} times as large", str(worst))
    unchanged = [result for result in results if isinstance(result, Unchanged)]
    if any(result.is_noisy for result in unchanged):
        return Answer("causal", NOT_APPLICABLE, "equal calls with equal seeds differ")
    largest = max(result.largest for result in unchanged)
    return Answer("causal", PASS, f"later inputs change outputs by at most {percent(largest)}")


def prefix(trial: Trial) -> Answer:
    """The output of a prefix alone against the prefix of the output."""
    if trial.not_causal:
        return Answer("prefix", NOT_APPLICABLE, f"the layer looks ahead: {trial.not_causal}")
    states = trial.draw(trial.length)
    others = [Other(f"prefix of {cut}", cut, states[:, :cut], None) for cut in cuts(trial.length)]
    return _compared(trial, "prefix", others, "prefixes")


def batch(trial: Trial) -> Answer:
    """A row alone and beside others."""
    others = []
    for size in (1, 10):
        states = size * trial.draw(trial.length, seed=size, rows=_ROWS)
        states[_PLACE] = trial.draw(trial.length)[0]
        others.append(
            Other(f"beside rows {size} times as large", trial.length, states, None, place=_PLACE)
        )
    return _compared(trial, "batch", others, "other rows")


def padding(trial: Trial) -> Answer:
    """A row alone and with padding on its right: zeros, and other states."""
    others = []
    for cut in cuts(trial.length):
        for size, name in ((0, "zeros"), (1, "states")):
            states = size * trial.draw(trial.length, seed=cut)
            states[:, :cut] = trial.draw(trial.length)[:, :cut]
            lengths = torch.full((1,), cut, device=states.device)
            name = f"{trial.length - cut} {name} behind {cut} positions"
            others.append(Other(name, cut, states, lengths, is_alone=True))
    return _compared(trial, "padding", others, "padding")


@dataclasses.dataclass(frozen=True)
class Other:
    """A call whose first outputs should be those of a row.

    Attributes:
        name: the difference to the row.
        kept: the number of positions to compare.
        states: the states of the call.
        lengths: the lengths of its rows; None if they are not padded.
        place: the row of the batch that is compared.
        is_alone: whether to compare with the first positions alone, not with the whole row.
    """

    name: str
    kept: int
    states: Tensor
    lengths: Tensor | None
    place: int = 0
    is_alone: bool = False

    def compared(self, trial: Trial, shift: float) -> tuple[Yardstick, Tensor]:
        """The row's outputs and those of the call, `(1, kept, width)`."""
        row = trial.draw(trial.length)
        states = row[:, : self.kept] if self.is_alone else row

        def run(inputs: Tensor, seed: int = 0) -> Tensor:
            return trial.run(inputs, shift=shift, seed=seed)[:, : self.kept]

        def run_other(inputs: Tensor) -> Tensor:
            output = trial.run(inputs, self.lengths, shift)
            return output[self.place : self.place + 1, : self.kept]

        alone, output = run(states), run_other(self.states)
        yardstick = Yardstick(
            alone,
            _OTHER_SHAPE,
            lambda: [
                (run(rounded(states)), alone),
                (run_other(rounded(self.states)), output),
            ],
            # Draws depend on the shape of a batch, so the noise is that of other seeds.
            lambda number: run(states, number + 1),
        )
        return yardstick, output


def _compared(trial: Trial, question: str, others: list[Other], what: str) -> Answer:
    """Compare a row's output with those of other calls; `what` may change outputs."""
    differences: list[tuple[float, str]] = []
    largest, is_noisy, raised = 0.0, False, list[str]()
    for other, shift in itertools.product(others, trial.shifts):
        try:
            yardstick, output = other.compared(trial, shift)
        except SynthbenchError as error:
            raised.append(f"{other.name}: {reason(error)}")
            continue
        largest = max(largest, yardstick.largest(output))
        if (worst := yardstick.worst(output)) is not None:
            differences.append((worst[0], f"position {worst[1]}, {other.name}"))
        is_noisy |= yardstick.is_noisy
    if differences:
        share, where = max(differences)
        return Answer(question, FAIL, f"outputs differ by {percent(share)}", where)
    if len(raised) == len(others) * len(trial.shifts):
        seen = raised[0] if raised else "a single position lacks parts"
        return Answer(question, NOT_APPLICABLE, seen)
    if is_noisy:
        return Answer(question, NOT_APPLICABLE, "hidden by random draws in evaluation")
    return Answer(question, PASS, f"{what} change outputs by at most {percent(largest)}")


@torch.no_grad()
def repeatable(trial: Trial) -> Answer:
    """The same row twice in evaluation, with another row between."""
    states, other = trial.draw(trial.length), 3 * trial.draw(trial.length, seed=1)
    with trial.built() as layer:
        first = trial.call(layer, states)
        trial.call(layer, other)
        again = trial.call(layer, states)
    yardstick = Yardstick(first, _REPEATED)
    if (worst := yardstick.worst(again)) is None:
        seen = f"outputs differ by at most {percent(yardstick.largest(again))}"
        return Answer("repeatable", PASS, seen)
    reseeded = yardstick.worst(trial.run(states, seed=1)) is not None
    cause = "it draws at random" if reseeded else "an earlier call leaves a state"
    seen = f"outputs of the same row differ by {percent(worst[0])}: {cause}"
    return Answer("repeatable", FAIL, seen, f"position {worst[1]}")


def lengths(trial: Trial) -> Answer:
    """Rows of many lengths: an output of the right shape, of finite numbers."""
    errors = trial.errors
    works = ", ".join(str(length) for length in trial.lengths if length not in errors)
    if not errors:
        return Answer("lengths", PASS, f"works at {works}")
    where = f"lengths {', '.join(map(str, sorted(errors)))}"
    return Answer("lengths", FAIL, f"works at {works}; {errors[min(errors)]}", where)
