"""What every task must do, whoever wrote it: `check_task`, and what only our own tasks promise.

Tasks made from source images are left to their own tests.
"""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest

from synthbench.errors import UsageError
from synthbench.seeding import Draws
from synthbench.tasks import describe, registry
from synthbench.tasks.addition.written import WrittenNumber
from synthbench.tasks.base import Task
from synthbench.tasks.features import value
from synthbench.tasks.registry import task as make_task
from synthbench.tasks.row_ids import fingerprints
from synthbench.verification.conformance import check, datasets, draws
from synthbench.verification.conformance.check import check_task
from synthbench.verification.conformance.levels import check_levels
from synthbench.verification.conformance.rows import check_columns
from tests.support import ONE_EACH, RULES, drawn, first_fast, plain_rows
from tests.tasks import blocks
from tests.tasks.blocks import assert_rows_and_levels
from tests.toy_task import Numbers

#: Buckets with at most so many rows are listed and counted.
LISTED = 50_000

NAMES = [name for name, _ in ONE_EACH]
every_task = pytest.mark.parametrize("name", [*NAMES, Numbers.name])
every_variant = pytest.mark.parametrize(
    ("name", "variant"), [*first_fast(RULES), (Numbers.name, "default")]
)


@pytest.fixture(autouse=True)
def _toy_task(monkeypatch):
    monkeypatch.setitem(registry._registered, Numbers.name, Numbers)


def each_split(name, variant):
    task = make_task(name, variant)
    return [(task, split, rows) for split, rows in drawn(name, variant).items()]


first_variant = pytest.mark.parametrize(("name", "variant"), [*ONE_EACH, (Numbers.name, "default")])


@pytest.fixture
def small_blocks(monkeypatch):
    """Levels with small blocks, as little of a block is used. Blocks of sudoku cost as much."""

    def checked(task, directory):
        with monkeypatch.context() as patched:
            if task.name != "sudoku":
                patched.setattr(type(task), "block_rows", 64)
            return check_levels(task, directory)

    for module in (check, blocks):
        monkeypatch.setattr(module, "check_levels", checked)


@pytest.mark.usefixtures("short_rounds", "small_blocks")
@first_variant
def test_a_task_keeps_every_promise(name, variant, monkeypatch):
    if name != Numbers.name:  # golden digests hold the rows of ours in every process
        monkeypatch.setattr(datasets, "check_elsewhere", lambda made: [])
    found = list(check_task(make_task(name, variant)))
    assert [one for one in found if one.problems] == []
    assert found[-1].statement == "Every level has rows and a stream"


@pytest.fixture
def few_candidates(monkeypatch):
    """Fewer candidates, rows and buckets than `check-task` looks at."""
    monkeypatch.setattr(draws, "_CANDIDATES", 32)
    monkeypatch.setattr(check, "_ROWS", 8)
    monkeypatch.setattr(check, "_BUCKETS", 8)


#: Sudokus of 9 x 9 cells take long. `test_row_ids` and `test_sudoku` hold their rows.
OTHERS = [one for one in RULES if one not in ONE_EACH and one != ("sudoku", "9x9")]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "variant"), OTHERS)
@pytest.mark.usefixtures("short_rounds", "small_blocks", "few_candidates")
def test_its_other_variants_keep_those_of_rows_and_levels(name, variant, tmp_path):
    """Golden digests hold all variants' bytes."""
    assert_rows_and_levels(make_task(name, variant), tmp_path)


# What a task says of itself.


ONE_TO_FIVE = (1, 2, 3, 4, 5)
#: The digits of two numbers of addition: of train, and of test with one number beyond train.
GRID = tuple(1_000 * a + b for a in range(1, 11) for b in range(1, 11))
BEYOND = tuple(
    1_000 * a + b
    for a, b in itertools.product((1, 5, 10, 12, 15, 20, 25, 30), repeat=2)
    if max(a, b) > 10
)
#: Rows and buckets of each split.
PAPERS: dict[str, dict[str, tuple[int, tuple[int, ...]]]] = {
    "listops": {"train": (1_000_000, ONE_TO_FIVE), "iid": (1_000, ONE_TO_FIVE),
                "validation": (1_000, (6,)), "test": (1_000, (7, 8))},
    "arithmetic": {"train": (100_000, ONE_TO_FIVE), "iid": (1_000, ONE_TO_FIVE),
                   "validation": (1_000, (6,)), "test": (1_000, (7, 8))},
    "ctl": {"train": (53_704, ONE_TO_FIVE), "iid": (1_000, (2, 3, 4, 5)),
            "validation": (1_000, (6, 7, 8)), "test": (1_000, (9, 10))},
    "grid-count": {"train": (100_000, (*ONE_TO_FIVE, 6)), "iid": (1_000, (6,)),
                   "test": (7_000, (7, 8, 9, 10, 12, 15, 20))},
    "identity": {"train": (100_000, (0,)), "iid": (1_000, (0,)), "test": (1_000, (0,))},
    "clusters": {"test": (1_000, (0,))},
    "modular-arithmetic": {"train": (4_704, (0,)), "test": (1_185, (0,))},
    "state-tracking": {"train": (200_000, tuple(range(1, 33))), "iid": (3_000, tuple(range(4, 33))),
                       "validation": (1_000, tuple(range(33, 41))),
                       "test": (3_000, (48, 64, 96, 128, 192, 256))},
    "mqar": {"train": (100_000, (64_004,)), "iid": (3_000, (64_004,)),
             "validation": (3_000, (64_004,)),
             "test": (4_000, (64_008, 64_016, 128_004, 128_008, 128_016, 256_004, 256_008,
                              256_016))},
    "chomsky": {"train": (200_000, tuple(range(1, 41))), "iid": (4_000, tuple(range(1, 41))),
                "test": (4_700, (*range(41, 500, 10), 500))},
    "addition": {"train": (200_000, GRID), "iid": (3_000, GRID), "test": (5_500, BEYOND)},
}  # fmt: skip


@pytest.mark.parametrize("name", PAPERS)
def test_splits_have_the_rows_and_buckets_of_the_papers(name):
    task = make_task(name)
    assert {split.name: (split.rows, split.buckets) for split in task.splits} == PAPERS[name]


@every_task
def test_parameters_survive_the_manifest_and_the_command_line(name):
    task = make_task(name)
    stored = json.loads(json.dumps(task.parameters.to_dict()))
    assert make_task(name, **stored) == task
    words = {
        key: ",".join(map(str, given)) if isinstance(given, list) else str(given)
        for key, given in stored.items()
    }
    assert make_task(name, **words) == task
    assert task.parameters.changed() == {}
    for _, text in describe.parameter_help(task):
        assert text


@every_task
def test_wrong_names_and_seeds_are_refused_with_what_is_allowed(name):
    task = make_task(name)
    with pytest.raises(UsageError, match=r"Unknown parameter 'colour'. Allowed: "):
        make_task(name, colour=1)
    with pytest.raises(UsageError, match=f"Unknown variant of {name} 'sideways'. Allowed: "):
        make_task(name, "sideways")
    with pytest.raises(UsageError, match=f"Unknown split of {name} 'exam'. Allowed: "):
        task.split("exam")
    for seed in (-1, True, 1.5, "1", None):
        with pytest.raises(UsageError, match="allowed are whole numbers from 0"):
            make_task(name, seed=seed)  # type: ignore[arg-type]
    for key in task.parameters.to_dict():
        with pytest.raises(UsageError, match=r"\?.*([aA]llowed|expected)"):
            make_task(name, **{key: "?"})


# How rows are drawn.


@every_variant
def test_a_bucket_that_can_be_listed_has_as_many_rows_as_it_counts(name, variant):
    task = make_task(name, variant)
    for split in task.splits:
        for bucket in split.buckets:
            capacity = task.capacity(split, bucket)
            assert capacity is None or capacity >= 1
            if capacity is None or capacity > LISTED:
                continue
            block = task.enumerate_rows(split, bucket)
            assert len(block) == capacity
            assert len(np.unique(fingerprints(task, block))) == capacity
            assert set(task.buckets(task.rendered(block)).tolist()) == {bucket}
            proposed = task.propose(Draws({"test": name}), 256, split, bucket)
            assert block.columns.keys() == proposed.columns.keys()
            for key, column in block.columns.items():
                assert column.dtype == proposed[key].dtype
                assert column.shape[1:] == proposed[key].shape[1:]
            listed = set(fingerprints(task, block).tolist())
            assert set(fingerprints(task, proposed).tolist()) <= listed


@first_variant
def test_neighbouring_seeds_share_no_more_rows_than_chance(name, variant):
    """Rows are compared in each split's last bucket that has some, where hardly any would meet."""
    task = make_task(name, variant)
    first, second = drawn(name, variant), drawn(name, variant, seed=1)
    for split in task.splits:
        both = first[split.name], second[split.name]
        buckets = [task.buckets(task.rendered(rows.block)) for rows in both]
        bucket = [bucket for bucket in split.buckets if bucket in buckets[0]][-1]
        capacity = task.capacity(split, bucket)
        one, two = (
            rows.fingerprints[of_rows == bucket]
            for rows, of_rows in zip(both, buckets, strict=True)
        )
        there = (capacity or 10**30) * (1 if split.evaluation else 7) // 8
        expected = len(one) * len(two) / there
        assert len(np.intersect1d(one, two)) <= expected + 5 * math.sqrt(expected) + 1
        assert one.tolist() != two.tolist()


# How rows are shown and read again.


@every_variant
def test_arrays_hold_what_is_rendered_one_row_after_another(name, variant):
    for task, _, rows in each_split(name, variant):
        arrays, columns = task.arrays(rows.block), task.rendered(rows.block)
        assert set(task.columns) <= set(arrays)
        for key, array in arrays.items():
            assert isinstance(array, np.ndarray)
            assert len(array) == len(rows.block)
            if key in columns and array.ndim == 1 and array.dtype != object:
                np.testing.assert_array_equal(array, columns[key].to_numpy())
            elif key in columns and isinstance(array[0], str):
                assert array.tolist() == columns[key].to_pylist()


@every_variant
def test_no_rows_are_rendered_and_read_again_too(name, variant):
    for task, _, rows in each_split(name, variant):
        none = rows.block.take(slice(0))
        assert check_columns(task, none) == []
        parsed = task.parse(task.rendered(none))
        assert len(parsed) == len(fingerprints(task, parsed)) == 0


# How answers are judged.

#: Features of labels that are any whole number, with no names.
WHOLE_NUMBERS = [value(f"int{bits}") for bits in (8, 16, 32, 64)]

#: Metrics of which less is better.
ERRORS = {"mse"}


@every_variant
def test_a_rows_own_answer_scores_best(name, variant):
    for task, _, rows in each_split(name, variant):
        for row in plain_rows(task.rendered(rows.block)):
            answers = [task.solve(row[task.inputs[0]])]
            if "label" in row:
                answers.append(row["label"])
                names = task.labels
                answers += [names[row["label"]], str(row["label"])] if names else []
            for answer in answers:
                metrics = task.measure(row, task.read_answer(row, answer))
                nothing = task.measure(row, None)
                assert list(metrics) == list(task.metrics) == list(nothing)
                for metric, reached in metrics.items():
                    if metric in ERRORS:
                        assert reached == 0 < nothing[metric]
                    elif "label" in row:
                        assert reached == 1 > nothing[metric] or math.isnan(reached)
                    else:
                        assert reached > nothing[metric]
                assert task.score(row, answer) == metrics[task.metrics[0]]


LARGE = 10**30
NONSENSE: list[Any] = [
    *(None, "", "  ", "what?", "½", "1e400", b"\xff", math.nan, -math.inf, LARGE, -1, 1j),
    *([], {}, [[]], [None], [[[["x"]]]], {"label": 1}, Task),
    *(np.zeros((3, 0)), np.float64("nan")),
]


@every_variant
def test_nonsense_is_read_as_no_answer_and_scores_worst(name, variant):
    for task, _, rows in each_split(name, variant):
        for row in plain_rows(task.rendered(rows.block.take(slice(0, 3)))):
            for nonsense in NONSENSE:
                answer = task.read_answer(row, nonsense)
                if isinstance(task.answer, WrittenNumber) and nonsense is LARGE:
                    continue  # the digits of a number
                # A label that is any whole number may be -1 in another row.
                whole = task.columns.get("label", {}) in WHOLE_NUMBERS
                assert answer is None or (whole and answer == nonsense == -1)
                assert task.score(row, nonsense) == task.measure(row, None)[task.metrics[0]]
