"""What tasks other than trees and images ask to be looked for."""

import numpy as np
import pyarrow as pa
import pytest

from synthbench.auditing.variant import audit_spec_of
from synthbench.tasks.registry import task as make_task
from tests.support import RULES, draw_splits, first_fast


def rendered(task, split, rows=60):
    return task.rendered(draw_splits(task, rows)[split].block)


def predictions(task, name, columns, split="test"):
    shortcut = next(one for one in audit_spec_of(task).shortcuts if one.name == name)
    train = rendered(task, "train", 2_000) if "train" in [s.name for s in task.splits] else {}
    return shortcut.fit(train)(columns)


@pytest.mark.parametrize(("name", "variant"), first_fast(RULES))
def test_every_task_can_be_looked_at_in_whole_and_in_parts(name, variant):
    task = make_task(name, variant)
    spec = audit_spec_of(task)
    for split in draw_splits(task, 60).values():
        columns = task.rendered(split.block)
        parts = [
            {key: one.slice(first, 7) for key, one in columns.items()} for first in range(0, 60, 7)
        ]
        for code in spec.near_duplicate_keys.values():
            whole = code(columns)
            assert whole.dtype == np.uint64
            assert np.concatenate([code(part) for part in parts]).tolist() == whole.tolist()
        for look in spec.distributions.values():
            pieces = [one for part in parts for one in np.asarray(look(part)).tolist()]
            assert pieces == np.asarray(look(columns)).tolist()
        for claim in spec.claims:
            needed = claim.needed(columns)
            assert len(needed) == len(columns[claim.column])


# ctl.


@pytest.mark.parametrize("variant", ["forward", "backward"])
def test_ctl_is_looked_at_in_the_order_of_computation(variant):
    task = make_task("ctl", variant)
    texts = ["101 d a b", "000 d a b", "101 b", "101 a d b"]
    if variant == "backward":
        texts = [" ".join(reversed(text.split())) for text in texts]
    columns = {"text": pa.array(texts)}
    spec = audit_spec_of(task)
    assert list(spec.distributions["last function"](columns)) == ["b"] * 4
    assert list(spec.distributions["start symbol"](columns)) == ["101", "000", "101", "101"]
    assert list(spec.distributions["functions"](columns)) == list("dabdabbadb")
    (code,) = spec.near_duplicate_keys.values()
    first, second, third, fourth = code(columns).tolist()
    assert first == second
    assert len({first, third, fourth}) == 3


def test_the_last_function_alone_gets_one_label_for_each_function():
    task = make_task("ctl")
    columns = {"text": pa.array(["101 d a b", "010 c b", "111 b"]), "label": pa.array([0, 1, 2])}
    assert len(set(predictions(task, "last function alone", columns).tolist())) == 1


# parity.


def parity(*rows):
    a, b, c, d = zip(*rows, strict=True)
    return {"a": pa.array(a), "b": pa.array(b), "c": pa.array(c), "d": pa.array(d)}


def test_parity_knows_rows_with_a_and_b_exchanged():
    (code,) = audit_spec_of(make_task("parity")).near_duplicate_keys.values()
    found = code(parity((3, 4, 7, 2), (4, 3, 7, 2), (3, 4, 2, 7), (0, 0, 0, 0))).tolist()
    assert found[0] == found[1]
    assert len(set(found)) == 3


def test_parity_counts_what_is_asked_for():
    distributions = audit_spec_of(make_task("parity")).distributions
    rows = parity((3, 4, 7, 2), (3, 5, 7, 2), (4, 6, 1, 1), (4, 5, 1, 2))
    assert list(distributions["what is asked for"](rows)) == ["c", "d", "d", "c"]
    assert list(distributions["a and b"](rows)) == ["a odd", "both odd", "both even", "b odd"]
    assert list(distributions["c and d"](rows)) == ["different", "different", "equal", "different"]


def test_with_one_indicator_parity_is_no_better_than_with_none():
    task = make_task("parity")
    columns = rendered(task, "test", 4_000)
    label = columns["label"].to_numpy()
    for name in ("c and d, neither a nor b", "c, d and a", "c, d and b"):
        right = predictions(task, name, columns) == label
        assert 0.4 < right.mean() < 0.6


# Grids.


def grid(task, lines):
    row = {"grid": lines, **task.recompute_columns({"grid": lines})}
    return {name: pa.array([value]) for name, value in row.items()}


def test_grids_are_answered_without_counting_or_by_counting_a_line():
    task = make_task("grid-count")
    columns = grid(task, [[6, 6, 0], [3, 7, 0], [4, 3, 6]])
    (zeros,) = predictions(task, "background everywhere", columns)
    assert not zeros.any()
    (density,) = predictions(task, "counts from density", columns)
    expected = 1 + 6 / 9
    assert density == pytest.approx(
        np.array([[expected, expected, 0], [expected, expected, 0], [expected] * 3])
    )
    (lines,) = predictions(task, "own line, scaled", columns)
    assert lines.tolist() == [[6, 6, 0], [3, 3, 0], [3, 3, 3]]


def test_grids_are_counted_by_colour_density_and_variety():
    task = make_task("grid-count")
    columns = grid(task, [[6, 6, 0], [3, 7, 0], [4, 3, 6]])
    distributions = audit_spec_of(task).distributions
    assert sorted(distributions["colours"](columns)) == [0, 0, 3, 3, 4, 6, 6, 6, 7]
    assert list(distributions["coloured cells, in tenths"](columns)) == [7]
    assert list(distributions["colours in a grid"](columns)) == [4]


# Numbers and points.


def test_identity_is_answered_with_the_mean_of_train():
    task = make_task("identity")
    columns = rendered(task, "test")
    answers = predictions(task, "train's mean", columns)
    assert answers.shape == (60, 5)
    assert np.ptp(answers) == 0
    assert abs(answers[0, 0]) < 0.02


def test_clusters_collapse_into_one_point():
    task = make_task("clusters")
    columns = rendered(task, "test")
    for answer, row in zip(
        predictions(task, "collapse", columns), columns["points"].to_pylist(), strict=True
    ):
        assert answer[0] == pytest.approx(np.mean(row, axis=0), abs=1e-6)
        assert np.ptp(answer, axis=0).tolist() == [0, 0]
