"""Making layers and models from elsewhere: their width, and advice on those that do not fit."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from synthbench.errors import SynthbenchError
from synthbench.training.models.blame import line_of

#: Names of the argument that is the width of a state, in the order in which they are looked for.
_WIDTHS = (
    "width", "d_model", "dim", "embed_dim", "embedding_dim", "emb_dim", "model_dim", "dim_model",
    "hidden_size", "hidden_dim", "input_size", "input_dim", "in_features", "n_embd", "d_embed",
    "n_embed", "embed_size", "features", "channels",
)  # fmt: skip
_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_ABSENT = inspect.Parameter.empty


def signature_of(factory: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """The parameters of a class or function.

    Raises:
        SynthbenchError: it does not report them, as functions written in C.
    """
    try:
        return inspect.signature(factory).parameters
    except (ValueError, TypeError):
        raise SynthbenchError(
            f"{line_of(factory, '')}{name_of(factory)} does not report its arguments. "
            f"{function_for(factory)}"
        ) from None


def parameters_of(factory: Callable[..., Any]) -> list[str]:
    """The names of the arguments of a class or function, without `*args` and `**options`."""
    return [
        name for name, parameter in signature_of(factory).items() if parameter.kind not in _VARIABLE
    ]


def takes_all(factory: Callable[..., Any]) -> bool:
    """True if a class or function takes any option."""
    return any(
        parameter.kind is inspect.Parameter.VAR_KEYWORD
        for parameter in signature_of(factory).values()
    )


def width_name(factory: Callable[..., Any]) -> str | None:
    """The argument of a layer that is the width of a state; None for the first of `*args`.

    This is the first argument by position if it lacks a default and no other argument is called as
    widths are. Otherwise it is the argument that is called so, such as `*, dim` or `d_model`, or
    the only argument by keyword without a default.

    Raises:
        SynthbenchError: the layer lacks such an argument.
    """
    arguments = {
        n: parameter
        for n, parameter in signature_of(factory).items()
        if parameter.kind not in _VARIABLE
    }
    required = [name for name, parameter in arguments.items() if parameter.default is _ABSENT]
    placed = [
        n
        for n, parameter in arguments.items()
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY
    ]
    first = placed[:1]
    if first and first[0] in required and first[0] in _WIDTHS:
        return first[0]
    for names in (required, () if first and first[0] in required else arguments):
        if known := [name for name in _WIDTHS if name in names]:
            return known[0]
    variable = {parameter.kind for parameter in signature_of(factory).values()}
    if first or inspect.Parameter.VAR_POSITIONAL in variable:
        return first[0] if first else None
    if len(required) == 1:
        return required[0]
    raise SynthbenchError(
        f"{line_of(factory, '')}{name_of(factory)} takes no width: its first argument must be the "
        f"width of a state, as in __init__(self, width). {function_for(factory)}"
    )


def with_width(factory: Callable[..., Any], width: int) -> Callable[..., Any]:
    """The layer's class or function with the width of a state given."""
    name = width_name(factory)
    if name is None or signature_of(factory)[name].kind is inspect.Parameter.POSITIONAL_ONLY:
        return functools.partial(factory, width)
    return functools.partial(factory, **{name: width})


def original_of(factory: Callable[..., Any]) -> Callable[..., Any]:
    """The class or function of which `factory` is a partial call."""
    return factory.func if isinstance(factory, functools.partial) else factory


def name_of(factory: Callable[..., Any]) -> str:
    """The name of a class or function, for errors."""
    original = original_of(factory)
    return str(getattr(original, "__name__", original))


def call_of(factory: Callable[..., Any], keywords: Mapping[str, Any]) -> str:
    """The call that makes a layer or model, as text."""
    known = factory if isinstance(factory, functools.partial) else functools.partial(factory)
    values = [*map(repr, known.args)]
    values += [f"{name}={value!r}" for name, value in {**known.keywords, **keywords}.items()]
    return f"{name_of(factory)}({', '.join(values)})"


def function_for(factory: Callable[..., Any], arguments: str = "width") -> str:
    """The advice to write a function that makes the layer or model."""
    kind = "layer" if arguments == "width" else "model"
    return (
        f"A function makes it fit: write `def {kind}({arguments}): return {name_of(factory)}(...)` "
        f"in a file, and name it as --{kind} FILE.py:{kind}."
    )


def adapter_for(factory: Callable[..., Any], arguments: str = "width") -> str:
    """The advice to write a function whose module calls the layer or model as it wants to be."""
    kind, inputs = ("layer", "states") if arguments == "width" else ("model", "tokens")
    return (
        f"A function makes it fit: write `def {kind}({arguments}): return Adapter(...)` in a file, "
        f"where the forward(self, {inputs}) of Adapter, an nn.Module, calls {name_of(factory)} and "
        f"gives the expected tensor, and name it as --{kind} FILE.py:{kind}."
    )
