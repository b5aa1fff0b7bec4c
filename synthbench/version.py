"""The version, said once, and since which version rows are what they are."""

import re

__version__ = "0.2.0"
#: The first version that made the rows that this one makes.
ROWS_SINCE = "0.2.0"


def release(version: str) -> tuple[int, ...] | None:
    """A version's numbers, to compare it with others; None for a text that is no version.

    Example:
        >>> from synthbench.version import release
        >>> release("0.10.2"), release("0.10.2.dev3"), release("newest")
        ((0, 10, 2), (0, 10, 2), None)
    """
    found = re.fullmatch(r"([0-9]+)\.([0-9]+)\.([0-9]+)[-+.A-Za-z0-9]*", version)
    return tuple(map(int, found.groups())) if found else None
