"""Parameters of a task: a frozen dataclass that can read its values from text and checks them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from synthbench.checks import check_name, real_number, whole_number
from synthbench.errors import ParameterError, UsageError, unknown_name
from synthbench.text.lines import LONGEST_LINE, is_one_line, short


@dataclasses.dataclass(frozen=True)
class Parameters:
    """Base of every task's parameters: frozen, and checked when made.

    Fields are declared with `parameter`, which takes their description and their limits. Further
    checks belong in `__post_init__`.

    Example:
        >>> import dataclasses
        >>> from synthbench.tasks.parameters import Parameters, parameter
        >>> @dataclasses.dataclass(frozen=True)
        ... class Sizes(Parameters):
        ...     lengths: tuple[int, ...] = parameter((1, 2), "lengths of train", least=1, most=9)
        >>> Sizes.make({"lengths": "1..4"})
        Sizes(lengths=(1, 2, 3, 4))
    """

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            _check(field, getattr(self, field.name))

    @classmethod
    def make(cls, values: Mapping[str, Any] | Parameters) -> Parameters:
        """Parameters from names and values. Text, as `--set` gives it, is read by field type.

        Raises:
            UsageError: `values` is not a mapping, or names an unknown parameter.
            ParameterError: a value that cannot be read or is not allowed.
        """
        if isinstance(values, Parameters):
            values = values.to_dict()
        if not isinstance(values, Mapping):
            raise UsageError(f"Parameters {short(values)}: expected a mapping of names to values.")
        fields = {field.name: field for field in dataclasses.fields(cls)}
        parsed = {}
        for name, value in values.items():
            check_name("parameter", name, fields)
            parsed[name] = read_value(f"Parameter {name}", value, fields[name].default)
        return cls(**parsed)

    def to_dict(self) -> dict[str, Any]:
        """All parameters as JSON values."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in dataclasses.asdict(self).items()
        }

    def changed(self) -> dict[str, Any]:
        """The parameters that differ from their defaults, as JSON values.

        Only these name the random streams, so that a parameter added later changes no dataset.
        """
        values = self.to_dict()
        fields = dataclasses.fields(self)
        return {
            field.name: values[field.name]
            for field in fields
            if getattr(self, field.name) != field.default
        }


def parameter(
    default: Any,
    help: str,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    choices: Sequence[str] = (),
) -> Any:
    """A field of `Parameters`.

    Args:
        default: the default. All values have its type.
        help: its meaning, as `synthbench info` shows it.
        least: the smallest number that is allowed. With a limit, a tuple of numbers must not be
            empty, and its numbers must differ.
        most: the largest number that is allowed.
        choices: the texts that are allowed. Empty: all.
    """
    limits = {"least": least, "most": most, "choices": choices}
    return dataclasses.field(default=default, metadata={"help": help, **limits})


def _check(field: dataclasses.Field[Any], value: Any) -> None:
    """Raise `ParameterError` for a value that its field does not allow."""
    name, limits = field.name, field.metadata
    choices = limits.get("choices", ())
    if choices and value not in choices:
        raise unknown_name(f"value of {name}", value, choices)
    least, most = limits.get("least", -math.inf), limits.get("most", math.inf)
    if (least, most) == (-math.inf, math.inf):
        return
    low, high = (f"{end:g}" if isinstance(end, float) else str(end) for end in (least, most))
    if not isinstance(value, tuple):
        if not least <= value <= most:
            raise ParameterError(f"Parameter {name}={short(value)}: allowed are {low} to {high}.")
    elif not value or len(set(value)) < len(value) or min(value) < least or max(value) > most:
        raise ParameterError(
            f"Parameter {name}={','.join(map(short, value))}: "
            f"allowed are different {name.rpartition('_')[2]} from {low} to {high}."
        )


_EXPECTED = {
    "names": "names separated by commas",
    "numbers": "whole numbers such as 1,2,5 or 1..5",
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "str": "a line of text, of at most 1,000 characters",
}


def read_value(name: str, value: Any, default: Any) -> Any:
    """A value of the default's type from `value`, which is text or already of that type.

    Raises:
        ParameterError: the value, which the error calls `name`, cannot be read.
    """
    kind = type(default).__name__
    if isinstance(default, tuple):
        kind = "names" if isinstance(default[0], str) else "numbers"
    try:
        match kind:
            case "names":
                items = value.split(",") if isinstance(value, str) else value
                return tuple(str(item).strip() for item in items)
            case "numbers":
                items = value.split(",") if isinstance(value, str) else np.atleast_1d(value)
                return tuple(number for item in items for number in _numbers(item))
            case "bool":
                return {"true": True, "false": False}[str(value).lower()]
            case "int":
                return _whole_number(value)
            case "float":
                return float(value) if isinstance(value, str) else _real_number(value)
            case _:
                text = str(value)
                if len(text) > LONGEST_LINE or not is_one_line(text):
                    raise ValueError
                return text
    except (ValueError, TypeError, KeyError, OverflowError):
        raise ParameterError(f"{name}={short(value)}: expected {_EXPECTED[kind]}.") from None


def _numbers(item: Any) -> Iterable[int]:
    """`3` or `1..5` as numbers."""
    if isinstance(item, str) and ".." in item:
        low, high = map(int, item.split(".."))
        if high - low > 10_000:
            raise ValueError("more numbers than any parameter takes")
        return range(low, high + 1)
    return (_whole_number(item),)


def ranges(items: Iterable[Any]) -> list[str]:
    """Items as text, with three or more consecutive whole numbers as `1..5`, as `--set` takes them.

    Args:
        items: whole numbers, or texts, some of which may be whole numbers.

    Example:
        >>> from synthbench.tasks.parameters import ranges
        >>> ranges([1, 2, 3, 4, 10, 12])
        ['1..4', '10', '12']
    """
    runs: list[list[str]] = []
    for name in map(str, items):
        last = runs[-1][-1] if runs else ""
        if last.isdecimal() and name.isdecimal() and int(name) == int(last) + 1:
            runs[-1].append(name)
        else:
            runs.append([name])
    parts: list[str] = []
    for run in runs:
        parts += [f"{run[0]}..{run[-1]}"] if len(run) > 2 else run
    return parts


def _whole_number(value: Any) -> int:
    number = int(value) if isinstance(value, str) else whole_number(value)
    if number is None:
        raise TypeError("not a whole number")
    return number


def _real_number(value: Any) -> float:
    if (number := real_number(value)) is None:
        raise TypeError("not a number")
    return number
