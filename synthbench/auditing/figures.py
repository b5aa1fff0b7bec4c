"""Charts of an audit's page: what they show, and where; `charts.html.jinja` draws them as SVG.

A chart is 400 units wide, about the pixels of a telephone. Every bar and mark has a title with
its numbers, for the pointer and for screen readers; the page's style sets all colours.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

from synthbench.auditing.balance import Distribution
from synthbench.auditing.statistics import Estimate
from synthbench.text.lines import printable

#: The page's colours by the name of their variable: letters, grid lines, a split's values, and
#: values to compare them with or that come near solving.
COLORS = {"ink": "#1c1f23", "faint": "#d5d9de", "split": "#0064a8", "other": "#b84a00"}
#: The width of a chart; the space on both sides of scores, and between the axis and bars.
_WIDTH, _MARGIN, _AXIS = 400, 30, 54
#: The height of a row with a score, and of the tallest bar.
_ROW, _BARS = 28, 100
#: The most bars; if a distribution has more values, some are merged.
MOST_BARS = 24
#: The most values that are named below the bars.
_MOST_NAMES = 12


@dataclasses.dataclass(frozen=True)
class Mark:
    """A score to draw: a shortcut's name, its score as text, the mean with its interval.

    `near` says whether the score comes near solving; `text` says all of this in words.
    """

    name: str
    score: str
    found: Estimate
    near: bool
    text: str

    @property
    def label(self) -> str:
        """The text above the mark."""
        return f"{_short(self.name, 40)} {self.score}"


@dataclasses.dataclass(frozen=True)
class ScoreChart:
    """Scores by name, each as a dot with its interval; ticks at chance and at the solver."""

    title: str
    marks: Sequence[Mark]  # the scores, from top to bottom
    chance: float | None  # the score of chance, None if unknown
    solution: float | None  # the score of the reference solver, None if unknown

    @property
    def references(self) -> dict[str, float]:
        """The scores that are known of chance and of the solver."""
        known = {"chance": self.chance, "solver": self.solution}
        return {name: value for name, value in known.items() if value is not None}

    @property
    def steps(self) -> list[float]:
        """The values with a grid line, from 0 to the largest value or 1."""
        highest = [mark.found.high for mark in self.marks]
        end = max([1.0, *self.references.values(), *highest])
        return [end * step / 4 for step in range(5)]

    def x(self, value: float) -> float:
        """Where a value is drawn; negative values are drawn as 0."""
        return round(_MARGIN + (_WIDTH - 2 * _MARGIN) * max(0.0, value) / self.steps[-1], 2)

    def y(self, row: int) -> int:
        """Where the mark of a row is drawn; the axis is a row of its own below the last."""
        return 50 + _ROW * row

    @property
    def height(self) -> int:
        """The height of the chart."""
        return self.y(len(self.marks)) + 10


@dataclasses.dataclass(frozen=True)
class BarChart:
    """The share of each value in a split as bars, and in another split, if any, as ticks."""

    title: str
    distribution: Distribution
    split: str
    other: str | None

    @functools.cached_property
    def _merged(self) -> Distribution:
        return self.distribution.merged(MOST_BARS)

    def shares(self, split: str | None) -> list[tuple[str, float]]:
        """The name and the share of each bar in a split; nothing for no split."""
        names = self._merged.values if split is not None else []
        return [(name, self._merged.share(str(split), place)) for place, name in enumerate(names)]

    @property
    def shown(self) -> dict[int, str]:
        """The names that are written below the bars, shortened, by the number of their bar."""
        names = self._merged.values
        step = -(-len(names) // _MOST_NAMES)
        return {place: _short(names[place], 12) for place in range(0, len(names), step)}

    @property
    def turned(self) -> bool:
        """Whether names are written at an angle."""
        return any(len(name) > 3 for name in self.shown.values())

    @property
    def steps(self) -> list[float]:
        """The shares with a grid line, from 0 to the largest."""
        end = max(share for _, share in self.shares(self.split) + self.shares(self.other))
        return [end * step / 2 for step in range(3)]

    def x(self, place: float) -> float:
        """Where the left end of a bar is drawn, by its number; fractions are places in a bar."""
        return round(_AXIS + (_WIDTH - _AXIS) * place / len(self._merged.values), 2)

    def y(self, share: float) -> float:
        """Where a share is drawn."""
        return round(10 + _BARS * (1 - share / (self.steps[-1] or 1.0)), 2)

    @property
    def height(self) -> int:
        """The height of the chart."""
        return _BARS + (100 if self.turned else 30)


Chart = ScoreChart | BarChart


def _short(name: str, most: int) -> str:
    """A name of at most `most` characters."""
    name = printable(name)
    return name if len(name) <= most else f"{name[: most - 1]}…"
