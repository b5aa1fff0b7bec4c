"""Proofs of many rows at once agree with the reference solver, on right and on damaged rows."""

import functools
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthbench.tasks.base import Block
from synthbench.tasks.listops.task import ListOps
from synthbench.tasks.registry import task as make_task
from synthbench.tasks.registry import task_class
from synthbench.tasks.row_ids import rows_table
from synthbench.verification.proof import proved, prover
from synthbench.verification.rows import derived_columns, first_wrong_row
from tests.support import RULES, draw_splits, drawn, first_fast

PROVED = [(name, variant) for name, variant in RULES if prover(task_class(name))]
#: Parameters that change the rule.
OTHERS = [
    ("listops", {"ties": "first", "max_args": 7}),
    ("arithmetic", {"modulus": 7}),
    ("ctl", {"symbols": 5, "functions": 30}),
    ("mqar", {"filler": "random", "vocabulary": 64}),
    ("chomsky", {"reading": "program"}),
    ("addition", {"order": "reversed", "zero_padding": True}),
]


@functools.cache
def rows_of(name, variant):
    """Some rows of every split, as a table."""
    task = make_task(name, variant)
    keyed = drawn(name, variant).values()
    return pa.concat_tables([rows_table(task, one.block, one.fingerprints) for one in keyed])


def prove(task, rows):
    """The rows of a table that are proved."""
    (batch,) = rows.combine_chunks().to_batches()
    try:
        block = task.parse({name: batch.column(name) for name in task.inputs})
    except ValueError:
        block = None
    return proved(task, block, batch)


def is_right(task, row):
    """The verdict of the reference solver."""
    try:
        derived = task.recompute_columns({name: row[name] for name in task.inputs})
    except ValueError:
        return False
    names = [name for name in derived_columns(task) if not (name == "label" and task.is_checked)]
    same = all(derived[name] == row[name] for name in names)
    return same and (not task.is_checked or task.check(row, row["label"]))


@pytest.mark.parametrize(("name", "variant"), first_fast(PROVED))
def test_all_right_rows_are_proved(name, variant):
    assert prove(make_task(name, variant), rows_of(name, variant)).all()


@pytest.mark.parametrize(("name", "parameters"), OTHERS)
def test_all_right_rows_of_other_parameters_are_proved(name, parameters):
    task = make_task(name, **parameters)
    for keyed in draw_splits(task, 30).values():
        rows = rows_table(task, keyed.block, keyed.fingerprints)
        assert prove(task, rows).all()
        assert all(is_right(task, row) for row in rows.to_pylist())


def damaged(data, task, rows, column):
    """Rows of which one has another value in a column."""
    row, other = (data.draw(st.integers(0, len(rows) - 1)) for _ in range(2))
    value = rows[row][column]
    return [
        {**one, column: _edited(data, value, rows[other][column])} if number == row else one
        for number, one in enumerate(rows)
    ]


def _edited(data, value, other):
    """Another value: that of another row, or the same with a small change."""
    if data.draw(st.booleans()):
        return other
    if isinstance(value, int):
        return abs(value + data.draw(st.sampled_from([-1, 1, 10])))
    parts = value.split(" ") if isinstance(value, str) and " " in value else list(value)
    edit = data.draw(st.sampled_from(["replace", "repeat", "drop", "swap", "inside"]))
    if not parts:
        return value
    at, by = (data.draw(st.integers(0, len(parts) - 1)) for _ in range(2))
    if edit == "replace":
        parts[at] = parts[by]
    elif edit == "repeat":
        parts.insert(at, parts[by])
    elif edit == "drop":
        del parts[at]
    elif edit == "swap":
        parts[at], parts[by] = parts[by], parts[at]
    elif isinstance(parts[at], (int, list)):
        parts[at] = _edited(data, parts[at], parts[by])
    if isinstance(value, str):
        return (" " if " " in value else "").join(parts)
    return parts


@pytest.mark.parametrize(("name", "variant"), first_fast(PROVED))
@settings(max_examples=40)
@given(data=st.data())
def test_a_damaged_row_is_proved_only_if_the_solver_agrees(name, variant, data):
    task, rows = make_task(name, variant), rows_of(name, variant)
    some = [rows.slice(data.draw(st.integers(0, len(rows) - 1)), 1).to_pylist()[0] for _ in "123"]
    column = data.draw(st.sampled_from([*task.inputs, *derived_columns(task)]))
    spoiled = damaged(data, task, some, column)
    table = pa.Table.from_pylist(spoiled, schema=rows.schema)
    found, right = prove(task, table).tolist(), [is_right(task, row) for row in spoiled]
    assert all(there for there, by_solver in zip(right, found, strict=True) if by_solver)
    if len(set(map(str, (spoiled, some)))) == 1:
        assert all(found)


@pytest.mark.parametrize(
    ("name", "variant"), first_fast([one for one in PROVED if make_task(*one).vocabulary])
)
@settings(max_examples=40)
@given(data=st.data())
def test_random_words_are_proved_only_if_the_solver_agrees(name, variant, data):
    task, rows = make_task(name, variant), rows_of(name, variant)
    (row,) = rows.slice(data.draw(st.integers(0, len(rows) - 1)), 1).to_pylist()
    words = data.draw(st.lists(st.sampled_from(task.tokens), max_size=8))
    row |= {"text": task.separator.join(words), "length": len(words)}
    if prove(task, pa.Table.from_pylist([row], schema=rows.schema)).all():
        assert is_right(task, row)


@pytest.mark.parametrize(("name", "variant"), first_fast(PROVED))
def test_the_first_wrong_row_is_named_as_the_solver_names_it(name, variant, monkeypatch):
    task, rows = make_task(name, variant), rows_of(name, variant)
    edited = rows.to_pylist()
    labels = [row["label"] for row in edited]
    at = next(n for n in range(7, len(labels)) if labels[n] != labels[n - 1])
    edited[at]["label"] = labels[at - 1]
    table = pa.Table.from_pylist(edited, schema=rows.schema)
    wrong = first_wrong_row(task, table, with_ids=True)
    monkeypatch.setattr("synthbench.verification.rows.proved", _none)
    assert wrong is not None and wrong[0] == at
    assert wrong == first_wrong_row(task, table, with_ids=False)


def _none(task, block, rows):
    return np.zeros(rows.num_rows, np.bool_)


def test_a_derived_task_with_another_rule_is_solved_row_by_row():
    class Negated(ListOps):
        """Another rule for the same rows."""

        def solve(self, question):
            return 9 - super().solve(question)

    assert prover(ListOps) is not None and prover(Negated) is None


def test_a_missing_value_is_left_to_the_solver():
    task, rows = make_task("listops"), rows_of("listops", "default")
    spoiled = [{**row, "label": None} if not n else row for n, row in enumerate(rows.to_pylist())]
    assert not prove(task, pa.Table.from_pylist(spoiled, schema=rows.schema)).any()


def test_rows_of_mqar_are_proved_only_if_the_solver_reads_them():
    task = make_task("mqar", vocabulary=16, length=8, pairs=2, test_lengths=(16,), test_pairs=(2,))
    random, words = np.random.default_rng(0), np.array(["k1", "k2", "k3", "v1", "v2", "blank"])
    rows = []
    for _ in range(3_000):
        tokens = words[random.integers(0, [3, 6, 3, 6, 6, 6, 6, 6])].tolist()
        tokens[1:4:2], pairs = [f"v{random.integers(1, 3)}"] * 2, int(random.integers(1, 3))
        values = dict(zip(tokens[: 2 * pairs : 2], tokens[1 : 2 * pairs : 2], strict=True))
        label = ["_"] * 2 * pairs + [values.get(word, "_") for word in tokens[2 * pairs :]]
        row = {"id": "", "text": " ".join(tokens), "label": " ".join(label)}
        rows.append({**row, "pairs": pairs, "length": 8})
    table = pa.Table.from_pylist(rows, schema=rows_of("mqar", "default").schema)
    (batch,) = table.combine_chunks().to_batches()
    found = proved(task, Block({"tokens": task.vocabulary.encode(batch.column("text"))}), batch)
    assert found.tolist() == [is_right(task, row) for row in rows]
    assert 20 < found.sum() < 2_000


@pytest.mark.parametrize("variant", ["tree", "open"])
def test_mazes_with_other_walls_are_proved_exactly_if_the_solver_agrees(variant):
    task, table = make_task("maze", variant), rows_of("maze", variant)
    random, rows = np.random.default_rng(0), table.to_pylist()
    for row in rows:
        cells, label = (np.array(row[name].split(" ")) for name in ("text", "label"))
        size = math.isqrt(len(cells))
        row_of, column_of = np.divmod(np.arange(len(cells)), size)
        inside = (np.minimum(row_of, column_of) > 0) & (np.maximum(row_of, column_of) < size - 1)
        for cell in random.choice(np.flatnonzero(inside & np.isin(label, ["#", "."])), 2):
            cells[cell] = label[cell] = random.choice(["#", "."])
        row |= {"text": " ".join(cells), "label": " ".join(label)}
    found = prove(task, pa.Table.from_pylist(rows, schema=table.schema))
    assert found.tolist() == [is_right(task, row) for row in rows]
    assert 10 < found.sum() < len(rows) - 10
