"""Worked solutions on their ways out: fine-tuning, examples in prompts, exports."""

import json

import pytest

import synthbench
from synthbench import llm
from synthbench.errors import UsageError
from synthbench.sharing.export import export
from synthbench.tasks.spec import task_of
from tests.llm.test_rewards import TEXTS
from tests.tasks.tiny_sources import write_sources


def test_completions_are_the_worked_solutions_of_their_rows():
    for name in TEXTS:
        options = {"limit": 3, "preset": "small"}
        examples = llm.sft_examples(name, solutions=True, **options)
        for example, row in zip(examples, llm.prompts(name, "train", **options), strict=True):
            (message,) = example["completion"]
            assert message == {"role": "assistant", "content": llm.worked_solution(name, row)}
            last = message["content"].splitlines()[-1]
            assert last == f"Answer: {row['answer']}" or synthbench.task(name).is_checked
            assert llm.score(name, row, message["content"]) == 1.0
            assert example["prompt"] == row["prompt"]


def test_completions_of_a_mixture_and_of_images(tmp_path, monkeypatch):
    monkeypatch.setenv("SYNTHBENCH_DATA", str(write_sources(tmp_path / "sources")))
    for row in llm.sft_examples(["ctl", "mqar"], limit=4, preset="small", solutions=True):
        assert len(row["completion"][0]["content"].splitlines()) > 1
        assert task_of(row["task"]).name in ("ctl", "mqar")
    with pytest.raises(UsageError, match="'composites' has no worked solutions"):
        llm.sft_examples("composites", limit=1, preset="small", solutions=True)


def test_worked_examples_show_their_steps():
    asked = llm.prompts("ctl", limit=1, preset="small", shots=2, solutions=True)[0]["prompt"]
    plain = llm.prompts("ctl", limit=1, preset="small", shots=2)[0]["prompt"]
    assert [one["content"] for one in asked[::2]] == [one["content"] for one in plain[::2]]
    for worked, answer in zip(asked[1::2], plain[1::2], strict=True):
        *steps, last = worked["content"].splitlines()
        assert last == answer["content"]
        assert all(" takes " in step for step in steps)
        assert steps
    mixed = llm.prompts(["ctl", "parity"], limit=2, preset="small", shots=1, solutions=True)
    assert all("\n" in row["prompt"][1]["content"] for row in mixed)


def test_exports_have_the_steps_where_they_have_answers(tiny, tmp_path):
    options = {"splits": ["train"], "solutions": True}
    export(tiny("parity"), "chat", tmp_path / "chat", **options)
    file = tmp_path / "chat/default/train.jsonl"
    rows = synthbench.DatasetDirectory.open(tiny("parity")).rows("default", "train")
    for line, row in zip(file.read_text("utf-8").splitlines(), rows, strict=True):
        said = json.loads(line)["messages"][-1]["content"]
        assert said == llm.worked_solution("parity", row)
    told = json.loads((tmp_path / "chat/export.json").read_text("utf-8"))
    assert told["prompts"]["solutions"] is True

    options = {"splits": ["test"], "solutions": True, "shots": 1}
    export([str(tiny("ctl")), str(tiny("mqar"))], "nemo-gym", tmp_path / "gym", **options)
    lines = (tmp_path / "gym/resources_servers/synthbench/data/example.jsonl").read_text("utf-8")
    for line in lines.splitlines():
        example = json.loads(line)["responses_create_params"]["input"][1]
        assert len(example["content"].splitlines()) > 1

    for to in ("jsonl", "lm-eval", "tsv", "torch"):
        with pytest.raises(UsageError, match=r"does not take 'solutions'. Formats that do: chat"):
            export(tiny("parity"), to, tmp_path / to, solutions=True)


def test_a_row_without_its_label_is_refused():
    with pytest.raises(UsageError, match=r"The row has no label. It has text"):
        llm.worked_solution("parity", {"text": "1 2 3 4 ="})
