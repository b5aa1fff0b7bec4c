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
        chosen = {}
        for name, given in values.items():
            check_name("parameter", name, fields)
            chosen[name] = read_value(f"Parameter {name}", given, fields[name].default)
        return cls(**chosen)

    def to_dict(self) -> dict[str, Any]:
        """All parameters as JSON values."""
        return {
            name: list(given) if isinstance(given, tuple) else given
            for name, given in dataclasses.asdict(self).items()
        }

    def changed(self) -> dict[str, Any]:
        """The parameters that differ from their defaults, as JSON values.

        Only these name the random streams, so that a parameter added later changes no dataset.
        """
        values = self.to_dict()
        fields = dataclasses.fields(self)
        return {
            one.name: values[one.name] for one in fields if getattr(self, one.name) != one.default
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


def _check(field: dataclasses.Field[Any], given: Any) -> None:
    """Raise `ParameterError` for a value that its field does not allow."""
    name, limits = field.name, field.metadata
    choices = limits.get("choices", ())
    if choices and given not in choices:
        raise unknown_name(f"value of {name}", given, choices)
    least, most = limits.get("least", -math.inf), limits.get("most", math.inf)
    if (least, most) == (-math.inf, math.inf):
        return
    low, high = (f"{end:g}" if isinstance(end, float) else str(end) for end in (least, most))
    if not isinstance(given, tuple):
        if not least <= given <= most:
            raise ParameterError(f"Parameter {name}={short(given)}: allowed are {low} to {high}.")
    elif not given or len(set(given)) < len(given) or min(given) < least or max(given) > most:
        raise ParameterError(
            f"Parameter {name}={','.join(map(short, given))}: "
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


def read_value(name: str, given: Any, default: Any) -> Any:
    """A value of the default's type from `given`, which is text or already of that type.

    Raises:
        ParameterError: the value, which the error calls `name`, cannot be read.
    """
    kind = type(default).__name__
    if isinstance(default, tuple):
        kind = "names" if isinstance(default[0], str) else "numbers"
    try:
        match kind:
            case "names":
                items = given.split(",") if isinstance(given, str) else given
                return tuple(str(item).strip() for item in items)
            case "numbers":
                items = given.split(",") if isinstance(given, str) else np.atleast_1d(given)
                return tuple(number for item in items for number in _numbers(item))
            case "bool":
                return {"true": True, "false": False}[str(given).lower()]
            case "int":
                return _whole_number(given)
            case "float":
                return float(given) if isinstance(given, str) else _real_number(given)
            case _:
                text = str(given)
                if len(text) > LONGEST_LINE or not is_one_line(text):
                    raise ValueError
                return text
    except (ValueError, TypeError, KeyError, OverflowError):
        raise ParameterError(f"{name}={short(given)}: expected {_EXPECTED[kind]}.") from None


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


def _whole_number(given: Any) -> int:
    number = int(given) if isinstance(given, str) else whole_number(given)
    if number is None:
        raise TypeError("not a whole number")
    return number


def _real_number(given: Any) -> float:
    if (number := real_number(given)) is None:
        raise TypeError("not a number")
    return number
