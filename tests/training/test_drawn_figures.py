"""Figures from data made by hand: marks, labels, colours, places and pairs."""

import itertools
from types import SimpleNamespace

import pytest
import torch
from matplotlib.figure import Figure as Canvas

from synthbench.tasks.registry import task as make_task
from synthbench.training.figures import FIGURES
from synthbench.training.figures.figure import Unavailable, numbers

pytestmark = pytest.mark.slow

CORNERS = ("top-left", "top-right", "bottom-left", "bottom-right")


def drawn_axes(name, data):
    """The axes that a figure draws data on, laid out as in its file."""
    canvas = Canvas(layout="constrained", dpi=100)
    FIGURES[name]._draw(data, canvas)
    canvas.draw_without_rendering()
    return canvas.axes


@pytest.mark.parametrize("looks", [1, 10, 500])
def test_every_point_of_a_curve_has_a_marker_and_lines_go_on_where_nothing_was_measured(looks):
    measured = [0.1 * at for at in range(1, looks + 1)]
    series = {
        "train/loss": [value for value in measured for _ in range(2)],
        "test/loss": [
            value for pair in zip([None] * looks, measured, strict=True) for value in pair
        ],
    }
    data = {"unit": "step", "at": list(range(2 * looks)), "eureka": None, "series": series}
    (axes,) = drawn_axes("curves", data)
    train, test = axes.get_lines()
    assert train.get_marker() == test.get_marker() == "o"
    assert train.get_markersize() >= 2
    assert list(test.get_ydata()) == measured
    layers = {"layers.0": {"W_Q": series["train/loss"], "W_K": series["train/loss"]}}
    (axes,) = drawn_axes("gradients", {**data, "layers": layers})
    assert {line.get_marker() for line in axes.get_lines()} == {"o"}


@pytest.mark.parametrize("layers", [1, 24])
def test_the_labels_of_probes_are_large_and_do_not_overlap(layers):
    names = [f"{kind} ({place})" for kind in ("indicator", "target") for place in CORNERS]
    chance = {"label": 0.1, **dict.fromkeys(names, 0.2)}
    found = [dict.fromkeys(chance, 0.5)] * layers
    data = {"chance": chance, "places": {"class token": found, "quadrants": found}}
    for axes in drawn_axes("probes", data):
        labels = axes.get_xticklabels()
        assert [label.get_text().replace("\n", " ") for label in labels] == list(chance)
        assert all(label.get_fontsize() >= 8 for label in labels)
        boxes = [label.get_window_extent() for label in labels]
        assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))
        legend = axes.get_legend()
        assert all(text.get_fontsize() >= 8 for text in legend.get_texts())
        assert legend.get_window_extent().x0 >= axes.get_window_extent().x1
        assert legend.get_window_extent().x1 <= axes.figure.bbox.x1


def test_numbers_are_short_and_json_can_hold_them_all():
    assert numbers(torch.tensor([[1 / 3, 2.0]])) == [[0.333333, 2.0]]
    assert numbers([float("inf"), float("nan"), 0.1 + 0.2]) == [None, None, 0.3]


def test_many_heads_and_many_curves_look_different():
    heads = [0.1, 0.5] * 16
    (axes,) = drawn_axes("hybrid", {"layers": [heads, heads]})
    *drawn, mean = axes.get_lines()
    assert len({(one.get_color(), one.get_marker(), one.get_fillstyle()) for one in drawn}) == 32
    assert mean.get_marker() == ""
    series = {f"split {number}/loss": [1.0, 0.5] for number in range(12)}
    data = {"unit": "step", "at": [0, 1], "eureka": None, "series": series}
    (axes,) = drawn_axes("curves", data)
    looks = {
        (one.get_color(), one.get_linestyle(), one.get_fillstyle()) for one in axes.get_lines()
    }
    assert len(looks) == 12


def test_the_places_of_a_sequence_have_a_panel_of_their_own(tmp_path):
    score = {"rows": 9, "position_accuracy": 0.5, "position_accuracy_interval": [0.2, 0.8]}
    result = {"seed": 0, "splits": {"test": {"by": {"place": {"1": score, "2": score}}}}}
    form = SimpleNamespace(metric="position_accuracy")
    view = SimpleNamespace(
        result=result,
        form=form,
        task=SimpleNamespace(name="recall", variant="default"),
        recipe=SimpleNamespace(name="lstm"),
    )
    data = FIGURES["places"].data(view)
    assert data["by"]["place"]["test"] == {
        "at": [1, 2], "mean": [0.5, 0.5], "low": [0.2, 0.2], "high": [0.8, 0.8],
    }  # fmt: skip
    FIGURES["places"].draw(data, tmp_path / "places.png")
    assert (tmp_path / "places.png").stat().st_size > 1_000


def a_view(metric, by):
    """A run whose report on test has these breakdowns."""
    return SimpleNamespace(
        result={"seed": 0, "splits": {"iid": {"by": {}}, "test": {"by": by}}},
        form=SimpleNamespace(metric=metric),
        task=make_task("addition"),
        recipe=SimpleNamespace(name="coupled"),
    )


def test_places_of_a_generated_answer_have_the_share_of_right_tokens(tmp_path):
    score = {"rows": 9, "exact_match": None, "position_accuracy": 0.5}
    data = FIGURES["places"].data(a_view("exact_match", {"place": {"1": score}}))
    assert data["by"]["place"]["test"]["mean"] == [0.5]
    FIGURES["places"].draw(data, tmp_path / "places.png")


def test_pairs_have_a_cell_each_and_a_curve_by_the_larger_value(tmp_path):
    cells = {"5 x 10": (10, 1.0), "10 x 5": (30, 0.5), "5 x 5": (7, 0.25), "10 x 10": (40, 0.0)}
    grid = {pair: {"rows": rows, "exact_match": share} for pair, (rows, share) in cells.items()}
    data = FIGURES["pairs"].data(a_view("exact_match", {"digits_a x digits_b": grid}))
    assert data["columns"] == ["digits_a", "digits_b"]
    assert data["cells"] == [[5, 5, 7, 0.25], [5, 10, 10, 1.0], [10, 5, 30, 0.5], [10, 10, 40, 0.0]]
    assert (data["at"], data["mean"]) == ([5, 10], [0.25, 25 / 80])
    FIGURES["pairs"].draw(data, tmp_path / "pairs.png")
    assert (tmp_path / "pairs.png").stat().st_size > 1_000
    with pytest.raises(Unavailable, match="no table by two columns"):
        FIGURES["pairs"].data(a_view("accuracy", {"length": grid}))
