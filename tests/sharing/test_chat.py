"""Chat messages: what is asked, and an answer that is found again."""

import base64
import json

import pytest

import synthbench
from synthbench import llm
from synthbench.errors import UsageError
from synthbench.sharing.export import export


@pytest.mark.parametrize("name", ["listops", "arithmetic", "ctl", "parity", "composites"])
def test_every_line_asks_its_row_and_answers_it_rightly(name, tiny, tmp_path):
    dataset = synthbench.DatasetDirectory.open(tiny(name))
    export(tiny(name), "chat", tmp_path / "out")
    for variant, splits in dataset.manifest.variants.items():
        for split in splits:
            file = tmp_path / "out" / variant / f"{split}.jsonl"
            lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
            for row, line in zip(dataset.rows(variant, split), lines, strict=True):
                asked, answered = line["messages"]
                assert (line["id"], asked["role"], answered["role"]) == (
                    row["id"],
                    "user",
                    "assistant",
                )
                assert answered["content"] == f"Answer: {line['answer']}"
                assert llm.score(tiny(name), line["messages"], row, variant=variant) == 1.0
                if "image" in row:
                    picture, text = asked["content"]
                    data = picture["image_url"]["url"].removeprefix("data:image/png;base64,")
                    assert base64.b64decode(data) == row["image"]["bytes"]
                    assert "four quadrants" in text["text"]
                else:
                    assert row["text"] in asked["content"].split("\n\n")


def test_rows_without_a_right_answer_are_refused(tiny, tmp_path):
    with pytest.raises(
        UsageError, match=r"cannot be exported to chat.*Formats for this task: jsonl"
    ):
        export(tiny("identity"), "chat", tmp_path / "out")
