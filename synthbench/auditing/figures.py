"""Charts as inline SVG, drawn by matplotlib.

A chart is as wide as a telephone and drawn in `COLORS`. Then the CSS variable of the same name
replaces each colour in the SVG, so that the page's style sets the colours for light and dark mode.
Every bar and mark has a title with its numbers, shown under the pointer and read by screen readers.
"""

from __future__ import annotations

import abc
import dataclasses
import io
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from synthbench.auditing.balance import Distribution
from synthbench.auditing.statistics import Estimate
from synthbench.text.lines import printable

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: Gives an artist a class in the SVG and a title, which the browser shows under the pointer.
Describe = Callable[["Artist", str, str], None]
#: The page's colours, by CSS variable: text, grid lines, a split's values, and the values of
#: another split or scores that come near solving.
COLORS = {"ink": "#1c1f23", "faint": "#d5d9de", "split": "#0064a8", "other": "#b84a00"}
#: The width of a figure in inches, and its font size in points. On a screen 400 pixels wide, the
#: text is 12 pixels high.
_WIDTH, _LETTERS = 4.2, 9.5
#: The maximum number of bars; if a distribution has more values, some are merged.
MOST_BARS = 24
#: The maximum number of values that are named below the bars.
_MOST_NAMES = 12
#: The maximum length of a value's name under a bar, and of a shortcut's name above its mark.
_VALUE_NAME, _SHORTCUT_NAME = 12, 40
_LINK = "{http://www.w3.org/1999/xlink}href"


@dataclasses.dataclass(frozen=True)
class Mark:
    """A score to draw: the shortcut's name, its score as text, and the mean with its interval.

    `near` says whether the score comes near solving; `text` says all of this in words.
    """

    name: str
    score: str
    found: Estimate
    near: bool
    text: str


@dataclasses.dataclass(frozen=True)
class Chart(abc.ABC):
    """A chart with a title."""

    title: str

    def svg(self, number: int) -> str:
        """The chart as SVG; the same values and version of matplotlib give the same text.

        `number` must be unique on the page.
        """
        import matplotlib.style
        from matplotlib.figure import Figure

        titles: dict[str, tuple[str, str]] = {}

        def describe(artist: Artist, kind: str, text: str) -> None:
            name = f"artist{len(titles)}"
            artist.set_gid(name)
            titles[name] = (kind, printable(text))

        style = {
            "svg.fonttype": "none",  # keep text as text
            "svg.hashsalt": f"figure{number}",  # ids are the same in every run, unique on a page
            "font.size": _LETTERS,
            "font.sans-serif": ["DejaVu Sans"],
            "text.parse_math": False,
            "text.color": COLORS["ink"],
            "xtick.color": COLORS["ink"],
            "ytick.color": COLORS["ink"],
            "axes.axisbelow": True,
        }
        with matplotlib.style.context(["default", style]), warnings.catch_warnings():
            # The browser draws the text, so it may have letters that matplotlib's font lacks.
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            figure = Figure(figsize=(_WIDTH, self._height), layout="constrained")
            axes = figure.subplots()
            axes.set_frame_on(False)
            axes.tick_params(length=0)
            self._draw(axes, describe)
            file = io.StringIO()
            figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
        return _inline(file.getvalue(), number, self.title, titles)

    @property
    @abc.abstractmethod
    def _height(self) -> float:
        """The height in inches."""

    @abc.abstractmethod
    def _draw(self, axes: Axes, describe: Describe) -> None:
        """Draw on the axes and describe the bars and marks."""


@dataclasses.dataclass(frozen=True)
class ScoreChart(Chart):
    """Scores by name, each as a dot with its interval; ticks at chance and at the solver."""

    marks: Sequence[Mark]  # the scores, from top to bottom
    chance: float | None  # the score of chance, None if unknown
    solution: float | None  # the score of the reference solver, None if unknown

    @property
    def _height(self) -> float:
        return 0.8 + 0.29 * len(self.marks)

    def _draw(self, axes: Axes, describe: Describe) -> None:
        rows, bottom = range(len(self.marks)), len(self.marks) - 0.3
        ends = [1.0, self.chance or 0, self.solution or 0, *(one.found.high for one in self.marks)]
        axes.set_xlim(0.0, max(ends))
        axes.set_ylim(bottom, -0.7)
        axes.set_yticks([])
        axes.grid(axis="x", color=COLORS["faint"], clip_on=False)
        for name, value in (("chance", self.chance), ("solver", self.solution)):
            if value is not None:
                tops, bottoms = [row - 0.1 for row in rows], [row + 0.25 for row in rows]
                places = [value] * len(rows)
                ticks = axes.vlines(places, tops, bottoms, color=COLORS["ink"], clip_on=False)
                describe(ticks, "reference", f"{name} {value:.3g}")
                axes.text(value, -0.75, name, ha="center", va="bottom")
        for y, mark in enumerate(self.marks):
            found = mark.found
            (line,) = axes.plot(
                [max(0.0, value) for value in (found.low, found.mean, found.high)],
                [y] * 3,
                color=COLORS["other" if mark.near else "split"],
                marker="o",
                markersize=4,
                markevery=[1],
                clip_on=False,
            )
            describe(line, "mark", mark.text)
            axes.annotate(
                f"{_short(mark.name, _SHORTCUT_NAME)} {mark.score}",
                (0.0, y),
                (0, 4),
                textcoords="offset points",
                annotation_clip=False,
            )


@dataclasses.dataclass(frozen=True)
class BarChart(Chart):
    """The share of each value in a split as bars, and in another split, if any, as ticks."""

    distribution: Distribution
    split: str
    other: str | None

    @property
    def _height(self) -> float:
        return 1.9

    def _draw(self, axes: Axes, describe: Describe) -> None:
        merged = self.distribution.merged(MOST_BARS)
        places = range(len(merged.values))
        shares = [merged.share(self.split, place) for place in places]
        bars = axes.bar(places, shares, 0.8, color=COLORS["split"], clip_on=False)
        for bar, name, share in zip(bars, merged.values, shares, strict=True):
            describe(bar, "bar", f"{self.split}, {name}: {share:.2%}")
        if self.other is not None:
            for place, name in enumerate(merged.values):
                share = merged.share(self.other, place)
                (tick,) = axes.plot(
                    [place - 0.45, place + 0.45],
                    [share] * 2,
                    color=COLORS["other"],
                    linewidth=2,
                    clip_on=False,
                )
                describe(tick, "tick", f"{self.other}, {name}: {share:.2%}")
        axes.set_xlim(-0.5, len(places) - 0.5)
        axes.set_ylim(bottom=0.0)
        axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        axes.grid(axis="y", color=COLORS["faint"], clip_on=False)
        named = range(0, len(places), -(-len(places) // _MOST_NAMES))
        names = [_short(merged.values[place], _VALUE_NAME) for place in named]
        turned = any(len(name) > 3 for name in names)
        angle, aligned = (40, "right") if turned else (0, "center")
        axes.set_xticks(list(named), names, rotation=angle, ha=aligned, rotation_mode="anchor")


def _short(name: str, longest: int) -> str:
    name = printable(name)
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _inline(svg: str, number: int, title: str, titles: Mapping[str, tuple[str, str]]) -> str:
    """Turn matplotlib's SVG file into an inline element with the page's colours and titles."""
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):
                parent.remove(child)
    links = {element.get(_LINK) for element in root.iter()}
    names = {value: f"var(--{name})" for name, value in COLORS.items()}
    ink = names[COLORS["ink"]]
    for element in list(root.iter()):
        element.tag = element.tag.rpartition("}")[2]  # in HTML, SVG elements have no namespace
        values = {name.rpartition("}")[2]: value for name, value in element.attrib.items()}
        if f"#{values.get('id')}" not in links and (name := values.pop("id", "")) in titles:
            values["class"], text = titles[name]
            _insert_title(element, text)
        if "style" in values:
            style = re.sub(r"#\w{6}", lambda found: names.get(found[0], ink), values["style"])
            values["style"] = style.replace("'DejaVu Sans'", "system-ui, sans-serif")
        element.attrib = values
    root.attrib = {
        "role": "img",
        "aria-labelledby": f"figure{number}",
        "viewBox": root.attrib["viewBox"],
    }
    _insert_title(root, title).set("id", f"figure{number}")
    return ElementTree.tostring(root, encoding="unicode")


def _insert_title(element: ElementTree.Element, text: str) -> ElementTree.Element:
    title = ElementTree.Element("title")
    title.text = text
    element.insert(0, title)
    return title
