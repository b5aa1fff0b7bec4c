"""Two clusters of points: where they lie, how a row is read, and when they count as two."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthbench.errors import ParameterError
from synthbench.tasks.clusters.task import Clusters
from synthbench.tasks.describe import draw_row
from synthbench.training.recipes.dnas import centre_distance
from tests.tasks.blocks import ids, propose, rows_of


def first_row(variant="unbalanced"):
    task = Clusters(variant)
    return task, rows_of(task, propose(task, n=1))[0]


def attention_step(points, doubly):
    """One step of DNAS, equations 1 and 5, with Q = K = V = I."""
    weights = np.exp(points @ points.T - (points**2).sum(axis=1).max())
    if doubly:
        weights = weights / weights.sum(axis=0)
    return weights / weights.sum(axis=1, keepdims=True) @ points


# The generator.


@given(variance=st.floats(1e-4, 1.0))
@settings(max_examples=10, deadline=None)
def test_points_lie_around_their_centres_with_the_given_variance(variance):
    task = Clusters("balanced", {"variance": variance})
    block = propose(task, n=40)
    for index, centre in ((0, (1.8, 0.7)), (1, (-1.0, -1.0))):
        own = block["points"][block["cluster"] == index].astype(np.float64)
        error = 5 * math.sqrt(variance / len(own))
        assert np.abs(own.mean(axis=0) - centre).max() < error
        covariance = np.cov(own, rowvar=False) / variance
        assert np.abs(covariance - np.eye(2)).max() < 5 * math.sqrt(2 / len(own))


def test_the_points_of_a_row_are_in_random_order():
    cluster = propose(Clusters("unbalanced"), n=400)["cluster"]
    share = cluster.mean(axis=0)  # of the second cluster, at each place of the order
    assert np.abs(share - 50 / 550).max() < 5 * math.sqrt(1 / 11 * 10 / 11 / 400)
    assert len(np.unique(cluster, axis=0)) == 400


@given(
    points=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    distance=st.floats(0.5, 10.0),
    dimension=st.integers(1, 5),
)
@settings(max_examples=10, deadline=None)
def test_numbers_of_points_distance_and_dimension_are_those_asked_for(points, distance, dimension):
    chosen = {
        **dict(zip(("first_points", "second_points"), points, strict=True)),
        **{"distance": distance, "dimension": dimension, "variance": 1e-4},
    }
    task = Clusters("balanced", chosen)
    row = rows_of(task, propose(task, n=3))[1]
    own, cluster = np.array(row["points"]), np.array(row["cluster"])
    assert own.shape == (sum(points), dimension) and cluster.sum() == points[1]
    first, second = (own[cluster == index].mean(axis=0) for index in (0, 1))
    assert math.dist(first, second) == pytest.approx(distance, abs=0.1)
    assert np.abs((first + second) / 2).max() < 0.1
    assert task.score(row, task.solve(row["points"])) == pytest.approx(distance, abs=0.1)
    assert str(draw_row(task, row))


def test_one_step_moves_the_centres_as_in_equations_13_and_14():
    for points, half in (((40, 40), 0.5), ((60, 20), 1.0), ((200, 20), 0.8)):
        sizes = dict(zip(("first_points", "second_points"), points, strict=True))
        narrow = {"distance": 2 * half, "dimension": 1, "variance": 1e-4}
        task = Clusters("balanced", {**sizes, **narrow})
        (row,) = rows_of(task, propose(task, n=1))
        expected = centre_distance(points[0] / points[1], half)
        for doubly, distance in zip((False, True), expected, strict=True):
            moved = attention_step(np.array(row["points"]), doubly)
            assert task.score(row, moved) == pytest.approx(distance, abs=0.02)
    assert centre_distance(10, 1.0) == pytest.approx((0.8233, 1.4117), abs=1e-3)


# Files.


def test_an_id_depends_on_the_points_and_on_the_clusters():
    task = Clusters()
    block = propose(task, n=1)
    other = {"points": block["points"].copy(), "cluster": block["cluster"].copy()}
    other["points"][0, 449, 1] += 1
    swapped = {"points": block["points"], "cluster": 1 - block["cluster"]}
    blocks = [block, type(block)(other), type(block)(swapped)]
    assert len({ids(task, one)[0] for one in blocks}) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda points, cluster: points.pop(), "list of 449 where 450 are expected"),
        (lambda points, cluster: points[3].pop(), "list of 1 where 2 are expected"),
        (lambda points, cluster: cluster.pop(), "list of 449 where 450 are expected"),
        (lambda points, cluster: points[3].__setitem__(0, math.inf), "not a finite number"),
        (lambda points, cluster: points[3].__setitem__(0, None), "null where a number"),
        (lambda points, cluster: cluster.__setitem__(0, 2), "not 225 times 0 and 225 times 1"),
        (lambda points, cluster: cluster.__setitem__(slice(9), [1] * 9), "not 225 times 0"),
    ],
)
def test_a_row_that_is_not_two_clusters_of_the_variant_is_refused(change, message):
    task, row = first_row("balanced")
    change(row["points"], row["cluster"])
    columns = {
        "points": pa.array([row["points"]], pa.list_(pa.list_(pa.float32()))),
        "cluster": pa.array([row["cluster"]], pa.list_(pa.int8())),
    }
    with pytest.raises(ValueError, match=message):
        task.parse(columns)


# Parameters.


@pytest.mark.parametrize("given", [0.0, -0.1, 1.5, math.nan, "nan"])
def test_an_impossible_variance_is_refused(given):
    with pytest.raises(ParameterError, match=r"variance=.*: allowed are 0\.0001 to 1\."):
        Clusters(parameters={"variance": given})


# Answers.


@pytest.mark.parametrize("variant", list(Clusters.variants))
def test_points_that_stay_where_they_are_stay_two_clusters(variant):
    task, row = first_row(variant)
    measured = task.measure(row, task.read_answer(row, task.solve(row["points"])))
    assert measured["separated"] == 1.0
    assert measured["distance"] == pytest.approx(math.dist((1.8, 0.7), (-1, -1)), abs=0.3)
    assert list(measured) == list(task.metrics)


def test_the_distance_is_that_of_the_moved_centres():
    task, row = first_row()
    moved = [[3.0, 4.0] if cluster else [0.0, 0.0] for cluster in row["cluster"]]
    assert task.measure(row, task.read_answer(row, moved)) == {"distance": 5.0, "separated": 1.0}
    assert task.score(row, np.array(moved).ravel()) == 5.0


def test_points_in_one_place_are_one_cluster():
    task, row = first_row()
    moved = np.zeros((550, 2))
    assert task.measure(row, task.read_answer(row, moved)) == {"distance": 0.0, "separated": 0.0}


def test_two_tight_clusters_closer_than_the_points_lay_before_are_one():
    task, row = first_row()
    moved = np.where(np.array(row["cluster"])[:, None], 0.3, 0.0) * [1, 0]
    assert task.measure(row, moved) == {"distance": pytest.approx(0.3), "separated": 0.0}


def test_one_point_that_went_over_to_the_other_cluster_makes_them_one():
    task, row = first_row()
    moved = np.array(row["points"])
    moved[row["cluster"].index(1)] = (1.8, 0.7)
    assert task.measure(row, moved)["separated"] == 0.0


def test_softmax_attention_collapses_unbalanced_clusters_and_double_normalisation_does_not():
    task = Clusters("unbalanced")
    for row in rows_of(task, propose(task, n=4)):
        for doubly in (False, True):
            points = np.array(row["points"])
            for _ in range(4):
                points = attention_step(points, doubly)
            assert task.measure(row, task.read_answer(row, points))["separated"] == float(doubly)


@pytest.mark.parametrize(
    "prediction",
    [None, "two", [], [[0.0, 0.0]] * 549, np.zeros((550, 3)), np.full((550, 2), math.nan)],
)
def test_an_answer_that_is_no_point_set_cannot_be_read_and_measures_0(prediction):
    task, row = first_row()
    assert task.read_answer(row, prediction) is None
    assert task.measure(row, None) == {"distance": 0.0, "separated": 0.0}
    assert task.score(row, prediction) == 0.0


def test_a_drawn_row_shows_both_clusters_where_they_lie():
    task, row = first_row("unbalanced")
    legend, *picture = str(draw_row(task, row)).splitlines()
    assert legend == "o 500 points, x 50 points"
    assert len(picture) == 20 and max(map(len, picture)) <= 60
    # The first cluster is above and to the right of the second.
    lines = {mark: [n for n, line in enumerate(picture) if mark in line] for mark in "ox"}
    assert np.mean(lines["o"]) < np.mean(lines["x"])
    assert max(line.rfind("o") for line in picture) > max(line.rfind("x") for line in picture)
