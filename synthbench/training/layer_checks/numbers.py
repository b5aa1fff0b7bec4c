"""Questions about numbers: precision, gradients, and the step form."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor

from synthbench.errors import SynthbenchError
from synthbench.training.layer_checks.answer import FAIL, NOT_APPLICABLE, PASS, Answer, reason
from synthbench.training.layer_checks.rounding import Yardstick, percent
from synthbench.training.layer_checks.trial import Trial
from synthbench.training.models.foreign import naming

#: The share of an output, in norm over 32 positions, by which bfloat16 may be off.
_OFF = 0.1
#: Positions over which the error of bfloat16 is taken.
_SPAN = 32
#: The share of an output by which the step form may differ, or of the largest output where an
#: output is close to 0.
_STEPPED = 1e-3
#: The most parameters that are named.
_MOST_NAMED = 3


@torch.no_grad()
def precision(trial: Trial) -> Answer:
    """Outputs under bfloat16's autocast, as the trainer computes, against those in float32."""
    states = trial.draw(trial.length)
    whole = trial.run(states)
    try:
        with torch.autocast(trial.setting.device.type, torch.bfloat16):
            half = trial.run(states)
    except SynthbenchError as error:
        return Answer("precision", FAIL, f"raises in bfloat16: {reason(error)}")
    if not half.isfinite().all():
        place = int((~half.isfinite()).any(2).any(0).int().argmax())
        return Answer("precision", FAIL, "not finite in bfloat16", f"from position {place} on")
    errors = [
        float((other - part).norm() / part.norm().clamp(min=1e-30))
        for part, other in zip(
            torch.split(whole, _SPAN, 1), torch.split(half, _SPAN, 1), strict=True
        )
    ]
    worst = max(errors)
    seen = f"bfloat16 is off by at most {percent(worst)}"
    if worst <= _OFF:
        return Answer("precision", PASS, seen)
    first = next(number for number, error in enumerate(errors) if error > _OFF)
    return Answer("precision", FAIL, seen, f"from position {first * _SPAN} on")


def gradients(trial: Trial) -> Answer:
    """Gradients of a random linear function of the outputs: finite, and one for each parameter.

    A parameter fails only without a gradient also when all parameters have moved, since a gate
    that begins with 0 blocks gradients at first.
    """
    lacking: set[str] | None = None
    counted = 0
    for shift in trial.shifts:
        try:
            states, by_name = _gradients(trial, shift)
        except SynthbenchError as error:
            if shift:  # a moved parameter may make a gradient impossible
                continue
            return Answer("gradients", FAIL, reason(error))
        if shift == 0:
            wrong = [name for name, gradient in by_name.items() if not _is_finite(gradient)]
            if wrong or not _is_finite(states):
                names = _named(wrong) if wrong else "the inputs"
                return Answer("gradients", FAIL, "gradients are not finite", names)
        counted = len(by_name)
        without = {name for name, gradient in by_name.items() if _is_zero(gradient)}
        if _is_zero(states):
            without.add("the inputs")
        lacking = without if lacking is None else lacking & without
    if lacking:
        seen = f"{len(lacking)} of {counted} parameters get no gradient"
        return Answer("gradients", FAIL, seen, _named(sorted(lacking)))
    return Answer("gradients", PASS, f"finite, for all of {counted} parameters")


def _gradients(trial: Trial, shift: float) -> tuple[Tensor | None, dict[str, Tensor | None]]:
    """The gradients of inputs and parameters in training mode."""
    states = trial.draw(trial.length, rows=2).requires_grad_()
    with trial.built(shift) as layer, torch.enable_grad():
        layer.train()
        output = trial.call(layer, states)
        with naming("backward", layer.line):
            (output * torch.randn_like(output)).sum().backward()  # type: ignore[no-untyped-call]
        named = layer.layer.named_parameters()
        return states.grad, {
            name: parameter.grad for name, parameter in named if parameter.requires_grad
        }


def _is_finite(gradient: Tensor | None) -> bool:
    if gradient is None:
        return True
    values = gradient.coalesce().values() if gradient.is_sparse else gradient
    return bool(values.isfinite().all())


def _is_zero(gradient: Tensor | None) -> bool:
    if gradient is None:
        return True
    values = gradient.coalesce().values() if gradient.is_sparse else gradient
    return not values.any()


def _named(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"


@torch.no_grad()
def steps(trial: Trial) -> Answer:
    """The step form, position by position, against the whole row.

    A layer names a step form by a method `step(states, memory)`: states `(rows, 1, width)`, and a
    memory that is None at first. It gives the output of this shape and the next memory.
    """
    states = trial.draw(trial.length, rows=2)
    with trial.built() as layer:
        step: Any = getattr(layer.layer, "step", None)
        if not callable(step):
            return Answer("steps", NOT_APPLICABLE, "the layer lacks step(states, memory)")
        outputs, memory = [], None
        for place, state in enumerate(torch.split(states, 1, 1)):
            what = f"step of {type(layer.layer).__name__} at position {place}"
            try:
                inspect.signature(step).bind(state, memory)
                with naming(what, layer.line):
                    output, memory = step(state, memory)
                if not isinstance(output, Tensor) or output.shape != state.shape:
                    raise TypeError("another shape")
            except (SynthbenchError, TypeError, ValueError) as error:
                seen = f"step(states, memory) fails: {error}"
                # A method of this name may be called in another way.
                return Answer("steps", FAIL if place else NOT_APPLICABLE, seen)
            outputs.append(output.float())
    whole = Yardstick(trial.run(states), _STEPPED)
    whole.limit = whole.limit + _STEPPED * 0.1 * whole.scale.max()
    stepped = torch.cat(outputs, 1)
    if (worst := whole.worst(stepped)) is not None:
        seen = f"steps differ from the whole row by {percent(worst[0])}"
        return Answer("steps", FAIL, seen, f"position {worst[1]}")
    return Answer("steps", PASS, f"steps differ by at most {percent(whole.largest(stepped))}")
