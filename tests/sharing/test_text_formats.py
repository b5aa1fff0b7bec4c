"""Lines of JSON, chat messages and tables: every row in order, with its answer."""

import base64
import csv
import json

import datasets
import pytest

import synthbench
from synthbench import llm
from synthbench.evaluation.final_answer import find_answer
from synthbench.sharing.export import export
from synthbench.tasks import registry
from synthbench.tasks.registry import list_tasks
from tests.planted.task import Reversal


def read(file):
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def read_table(file):
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


def splits_of(directory):
    """Every split of a dataset: the task in its variant, the split's name and its rows."""
    dataset = synthbench.DatasetDirectory.open(directory)
    for variant, splits in dataset.manifest.variants.items():
        for split in splits:
            yield dataset.manifest.make_task(variant), split, dataset.rows(variant, split)


# Lines of JSON.


@pytest.mark.parametrize("name", list_tasks())
def test_the_lines_are_the_rows_in_order_with_their_answers(name, tiny, tmp_path):
    export(tiny(name), "jsonl", tmp_path / "out")
    for task, split, rows in splits_of(tiny(name)):
        lines = read(tmp_path / "out" / task.variant / f"{split}.jsonl")
        for row, line in zip(rows, lines, strict=True):
            answer = line.pop("answer", None)
            if "image" in line:
                assert base64.b64decode(line.pop("image")) == row.pop("image")["bytes"]
            assert line == row
            assert list(line) == list(row)
            if "label" in row:
                assert isinstance(answer, str)
                best = task.measure(row, task.read_answer(row, row["label"]))
                found = find_answer(task, answer)
                assert task.measure(row, task.read_answer(row, found)) == best


def test_the_answer_stands_beside_the_label(tiny, tmp_path):
    export(tiny("ctl"), "jsonl", tmp_path / "out")
    line = read(tmp_path / "out/forward/test.jsonl")[0]
    assert list(line) == ["id", "text", "label", "answer", "steps", "length"]
    assert line["answer"] == line["steps"][-1] == f"{line['label']:03b}"


def test_datasets_reads_the_lines(tiny, tmp_path):
    export(tiny("listops"), "jsonl", tmp_path / "out")
    loaded = datasets.load_dataset(
        "json",
        data_files=str(tmp_path / "out/default/test.jsonl"),
        split="train",
        cache_dir=str(tmp_path / "cache"),
    )
    assert loaded.num_rows == 40
    assert [int(answer) for answer in loaded["answer"]] == loaded["label"]


# Chat messages.


@pytest.mark.parametrize("name", ["listops", "arithmetic", "ctl", "parity", "composites"])
def test_every_message_asks_its_row_and_answers_it_rightly(name, tiny, tmp_path):
    export(tiny(name), "chat", tmp_path / "out")
    for task, split, rows in splits_of(tiny(name)):
        lines = read(tmp_path / "out" / task.variant / f"{split}.jsonl")
        for row, line in zip(rows, lines, strict=True):
            asked, answered = line["messages"]
            said = line["id"], asked["role"], answered["role"]
            assert said == (row["id"], "user", "assistant")
            assert answered["content"] == f"Answer: {line['answer']}"
            assert llm.score(task, row, line["messages"]) == 1.0
            if "image" in row:
                picture, text = asked["content"]
                data = picture["image_url"]["url"].removeprefix("data:image/png;base64,")
                assert base64.b64decode(data) == row["image"]["bytes"]
                assert "four quadrants" in text["text"]
            else:
                assert row["text"] in asked["content"].split("\n\n")


# Tables in the form of Long Range Arena.


@pytest.mark.parametrize("name", ["listops", "arithmetic", "ctl", "parity"])
def test_a_csv_reader_finds_text_and_class_of_every_row(name, tiny, tmp_path):
    export(tiny(name), "tsv", tmp_path / "out")
    for task, split, rows in splits_of(tiny(name)):
        file = {"validation": "val"}.get(split, split)  # as the loaders look for them
        read = read_table(tmp_path / "out" / task.variant / f"basic_{file}.tsv")
        assert read == [{"Source": row["text"], "Target": str(row["label"])} for row in rows]


def test_labels_that_are_text_stand_as_they_are(tmp_path, monkeypatch):
    monkeypatch.setitem(registry._registered, Reversal.name, Reversal)
    synthbench.generate("reversal", out=tmp_path / "made", workers=1, progress=False)
    export(tmp_path / "made", "tsv", tmp_path / "out")
    read = read_table(tmp_path / "out/default/basic_test.tsv")
    assert len(read) == 40
    assert all(line["Source"][::-1] == line["Target"] for line in read)


def test_lines_end_as_on_unix_on_every_system(tiny, tmp_path):
    export(tiny("listops"), "tsv", tmp_path / "out")
    raw = (tmp_path / "out/default/basic_test.tsv").read_bytes()
    assert raw.startswith(b"Source\tTarget\n[")
    assert raw.count(b"\n") == 41
    assert b"\r" not in raw
