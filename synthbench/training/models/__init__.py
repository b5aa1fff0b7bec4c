"""The models by name, and how to build one for a task."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from synthbench.errors import ParameterError, UsageError, unknown_name

if TYPE_CHECKING:
    from torch import nn


@dataclasses.dataclass(frozen=True)
class Model:
    """An entry of `MODELS`.

    Attributes:
        form: what it reads: tokens, images, grids, vectors or points.
        place: its module and class in this package.
        switches: the options that make it this model.
    """

    form: str
    place: str
    switches: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def _encoder(**switches: Any) -> Model:
    return Model("tokens", "encoder.Encoder", switches)


def _with_halting(name: str, **switches: Any) -> dict[str, Model]:
    """An encoder, and the same with both forms of adaptive computation time."""
    return {
        name: _encoder(**switches),
        f"{name}-act": _encoder(**switches, halting="graves"),
        f"{name}-act-universal": _encoder(**switches, halting="universal"),
    }


def _reasoner(**switches: Any) -> Model:
    """The one-layer Transformer of Eureka, section A.12.

    Its program was not published. The paper takes its weight decay from Nanda et al. (2023); that
    it follows them further is our guess. Their model has weights of variance 1 / d_model, no
    biases in the attention and no LayerNorm, and so does this one.
    NormSoftmax takes the spread of the whole map, as section 5.2 says; the published program, which
    is for images, takes that of each query.
    """
    one_layer = {"num_layers": 1, "position": "learned", "begin_end": False}
    as_nanda = {"init": "normal", "embedding_init": "normal", "attention_bias": False}
    no_norm = {"attention_norm": False, "feedforward_norm": "none"}
    return _encoder(**one_layer, **as_nanda, **no_norm, **switches)


def _counting(**switches: Any) -> Model:
    return Model("grids", "counting.Counting", switches)


_GATE = {"copy_gate": True, "feedforward_norm": "tanh"}

MODELS: dict[str, Model] = {
    # NDR, tables 1-3; with halting, table 6.
    "lstm": Model("tokens", "recurrent.LSTM"),
    "bilstm": Model("tokens", "recurrent.LSTM", {"bidirectional": True}),
    "dnc": Model("tokens", "dnc.DNC"),
    **_with_halting("transformer", position="sinusoidal"),
    **_with_halting("transformer-relative", position="relative"),
    "transformer-relative-gate": _encoder(position="relative", **_GATE),
    "transformer-gated-position": _encoder(position="gated", **_GATE),
    **_with_halting("geometric", attention="geometric-l1"),
    "ndr": _encoder(attention="geometric", copy_gate=True),
    # Eureka: the reasoning task (A.12) and vision (table 1).
    "parity-softmax": _reasoner(),
    "parity-normsoftmax": _reasoner(attention="normsoftmax", spread="map"),
    "vit": Model("images", "vision.ViT"),
    "vit-normsoftmax": Model("images", "vision.ViT", {"normalisation": "normsoftmax-variance"}),
    "resnet": Model("images", "vision.ResNet"),
    # Counting, section IV.
    "counting": _counting(),
    "counting-standard": _counting(
        normalisation="softmax",
        norm_attention=True,
        norm_feedforward=True,
        d_ff=2048,
        dropout=0.1,
        residual=True,
    ),
    "counting-norm-attention": _counting(norm_attention=True),
    "counting-norm-feedforward": _counting(norm_feedforward=True),
    "identity": Model("vectors", "counting.Identity"),
    "identity-norm": Model("vectors", "counting.Identity", {"norm": True}),
    # DNAS, appendix E.
    "clusters-softmax": Model("points", "clusters.Clusters", {"normalisation": "softmax"}),
    "clusters-dnas": Model("points", "clusters.Clusters", {"normalisation": "doubly-normalised"}),
}


def build(name: str, form: str, sizes: Mapping[str, int], options: Mapping[str, Any]) -> nn.Module:
    """A model with fresh parameters, drawn from PyTorch's default generator.

    Args:
        name: a name in `MODELS`.
        form: the form of the task's rows: tokens, images, grids, vectors or points.
        sizes: sizes that follow from the task, such as `vocabulary` and `classes`.
        options: the model's sizes and switches; they override those of its name.

    Raises:
        UsageError: no model has this name, or it reads other rows.
        ParameterError: an option that it does not have, or a value that it refuses.

    Example:
        >>> from synthbench.training.models import build
        >>> model = build("ndr", "tokens", {"vocabulary": 15, "classes": 10}, {"d_model": 32})
        >>> type(model).__name__
        'Encoder'
    """
    if name not in MODELS:
        raise unknown_name("model", name, MODELS)
    model = MODELS[name]
    if model.form != form:
        raise UsageError(f"Model {name!r} reads {model.form}, but the rows here are {form}.")
    module, class_name = model.place.split(".")
    made = getattr(importlib.import_module(f"{__name__}.{module}"), class_name)
    chosen = {**model.switches, **options}
    signature = inspect.signature(made).parameters
    known = [one for one in signature if one not in sizes]
    for option, value in chosen.items():
        if option not in known:
            raise unknown_name(f"option of {name}", option, known)
        is_switch = isinstance(signature[option].default, bool)
        if is_switch != isinstance(value, bool):
            expected = "true or false" if is_switch else "neither true nor false"
            raise ParameterError(f"Option {option}={value!r} of {name}: expected {expected}.")
    try:
        built: nn.Module = made(**sizes, **chosen)
    except (ValueError, TypeError) as error:
        raise ParameterError(f"Model {name!r} with {chosen}: {error}") from error
    return built
