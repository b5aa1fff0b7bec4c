"""JSON that somebody else may have written: read strictly, and held against a form.

A form says what a value must look like; `check_form` names the first place where it does not:

    SHARD = {"file": TEXT, "rows": WHOLE}
    check_form(values, {"shards": ListOf(SHARD)}, "manifest.json")

    manifest.json: shards[3].rows is 'x', expected a whole number from 0
"""

from __future__ import annotations

import collections
import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from synthbench.errors import DatasetError
from synthbench.text.lines import LONGEST_LINE, is_one_line, short

#: Deepest nesting of lists and objects, so that recursive code is safe.
DEEPEST = 32

# Reading.


def read_json(data: bytes, constants: bool = False) -> Any:
    """The value of a JSON text in UTF-8.

    Args:
        data: the text.
        constants: whether NaN and infinities are allowed, which JSON does not have.

    Raises:
        ValueError: it is not JSON; an object repeats a name, where parsers disagree; or it is
            nested more than 32 deep.
    """
    decoder = _TOLERANT if constants else _STRICT
    try:
        value = decoder.decode(data.decode("utf-8"))
    except RecursionError:
        raise ValueError(f"nested more than {DEEPEST} deep") from None
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return value
    raise ValueError(f"nested more than {DEEPEST} deep")


def _inside(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        ((twice, _),) = collections.Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"{short(twice)} stands more than once in an object")
    return values


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{short(text)} is too large")
    return number


_TOLERANT = json.JSONDecoder(object_pairs_hook=_object)
_STRICT = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite
)

# Forms.


@dataclasses.dataclass(frozen=True)
class Value:
    """A value that fits a description.

    Attributes:
        expected: the description, as errors say it.
        fits: whether a value fits it.
    """

    expected: str
    fits: Callable[[Any], bool]


@dataclasses.dataclass(frozen=True)
class ListOf:
    """A list whose entries all have one form."""

    entry: Form


@dataclasses.dataclass(frozen=True)
class MapOf:
    """An object of any names, whose entries all have one form.

    Attributes:
        name: what names must look like.
        entry: the form of the entries.
        least: least number of entries.
    """

    name: Value
    entry: Form
    least: int = 0


#: A mapping is an object of just these names.
Form = Value | ListOf | MapOf | Mapping[str, Any]


def _is_text(given: Any) -> bool:
    return isinstance(given, str) and len(given) <= LONGEST_LINE and is_one_line(given)


def _is_plain(given: Any) -> bool:
    return isinstance(given, bool | int | float) or _is_text(given)


WHOLE = Value("a whole number from 0", lambda given: type(given) is int and 0 <= given < 1 << 63)
TEXT = Value("a line of text", _is_text)
PLAIN_OR_LIST = Value(
    "text, a number, true or false, or a list of these",
    lambda given: all(map(_is_plain, given)) if isinstance(given, list) else _is_plain(given),
)
ANYTHING = Value("anything", lambda given: True)


def check_form(given: Any, form: Form, file: str) -> None:
    """Make sure that JSON values have a form.

    Args:
        given: the values.
        form: their form.
        file: what to call them in an error.

    Raises:
        DatasetError: they do not have it; names the first place where they differ.
    """
    _check(given, form, f"{file}: ", "")


def _check(given: Any, form: Form, file: str, place: str) -> None:
    match form:
        case Value():
            if not form.fits(given):
                raise _unexpected(given, form.expected, file, place)
        case ListOf():
            if not isinstance(given, list):
                raise _unexpected(given, "a list", file, place)
            for number, entry in enumerate(given):
                _check(entry, form.entry, file, f"{place}[{number}]")
        case MapOf():
            if not isinstance(given, dict) or len(given) < form.least:
                raise _unexpected(given, "an object with entries", file, place)
            for name, entry in given.items():
                if not form.name.fits(name):
                    where = f"a name in {place or 'it'}"
                    raise _unexpected(name, form.name.expected, file, where)
                _check(entry, form.entry, file, _inner(place, name))
        case _:
            if not isinstance(given, dict):
                raise _unexpected(given, "an object", file, place)
            for name in [*form, *given]:
                if name not in form:
                    expected = f"only {', '.join(form)}"
                    raise _unexpected(name, expected, file, f"a name in {place or 'it'}")
                if name not in given:
                    raise DatasetError(f"{file}{_inner(place, name)} is missing.")
            for name, inner in form.items():
                _check(given[name], inner, file, _inner(place, name))


def _inner(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _unexpected(given: Any, expected: str, file: str, place: str) -> DatasetError:
    return DatasetError(f"{file}{place or 'it'} is {short(given)}, expected {expected}.")


class _Nothing:
    """Stands for a value that is not there."""

    def __repr__(self) -> str:
        return "missing"


NOTHING = _Nothing()


def same(one: Any, other: Any) -> bool:
    """Whether two values read from files are the same, also in type: 1 is neither 1.0 nor true."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def differences(there: Any, expected: Any, place: str) -> Iterator[str]:
    """Where JSON values are not the ones that are expected, each place in a text."""
    if isinstance(there, dict) and isinstance(expected, dict):
        for name in {**expected, **there}:
            one, other = there.get(name, NOTHING), expected.get(name, NOTHING)
            yield from differences(one, other, _inner(place, name))
    elif isinstance(there, list) and isinstance(expected, list) and len(there) == len(expected):
        for number, (one, other) in enumerate(zip(there, expected, strict=True)):
            yield from differences(one, other, f"{place}[{number}]")
    elif not same(there, expected):
        yield f"{place} is {short(there)}, expected {short(expected)}"
