"""`check_layer`: nine questions about a layer before anything is trained."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping
from typing import Any

from torch import nn

from synthbench.checks import check_whole_number
from synthbench.errors import SynthbenchError
from synthbench.training.layer_checks import numbers, rows
from synthbench.training.layer_checks.answer import FAIL, Answer, LayerReport, reason
from synthbench.training.layer_checks.trial import Trial
from synthbench.training.models.foreign import ForeignMixer, make_foreign
from synthbench.training.models.made_with import name_of, with_width
from synthbench.training.models.references import load, short_name
from synthbench.training.options import Setting

#: The questions by name, in the order in which they are printed.
QUESTIONS: dict[str, Callable[[Trial], Answer]] = {
    "causal": rows.causal,
    "prefix": rows.prefix,
    "batch": rows.batch,
    "padding": rows.padding,
    "repeatable": rows.repeatable,
    "lengths": rows.lengths,
    "precision": numbers.precision,
    "gradients": numbers.gradients,
    "steps": numbers.steps,
}


def check_layer(
    layer: str | nn.Module | Callable[..., nn.Module],
    width: int = 64,
    length: int = 256,
    *,
    options: Mapping[str, Any] | None = None,
    device: str = "auto",
) -> LayerReport:
    """Ask nine questions about a layer at random parameters. Each takes about a second.

    A layer is causal unless it says otherwise: by `causal = False`, `is_causal = False`,
    `bidirectional = True` or `sees_what_follows = True`, or by `reads = ("lengths",)`.

    Args:
        layer: a reference such as `my_layer.py:Layer` or `torch.nn:GRU`, a class or function that
            makes the layer from the width, or a layer. `forward(states)` maps states
            `(rows, length, width)` to states of the same shape, or to a tuple that begins with
            them.
        width: size of a state.
        length: positions of the longest row.
        options: other arguments of the layer.
        device: "auto", "cpu", "cuda" or "cuda:N".

    Returns:
        The answers.

    Raises:
        UsageError: no such layer or device, or a size that is not allowed.
        SynthbenchError: a layer that cannot be made, or that runs at no length.

    Example:
        >>> from torch import nn
        >>> from synthbench.training import check_layer
        >>> report = check_layer(nn.GRU, width=16, length=32, options={"hidden_size": 16,
        ...     "batch_first": True})
        >>> report["causal"].verdict, [answer.question for answer in report.failed]
        ('pass', [])
    """
    check_whole_number("Width", width, least=1)
    check_whole_number("Length", length, least=1)
    setting = Setting(device, threads=1)
    if isinstance(layer, nn.Module):
        layer_type, name = type(layer), type(layer).__name__
        module = layer

        def make() -> ForeignMixer:
            return ForeignMixer(copy.deepcopy(module), layer_type)
    else:
        factory = load(layer) if isinstance(layer, str) else layer
        name = short_name(layer) if isinstance(layer, str) else name_of(factory)

        def make() -> ForeignMixer:
            built = make_foreign(with_width(factory, width), {}, options or {}, "width")
            return ForeignMixer(built, factory)

    return ask(make, name, width, length, setting)


def ask(
    make: Callable[[], ForeignMixer],
    name: str,
    width: int,
    length: int,
    setting: Setting,
    questions: Collection[str] = tuple(QUESTIONS),
) -> LayerReport:
    """Ask some of the questions, as `check_layer` does."""
    trial = Trial(make, width, length, setting)
    answers = []
    for question in questions:
        try:
            answers.append(QUESTIONS[question](trial))
        except SynthbenchError as error:
            answers.append(Answer(question, FAIL, reason(error)))
    with trial.built() as layer:
        parameters = sum(parameter.numel() for parameter in layer.parameters())
    return LayerReport(name, width, length, parameters, tuple(answers))
