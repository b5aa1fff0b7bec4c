"""Errors are designed output: every class has an exit status, every text says what to do."""

from __future__ import annotations

from collections.abc import Iterable

from synthbench.text.lines import one_line, short


class SynthbenchError(Exception):
    """A check failed, data is bad, or the system refused an operation. Exit status 1.

    Its text may quote file names and values. Control characters in them are escaped.
    """

    exit_status = 1

    def __str__(self) -> str:
        """The text, each line shortened, with control characters escaped."""
        return "\n".join(map(one_line, super().__str__().split("\n")))


class DatasetError(SynthbenchError):
    """A dataset directory, a shard or a predictions file is not what it should be."""


class ExhaustedError(SynthbenchError):
    """A split cannot be filled: its buckets have fewer rows than were asked for."""


class UsageError(SynthbenchError, ValueError):
    """Wrong usage: a name that does not exist, a place that cannot be used. Exit status 2."""

    exit_status = 2


class MissingPathError(UsageError, DatasetError):
    """A path that was given does not exist. Exit status 2: the command is wrong, not the data."""


class ParameterError(UsageError):
    """A parameter, or a combination of parameters, that is impossible."""


class TaskError(UsageError):
    """A task of another package is or gives what no task may. Exit status 1.

    The text names its attribute or method and what that gave.
    """

    exit_status = 1


class MissingSourceError(UsageError):
    """Source images were not found; `--source-dir` can name another place."""


def unknown_name(kind: str, name: object, allowed: Iterable[str]) -> UsageError:
    """The error for a name that does not exist, with the allowed names and the nearest.

    Example:
        >>> from synthbench.errors import unknown_name
        >>> str(unknown_name("split", "tset", ["train", "test"]))
        "Unknown split 'tset'. Allowed: train, test. Did you mean 'test'?"
    """
    import difflib  # late: names are seldom wrong

    names, shown = list(allowed), repr(name) if isinstance(name, str) else short(name)
    lowered = {known.lower(): known for known in names}
    word = name.lower() if isinstance(name, str) else shown
    nearest = difflib.get_close_matches(word, list(lowered), n=1, cutoff=0.5)
    hint = f" Did you mean {lowered[nearest[0]]!r}?" if nearest else ""
    return UsageError(f"Unknown {kind} {shown}. Allowed: {', '.join(names)}.{hint}")
