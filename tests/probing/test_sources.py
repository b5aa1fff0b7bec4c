"""Rows from files, folders, datasets in memory and dataset directories; what is refused."""

import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import synthbench
from synthbench.errors import SynthbenchError, UsageError
from synthbench.probing.columns import answer_key, choose_columns, text_of

TRAIN = [{"question": f"What is {n} + 1?", "answer": str(n + 1)} for n in range(100)]
TEST = [{"question": f"What is {n} + 1?", "answer": str(n + 1)} for n in range(98, 120)]


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_csv(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def write_parquet(path, rows):
    pq.write_table(pa.Table.from_pylist(rows), path)


WRITERS = {"jsonl": write_jsonl, "csv": write_csv, "parquet": write_parquet}


def verdict(probe, question):
    (found,) = (one for one in probe.verdicts if one.question == question)
    return found


@pytest.mark.parametrize("ending", WRITERS)
def test_files_and_folders_are_read_alike(tmp_path, ending):
    for name, rows in (("train", TRAIN), ("test", TEST)):
        WRITERS[ending](tmp_path / f"{name}.{ending}", rows)
    train, test = tmp_path / f"train.{ending}", tmp_path / f"test.{ending}"
    for found in (
        synthbench.probe(tmp_path),
        synthbench.probe(train, evaluation=str(test)),
        synthbench.probe({"train": TRAIN, "test": TEST}),
    ):
        assert [one.question for one in found.wrong] == ["leaks"]
        leak = verdict(found, "leaks")
        assert leak.seen == "2 of 22 evaluation rows have a question of train."
        assert "What is 98 + 1? -> 99" in leak.examples[0]
        assert "question 'question', answer 'answer'" in found.taken
    assert synthbench.probe(train).wrong == []


def test_datasets_are_a_source():
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_list(TRAIN)
    assert synthbench.probe(rows).wrong == []
    both = datasets.DatasetDict(train=rows, test=datasets.Dataset.from_list(TEST))
    assert [one.question for one in synthbench.probe(both).wrong] == ["leaks"]


def test_a_dataset_directory_is_a_source(tmp_path):
    out = tmp_path / "ctl"
    rows = {"train": 300, "test": 100}
    for variant in ("forward", "backward"):
        out = tmp_path / variant
        synthbench.generate(synthbench.task("ctl", variant), out=out, rows=rows, progress=False)
        found = synthbench.probe(out)
        assert found.wrong == []
        assert verdict(found, "leaks").result == "holds"
        assert "question 'text', answer 'label'" in found.taken


def test_columns_are_guessed_by_their_usual_names():
    for row, question, answer in [
        ({"prompt": "a", "ground_truth": 1}, ("prompt",), "ground_truth"),
        ({"instruction": "a", "input": "b", "output": "c"}, ("instruction", "input"), "output"),
        ({"text": "a", "label": 0}, ("text",), "label"),
        (
            {"prompt": "a", "reward_model": {"ground_truth": "1"}},
            ("prompt",),
            "reward_model.ground_truth",
        ),
        ({"prompt": "a", "completion": "b", "reward": 1.0}, ("prompt", "completion"), "reward"),
        ({"context": "a", "question": "b"}, ("question", "context"), None),
    ]:
        chosen = choose_columns([*row], row)
        assert (chosen.question, chosen.answer) == (question, answer)
    with pytest.raises(UsageError, match="--question COL"):
        choose_columns(["a", "b"], {"a": 1, "b": 2})


def test_values_are_read_as_text():
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2 + 2?"}]
    assert text_of(messages) == "Be brief.\n2 + 2?"
    assert text_of({"b": 1, "a": {3, 1}}) == '{"a": [1, 3], "b": 1}'
    assert answer_key(" 5.0 ") == answer_key("5") == answer_key("5\n")
    assert answer_key("Yes") == answer_key("yes ") != answer_key("no")
    assert answer_key('{"a": 1, "b": 2}') == answer_key('{"b":2,"a":1}') != answer_key('{"a": 1}')


def test_answers_that_are_all_none_are_no_answers():
    probe = synthbench.probe([{**row, "answer": None} for row in TRAIN])
    assert "without answers" in probe.taken
    assert verdict(probe, "balance").result == "not asked"
    assert probe.found == []
    blank = synthbench.probe([{**row, "answer": ""} for row in TRAIN])
    assert verdict(blank, "balance").result == "found"


def test_a_log_of_rewards_contradicts_itself():
    rows = [
        {"prompt": "2 + 2", "completion": f"It is {n % 40}.", "reward": float(n % 40 == 4)}
        for n in range(80)
    ]
    assert synthbench.probe(rows).wrong == []
    rows[44]["reward"] = 0.0
    (found,) = synthbench.probe(rows).wrong
    assert found.question == "contradictions"
    with pytest.raises(SynthbenchError, match=r"1 of 40 .* Again: synthbench\.probe"):
        synthbench.probe(rows).raise_if_wrong()
