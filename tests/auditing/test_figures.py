"""Figures draw every number where it belongs, and never too many bars."""

import re
from xml.etree import ElementTree

import pytest

from synthbench.auditing.balance import Distribution
from synthbench.auditing.figures import MOST_BARS, BarChart, Mark, ScoreChart
from synthbench.auditing.statistics import Estimate


def distribution(values, **counts):
    return Distribution("what", values, counts, every_row=True)


def drawn(chart):
    return ElementTree.fromstring(chart.svg(1))


def artists(svg, kind):
    """The titles of all artists of a kind, each with the points of its path."""
    found = []
    for group in svg.iter("g"):
        if group.get("class") == kind:
            path = group.find("path")
            assert path is not None
            points = re.findall(r"[ML] ([-\d.]+) ([-\d.]+)", path.attrib["d"])
            found.append((group.findtext("title", ""), [(float(x), float(y)) for x, y in points]))
    return found


def mark(name, mean, low, high, near=False):
    return Mark(name, f"{mean}{' *' * near}", Estimate(10, mean, low, high), near, f"{name} {mean}")


def test_a_bar_is_as_high_as_its_share_and_ticks_show_another_split():
    shares = distribution(["a", "b"], train=[3, 1], test=[1, 1])
    svg = drawn(BarChart("shares", shares, "train", "test"))
    bars, ticks = artists(svg, "bar"), artists(svg, "tick")
    assert [title for title, _ in bars] == ["train, a: 75.00%", "train, b: 25.00%"]
    assert [title for title, _ in ticks] == ["test, a: 50.00%", "test, b: 50.00%"]
    heights = [max(y for _, y in points) - min(y for _, y in points) for _, points in bars]
    assert heights[0] > 50
    assert heights[1] / heights[0] == pytest.approx(1 / 3)
    bottom = max(y for _, y in bars[0][1])
    assert (bottom - ticks[0][1][0][1]) / heights[0] == pytest.approx(2 / 3)


def test_a_value_that_does_not_occur_has_a_bar_without_height():
    shares = distribution(["a", "b"], train=[1, 0])
    bars = artists(drawn(BarChart("shares", shares, "train", None)), "bar")
    assert [title for title, _ in bars] == ["train, a: 100.00%", "train, b: 0.00%"]


def test_marks_lie_in_order_and_ticks_at_chance():
    marks = [mark("low", 0.2, 0.1, 0.3), mark("$high$", 0.9, 0.8, 1.0, near=True)]
    svg = drawn(ScoreChart("scores", marks, 0.25, None))
    (low_text, low), (high_text, high) = artists(svg, "mark")
    assert (low_text, high_text) == ("low 0.2", "$high$ 0.9")
    dots = [float(use.attrib["x"]) for use in svg.iter("use")]
    scale = (dots[1] - dots[0]) / 0.7
    assert scale > 200
    for points, dot in ((low, dots[0]), (high, dots[1])):
        ends = [dot - 0.1 * scale, dot, dot + 0.1 * scale]
        assert [x for x, _ in points] == pytest.approx(ends, abs=0.01)
        assert len({y for _, y in points}) == 1
    assert low[0][1] < high[0][1]
    ((text, ticks),) = artists(svg, "reference")
    assert text == "chance 0.25"
    assert ticks[0][0] - dots[0] == pytest.approx(0.05 * scale, abs=0.01)
    assert {"low 0.2", "$high$ 0.9 *"} <= {text.text for text in svg.iter("text")}


def test_an_axis_ends_where_the_largest_value_is_if_that_is_beyond_1():
    svg = drawn(ScoreChart("distance", [mark("far", 3.0, 2.0, 4.0)], None, None))
    numbers = [text.text for text in svg.iter("text")]
    assert "4.0" in numbers and "4.5" not in numbers
    assert not artists(svg, "reference")


def test_letters_are_12_pixels_high_on_a_screen_of_400():
    svg = drawn(ScoreChart("scores", [mark("low", 0.2, 0.1, 0.3)], 0.25, 1.0))
    width = float(svg.attrib["viewBox"].split()[2])
    styles = " ".join(text.get("style", "") for text in svg.iter("text"))
    sizes = re.findall(r"font(?:-size)?: ([\d.]+)px", styles)
    assert min(map(float, sizes)) * 400 / width >= 12


def test_many_numbers_are_merged_neighbour_by_neighbour():
    found = distribution([str(number) for number in range(100)], train=[1] * 100).merged(MOST_BARS)
    assert len(found.values) <= MOST_BARS
    assert found.values[0] == "0–4"
    assert sum(found.counts["train"]) == 100


def test_of_many_names_the_most_frequent_stay():
    counts = [1] * 99 + [50]
    found = distribution([f"name{one:02}" for one in range(100)], train=counts).merged(MOST_BARS)
    assert len(found.values) == MOST_BARS
    assert found.values[-2:] == ["name99", "77 others"]
    assert found.counts["train"][-2:] == [50, 77]


def test_few_values_stay_as_they_are():
    few = distribution(["a"], train=[2])
    assert few.merged(MOST_BARS) is few
    assert few.most_frequent("train") == ("a", 1.0)
