"""Charts as inline SVG, drawn by matplotlib.

A chart is drawn in `COLORS`. Then each colour in the SVG is replaced by the page's variable of that
name, so that the page's style sets the colours for light and dark. Every bar and every mark has a
title with its numbers, for the pointer and for screen readers.
"""

from __future__ import annotations

import dataclasses
import io
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from synthbench.auditing.balance import Distribution
from synthbench.auditing.statistics import Estimate
from synthbench.text import printable

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: Gives an artist a class in the SVG and a title, which is shown when the pointer rests on it.
Describe = Callable[["Artist", str, str], None]
#: The page's colours by the name of their variable: letters, grid lines, then splits in order.
COLORS = {
    "ink": "#1c1f23",
    "faint": "#d5d9de",
    "s0": "#0064a8",
    "s1": "#b84a00",
    "s2": "#00795a",
    "s3": "#a3418a",
    "s4": "#6b5d00",
    "s5": "#5b5f66",
}
_INK, _FAINT, *_SPLITS = COLORS
#: The width of a figure in inches, and the size of its letters in points.
_WIDTH, _LETTERS = 8.0, 9.0
#: The most bars of a split; if a distribution has more values, some are merged.
MOST_BARS = 48
#: The most values that are named below the bars.
_MOST_NAMES = 24
#: The most characters of a value's name under a bar, and of a shortcut's name beside its marks.
_VALUE_NAME, _SHORTCUT_NAME = 16, 40
_LINK = "{http://www.w3.org/1999/xlink}href"


def color(split: int) -> str:
    """The name of the colour of a split, by its place among the splits."""
    return _SPLITS[split % len(_SPLITS)]


@dataclasses.dataclass(frozen=True)
class Mark:
    """A score to draw.

    Attributes:
        split: the place of the split among the splits.
        found: the mean and its interval.
        chance: the score of chance; None if unknown.
        near: whether the score comes near solving.
        text: the shortcut, the split and the numbers, in words.
    """

    split: int
    found: Estimate
    chance: float | None
    near: bool
    text: str


@dataclasses.dataclass(frozen=True)
class IntervalChart:
    """Scores by name: for each split a dot, its interval, and a tick at chance.

    Attributes:
        title: what the figure shows.
        rows: names, each with its marks.
    """

    title: str
    rows: Sequence[tuple[str, Sequence[Mark]]]

    def svg(self, number: int) -> str:
        """The chart as SVG.

        Args:
            number: a number that no other figure of the page has.
        """
        # One line for each mark, at least one for each name, and a gap between names.
        lines = sum(max(1, len(marks)) for _, marks in self.rows) + len(self.rows)
        return _draw(number, self.title, 0.4 + 0.13 * lines, self._draw)

    def _draw(self, axes: Axes, describe: Describe) -> None:
        middles = []
        y = 0.0
        for _, marks in self.rows:
            middles.append(y + (max(1, len(marks)) - 1) / 2)
            for place, mark in enumerate(marks):
                self._draw_mark(axes, mark, y + place, describe)
            y += max(1, len(marks)) + 1
        ends = [mark.found.high for _, marks in self.rows for mark in marks]
        axes.set_xlim(0.0, max([1.0, *ends]))
        axes.set_ylim(y - 1, -1)
        axes.grid(axis="x", color=COLORS[_FAINT], clip_on=False)
        axes.set_yticks(middles, [_short(name, _SHORTCUT_NAME) for name, _ in self.rows])

    def _draw_mark(self, axes: Axes, mark: Mark, y: float, describe: Describe) -> None:
        if mark.chance is not None:
            (tick,) = axes.plot(
                [mark.chance] * 2, [y - 0.45, y + 0.45], color=COLORS[_INK], clip_on=False
            )
            describe(tick, "chance", f"chance {mark.chance:.3g}")
        found = mark.found
        (line,) = axes.plot(
            [max(0.0, value) for value in (found.low, found.mean, found.high)],
            [y] * 3,
            color=COLORS[color(mark.split)],
            marker="o",
            markersize=4,
            markevery=[1],
            clip_on=False,
        )
        describe(line, "mark", mark.text)
        if mark.near:
            axes.annotate(
                "*", (found.high, y), (4, -5), textcoords="offset points", annotation_clip=False
            )


@dataclasses.dataclass(frozen=True)
class BarChart:
    """The share of each value in each split: groups of bars, one bar for each split.

    Attributes:
        title: what the figure shows.
        distribution: the values and their counts.
    """

    title: str
    distribution: Distribution

    def svg(self, number: int) -> str:
        """The chart as SVG.

        Args:
            number: a number that no other figure of the page has.
        """
        return _draw(number, self.title, 2.4, self._draw)

    def _draw(self, axes: Axes, describe: Describe) -> None:
        merged = self.distribution.merged(MOST_BARS)
        values, splits = merged.values, list(merged.counts)
        width = 0.8 / len(splits)
        for place, split in enumerate(splits):
            shares = [merged.share(split, value) for value in range(len(values))]
            middles = [
                value + width * (place - (len(splits) - 1) / 2) for value in range(len(values))
            ]
            bars = axes.bar(middles, shares, width, color=COLORS[color(place)], clip_on=False)
            for bar, name, share in zip(bars, values, shares, strict=True):
                describe(bar, "bar", f"{split}, {name}: {share:.2%}")
        axes.set_xlim(-0.5, len(values) - 0.5)
        axes.set_ylim(bottom=0.0)
        axes.grid(axis="y", color=COLORS[_FAINT], clip_on=False)
        named = range(0, len(values), -(-len(values) // _MOST_NAMES))
        names = [_short(values[value], _VALUE_NAME) for value in named]
        turned = any(len(name) > 3 for name in names)
        axes.set_xticks(
            list(named),
            names,
            rotation=40 if turned else 0,
            ha="right" if turned else "center",
            rotation_mode="anchor",
        )


def _short(name: str, longest: int) -> str:
    name = printable(name)
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


# Drawing.


def _draw(
    number: int,
    title: str,
    height: float,
    draw: Callable[[Axes, Describe], None],
) -> str:
    """A chart as SVG; the same values and version of matplotlib give the same text.

    Args:
        number: a number that no other figure of the page has.
        title: what the figure shows.
        height: its height in inches.
        draw: draws on the axes and describes the bars and marks.
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
        "svg.hashsalt": f"figure{number}",  # ids repeat from run to run, but not within a page
        "font.size": _LETTERS,
        "font.sans-serif": ["DejaVu Sans"],
        "text.parse_math": False,
        "text.color": COLORS[_INK],
        "xtick.color": COLORS[_INK],
        "ytick.color": COLORS[_INK],
        "axes.axisbelow": True,
    }
    with matplotlib.style.context(["default", style]), warnings.catch_warnings():
        # The browser draws the text, so it does not matter which letters matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        axes = figure.subplots()
        axes.set_frame_on(False)
        axes.tick_params(length=0)
        draw(axes, describe)
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return _inline(file.getvalue(), number, title, titles)


def _inline(svg: str, number: int, title: str, titles: Mapping[str, tuple[str, str]]) -> str:
    """Turn matplotlib's SVG file into an element of the page, with its colours and with titles."""
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):
                parent.remove(child)
    links = {element.get(_LINK) for element in root.iter()}
    names = {value: f"var(--{name})" for name, value in COLORS.items()}
    ink = names[COLORS[_INK]]
    for element in list(root.iter()):
        element.tag = element.tag.rpartition("}")[2]  # HTML knows SVG elements by plain names
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
