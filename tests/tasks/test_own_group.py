"""State tracking in a group of the user's: its table is read, checked, and kept in the manifest."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthbench
from synthbench.errors import MissingPathError, ParameterError
from synthbench.tasks.state_tracking.task import StateTracking
from tests.tasks.blocks import assert_sound, propose

#: A table with an identity and inverses that is not associative.
LOOP = [[0, 1, 2, 3, 4], [1, 0, 3, 4, 2], [2, 4, 0, 1, 3], [3, 2, 4, 0, 1], [4, 3, 1, 2, 0]]
#: JSON that is no table, and no JSON.
NO_TABLES = (
    "x", "", "3", "[]", "[[0]]", "{}", "[[0, 1], [1]]", '[["0", "1"], ["1", "0"]]', "[[0.0, 1.0]]",
    "[[true, false], [false, true]]", "[0, 1]", "null", "[[1e400, 0], [0, 1]]",
    f"[[{10**30}, 0], [0, 1]]",
)  # fmt: skip
#: Variants whose tables are checked in a moment.
SMALL = [name for name in StateTracking.variants if not name.startswith("S5")]


@pytest.fixture
def table(tmp_path):
    def write(content):
        path = tmp_path / "group.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    return write


@given(st.sampled_from(SMALL), st.randoms())
@settings(max_examples=15, deadline=None)
def test_a_group_by_its_table_has_the_products_of_the_group(tmp_path_factory, variant, random):
    products = StateTracking(variant).group.products
    order = list(range(len(products)))
    random.shuffle(order)  # the identity is anywhere
    number = np.argsort(order)
    path = tmp_path_factory.mktemp("table") / "group.json"
    path.write_text(json.dumps(number[products[np.ix_(order, order)]].tolist()))
    task = synthbench.task("state-tracking", group=str(path))
    assert task.variant == "own"
    words = [random.randrange(len(order)) for _ in range(9)]
    answer = task.solve(" ".join(map(str, words)))
    product, expected = order[words[0]], [words[0]]
    for word in words[1:]:
        product = products[product, order[word]]
        expected.append(int(number[product]))
    assert answer == " ".join(map(str, expected))
    assert_sound(task, propose(task, n=5, bucket=5))


def test_a_dataset_keeps_the_table_and_needs_no_file(table, tmp_path):
    path = table([[0, 1, 2], [1, 2, 0], [2, 0, 1]])
    task = synthbench.task("state-tracking", group=path, test_lengths=(8,))
    synthbench.generate(task, out=tmp_path / "data", rows={"train": 50, "test": 20}, workers=1)
    Path(path).unlink()
    manifest = json.loads((tmp_path / "data" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["parameters"]["group"] == ["0 1 2", "1 2 0", "2 0 1"]
    assert [*manifest["variants"]] == ["own"]
    assert synthbench.verify(tmp_path / "data").ok
    assert synthbench.task("state-tracking", group=task.parameters.group, test_lengths=[8]) == task
    numbers = [[int(number) for number in row.split()] for row in task.parameters.group]
    assert synthbench.task("state-tracking", group=numbers, test_lengths=[8]) == task


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([[0, 1], [1, 1]], "is not a group: 1 lacks an inverse."),
        ([[0, 1], [1, 2]], "is not a group: 1 \\* 1 is 2, and its elements are 0 to 1."),
        ([[0, 1, 2], [1, 0, 2]], "is not a group: it has 2 lines of 3 numbers."),
        ([[1, 0], [0, 0]], "is not a group: an element e with"),
        (LOOP, r"is not a group: \(1 \* 1\) \* 2 is not 1 \* \(1 \* 2\)."),
        *((content, "group.json: expected JSON such as") for content in NO_TABLES),
    ],
)
def test_a_table_that_is_no_group_is_refused(table, content, message):
    with pytest.raises(ParameterError, match=message):
        synthbench.task("state-tracking", group=table(content))


def test_a_group_beside_another_variant_and_a_missing_file_are_refused(table):
    with pytest.raises(ParameterError, match=r"variant S3 has a group. Choose variant 'own'"):
        synthbench.task("state-tracking", "S3", group=table([[0, 1], [1, 0]]))
    with pytest.raises(ParameterError, match="Parameter group: expected JSON such as"):
        synthbench.task("state-tracking", group=[])
    with pytest.raises(MissingPathError, match=r"nope\.json: the file does not exist"):
        synthbench.task("state-tracking", group="nope.json")
