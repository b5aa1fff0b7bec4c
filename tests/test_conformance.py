"""What every task must do, whoever wrote it: one suite over the registry and the toy task.

Tasks made from source images are left to their own tests.
"""

from __future__ import annotations

import json
import math
import pickle
import random
import re
from typing import Any

import numpy as np
import pytest

from synthbench.errors import UsageError
from synthbench.seeding import Draws
from synthbench.tasks import describe, registry
from synthbench.tasks.base import Task
from synthbench.tasks.features import label_names, value
from synthbench.tasks.registry import list_tasks, make_task, task_class
from synthbench.tasks.row_ids import fingerprints
from synthbench.verification.conformance.draws import (
    check_blocks,
    check_parameters,
    check_repeatable,
)
from synthbench.verification.conformance.rows import (
    check_answers,
    check_columns,
    check_drawing,
    check_ids,
    check_parts,
    check_solver,
)
from tests.support import (
    IMAGELESS,
    draw_splits,
    drawn,
    id_texts,
    plain_rows,
    run_python,
)
from tests.toy_task import Numbers

ROWS = 60
#: Buckets with at most so many rows are listed and counted.
LISTED = 50_000

VARIANTS = [*IMAGELESS, (Numbers.name, "default")]
every_task = pytest.mark.parametrize("name", list(dict.fromkeys(name for name, _ in VARIANTS)))
every_variant = pytest.mark.parametrize(("name", "variant"), VARIANTS)


@pytest.fixture(autouse=True)
def _toy_task(monkeypatch):
    monkeypatch.setitem(registry._registered, Numbers.name, Numbers)


def each_split(name, variant):
    task = make_task(name, variant)
    return [(task, split, rows) for split, rows in drawn(name, variant).items()]


def ids_of(splits):
    return {name: id_texts(rows.fingerprints) for name, rows in splits.items()}


# What a task says of itself.


@pytest.mark.parametrize("name", [*list_tasks(), Numbers.name])
def test_every_task_says_what_it_is_and_where_it_comes_from(name):
    task = task_class(name)
    assert task.name == name
    assert task.__doc__
    for text in (task.title, task.summary, task.source, task.bucket_name):
        assert text
        assert text == text.strip()
    assert task.variants
    assert all(task.variants.values())
    assert task.categories


ONE_TO_FIVE = (1, 2, 3, 4, 5)
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
    "clusters": {"test": (1_000, (0,))},
}  # fmt: skip


@pytest.mark.parametrize("name", PAPERS)
def test_splits_have_the_rows_and_buckets_of_the_papers(name):
    task = make_task(name)
    assert {split.name: (split.rows, split.buckets) for split in task.splits} == PAPERS[name]


@every_variant
def test_what_a_task_names_is_among_its_columns_and_splits(name, variant):
    task = make_task(name, variant)
    columns = set(task.columns)
    assert "id" not in columns
    assert set(task.inputs) <= columns
    assert set(task.judged_by) <= columns
    assert {one.column for one in task.breakdowns} <= columns
    assert len(set(task.metrics)) == len(task.metrics) >= 1
    for split in task.splits:
        assert re.fullmatch(r"\w+(\.\w+)*", split.name)
        assert split.name != "all"
        assert split.rows >= 1
        assert len(set(split.buckets)) == len(split.buckets) >= 1
        assert len(task.bucket_weights(split)) == len(split.buckets)
        assert split.evaluation == (split.name != "train")


@every_variant
def test_a_pickled_task_is_equal_and_draws_from_the_same_streams(name, variant):
    task = make_task(name, variant, seed=7)
    again = pickle.loads(pickle.dumps(task))
    assert again == task
    assert hash(again) == hash(task)
    assert again.stream == task.stream
    assert again != make_task(name, variant, seed=8)
    assert json.loads(json.dumps(task.stream)) == task.stream
    assert json.loads(json.dumps(task.tables)) == task.tables


@every_task
def test_parameters_survive_the_manifest_and_the_command_line(name):
    task = make_task(name)
    stored = json.loads(json.dumps(task.parameters.to_dict()))
    assert make_task(name, parameters=stored) == task
    words = {
        key: ",".join(map(str, given)) if isinstance(given, list) else str(given)
        for key, given in stored.items()
    }
    assert make_task(name, parameters=words) == task
    assert task.parameters.changed() == {}
    for _, text in describe.parameter_help(task):
        assert text


@every_task
def test_wrong_names_and_seeds_are_refused_with_what_is_allowed(name):
    task = make_task(name)
    with pytest.raises(UsageError, match="Unknown parameter 'colour'; allowed: "):
        make_task(name, parameters={"colour": 1})
    with pytest.raises(UsageError, match=f"Unknown variant of {name} 'sideways'; allowed: "):
        make_task(name, "sideways")
    with pytest.raises(UsageError, match=f"Unknown split of {name} 'exam'; allowed: "):
        task.split("exam")
    for seed in (-1, True, 1.5, "1", None):
        with pytest.raises(UsageError, match="allowed are whole numbers from 0"):
            make_task(name, seed=seed)  # type: ignore[arg-type]
    for key in task.parameters.to_dict():
        with pytest.raises(UsageError, match=r"\?.*(allowed|expected)"):
            make_task(name, parameters={key: "?"})


# How rows are drawn.


@every_variant
def test_blocks_have_one_form_and_depend_on_their_draws_alone(name, variant):
    task = make_task(name, variant)
    for split in task.splits:
        assert check_blocks(task, split) == []
        assert check_repeatable(task, split, split.buckets[-1]) == []


@every_variant
def test_no_row_comes_twice_in_a_dataset(name, variant):
    every = [one for rows in ids_of(drawn(name, variant)).values() for one in rows]
    assert len(set(every)) == len(every)


@every_variant
def test_rows_are_in_the_buckets_they_were_asked_for(name, variant):
    for task, split, rows in each_split(name, variant):
        found = task.buckets(task.render(rows.block))
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, rows.buckets)
        assert set(found.tolist()) <= set(task.split(split).buckets)
        assert all(task.bucket_label(bucket) for bucket in found.tolist())


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
            assert set(task.buckets(task.render(block)).tolist()) == {bucket}
            proposed = task.propose(Draws({"test": name}), 256, split, bucket)
            assert block.columns.keys() == proposed.columns.keys()
            for key, column in block.columns.items():
                assert column.dtype == proposed[key].dtype
                assert column.shape[1:] == proposed[key].shape[1:]
            listed = set(fingerprints(task, block).tolist())
            assert set(fingerprints(task, proposed).tolist()) <= listed


@every_variant
def test_neither_the_global_random_state_nor_another_size_drawn_before_matters(name, variant):
    random.seed(1)
    np.random.seed(1)
    before = random.getstate(), np.random.get_state()
    task = make_task(name, variant)
    draw_splits(task, 2 * ROWS)
    assert ids_of(draw_splits(task, ROWS)) == ids_of(drawn(name, variant))
    assert random.getstate() == before[0]
    after = np.random.get_state()
    assert all(np.array_equal(a, b) for a, b in zip(before[1], after, strict=True))


@pytest.fixture(scope="module")
def elsewhere():
    """The ids of every small dataset, made in another process with another PYTHONHASHSEED."""
    code = f"""
import json
from synthbench.tasks.registry import make_task, register
from tests.support import draw_splits, id_texts
from tests.toy_task import Numbers
register(Numbers)
print(json.dumps({{
    f"{{name}} {{variant}}": {{
        split: id_texts(rows.fingerprints)
        for split, rows in draw_splits(make_task(name, variant), {ROWS}).items()
    }}
    for name, variant in reversed({VARIANTS!r})
}}))
"""
    made: dict[str, dict[str, list[str]]] = json.loads(run_python(code, PYTHONHASHSEED="12345"))
    return made


@every_variant
def test_another_process_with_another_hash_seed_draws_the_same_rows(name, variant, elsewhere):
    assert elsewhere[f"{name} {variant}"] == ids_of(drawn(name, variant))


@every_variant
def test_neighbouring_seeds_share_no_more_rows_than_chance(name, variant):
    """Rows are compared in each split's largest bucket, where hardly any would meet by chance."""
    task = make_task(name, variant)
    first, second = drawn(name, variant), drawn(name, variant, seed=1)
    for split in task.splits:
        bucket = split.buckets[-1]
        capacity = task.capacity(split, bucket)
        one, two = (
            rows[split.name].fingerprints[rows[split.name].buckets == bucket]
            for rows in (first, second)
        )
        there = (capacity or 10**30) * (1 if split.evaluation else 7) // 8
        expected = len(one) * len(two) / there
        assert len(np.intersect1d(one, two)) <= expected + 5 * math.sqrt(expected) + 1
        assert one.tolist() != two.tolist()


# How rows are shown and read again.


#: What `synthbench check` asks of rows: types, neighbours, ids, labels, drawings, answers.
ROW_CHECKS = [check_columns, check_parts, check_ids, check_solver, check_drawing, check_answers]


@every_variant
@pytest.mark.parametrize("check", ROW_CHECKS, ids=lambda check: check.__name__)
def test_the_rows_of_every_split_pass(check, name, variant):
    for task, _, rows in each_split(name, variant):
        assert check(task, rows.block) == []


@every_variant
def test_arrays_hold_what_is_rendered_one_row_after_another(name, variant):
    for task, _, rows in each_split(name, variant):
        arrays, columns = task.arrays(rows.block), task.render(rows.block)
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
        parsed = task.parse(task.render(none))
        assert len(parsed) == len(fingerprints(task, parsed)) == 0


# How answers are judged.

#: Features of labels that are any whole number, with no names.
WHOLE_NUMBERS = [value(f"int{bits}") for bits in (8, 16, 32, 64)]
#: Metrics of which less is better.
ERRORS = {"mse"}


@every_variant
def test_a_rows_own_answer_scores_best(name, variant):
    for task, _, rows in each_split(name, variant):
        for row in plain_rows(task.render(rows.block)):
            answers = [task.solve(row[task.inputs[0]])]
            if "label" in row:
                answers.append(row["label"])
                names = label_names(task.columns["label"])
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


@every_task
def test_strange_parameters_are_refused_or_work(name):
    assert check_parameters(make_task(name)) == []


@every_variant
def test_of_all_classes_the_label_alone_scores_1(name, variant):
    for task, _, rows in each_split(name, variant):
        names = label_names(task.columns.get("label", {})) or []
        for row in plain_rows(task.render(rows.block.take(slice(0, 5)))):
            scores = [task.score(row, index) for index in range(len(names))]
            assert scores == [float(index == row["label"]) for index in range(len(names))]
            assert [task.score(row, one) for one in names] == scores


NONSENSE: list[Any] = [
    *(None, "", "  ", "what?", "½", "1e400", b"\xff", math.nan, -math.inf, 10**30, -1, 1j),
    *([], {}, [[]], [None], [[[["x"]]]], {"label": 1}, Task),
    *(np.zeros((3, 0)), np.float64("nan")),
]


@every_variant
def test_nonsense_is_read_as_no_answer_and_scores_worst(name, variant):
    for task, _, rows in each_split(name, variant):
        for row in plain_rows(task.render(rows.block.take(slice(0, 3)))):
            for nonsense in NONSENSE:
                answer = task.read_answer(row, nonsense)
                # A label that is any whole number may be -1 in another row.
                whole = task.columns.get("label", {}) in WHOLE_NUMBERS
                assert answer is None or (whole and answer == nonsense == -1)
                assert task.score(row, nonsense) == task.measure(row, None)[task.metrics[0]]
