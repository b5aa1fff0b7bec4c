"""Arguments of public functions, checked against their annotations before any work starts."""

from __future__ import annotations

import functools
import inspect
import os
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from synthbench.checks import real_number, whole_number
from synthbench.errors import UsageError
from synthbench.text.lines import one_line, short

P = ParamSpec("P")
R = TypeVar("R")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function refuse arguments that its annotations do not allow, with a `UsageError`.

    An argument that is annotated `int` may be whatever Python takes for a whole number, such as a
    NumPy integer, and reaches the function as an `int`. Likewise every real number but True and
    False may be given for a `float`. The values in a mapping are not checked: the function itself
    can say which of them is wrong.

    Example:
        >>> from synthbench.arguments import checked
        >>> @checked
        ... def repeat(word: str, times: int = 2) -> str:
        ...     return word * times
        >>> repeat("no", times="3")
        Traceback (most recent call last):
        ...
        synthbench.errors.UsageError: Times '3': expected a whole number.
    """
    signature = inspect.signature(function)
    hints = functools.cache(lambda: _hints(function))  # resolved late: imports may be circular

    @functools.wraps(function)
    def call(*positional: P.args, **named: P.kwargs) -> R:
        try:
            bound = signature.bind(*positional, **named)
        except TypeError:
            _refuse_choices_of_a_task(function, signature, named)
            return function(*positional, **named)  # Python's own error names the function
        for name, value in bound.arguments.items():
            if signature.parameters[name].kind is not inspect.Parameter.VAR_KEYWORD:
                bound.arguments[name] = _check(name, value, hints()[name])
        return function(*bound.args, **bound.kwargs)

    return call


def _refuse_choices_of_a_task(
    function: Callable[..., Any], signature: inspect.Signature, named: Mapping[str, Any]
) -> None:
    """Raise a UsageError for arguments that belong to `synthbench.task`.

    A function without `**keywords` that takes a task has no arguments that choose the task.
    """
    if "task" in signature.parameters:
        for name in named:
            if name not in signature.parameters:
                raise UsageError(
                    f"{function.__name__} has no argument {name!r}. Allowed: "
                    f"{', '.join(signature.parameters)}. A task's variant, seed, level and "
                    "parameters are chosen as in synthbench.task('ctl', 'backward', seed=1, "
                    "symbols=4)."
                )


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The types that a function's parameters are annotated with."""
    annotations = {**function.__annotations__}
    annotations.pop("return", None)  # it may name what only type checkers import
    holder = types.SimpleNamespace(__annotations__=annotations)
    return typing.get_type_hints(holder, globalns=function.__globals__)


def _check(name: str, value: Any, hint: Any) -> Any:
    """An argument, as an `int` or a `float` if such a number is allowed.

    Raises:
        UsageError: its annotation does not allow it.
    """
    allowed = _alternatives(hint)
    if int in allowed and (number := whole_number(value)) is not None:
        return number
    if float in allowed and (real := real_number(value)) is not None:
        return real
    if any(_fits(value, alternative) for alternative in allowed):
        return value
    label = name.replace("_", " ").capitalize()
    expected = " or ".join(dict.fromkeys(map(_described, allowed)))
    raise UsageError(f"{label} {one_line(short(value))}: expected {expected}.")


def _alternatives(hint: Any) -> tuple[Any, ...]:
    union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    return typing.get_args(hint) if union else (hint,)


def _fits(value: Any, hint: Any) -> bool:
    """True if a value fits an annotation other than a union."""
    kind = typing.get_origin(hint) or hint
    if kind is int:
        return whole_number(value) is not None
    if kind is float:
        return real_number(value) is not None
    if _is_path(kind):
        return isinstance(value, os.PathLike) and isinstance(os.fspath(value), str)
    if kind is Sequence:
        (inner,) = typing.get_args(hint)
        listed = isinstance(value, Sequence) and not isinstance(value, str | bytes)
        return listed and all(_fits_any(element, inner) for element in value)
    if kind is Mapping:
        keys, _ = typing.get_args(hint)
        return isinstance(value, Mapping) and all(_fits_any(key, keys) for key in value)
    return not isinstance(kind, type) or kind is Any or isinstance(value, kind)


def _fits_any(value: Any, hint: Any) -> bool:
    return any(_fits(value, alternative) for alternative in _alternatives(hint))


def _is_path(kind: Any) -> bool:
    return (isinstance(kind, type) and issubclass(kind, Path)) or kind is os.PathLike


_NAMES = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    types.NoneType: "None",
    Sequence: "a list",
    Mapping: "a mapping",
}


def _described(hint: Any) -> str:
    kind = typing.get_origin(hint) or hint
    if _is_path(kind):
        return "a path"
    name = _NAMES.get(kind) or f"a {getattr(kind, '__name__', kind)}"
    if kind is Sequence and typing.get_args(hint) == (str,):
        return "a list of texts"
    if hint == Mapping[str, int]:
        return "a mapping of names to whole numbers ({'train': 1000})"
    return name
