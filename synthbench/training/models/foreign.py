"""Models and layers from elsewhere, held to their side of the bargain.

    model   Make(vocabulary=, outputs=, **options); forward(tokens) or forward(tokens, lengths):
            int64 (rows, width) -> scores (rows, width, outputs), or (rows, outputs)
    layer   Layer(width, **options); forward(states): (rows, width, d_model) -> the same shape,
            or a tuple that begins with it

Whatever goes wrong inside them becomes an error that names their line.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from synthbench.errors import SynthbenchError, unknown_name
from synthbench.training.backbones.block import CONTEXT
from synthbench.training.forms.texts import TextForm
from synthbench.training.models.blame import blamed, line_of, shape_of
from synthbench.training.models.output import Output, Record


def parameters_of(made: Callable[..., Any]) -> list[str]:
    """The names of the arguments of a class or function; without `*args` and `**options`."""
    return [name for name, one in _signature(made).items() if one.kind not in _ANY]


def takes_all(made: Callable[..., Any]) -> bool:
    """Whether a class or function takes any option."""
    return any(one.kind is inspect.Parameter.VAR_KEYWORD for one in _signature(made).values())


_ANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _signature(made: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(made).parameters


def check_width(made: Callable[..., Any]) -> None:
    """Check that a layer takes the width of a state as its first argument.

    Raises:
        SynthbenchError: it takes no argument by its place.
    """
    named = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
    if all(one.kind in named for one in _signature(made).values()):
        raise SynthbenchError(
            f"{line_of(made, '')}{getattr(made, '__name__', made)} takes no width: its first "
            "argument must be the width of a state, as in __init__(self, width)."
        )


def make_foreign(
    made: Callable[..., Any], sizes: Mapping[str, int], options: Mapping[str, Any]
) -> nn.Module:
    """A module from elsewhere, made with the sizes that it takes and with all options.

    Raises:
        UsageError: an option that it does not have.
        SynthbenchError: it needs another argument, raises an error, or makes no `nn.Module`.
    """
    signature = _signature(made)
    original = getattr(made, "func", made)
    name = getattr(original, "__name__", str(original))
    known = parameters_of(made)
    for option in options:
        if option not in known and not takes_all(made):
            raise unknown_name(
                f"option of {name}", option, [one for one in known if one not in sizes]
            )
    given = {
        **{one: size for one, size in sizes.items() if takes_all(made) or one in known},
        **options,
    }
    missing = [
        one
        for one, parameter in signature.items()
        if one not in given
        and parameter.default is inspect.Parameter.empty
        and parameter.kind not in _ANY
    ]
    if missing:
        raise SynthbenchError(
            f"{line_of(original, '')}{name} needs {missing[0]!r}, which is not given: give it as "
            f"--option {missing[0]}=VALUE, or give it a default"
            + (f" (given: {', '.join(given)})." if given else ".")
        )
    with naming(f"{name}({', '.join(f'{one}={value}' for one, value in given.items())})"):
        built = made(**given)
    if not isinstance(built, nn.Module):
        raise SynthbenchError(
            f"{line_of(original, '')}{name} makes {type(built).__name__}: expected an nn.Module."
        )
    return built


class ForeignModel(nn.Module):
    """A whole model of tokens from elsewhere.

    Args:
        model: `forward(tokens)` or `forward(tokens, lengths)`.
        form: the form of the rows, which knows the shape of the scores.
    """

    def __init__(self, model: nn.Module, form: TextForm) -> None:
        super().__init__()
        self.model = model
        self._shape = form.score_shape
        self._takes_lengths = _takes_lengths(model)

    def forward(
        self,
        inputs: Tensor,
        lengths: Tensor | None = None,
        record: Record | None = None,
        positions: Tensor | None = None,
    ) -> Output:
        """Scores of tokens, int64 `(rows, width)`; nothing is recorded.

        Raises:
            SynthbenchError: the model raises an error, or gives anything else than such scores.
        """
        what = f"forward({shape_of(inputs)})"
        with naming(what):
            more = {"lengths": lengths} if self._takes_lengths else {}
            # A copy, since a model may change its input, and a whole split is one batch for good.
            scores = self.model(inputs.clone(), **more)
        check_output(self.model, scores, self._shape(*inputs.shape), "scores")
        return Output(scores)


def _takes_lengths(model: nn.Module) -> bool:
    """Whether a model reads lengths; if it takes anything, as compiled ones do, a part of it."""
    parts = model.modules() if takes_all(model.forward) else [model]
    return any("lengths" in parameters_of(one.forward) for one in parts)


class ForeignMixer(nn.Module):
    """A layer from elsewhere, for our blocks.

    Args:
        layer: `forward(states)`; if it has an attribute `reads`, such as `("lengths",)`, its
            forward pass also gets these by name, see `backbones.block.MixerBlock`.
    """

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer
        self.reads: tuple[str, ...] = _checked_reads(layer)

    def forward(self, states: Tensor, **context: Tensor | None) -> Tensor:
        """States `(rows, width, d_model)` to the same; raises as `ForeignModel.forward`."""
        with naming(f"forward({shape_of(states)})"):
            given = self.layer(states, **context)
        mixed: Tensor = given[0] if isinstance(given, tuple) and given else given
        check_output(self.layer, mixed, tuple(states.shape), "states")
        return mixed


def _checked_reads(layer: nn.Module) -> tuple[str, ...]:
    """What a layer reads beside the states."""
    reads = getattr(layer, "reads", ())
    names = isinstance(reads, Collection) and not isinstance(reads, str)
    if not names or not all(name in CONTEXT for name in reads):
        raise SynthbenchError(
            f"{line_of(layer)}reads of {type(layer).__name__} is {reads!r}: expected a tuple of "
            f"names among {', '.join(CONTEXT)}, such as ('lengths',)."
        )
    return tuple(reads)


def theirs(model: nn.Module) -> nn.Module | None:
    """The part of a model that is from elsewhere, None if all of it is ours."""
    for module in model.modules():
        if isinstance(module, ForeignModel):
            return module.model
        if isinstance(module, ForeignMixer):
            return module.layer
    return None


def line_of_theirs(model: nn.Module) -> str:
    """The line of the forward pass of the part that is from elsewhere, empty without one."""
    part = theirs(model)
    return "" if part is None else line_of(part)


@contextlib.contextmanager
def naming_theirs(model: nn.Module) -> Iterator[None]:
    """`naming` for the backward pass of a model with a part from elsewhere; others' errors pass."""
    if theirs(model) is None:
        yield
    else:
        with naming("backward", line_of_theirs(model)):
            yield


@contextlib.contextmanager
def naming(what: str, otherwise: str = "") -> Iterator[None]:
    """Turn errors of code from elsewhere into one that names its line; memory errors pass.

    Args:
        what: what is going on.
        otherwise: the line to name if the error comes from none of theirs.

    Raises:
        SynthbenchError: there was one.
    """
    try:
        yield
    except (SynthbenchError, torch.OutOfMemoryError, MemoryError):
        raise
    except Exception as error:  # whatever such code raises
        if "allocate memory" in str(error):
            raise
        raise SynthbenchError(blamed(error, what, otherwise=otherwise)) from error


def check_output(module: nn.Module, given: Any, expected: tuple[int, ...], what: str) -> None:
    """Check what a module gave.

    Raises:
        SynthbenchError: it is no tensor of floats, or of another shape.
    """
    fits = isinstance(given, Tensor) and given.is_floating_point() and given.shape == expected
    if not fits:
        raise SynthbenchError(
            f"{line_of(module)}forward of {type(module).__name__} gave {shape_of(given)}: "
            f"expected {what} {expected}."
        )
