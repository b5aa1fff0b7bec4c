"""Figures draw every number where it belongs, and never too many bars."""

from __future__ import annotations

import re

import pytest

from synthbench.audits.balance import Trait
from synthbench.audits.figures import MOST_BARS, Mark, bar_chart, gathered, interval_chart


def trait(values: list[str], **counts: list[int]) -> Trait:
    return Trait("what", values, counts, every_row=True)


def test_a_bar_is_as_high_as_its_share() -> None:
    svg = bar_chart(1, "shares", trait(["a", "b"], train=[3, 1], test=[1, 1]))
    heights = [float(one) for one in re.findall(r'<rect [^>]*height="([\d.]+)"', svg)]
    assert heights == pytest.approx([150, 100, 50, 100])  # 75%, 50%, 25%, 50% of the highest
    assert "<title>test, b: 50.00%</title>" in svg


def test_marks_lie_in_order_and_chance_beside_them() -> None:
    rows = [
        ("low", [Mark(0, 0.2, 0.1, 0.3, 0.25, False, "low, train")]),
        ("high", [Mark(0, 0.9, 0.8, 1.0, 0.25, True, "high, train")]),
    ]
    svg = interval_chart(2, "scores", rows)
    low, high = (float(x) for x in re.findall(r'<circle [^>]*cx="([\d.]+)"', svg))
    assert high - low == pytest.approx(0.7 * 430)
    assert svg.count('class="chance"') == 2
    assert svg.count(">*</text>") == 1


def test_an_axis_ends_where_the_largest_interval_does_if_that_is_beyond_1() -> None:
    svg = interval_chart(3, "distance", [("far", [Mark(0, 3.0, 2.0, 4.0, None, False, "far")])])
    assert ">4</text>" in svg
    assert "chance" not in svg


def test_many_numbers_are_put_together_neighbour_by_neighbour() -> None:
    found = gathered(trait([str(one) for one in range(100)], train=[1] * 100))
    assert len(found.values) <= MOST_BARS
    assert found.values[0] == "0–2"
    assert sum(found.counts["train"]) == 100


def test_of_many_names_the_most_frequent_stay() -> None:
    counts = [1] * 99 + [50]
    found = gathered(trait([f"name{one:02}" for one in range(100)], train=counts))
    assert len(found.values) == MOST_BARS
    assert found.values[-2:] == ["name99", "53 others"]
    assert found.counts["train"][-2:] == [50, 53]


def test_few_values_stay_as_they_are() -> None:
    few = trait(["a"], train=[2])
    assert gathered(few) is few
    assert few.most_frequent("train") == ("a", 1.0)
