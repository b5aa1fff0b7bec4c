"""Lines of JSON, chat messages and tables: every row in order, with its answer."""

import base64
import csv
import json

import datasets
import pytest

import synthbench
from synthbench import llm
from synthbench.errors import UsageError
from synthbench.evaluation.final_answer import find_answer
from synthbench.llm.conversations import shown
from synthbench.sharing import text_formats
from synthbench.sharing.export import export
from synthbench.tasks import registry
from synthbench.tasks.registry import list_tasks
from tests.planted.task import Reversal
from tests.support import TEXTS


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


@pytest.mark.parametrize("name", [*TEXTS, "composites"])
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
                assert shown(task, row["text"]) in asked["content"].split("\n\n")


def test_options_change_what_is_asked_and_which_rows(tiny, tmp_path):
    options = {"splits": ["test"], "shots": 2, "system": "Be brief.", "limit": 5, "offset": 3}
    export(tiny("ctl"), "chat", tmp_path / "out", variants=["forward"], **options)
    lines = read(tmp_path / "out/forward/test.jsonl")
    rows = llm.prompts(tiny("ctl"), shots=2, system="Be brief.", limit=5, offset=3)
    assert [line["id"] for line in lines] == rows["id"][:]
    assert [line["messages"][:-1] for line in lines] == rows["prompt"][:]
    assert json.loads((tmp_path / "out/export.json").read_text("utf-8"))["prompts"]["shots"] == 2


# Requests of OpenAI's batch interface.


@pytest.mark.parametrize("name", ["ctl", "composites"])
def test_a_batch_has_each_rows_prompt_and_never_its_answer(name, tiny, tmp_path):
    request = {"max_tokens": 16}
    export(tiny(name), "openai-batch", tmp_path / "batch", model="tiny", request=request)
    export(tiny(name), "chat", tmp_path / "chat", splits=["test"])
    for chat in (tmp_path / "chat").glob("*/test.jsonl"):
        batch = tmp_path / "batch" / chat.parent.name
        assert [file.name for file in batch.iterdir()] == ["test-00000.jsonl"]
        for asked, told in zip(read(batch / "test-00000.jsonl"), read(chat), strict=True):
            assert asked == {
                "custom_id": told["id"],
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": {"model": "tiny", "messages": told["messages"][:-1], **request},
            }


def test_evaluate_reads_the_output_of_a_batch(tiny, tmp_path):
    export(tiny("ctl"), "openai-batch", tmp_path / "out", model="tiny", limit=8)
    answers = {row["id"]: row["answer"] for row in llm.prompts(tiny("ctl"))}
    asked = [line["custom_id"] for line in read(tmp_path / "out/forward/test-00000.jsonl")]
    output = []
    for number, name in enumerate(asked):
        said = "No." if number == 1 else f"So it is done.\nAnswer: {answers[name]}"
        message = {"role": "assistant", "content": said}
        body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        response = {"status_code": 200, "request_id": "r", "body": body}
        output.append({"id": "b", "custom_id": name, "response": response, "error": None})
    output[2] |= {"response": {"status_code": 500, "body": {"error": {"message": "no"}}}}
    output[3] |= {"response": None, "error": {"code": "batch_expired", "message": "late"}}
    file = tmp_path / "output.jsonl"
    file.write_text("\n".join(map(json.dumps, reversed(output))), "utf-8")
    report = synthbench.evaluate(tiny("ctl"), file, answered_only=True)
    assert (report.rows, report.accuracy, report.parsed_as) == (8, 5 / 8, {"text": 5})
    assert sorted(report.unparsed) == sorted(asked[1:4])


def test_a_batch_is_divided_into_files_that_the_service_takes(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(text_formats, "_MOST_REQUESTS", 15)
    sizes = export(tiny("parity"), "openai-batch", tmp_path / "out", model="tiny")
    files = [name for name in sizes if name.endswith(".jsonl")]
    assert files == [f"default/test-0000{number}.jsonl" for number in range(3)]
    lines = [line for name in files for line in read(tmp_path / "out" / name)]
    assert [line["custom_id"] for line in lines] == llm.prompts(tiny("parity"))["id"][:]
    monkeypatch.setattr(text_formats, "_MOST_BYTES", sizes[files[-1]] // 2)
    by_bytes = export(tiny("parity"), "openai-batch", tmp_path / "small", model="tiny")
    assert len(by_bytes) > 8
    written = [size for name, size in by_bytes.items() if name.endswith(".jsonl")]
    assert max(written) <= sizes[files[-1]] // 2


# Tables in the form of Long Range Arena.


@pytest.mark.parametrize("name", TEXTS)
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


@pytest.mark.parametrize("sign", ["\t", "\n", "\r"])
def test_a_text_that_a_table_cannot_hold_is_refused(sign, tmp_path, monkeypatch):
    separated = type("Separated", (Reversal,), {"separator": sign})
    monkeypatch.setitem(registry._registered, Reversal.name, separated)
    synthbench.generate("reversal", out=tmp_path / "made", workers=1, progress=False)
    with pytest.raises(UsageError, match=r"has a tab or a line break, which .*--to jsonl can"):
        export(tmp_path / "made", "tsv", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_lines_end_as_on_unix_on_every_system(tiny, tmp_path):
    export(tiny("listops"), "tsv", tmp_path / "out")
    raw = (tmp_path / "out/default/basic_test.tsv").read_bytes()
    assert raw.startswith(b"Source\tTarget\n[")
    assert raw.count(b"\n") == 41
    assert b"\r" not in raw
