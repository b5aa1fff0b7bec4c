"""Figures draw every number where it belongs, and never too many bars."""

import re
from xml.etree import ElementTree

import pytest

from synthbench.auditing.balance import Distribution
from synthbench.auditing.figures import MOST_BARS, BarChart, Mark, ScoreChart
from synthbench.auditing.page import environment
from synthbench.auditing.statistics import Estimate


def distribution(values, **counts):
    return Distribution("what", values, counts, every_row=True)


def drawn(chart):
    charts = environment().get_template("charts.html.jinja").module
    return ElementTree.fromstring(str(charts.draw(chart, 1)))


def shapes(svg, kind):
    """The titles of all shapes of a kind, each with the letters and numbers of its path."""
    groups = [group for group in svg.iter("g") if group.get("class").split()[0] == kind]
    paths = [re.findall(r"[MVHv]|[-\d.]+", group.find("path").attrib["d"]) for group in groups]
    return list(zip([group.findtext("title") for group in groups], paths, strict=True))


def mark(name, mean, low, high, near=False):
    return Mark(name, f"{mean}{' *' * near}", Estimate(10, mean, low, high), near, f"{name} {mean}")


def test_a_bar_is_as_high_as_its_share_and_ticks_show_another_split():
    counts = distribution(["a", "b"], train=[3, 1], test=[1, 1])
    svg = drawn(BarChart("shares", counts, "train", "test"))
    bars, ticks = shapes(svg, "bar"), shapes(svg, "tick")
    assert [title for title, _ in bars] == ["train, a: 75.00%", "train, b: 25.00%"]
    assert [title for title, _ in ticks] == ["test, a: 50.00%", "test, b: 50.00%"]
    (_, _, bottom, _, top, *_), (_, _, _, _, other, *_) = [path for _, path in bars]
    heights = [float(bottom) - float(each) for each in (top, other, ticks[0][1][2])]
    assert heights[0] > 50
    assert [height / heights[0] for height in heights] == pytest.approx([1, 1 / 3, 2 / 3], abs=1e-3)


def test_a_value_that_does_not_occur_has_a_bar_without_height():
    counts = distribution(["a", "b"], train=[1, 0])
    bars = shapes(drawn(BarChart("shares", counts, "train", None)), "bar")
    assert [title for title, _ in bars] == ["train, a: 100.00%", "train, b: 0.00%"]


def test_marks_lie_in_order_and_ticks_at_chance():
    marks = [mark("low", 0.2, 0.1, 0.3), mark("$high$", 0.9, 0.8, 1.0, near=True)]
    svg = drawn(ScoreChart("scores", marks, 0.25, None))
    (low_text, low), (high_text, high) = shapes(svg, "mark")
    assert (low_text, high_text) == ("low 0.2", "$high$ 0.9")
    dots = [(float(dot.get("cx")), float(dot.get("cy"))) for dot in svg.iter("circle")]
    scale = (dots[1][0] - dots[0][0]) / 0.7
    assert scale > 200
    for (_, left, y, _, right), dot in zip((low, high), dots, strict=True):
        ends = [dot[0] - 0.1 * scale, dot[0] + 0.1 * scale, dot[1]]
        assert [float(left), float(right), float(y)] == pytest.approx(ends, abs=0.02)
    assert dots[0][1] < dots[1][1]
    ((text, ticks),) = shapes(svg, "reference")
    assert text == "chance 0.25"
    assert float(ticks[1]) - dots[0][0] == pytest.approx(0.05 * scale, abs=0.02)
    assert {"low 0.2", "$high$ 0.9 *"} <= {text.text for text in svg.iter("text")}
    assert [group.get("class") for group in svg.iter("g")] == ["reference", "mark", "mark near"]


def test_an_axis_ends_where_the_largest_value_is_if_that_is_beyond_1():
    svg = drawn(ScoreChart("distance", [mark("far", 3.0, 2.0, 4.0)], None, None))
    numbers = [text.text for text in svg.iter("text")]
    assert numbers[:5] == ["0", "1", "2", "3", "4"]
    assert not shapes(svg, "reference")


@pytest.mark.parametrize("count", [3, 24, 500])
def test_nothing_is_drawn_outside_of_a_chart(count):
    names = [f"value {number}" for number in range(count)]
    marks = [mark(name, 0.5, -0.1, 1.0) for name in names[:24]]
    counts = distribution(names, train=[1] * count, test=[2] * count)
    for chart in (BarChart("", counts, "train", "test"), ScoreChart("", marks, 0.0, 1.0)):
        svg = drawn(chart)
        width, height = map(float, svg.attrib["viewBox"].split()[2:])
        places = [(float(text.get("x")), float(text.get("y"))) for text in svg.iter("text")]
        assert all(0 <= x <= width and 10 <= y < height for x, y in places)
        for path in svg.iter("path"):
            for letter, x in re.findall(r"([MHV])([-\d.]+)", path.attrib["d"]):
                assert 0 <= float(x) <= (height if letter == "V" else width)


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
