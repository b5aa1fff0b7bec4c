"""JSON that somebody else may have written: read strictly, and checked against a form.

A form describes a value; `check_form` names the first place where a value does not fit it:

    SHARD = {"file": TEXT, "rows": WHOLE}
    check_form(values, {"shards": [SHARD]}, "manifest.json")

    manifest.json: shards[3].rows is 'x', expected a whole number from 0
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from synthbench.errors import DatasetError
from synthbench.text.lines import LONGEST_LINE, is_one_line, short

#: How deep lists and objects may be nested, so that recursive code is safe.
DEEPEST = 32

# Reading.


def read_json(data: bytes, constants: bool = False) -> Any:
    """The value of a JSON text in UTF-8.

    Args:
        data: the text.
        constants: whether NaN and infinities are allowed, which JSON does not have.

    Raises:
        ValueError: it is not JSON, an object repeats a name (parsers disagree on which value
            counts), or it is nested more than 32 deep.
    """
    decoder = _TOLERANT if constants else _STRICT
    too_deep = ValueError(f"nested more than {DEEPEST} deep")
    try:
        value = decoder.decode(data.decode("utf-8"))
    except RecursionError:
        raise too_deep from None
    level = [value]
    for _ in range(DEEPEST):
        nested = [one for one in level if isinstance(one, dict | list)]
        lists = [one.values() if isinstance(one, dict) else one for one in nested]
        level = list(itertools.chain.from_iterable(lists))
        if not level:
            return value
    raise too_deep


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        ((twice, _),) = collections.Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"{short(twice)} appears more than once in an object")
    return values


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


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
    """A value that `fits` a description; errors quote it as what was `expected`."""

    expected: str
    fits: Callable[[Any], bool]


@dataclasses.dataclass(frozen=True)
class MapOf:
    """An object with at least `least` entries, whose names fit `name` and whose values `entry`."""

    name: Value
    entry: Form
    least: int = 0


#: A mapping is an object with exactly these names; `[form]` is a list whose entries have this form.
Form = Value | MapOf | list[Any] | Mapping[str, Any]


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
    """Make sure that JSON values have a form; errors call them `file`.

    Raises:
        DatasetError: they do not; the text names the first place that differs.
    """
    _check(given, form, f"{file}: ", "")


def _check(given: Any, form: Form, file: str, place: str) -> None:
    def unexpected(found: Any, expected: str, where: str = place or "it") -> DatasetError:
        return DatasetError(f"{file}{where} is {short(found)}, expected {expected}.")

    a_name = f"a name in {place or 'it'}"
    match form:
        case Value():
            if not form.fits(given):
                raise unexpected(given, form.expected)
        case list():
            (inner,) = form
            if not isinstance(given, list):
                raise unexpected(given, "a list")
            for number, entry in enumerate(given):
                _check(entry, inner, file, f"{place}[{number}]")
        case MapOf():
            if not isinstance(given, dict) or len(given) < form.least:
                raise unexpected(given, "an object with entries")
            for name, entry in given.items():
                if not form.name.fits(name):
                    raise unexpected(name, form.name.expected, a_name)
                _check(entry, form.entry, file, _inner(place, name))
        case _:
            if not isinstance(given, dict):
                raise unexpected(given, "an object")
            for name in [*form, *given]:
                if name not in form:
                    raise unexpected(name, f"only {', '.join(form)}", a_name)
                if name not in given:
                    raise DatasetError(f"{file}{_inner(place, name)} is missing.")
            for name, inner in form.items():
                _check(given[name], inner, file, _inner(place, name))


def _inner(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


class _Nothing:
    def __repr__(self) -> str:
        return "missing"


#: Stands for a value that does not exist.
NOTHING = _Nothing()


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values and their types are the same: 1 is neither 1.0 nor true."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def differences(there: Any, expected: Any, place: str) -> Iterator[str]:
    """Every place where JSON values differ from the expected ones, as text."""
    if isinstance(there, dict) and isinstance(expected, dict):
        for name in {**expected, **there}:
            one, other = there.get(name, NOTHING), expected.get(name, NOTHING)
            yield from differences(one, other, _inner(place, name))
    elif isinstance(there, list) and isinstance(expected, list) and len(there) == len(expected):
        for number, (one, other) in enumerate(zip(there, expected, strict=True)):
            yield from differences(one, other, f"{place}[{number}]")
    elif not same(there, expected):
        yield f"{place} is {short(there)}, expected {short(expected)}"
