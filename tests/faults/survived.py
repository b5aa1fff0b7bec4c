"""How many faults were injected and survived: the figure that the tests and the deep run show."""

from __future__ import annotations

import collections

_COUNTS: collections.Counter[str] = collections.Counter()


def survived(kind: str, times: int = 1) -> None:
    """Note that faults of a kind were injected and that nothing was lost, nothing wrong."""
    _COUNTS[kind] += times


def table() -> str:
    """All kinds with their numbers, a line each; empty if nothing was injected."""
    lines = [f"{count:6}  {kind}" for kind, count in sorted(_COUNTS.items())]
    if lines:
        lines.append(f"{_COUNTS.total():6}  in all")
    return "\n".join(lines)
