"""Truncated replies count as such and need a mark, wherever a finish reason is known."""

import asyncio
import importlib.util
import json
import pickle
import types

import pandas as pd
import pyarrow as pa
import pytest

import synthbench
from synthbench import llm
from synthbench.answers import score_answer
from synthbench.errors import UsageError
from synthbench.evaluation.chat_replies import is_truncated, running_text
from synthbench.evaluation.unreadable import why_unread
from tests.llm.server import completion, serve

#: A reply to a row of parity with this answer, whether it has an answer when it is truncated, and
#: whether its thoughts are unclosed.
REPLIES = [
    ("First a, then b:\n{}", False, False),
    ("{}", False, False),
    ("Answer: {}", True, False),
    ("So far \\boxed{{{}}}. Let me check", True, False),
    ("<think>It gives {}", False, True),
    ("<think>Answer: {}", False, True),
    ("<think>Hm.</think>Answer: {}", True, False),
]
COUNTED = len(REPLIES)
#: How finish reasons say that a reply was truncated, and others.
LIMITS = ["length", "max_tokens", "model_length", "MAX_TOKENS", "max_output_tokens"]
OTHERS = ["stop", "end_turn", "tool_calls", "content_filter", "unknown", "", None, 7, ["length"]]


@pytest.fixture(scope="module")
def rows():
    task = synthbench.task("parity")
    texts = [f"{a} {b} 3 4 =" for a in range(COUNTED) for b in (1,)]
    made = [{"id": f"{n:016x}", "text": text} for n, text in enumerate(texts)]
    return [{**row, **task.recompute_columns(row)} for row in made]


@pytest.fixture
def texts(rows):
    """A reply of each kind to its row, right if it is whole and its thoughts are closed."""
    labels = [synthbench.task("parity").answer.format_answer(row["label"]) for row in rows]
    return [said.format(label) for (said, _, _), label in zip(REPLIES, labels, strict=True)]


def assert_counted(report, truncated=COUNTED):
    values = report.to_dict()
    assert (values["truncated"], values["thoughts_unclosed"]) == (truncated, 2)
    assert values["replies"] == COUNTED
    assert f"{COUNTED:,} replies: {truncated:,} truncated, 2 with unclosed thoughts" in str(report)
    right = 3 if truncated else 5
    assert report.accuracy == right / COUNTED


@pytest.mark.parametrize("reason", [*LIMITS, {"type": "length", "length": 64}])
def test_finish_reasons_of_a_limit_are_known(reason):
    assert is_truncated(reason)
    assert running_text("7", reason).truncated


@pytest.mark.parametrize("reason", OTHERS)
def test_other_finish_reasons_are_no_limit(reason):
    assert not is_truncated(reason)


@pytest.mark.parametrize("reason", [*LIMITS[:2], "stop"])
def test_kept_replies_and_batches_are_counted(rows, texts, reason, tmp_path):
    kept, batch = tmp_path / "replies.jsonl", tmp_path / "batch.jsonl"
    lines = [
        {"id": row["id"], "sample": 0, "completion": text, "finish_reason": reason}
        for row, text in zip(rows, texts, strict=True)
    ]
    kept.write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    lines = []
    for row, text in zip(rows, texts, strict=True):
        body = {"choices": [{"finish_reason": reason, "message": {"content": text}}]}
        lines.append({"custom_id": row["id"], "response": {"status_code": 200, "body": body}})
    batch.write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    for file in (kept, batch):
        report = synthbench.evaluate(rows, file, "parity")
        assert_counted(report, COUNTED if reason in LIMITS else 0)


@pytest.mark.parametrize("content", [None, ""])
def test_truncated_replies_without_a_text_are_counted(rows, content, tmp_path):
    kept, batch = tmp_path / "replies.jsonl", tmp_path / "batch.jsonl"
    lines, samples, requests = [], [], []
    for row in rows:
        sample = {"id": row["id"], "sample": 0, "completion": content, "finish_reason": "length"}
        lines.append(json.dumps(sample))
        body = {"choices": [{"finish_reason": "length", "message": {"content": content}}]}
        requests.append(json.dumps({"custom_id": row["id"], "response": {"body": body}}))
        output = {"choices": [{"stop_reason": "max_tokens"}], "completion": content}
        samples.append({"id": row["id"], "output": output})
    kept.write_text("\n".join(lines))
    batch.write_text("\n".join(requests))
    log = {"version": 2, "status": "success", "eval": {}, "samples": samples}
    for given in (kept, batch, log):
        values = synthbench.evaluate(rows, given, "parity").to_dict()
        assert (values["replies"], values["truncated"]) == (COUNTED, COUNTED)


@pytest.mark.parametrize("reason", ["max_tokens", "model_length", "stop"])
def test_inspect_logs_are_counted(rows, texts, reason):
    samples = [
        {
            "id": row["id"],
            "output": {"choices": [{"stop_reason": reason}], "completion": text},
        }
        for row, text in zip(rows, texts, strict=True)
    ]
    log = {"version": 2, "status": "success", "eval": {}, "samples": samples}
    report = synthbench.evaluate(rows, log, "parity")
    assert_counted(report, 0 if reason == "stop" else COUNTED)


def test_replies_in_logs_of_lm_eval_are_counted(rows, texts, tmp_path):
    """As they are without a filter, and beside what the filter of an export has found."""
    for name, doc in (("none", {}), ("tolerant", {"answer_kind": "{}"})):
        lines = [
            {"doc": {"id": row["id"], **doc}, "filter": name, "resps": [[text]],
             "filtered_resps": [text if name == "none" else ""]}
            for row, text in zip(rows, texts, strict=True)
        ]  # fmt: skip
        (tmp_path / "samples.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines))
        report = synthbench.evaluate(rows, tmp_path / "samples.jsonl", "parity")
        assert_counted(report, truncated=0)


@pytest.mark.parametrize("name", ["finish_reason", "stop_reason"])
def test_a_column_of_finish_reasons_is_read_in_every_table(rows, texts, name, tmp_path):
    for reason, truncated in (("length", COUNTED), ("stop", 0)):
        made = [{"id": row["id"], "response": text} for row, text in zip(rows, texts, strict=True)]
        records = [{**record, name: reason, "note": 3} for record in made]
        pd.DataFrame(records).to_csv(tmp_path / "replies.csv", index=False)
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (tmp_path / "replies.jsonl").write_text(lines)
        for given in (
            *(tmp_path / "replies.csv", tmp_path / "replies.jsonl"),
            *(records, pd.DataFrame(records), pa.Table.from_pylist(records)),
        ):
            assert_counted(synthbench.evaluate(rows, given, "parity"), truncated)


def test_a_curriculum_knows_truncated_completions(rows, texts):
    columns = {name: [row[name] for row in rows] for name in rows[0]} | {
        "level": ["easy"] * COUNTED
    }
    marked = [float(one) for _, one, _ in REPLIES]
    whole = [float(not unclosed) for _, _, unclosed in REPLIES]
    plain = llm.Curriculum("parity")
    assert plain.reward(texts, **columns) == whole
    assert plain.reward(texts, finish_reason=["length"] * COUNTED, **columns) == marked
    ending = llm.Curriculum("parity", end_tokens=2)
    assert ending.reward(texts, completion_ids=[[5, 6, 7]] * COUNTED, **columns) == marked
    assert ending.reward(texts, completion_ids=[[5, 6, 2]] * COUNTED, **columns) == whole


def test_texts_without_a_finish_reason_have_unclosed_thoughts_counted(rows, texts):
    assert_counted(synthbench.evaluate(rows, texts, "parity", read="text"), truncated=0)
    assert_counted(llm.evaluate(rows, texts, "parity"), truncated=0)
    classes = synthbench.evaluate(rows, [row["label"] for row in rows], "parity")
    assert classes.to_dict()["truncated"] == classes.to_dict()["replies"] == 0
    assert "truncated" not in str(classes)


@pytest.mark.parametrize("samples", [1, 3])
def test_ask_counts_all_truncated_replies_and_evaluate_agrees(samples, tmp_path):
    pytest.importorskip("httpx", reason="the extras ask, all and test have httpx")
    said = iter(range(10**6))

    def answer(messages):
        (line,) = (one for one in messages[-1]["content"].splitlines() if one.endswith(" ="))
        text = REPLIES[next(said) % COUNTED][0].format(synthbench.solve("parity", line))
        body = json.loads(completion("tiny", text))
        body["choices"][0]["finish_reason"] = "length"
        return json.dumps(body).encode()

    options = {"limit": COUNTED, "samples": samples, "preset": "small", "progress": False}
    with serve(answer) as url:
        report = llm.ask(
            "parity", "tiny", url, out=tmp_path / "out", api_key="", concurrency=1, **options
        )
    values = report.to_dict()
    assert (values["truncated"], values["thoughts_unclosed"]) == (7 * samples, 2 * samples)
    assert (report.truncated, report.thoughts_unclosed) == (7 * samples, 2 * samples)
    assert values["replies"] == 7 * samples
    assert f"{7 * samples} truncated, {2 * samples} with unclosed thoughts" in str(report)
    assert report.accuracy == pytest.approx(3 / COUNTED)
    if samples == 1:
        asked = llm.prompts("parity", limit=COUNTED, preset="small")
        file = tmp_path / "out/replies.jsonl"
        assert_counted(synthbench.evaluate(asked, file, "parity"))


def test_scores_and_reasons_of_truncated_replies(rows, texts):
    task = synthbench.task("parity")
    for row, text, (_, marked, _) in zip(rows, texts, REPLIES, strict=True):
        assert llm.score("parity", row, text, truncated=True) == float(marked)
        assert score_answer("parity", row, text, truncated=True) == marked
        assert (why_unread(task, row, running_text(text, "length")) is None) == marked


def test_a_truncated_sequence_is_no_answer_though_it_equals_the_label():
    task, label = synthbench.task("state-tracking"), "0 0 1 1 1 0"
    row = {"text": "0 0 1 0 0 1", "label": label, "length": 6}
    for said, score in ((label, 0.0), (f"So far:\n{label}", 0.0), (f"Answer: {label}", 1.0)):
        assert llm.score(task, row, said, truncated=True) == score
        assert (why_unread(task, row, running_text(said, "length")) is None) == score
    assert llm.score(task, row, label) == 1.0


def test_rewards_know_truncated_completions(rows, texts):
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    marked = [float(one) for _, one, _ in REPLIES]
    whole = [float(not unclosed) for _, _, unclosed in REPLIES]
    reward = pickle.loads(pickle.dumps(llm.trl_reward("parity", end_tokens=2)))
    ids = [[5, 6, 7]] * COUNTED
    assert reward(texts, completion_ids=ids, **columns) == marked
    assert reward(texts, completion_ids=[[5, 6, 2]] * COUNTED, **columns) == whole
    assert reward(texts, completion_ids=[[]] * COUNTED, **columns) == whole
    assert reward(texts, **columns) == whole
    plain = llm.trl_reward("parity")
    assert plain(texts, completion_ids=ids, **columns) == whole
    assert plain(texts, finish_reason=["length"] * COUNTED, **columns) == marked
    assert plain(texts, finish_reason=["stop"] * COUNTED, **columns) == whole
    several = llm.trl_reward(["parity", "listops"], end_tokens=[2, 3])
    carried = [{"task": "parity", "row": json.dumps(row)} for row in rows]
    mixed = {name: [one[name] for one in carried] for name in ("task", "row")}
    assert several(texts, completion_ids=ids, **mixed) == marked
    with pytest.raises(UsageError, match="Column 'finish_reason' has 1 values for 7 completions"):
        plain(texts, finish_reason=["length"], **columns)


@pytest.mark.dev
@pytest.mark.filterwarnings("default")
def test_verifiers_rewards_know_truncated_replies():
    pytest.importorskip("verifiers.v1", reason="the extra verifiers has it")
    rows = llm.verifiers_taskset("parity", seed=1).load()
    for (said, marked, unclosed), asked in zip(REPLIES, rows, strict=False):
        reply = said.format(asked.data.answer)
        for truncated, right in ((True, marked), (False, not unclosed)):
            trace = types.SimpleNamespace(last_reply=reply, is_truncated=truncated)
            assert asyncio.run(asked.right_answer(trace)) == float(right)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_inspect_scores_know_truncated_completions(tmp_path):
    if importlib.util.find_spec("inspect_ai") is None:
        pytest.skip("the extras inspect and dev have inspect_ai")
    import inspect_ai
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    task = llm.inspect_task("parity", split="test", limit=COUNTED, preset="small")
    inputs = [sample.input for sample in task.dataset]

    def outputs(messages, *_):
        place = inputs.index(messages[0].text)
        text = REPLIES[place][0].format(task.dataset[place].target)
        output = ModelOutput.from_content("mockllm", text, stop_reason="max_tokens")
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    scores = {sample.id: sample.scores["right_answer"] for sample in log.samples}
    scores = [scores[sample.id] for sample in task.dataset]
    assert [one.value for one in scores] == [float(marked) for _, marked, _ in REPLIES]
    assert all(one.metadata["truncated"] for one in scores)
    unclosed = [one.metadata["thoughts_unclosed"] for one in scores]
    assert unclosed == [one for _, _, one in REPLIES]
    asked = llm.prompts("parity", limit=COUNTED, preset="small")
    assert_counted(synthbench.evaluate(asked, next(tmp_path.glob("*.eval")), "parity"))
