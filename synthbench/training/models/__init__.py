"""The models by name, and how to build one for a task.

A model of tokens is a backbone with the form's head, a mixer of states in our blocks with it
(`backbones.block`), or a whole model from elsewhere. Models of other rows are whole.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib.metadata
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from synthbench.errors import ParameterError, UsageError, unknown_name
from synthbench.training.models.references import digest, is_reference, load

if TYPE_CHECKING:
    from torch import nn

    from synthbench.training.forms.form import Form
    from synthbench.training.models.foreign import ForeignMixer

#: The group of entry points by which other packages register models.
ENTRY_POINTS = "synthbench.models"
#: Before the reference of a mixer that our blocks are put around.
LAYER = "layer "
_OURS = "synthbench.training."


@dataclasses.dataclass(frozen=True)
class Model:
    """An entry of `MODELS`.

    Attributes:
        reference: its class, as `package.module:Class` or `path/to/file.py:Class`.
        kind: `backbone`, `mixer`, `whole`, or `foreign` for a whole model of tokens from elsewhere.
        reads: its input: tokens, images, grids, vectors or points.
        switches: the options that make it this model.
    """

    reference: str
    kind: str = "backbone"
    reads: str = "tokens"
    switches: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def _backbone(reference: str, **switches: Any) -> Model:
    return Model(f"{_OURS}backbones.{reference}", switches=switches)


def _layer(reference: str, **switches: Any) -> Model:
    return Model(f"{_OURS}backbones.{reference}", "mixer", switches=switches)


def _whole(reference: str, reads: str, **switches: Any) -> Model:
    return Model(f"{_OURS}models.{reference}", "whole", reads, switches)


_encoder = functools.partial(_backbone, "encoder:Encoder")
_counting = functools.partial(_whole, "counting:Counting", "grids")


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
    biases in the attention and no LayerNorm, and so does this model.
    NormSoftmax takes the spread of the whole map, as section 5.2 says. The published program, which
    is for images, takes that of each query.
    """
    one_layer = {"num_layers": 1, "position": "learned", "begin_end": False}
    as_nanda = {"init": "normal", "embedding_init": "normal", "attention_bias": False}
    no_norm = {"attention_norm": False, "feedforward_norm": "none"}
    return _encoder(**one_layer, **as_nanda, **no_norm, **switches)


_GATE = {"copy_gate": True, "feedforward_norm": "tanh"}

MODELS: dict[str, Model] = {
    # NDR, tables 1-3. With halting, table 6.
    "lstm": _backbone("lstm:LSTM"),
    "bilstm": _backbone("lstm:LSTM", bidirectional=True),
    "dnc": _backbone("dnc:DNC"),
    **_with_halting("transformer", position="sinusoidal"),
    **_with_halting("transformer-relative", position="relative"),
    "transformer-relative-gate": _encoder(position="relative", **_GATE),
    "transformer-gated-position": _encoder(position="gated", **_GATE),
    **_with_halting("geometric", attention="geometric-l1"),
    "ndr": _encoder(attention="geometric", copy_gate=True),
    # Sequence layers by name. See the files of `backbones` for their papers.
    "elman": _layer("elman:Elman", order="bare", num_layers=1),
    "gru": _layer("gru:GRU", order="bare", num_layers=1),
    "causal-transformer": _backbone("transformer:Transformer"),
    "looped-transformer": _backbone("looped:LoopedTransformer"),
    "diagonal": _layer("diagonal:Diagonal"),
    "diagonal-signed": _layer("diagonal:Diagonal", eigenvalues="signed"),
    "deltanet": _layer("delta:Delta"),
    "deltanet-signed": _layer("delta:Delta", eigenvalues="signed"),
    "deltaproduct": _layer("delta:Delta", eigenvalues="signed", steps=2),
    "base-convolution": _backbone("convolution:BaseConvolutions"),
    "stack-rnn": _layer("stack:StackRNN", order="bare", num_layers=1),
    "tape-rnn": _layer("tape:TapeRNN", order="bare", num_layers=1),
    # Eureka: the reasoning task (A.12) and vision (table 1).
    "parity-softmax": _reasoner(),
    "parity-normsoftmax": _reasoner(attention="normsoftmax", spread="map"),
    "vit": _whole("vision:ViT", "images"),
    "vit-normsoftmax": _whole("vision:ViT", "images", normalisation="normsoftmax-variance"),
    "resnet": _whole("vision:ResNet", "images"),
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
    "identity": _whole("counting:IdentityNetwork", "vectors"),
    "identity-norm": _whole("counting:IdentityNetwork", "vectors", norm=True),
    # DNAS, appendix E.
    "clusters-softmax": _whole("clusters:AttentionSteps", "points", normalisation="softmax"),
    "clusters-dnas": _whole("clusters:AttentionSteps", "points", normalisation="doubly-normalised"),
    "clusters-hnas": _whole("clusters:AttentionSteps", "points", normalisation="hybrid"),
}


def find_model(name: str) -> Model:
    """The model of a name.

    Args:
        name: a name in `MODELS`; of an entry point `synthbench.models` of another package; a
            reference such as `my_model.py:Make` or `my_package.models:Make`, of a model that
            is called as `Make(vocabulary=, outputs=, **options)`; or `layer ` and the reference of
            a mixer of states.

    Raises:
        UsageError: no model has this name.
    """
    if name in MODELS:
        return MODELS[name]
    if name.startswith(LAYER):
        return Model(name.removeprefix(LAYER), "mixer")
    if is_reference(name):
        return Model(name, "foreign")
    registered = registered_models()
    if name in registered:
        return Model(registered[name], "foreign")
    raise unknown_name("model", name, [*MODELS, *registered])


def registered_models() -> dict[str, str]:
    """The references of models that other packages have registered, by name."""
    try:
        points = list(importlib.metadata.entry_points(group=ENTRY_POINTS))
    except Exception:  # one damaged file of any package fails the search of all packages
        points = []
        for package in importlib.metadata.distributions():
            with contextlib.suppress(Exception):
                points += package.entry_points.select(group=ENTRY_POINTS)
    return {point.name: point.value for point in points}


def code_of(name: str) -> str | None:
    """A digest of the code of a model from a file. None for any other model."""
    return digest(find_model(name).reference)


def build(name: str, form: Form, sizes: Mapping[str, int], options: Mapping[str, Any]) -> nn.Module:
    """A model with fresh parameters, drawn from PyTorch's default generator.

    Args:
        name: see `find_model`.
        form: the form of the task's rows.
        sizes: the sizes that follow from the task, as `Form.sizes` gives them.
        options: the model's sizes and switches. They override those of its name.

    Raises:
        UsageError: no model has this name, or it reads other rows.
        ParameterError: an option that it does not have, or a value that it refuses.
        SynthbenchError: a model from elsewhere that cannot be loaded or made.

    Example:
        >>> import synthbench
        >>> from synthbench.training.forms import form_of
        >>> from synthbench.training.models import build
        >>> sizes = {"vocabulary": 15, "outputs": 10}
        >>> model = build("ndr", form_of(synthbench.task("listops")), sizes, {"d_model": 32})
        >>> type(model.backbone).__name__, model.head.out_features
        ('Encoder', 10)
    """
    model = find_model(name)
    if model.reads != form.reads:
        raise UsageError(f"Model {name!r} reads {model.reads}, but the rows here are {form.reads}.")
    factory = load(model.reference)
    arguments = {**model.switches, **options}
    if model.kind == "whole":
        return _make(name, factory, sizes, arguments)
    if model.kind == "foreign":
        from synthbench.training.models.foreign import MODEL_ARGUMENTS, ForeignModel, make_foreign

        foreign = make_foreign(factory, sizes, arguments, MODEL_ARGUMENTS)
        return ForeignModel(foreign, form, factory)  # type: ignore[arg-type]
    from synthbench.training.backbones.heads import TokenModel

    one_hot = arguments.get("one_hot") is True
    if model.kind == "mixer":
        backbone = _in_blocks(name, model, factory, sizes, arguments)
    else:
        backbone = _make(name, factory, {"vocabulary": sizes["vocabulary"]}, arguments)
    # A model that reads one-hot vectors scores the tokens of answers alone, as in the program of
    # the Chomsky hierarchy.
    head = form.answer_head if one_hot else form.head  # type: ignore[attr-defined]
    return TokenModel(backbone, head)


def _in_blocks(
    name: str,
    model: Model,
    factory: Callable[..., nn.Module],
    sizes: Mapping[str, int],
    options: Mapping[str, Any],
) -> nn.Module:
    """Our blocks around a mixer. Each takes the options that its signature has."""
    from synthbench.training.backbones.block import Mixers

    mixer, others = _mixer(name, model, factory, sizes, options)
    vocabulary = {"vocabulary": sizes["vocabulary"]}
    return _make(name, functools.partial(Mixers, mixer=mixer), vocabulary, others)


def layer_alone(
    name: str, sizes: Mapping[str, int], options: Mapping[str, Any]
) -> tuple[Callable[[], ForeignMixer], int]:
    """A function that makes a layer from elsewhere without our blocks, and its width."""
    from synthbench.training.backbones.block import Mixers

    model = find_model(name)
    mixer, others = _mixer(name, model, load(model.reference), sizes, options)
    width = others.get("d_model", inspect.signature(Mixers).parameters["d_model"].default)
    return functools.partial(mixer, width), width


def _mixer(
    name: str,
    model: Model,
    factory: Callable[..., nn.Module],
    sizes: Mapping[str, int],
    options: Mapping[str, Any],
) -> tuple[Callable[..., Any], dict[str, Any]]:
    """A function that makes a mixer from its width, and the options that belong to our blocks."""
    from synthbench.training.backbones.block import Mixers
    from synthbench.training.models.foreign import ForeignMixer, make_foreign
    from synthbench.training.models.made_with import (
        parameters_of,
        takes_all,
        width_name,
        with_width,
    )

    named = width_name(factory)
    its = [parameter for parameter in parameters_of(factory) if parameter != named]
    ours = [
        parameter for parameter in parameters_of(Mixers) if parameter not in ("vocabulary", "mixer")
    ]
    for option in options:
        if option not in (*its, *ours) and not takes_all(factory):
            known = [parameter for parameter in (*its, *ours) if parameter not in sizes]
            raise unknown_name(f"option of {name}", option, known)
    own = {
        option: value for option, value in options.items() if option in its or option not in ours
    }
    others = {option: value for option, value in options.items() if option not in own}
    read = {name: size for name, size in sizes.items() if name in its}  # such as `mask_id`

    def mixer(width: int, **inputs: int) -> nn.Module:
        for size in (size for size in inputs if size not in its):
            raise ParameterError(
                f"Model {name!r} lacks {size}: its embeddings have the size of states, {width}."
            )
        if model.reference.startswith(_OURS):
            return _make(name, functools.partial(factory, width, **inputs), read, own)
        sized = functools.partial(with_width(factory, width), **inputs)
        return ForeignMixer(make_foreign(sized, read, own, "width"), factory)

    return mixer, others


def _make(
    name: str,
    factory: Callable[..., nn.Module],
    sizes: Mapping[str, int],
    options: Mapping[str, Any],
) -> nn.Module:
    """One of our models, its options checked."""
    signature = inspect.signature(factory).parameters
    known = [parameter for parameter in signature if parameter not in (*sizes, "mixer")]
    arguments = dict(options)
    for option, value in options.items():
        if option not in known:
            raise unknown_name(f"option of {name}", option, known)
        if value is None and isinstance(signature[option].default, str):
            arguments[option] = "none"  # `position=none` on the command line is read as nothing
        is_switch = isinstance(signature[option].default, bool)
        if is_switch != isinstance(value, bool):
            expected = "true or false" if is_switch else "neither true nor false"
            raise ParameterError(f"Option {option}={value!r} of {name}: expected {expected}.")
    try:
        return factory(**sizes, **arguments)
    except (ValueError, TypeError) as error:
        raise ParameterError(f"Model {name!r} with {arguments}: {error}") from error
