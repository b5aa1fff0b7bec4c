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
from synthbench.training.models.blame import blamed, line_in, line_of, shape_of
from synthbench.training.models.made_with import (
    adapter_for,
    call_of,
    function_for,
    name_of,
    original_of,
    parameters_of,
    signature_of,
    takes_all,
)
from synthbench.training.models.output import Output, Record

#: The arguments of a function that makes a model.
MODEL_ARGUMENTS = "vocabulary, outputs"


def make_foreign(
    factory: Callable[..., Any],
    sizes: Mapping[str, int],
    options: Mapping[str, Any],
    arguments: str,
) -> nn.Module:
    """A module from elsewhere, made with the sizes that it takes and with all options.

    `arguments` are those of a function that an error advises to write.

    Raises:
        UsageError: an option that it does not have.
        SynthbenchError: it needs another argument, raises an error, or makes no `nn.Module`.
    """
    signature, name, original = signature_of(factory), name_of(factory), original_of(factory)
    known = parameters_of(factory)
    for option in options:
        if option not in known and not takes_all(factory):
            raise unknown_name(
                f"option of {name}",
                option,
                [parameter for parameter in known if parameter not in sizes],
            )
    keywords = {
        **{name: size for name, size in sizes.items() if takes_all(factory) or name in known},
        **options,
    }
    missing = [
        name
        for name, parameter in signature.items()
        if name in known and name not in keywords and parameter.default is inspect.Parameter.empty
    ]
    advice = function_for(factory, arguments)
    if missing:
        raise SynthbenchError(
            f"{line_of(original, '')}{name} needs {missing[0]!r}, which is not given: give it as "
            f"--option {missing[0]}=VALUE, or give it a default"
            + (f" (given: {', '.join(keywords)})." if keywords else ".")
            + f" {advice}"
        )
    with naming(call_of(factory, keywords), line_of(original, ""), advice, always=True):
        built = factory(**keywords)
    if not isinstance(built, nn.Module):
        raise SynthbenchError(
            f"{line_of(original, '')}{name} makes {shape_of(built)}: expected an nn.Module. "
            f"{advice}"
        )
    return built


class ForeignModel(nn.Module):
    """A whole model of tokens from elsewhere.

    Args:
        model: `forward(tokens)` or `forward(tokens, lengths)`.
        form: the form of the rows, which knows the shape of the scores.
        factory: the class or function that made it.
    """

    def __init__(self, model: nn.Module, form: TextForm, factory: Callable[..., Any]) -> None:
        super().__init__()
        self.model = model
        self.line = line_of(model, otherwise=factory)
        self.advice = adapter_for(factory, MODEL_ARGUMENTS)
        self._shape = form.score_shape
        self._takes_lengths = _takes_lengths(model)

    def forward(
        self,
        inputs: Tensor,
        lengths: Tensor | None = None,
        record: Record | None = None,
        positions: Tensor | None = None,
    ) -> Output:
        """Scores of tokens, int64 `(rows, width)`. Nothing is recorded.

        Raises:
            SynthbenchError: the model raises an error, or gives anything else than such scores.
        """
        what = f"forward of {type(self.model).__name__}({shape_of(inputs)})"
        with naming(what, self.line, self.advice):
            more = {"lengths": lengths} if self._takes_lengths else {}
            # A copy, since a model may change its input, and a whole split is one batch for good.
            scores = self.model(inputs.clone(), **more)
        expected = self._shape(*inputs.shape)
        check_output(self, self.model, scores, expected, "scores")
        return Output(scores)


def _takes_lengths(model: nn.Module) -> bool:
    """True if a model reads lengths. If it takes anything, as compiled models do, a part of it."""
    parts = model.modules() if takes_all(model.forward) else [model]
    return any("lengths" in parameters_of(part.forward) for part in parts)


class ForeignMixer(nn.Module):
    """A layer from elsewhere, for our blocks.

    Args:
        layer: `forward(states)`; if it has an attribute `reads`, such as `("lengths",)`, its
            forward pass also gets these by name, see `backbones.block.MixerBlock`.
        factory: the class or function that made it.
    """

    def __init__(self, layer: nn.Module, factory: Callable[..., Any]) -> None:
        super().__init__()
        self.layer = layer
        self.line = line_of(layer, otherwise=factory)
        self.advice = adapter_for(factory)
        self.reads: tuple[str, ...] = _checked_reads(layer)

    def forward(self, states: Tensor, **context: Tensor | None) -> Tensor:
        """States `(rows, width, d_model)` to the same. Raises as `ForeignModel.forward`."""
        what = f"forward of {type(self.layer).__name__}({shape_of(states)})"
        with naming(what, self.line, self.advice):
            output = self.layer(states, **context)
        mixed: Tensor = output[0] if isinstance(output, tuple) and output else output
        check_output(self, self.layer, mixed, tuple(states.shape), "states")
        return mixed


def _checked_reads(layer: nn.Module) -> tuple[str, ...]:
    """The arguments that a layer reads beside the states."""
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
    wrapper = _wrapper(model)
    return wrapper.model if isinstance(wrapper, ForeignModel) else wrapper and wrapper.layer


def _wrapper(model: nn.Module) -> ForeignModel | ForeignMixer | None:
    wrappers = (
        module for module in model.modules() if isinstance(module, ForeignModel | ForeignMixer)
    )
    return next(wrappers, None)


def line_of_theirs(model: nn.Module) -> str:
    """The line of the forward pass of the part that is from elsewhere, empty without one."""
    wrapper = _wrapper(model)
    return "" if wrapper is None else wrapper.line


@contextlib.contextmanager
def naming_theirs(model: nn.Module) -> Iterator[None]:
    """`naming` for the backward pass of a model with a part from elsewhere. Others' errors pass."""
    if theirs(model) is None:
        yield
    else:
        with naming("backward", line_of_theirs(model)):
            yield


@contextlib.contextmanager
def naming(
    what: str, otherwise: str = "", advice: str = "", always: bool = False
) -> Iterator[None]:
    """Turn errors of the user's code into an error that names its line. Memory errors pass.

    Args:
        what: the activity.
        otherwise: the line to name if the error comes from elsewhere.
        advice: text for an error that comes from a library.
        always: add the advice to an error from the user's own code, too.

    Raises:
        SynthbenchError: the code raised an error.
    """
    try:
        yield
    except (SynthbenchError, torch.OutOfMemoryError, MemoryError):
        raise
    except Exception as error:  # whatever such code raises
        if "allocate memory" in str(error):
            raise
        advised = "" if line_in(error) and not always else (advice and f". {advice}")
        raise SynthbenchError(blamed(error, what, otherwise=otherwise) + advised) from error


def check_output(
    wrapper: ForeignModel | ForeignMixer,
    module: nn.Module,
    output: Any,
    expected: tuple[int, ...],
    what: str,
) -> None:
    """Check what a module gave.

    Raises:
        SynthbenchError: it is not a tensor of floats, or has another shape.
    """
    fits = isinstance(output, Tensor) and output.is_floating_point() and output.shape == expected
    if not fits:
        raise SynthbenchError(
            f"{wrapper.line}forward of {type(module).__name__} gave {shape_of(output)}: "
            f"expected {what} {expected}. {wrapper.advice}"
        )
