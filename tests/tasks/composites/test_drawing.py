"""Composites: what is drawn how often."""

import itertools
import shutil

import numpy as np
import pytest

from synthbench.sampling.plan import make_plan
from synthbench.tasks.base import Block
from synthbench.tasks.composites.quadrants import KINDS
from synthbench.tasks.composites.rules import COLORS, DESIGNS, TEN_COLORS
from synthbench.tasks.composites.task import Composites
from synthbench.tasks.images import load
from tests.tasks.agreement import assert_uniform
from tests.tasks.blocks import ids, propose, propose_all, rows_of
from tests.tasks.composites.making import VARIANTS
from tests.tasks.tiny_sources import TRAINING


def test_probe_targets_name_the_parts_where_their_places_are_fixed():
    task = Composites("main")
    row = rows_of(task, propose_all(task, n=1))[0]
    places = ("top-left", "top-right", "bottom-left", "bottom-right")
    parts = ("indicator", "target", "target", "indicator")
    names = [f"{part} ({place})" for part, place in zip(parts, places, strict=True)]
    targets = task.probe_targets(row)
    assert list(targets) == ["label", "outcome", "selected", *names]
    assert (targets[names[0]] == targets[names[3]]) == row["outcome"] == targets["outcome"]
    task = Composites("cifar")
    assert set(places) < set(task.probe_targets(rows_of(task, propose_all(task, n=1))[0]))
    assert Composites("main").regions() == {"indicators": (0, 3), "targets": (1, 2)}
    assert not task.regions()


def test_probe_targets_hold_the_colours_where_these_are_compared():
    task = Composites("same-color")
    for row in rows_of(task, propose_all(task, n=2)):
        targets = task.probe_targets(row)
        colors = [targets[f"indicator ({place}), colour"] for place in ("top-left", "bottom-right")]
        assert (colors[0] == colors[1]) == row["outcome"]


@pytest.mark.parametrize(
    ("variant", "same", "different"),
    [
        ("main", [(1, 1), (2, 2)], [(1, 2), (2, 1)]),
        ("color-or-fashion", [(1, 1), (2, 2)], [(1, 2), (2, 1)]),
        (
            "digit-grouping",
            [*itertools.product((1, 2), repeat=2), *itertools.product((3, 4), repeat=2)],
            [*itertools.product((1, 2), (3, 4)), *itertools.product((3, 4), (1, 2))],
        ),
    ],
)
def test_indicator_classes_are_uniform_given_the_outcome(variant, same, different):
    task = Composites(variant)
    for bucket, pairs in ((3, same), (13, different)):
        classes = propose(task, n=4000, bucket=bucket)["class"]
        assert_uniform(map(tuple, classes[:, [0, 3]].tolist()), pairs)


def test_indicators_of_same_color_have_any_class_and_the_colours_decide():
    task = Composites("same-color")
    for bucket in (3, 13):
        block = propose(task, n=4000, bucket=bucket)
        assert_uniform(block["class"][:, 0].tolist(), range(10))
        same = block["color"][:, 0] == block["color"][:, 3]
        assert same.all() if bucket < 10 else not same.any()
        assert_uniform(block["color"][:, 0].tolist(), [1, 4])


@pytest.mark.parametrize("variant", VARIANTS)
def test_colours_are_uniform_over_those_of_the_design(variant):
    task, design = Composites(variant), DESIGNS[variant]
    block = propose(task, n=4000, bucket=5)
    names = [*COLORS]
    indicator = block["kind"] == KINDS.index(design.indicators)
    if design.indicators != "empty" and variant != "same-color":
        target = (block["kind"] > 0) & ~indicator
        for part, possible in (
            (indicator, design.indicator_colors),
            (target, design.target_colors),
        ):
            assert_uniform((names[code] for code in block["color"][part].tolist()), possible)


def test_the_other_target_has_any_class():
    task = Composites()
    for bucket, other in ((3, 2), (13, 1)):
        classes = propose(task, n=4000, bucket=bucket)["class"]
        assert_uniform(classes[:, other].tolist(), range(10))
        assert (classes[:, 3 - other] == 3).all()


def test_parts_lie_where_their_variant_puts_them_equally_often():
    block = propose(Composites("cifar"), n=6000, bucket=5)
    assert_uniform(map(tuple, block["kind"].tolist()), set(itertools.permutations([3, 3, 2, 1])))
    for bucket in (5, 15):
        kinds = propose(Composites("no-position"), n=4000, bucket=bucket)["kind"]
        rows = list(itertools.product([(1, 2), (2, 1)], repeat=2))
        assert_uniform(map(tuple, kinds.tolist()), [above + below for above, below in rows])
    for bucket, expected in (
        (5, [(2, 0, 2, 0), (0, 2, 0, 2)]),
        (15, [(2, 0, 0, 2), (0, 2, 2, 0)]),
    ):
        kinds = propose(Composites("top-if-above"), n=4000, bucket=bucket)["kind"]
        assert_uniform(map(tuple, kinds.tolist()), expected)


def test_every_image_of_a_split_is_used_alike():
    task = Composites()
    block = propose(task, "train", n=8000, bucket=5)
    counts = np.bincount(block["source_index"][:, 1], minlength=10 * TRAINING)
    pool = load.load("fashion").pool("train", range(10))
    own = pool.numbers[pool.start[5] :][: pool.size[5]]
    assert set(np.flatnonzero(counts)) == set(own)
    assert np.abs(counts[own] / 8000 - 1 / len(own)).max() < 0.02


def test_noise_is_normal_in_each_channel_on_its_own():
    task = Composites("color-or-fashion")
    blocks = [propose(task, n=4000, bucket=bucket) for bucket in (1, 4, 7)]
    block = Block.concatenate(blocks)
    gray = block["rgb"][block["color"] == TEN_COLORS.index("gray")].astype(float)
    assert len(gray) > 3000
    assert np.abs(gray.mean(axis=0) - 128).max() < 0.8
    assert np.abs(gray.std(axis=0) - 12.75).max() < 0.6
    assert np.abs(np.corrcoef(gray.T) - np.eye(3)).max() < 0.06
    # The quadrants of a row have noise of their own.
    deviation = block["rgb"].astype(float) - np.array(list(COLORS.values()))[block["color"]]
    assert np.abs(np.corrcoef(deviation[:, :, 1].T) - np.eye(4)).max() < 0.06


def test_colours_are_clipped_and_without_noise_exact():
    task = Composites("main", {"noise": 0.0})
    block = propose_all(task)
    assert np.array_equal(block["rgb"], np.array(list(COLORS.values()))[block["color"]])
    noisy = propose_all(Composites())
    assert set(noisy["rgb"][noisy["color"] == 10].ravel() > 200) == {True}
    assert (noisy["rgb"][noisy["color"] == 10] == 255).mean() > 0.4


def test_buckets_are_equally_filled_and_p_first_shifts_the_outcomes():
    for variant in VARIANTS:
        plan = make_plan(Composites(variant), {"train": 6000, "validation": 500, "test": 1000})
        assert set(plan.quotas["train"].values()) == {300}
        plan = make_plan(
            Composites(variant, {"p_first": 0.65}), {"train": 6000, "validation": 100, "test": 1000}
        )
        assert [plan.quotas["train"][bucket] for bucket in (0, 9, 10, 19)] == [390, 390, 210, 210]
        assert sum(plan.quotas["validation"][bucket] for bucket in range(10)) == 65


def test_p_first_changes_nothing_else():
    plain, shifted = Composites(seed=5), Composites(parameters={"p_first": 0.65}, seed=5)
    assert plain.stream == shifted.stream != Composites(seed=6).stream
    assert ids(plain, propose_all(plain)) == ids(shifted, propose_all(shifted))


def test_where_a_tree_lies_changes_nothing(sources, tmp_path):
    shutil.copytree(sources / "split", tmp_path / "elsewhere")
    here = Composites("cifar", {"indicator_source": "folder:split"})
    there = Composites("cifar", {"indicator_source": f"folder:{tmp_path / 'elsewhere'}"})
    assert here.stream == there.stream
    assert np.array_equal(here.pixels(propose_all(here)), there.pixels(propose_all(there)))
    described = [list(task.tables["sources"].values()) for task in (here, there)]
    assert described[0] == described[1]
