"""Mistakes that a newcomer makes in Python: each an error of ours that names thing and remedy."""

import re
from pathlib import Path

import pytest

import synthbench
from synthbench.errors import DatasetError, UsageError
from synthbench.tasks import registry

ROW = {"text": "3 4 7 2 =", "label": 7}


class Unfinished(synthbench.Task):
    name = "unfinished"


@pytest.mark.parametrize(
    ("mistake", "kind", "message"),
    [
        (lambda: synthbench.generate(3), UsageError, r"^Task 3: expected text"),
        (
            lambda: synthbench.generate(synthbench.task("parity", 3)),
            UsageError,
            "Unknown variant of parity 3. Allowed: default",
        ),
        (lambda: synthbench.generate("parity", rows=5), UsageError, "Rows 5: .*{'train': 1000}"),
        (lambda: synthbench.stream("parity", split=3), UsageError, "Unknown split of parity 3."),
        (
            lambda: registry.task_from("parity", None, [1]),
            UsageError,
            "Parameters .1.: exp",
        ),
        (lambda: synthbench.generate("parity", rows={"train": 5.0}), UsageError, "train=5.0: all"),
        (lambda: synthbench.score("parity", ROW["text"], 7), UsageError, "Row '3 4.*a mapping"),
        (lambda: synthbench.score("parity", {}, 7), UsageError, "A row has no column 'label'"),
        (lambda: synthbench.solve("parity", ROW), UsageError, "expects the .text. of a row"),
        (
            lambda: synthbench.solve("parity", "3 4"),
            UsageError,
            "Cannot solve .3 4.: not a row of parity: ",
        ),
        (lambda: synthbench.register(synthbench.Task), UsageError, "Task is an incomplete task"),
        (lambda: synthbench.register(Unfinished), UsageError, "lacks columns, propose, render"),
        (lambda: synthbench.register(Path), UsageError, "expected a subclass of synthbench.Task"),
        (lambda: synthbench.DatasetDirectory.open(__file__), DatasetError, "it is a file"),
        (
            lambda: synthbench.evaluate([ROW], [7]),
            UsageError,
            "do not name their task. Give it after the predictions",
        ),
    ],
)
def test_a_mistake_is_an_error_that_says_what_was_got_and_what_is_allowed(
    mistake, kind, message, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind) as caught:
        mistake()
    assert re.search(message, str(caught.value)), caught.value
    assert len(str(caught.value).splitlines()) <= 2
    assert list(tmp_path.iterdir()) == []


def test_the_name_of_one_column_is_no_list_of_columns_and_a_repeated_name_counts_once(tmp_path):
    synthbench.generate("parity", out=tmp_path / "made", preset="small", workers=1)
    dataset = synthbench.DatasetDirectory.open(tmp_path / "made")
    with pytest.raises(UsageError, match="Columns 'text': expected a list of names"):
        next(dataset.rows("default", "test", "text"))
    batch = next(dataset.batches("default", "test", ["label", "id", "label"]))
    assert batch.schema.names == ["label", "id"]
