"""Lines of JSON: every column of every row, and the answer as text."""

import base64
import json

import pytest

import synthbench
from synthbench.evaluation.final_answer import find_answer
from synthbench.sharing.export import export
from synthbench.tasks.registry import list_tasks


def read(file):
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("name", list_tasks())
def test_the_lines_are_the_rows_in_order_with_their_answers(name, tiny, tmp_path):
    dataset = synthbench.DatasetDirectory.open(tiny(name))
    export(tiny(name), "jsonl", tmp_path / "out")
    for variant, splits in dataset.manifest.variants.items():
        task = dataset.manifest.make_task(variant)
        for split in splits:
            lines = read(tmp_path / "out" / variant / f"{split}.jsonl")
            rows = list(dataset.rows(variant, split))
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
    import datasets

    export(tiny("listops"), "jsonl", tmp_path / "out")
    loaded = datasets.load_dataset(
        "json",
        data_files=str(tmp_path / "out/default/test.jsonl"),
        split="train",
        cache_dir=str(tmp_path / "cache"),
    )
    assert loaded.num_rows == 40
    assert [int(answer) for answer in loaded["answer"]] == loaded["label"]
