"""Every right answer to a checked task counts, wherever answers are judged."""

import json
import pickle
import re
import runpy

import pyarrow.parquet as pq
import pytest

import synthbench
from synthbench import llm
from synthbench.auditing.audit import audit
from synthbench.errors import TaskError, UsageError
from synthbench.llm import verl
from synthbench.sharing.export import export
from synthbench.tasks import registry, worked
from synthbench.verification.verify import verify
from tests.checked_tasks import Pairs, Walks
from tests.llm.server import serve
from tests.verification.forging import forge

TASKS = {"pairs": Pairs, "walks": Walks}
#: Wrong answers to each question of a task, which can be read.
WRONG = {"pairs": "40 + 40", "walks": "DRDRDRDRDRDRDRDR"}


@pytest.fixture(scope="module")
def _registered():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(registry, "_registered", dict(TASKS))
        yield


@pytest.fixture(scope="module", params=TASKS)
def made(request, _registered, tmp_path_factory):
    """A task with a dataset of it, in a directory that has another name."""
    out = tmp_path_factory.mktemp(request.param) / "made"
    rows = {"train": 60, "test": 40}
    synthbench.generate(request.param, out=out, rows=rows, workers=1, progress=False)
    return synthbench.task(request.param), out


@pytest.fixture
def rows(made):
    task, out = made
    return list(synthbench.DatasetDirectory.open(out).rows(task.variant, "test"))


def others(task, rows):
    """A right answer to each row, by the solver: mostly another than the label."""
    found = {row["id"]: task.solve(row["text"]) for row in rows}
    assert any(found[row["id"]] != row["label"] for row in rows)
    return found


def test_evaluate_gives_every_right_answer_its_score_by_column(made, rows):
    task, out = made
    right = others(task, rows)
    report = synthbench.evaluate(out, right, split="test")
    assert (report.accuracy, list(report.metrics)) == (1.0, ["accuracy"])
    assert set(report.by) == {task.bucket_name}
    half = {row["id"]: right[row["id"]] if number % 2 else WRONG[task.name]
            for number, row in enumerate(rows)}  # fmt: skip
    report = synthbench.evaluate(out, half, split="test")
    assert (report.accuracy, report.unparsed) == (0.5, ())
    by = report.by[task.bucket_name].values()
    assert sum(one.metrics["accuracy"] * one.rows for one in by) == len(rows) / 2
    texts = {name: f"I tried a few.\nAnswer: {one}" for name, one in half.items()}
    assert synthbench.evaluate(out, texts, split="test", read="text").accuracy == 0.5


def test_a_label_that_check_refuses_is_found_and_another_right_label_when_made_again(made, rows):
    task, out = made
    copy = out.parent / "forged"
    for forged, fast in ((WRONG[task.name], True), (WRONG[task.name], False), (None, False)):
        synthbench.generate(
            task, out=copy, rows={"train": 60, "test": 40}, workers=1, progress=False,
            overwrite=copy.exists(),
        )  # fmt: skip
        number = next(
            number for number, row in enumerate(rows) if task.solve(row["text"]) != row["label"]
        )
        label = forged or task.solve(rows[number]["text"])
        if task.name == "walks" and forged:
            label = rows[number]["text"]  # nothing is marked

        def edit(splits, number=number, label=label):
            splits["test"][number]["label"] = label

        forge(copy, edit)
        found = "\n".join(verify(copy, fast=fast, workers=1, progress=False).failures)
        refused = f"row {number}: label is {label!r}, which check of {task.name} refuses"
        again = f"row {number} differs from the row made again: label is {label!r} instead of"
        assert (refused if fast else again) in " ".join(found.split())
    assert verify(copy, fast=True, workers=1, progress=False).failures == []


def test_a_solver_whose_answers_check_refuses_is_found(made, monkeypatch):
    task, out = made
    wrong = "1 + 1" if task.name == "pairs" else "S a b c a b c a G"
    monkeypatch.setattr(type(task), "solve", lambda self, question: wrong)
    (*_, found) = verify(out, workers=1, progress=False).failures
    assert f"the reference solver gives {wrong!r}, which check of {task.name} refuses" in found


def test_audit_scores_shortcuts_by_the_check(made, monkeypatch):
    task, out = made
    assert "solver 1.00" in str(audit(out))
    monkeypatch.setattr(type(task), "check", lambda self, row, answer: True)
    assert "best shortcut 1.00" in str(audit(out))


def test_rewards_pay_every_right_answer_and_pickle(made, rows):
    task, _ = made
    right, columns = others(task, rows), {name: [row[name] for row in rows] for name in rows[0]}
    reward = pickle.loads(pickle.dumps(llm.trl_reward(task)))
    assert reward([f"Answer: {right[row['id']]}" for row in rows], **columns) == [1.0] * len(rows)
    assert reward([f"Answer: {WRONG[task.name]}"] * len(rows), **columns) == [0.0] * len(rows)
    del columns["label"]
    assert reward([f"Answer: {right[row['id']]}" for row in rows], **columns) == [1.0] * len(rows)
    row = rows[0]
    assert llm.score(task, row, f"<think>Hm.</think>\\boxed{{{right[row['id']]}}}") == 1.0
    assert llm.score(task, row, f"Answer: {right[row['id']]} or {WRONG[task.name]}") == 0.0


def test_ask_scores_every_right_answer(made, rows):
    task, _ = made
    pytest.importorskip("httpx", reason="the extras ask, all and test have httpx")

    def answer(messages):
        (line,) = messages[-1]["content"].splitlines()[2:3]
        return f"Answer: {task.solve(line)}"

    with serve(answer) as url:
        report = llm.ask(task, "tiny", url, limit=20, preset="small", progress=False, api_key="")
    assert (report.accuracy, len(report.unread)) == (1.0, 0)
    assert set(report.passed) == {"all", task.bucket_name}


def test_exports_carry_what_judges_every_right_answer(made, rows, tmp_path):
    task, out = made
    right = others(task, rows)
    export(out, "jsonl", tmp_path / "jsonl", progress=False)
    line = (tmp_path / "jsonl/default/test.jsonl").read_text(encoding="utf-8").splitlines()[0]
    assert json.loads(line)["answer"] == json.loads(line)["label"]
    export(out, "verl", tmp_path / "verl", progress=False)
    for row in pq.read_table(tmp_path / "verl/default/test.parquet").to_pylist():
        truth, extra = row["reward_model"]["ground_truth"], row["extra_info"]
        for said, score in ((truth, 1.0), (right[extra["id"]], 1.0), (WRONG[task.name], 0.0)):
            reply = f"Answer: {said}"
            assert verl.compute_score(row["data_source"], reply, truth, extra) == score
    export(out, "lm-eval", tmp_path / "lm-eval", progress=False)
    made_by = runpy.run_path(str(tmp_path / "lm-eval/rows.py"))
    text = (tmp_path / f"lm-eval/synthbench_{task.name}.yaml").read_text(encoding="utf-8")
    assert re.search(rf"^  task: {task.name}$", text, re.MULTILINE)
    files = {"test": ["data/default/test-00000-of-00001.parquet"]}
    opened = made_by["load"](files, bucket=task.bucket_name, task=task.name)["test"]
    for doc in opened:
        for said, score in ((doc["answer"], 1.0), (right[doc["id"]], 1.0), (WRONG[task.name], 0.0)):
            scored = made_by["score"](doc, [f"I think so.\nAnswer: {said}"])
            assert set(scored.values()) == {score}
            assert len(scored) == 2


@pytest.mark.torch
def test_free_labels_are_no_tensors(made, tmp_path):
    task, out = made
    if task.name == "pairs":
        with pytest.raises(UsageError, match="its labels are free text"):
            export(out, "torch", tmp_path / "torch", progress=False)
    else:
        assert export(out, "torch", tmp_path / "torch", progress=False)


@pytest.mark.dev
def test_openenv_pays_every_right_answer(made):
    task, _ = made
    pytest.importorskip("openenv.core.env_server.http_server", reason="openenv is not installed")
    from synthbench.llm.openenv import SynthbenchAction, SynthbenchEnvironment

    environment = SynthbenchEnvironment(task)
    for seed in range(10):
        text = environment.reset(seed=seed).prompt.split("\n\n")[1]
        said = SynthbenchAction(message=f"Answer: {task.solve(text)}")
        assert environment.step(said).reward == 1.0


@pytest.mark.dev
def test_reasoning_gym_pays_every_right_answer(made):
    task, _ = made
    reasoning_gym = pytest.importorskip("reasoning_gym", reason="reasoning-gym is not installed")
    from synthbench.llm.reasoning_gym import register

    register([task.name])
    dataset = reasoning_gym.create_dataset(task.name, size=10, seed=1)
    for entry in dataset:
        text = entry["question"].split("\n\n")[-1]
        assert dataset.score_answer(f"Answer: {task.solve(text)}", entry) == 1.0
        assert dataset.score_answer(WRONG[task.name], entry) == 0.0


def worked_by(monkeypatch, answer):
    """The tasks have worked solutions, whose steps lead to this answer."""
    functions = (lambda task, question: ["One step."], lambda task, question, steps: answer)
    monkeypatch.setattr(worked, "worked_functions", lambda cls: functions)


def test_worked_solutions_may_lead_to_another_right_answer(_registered, monkeypatch):
    row = {"text": "3 8 5 4 9 -> 13", "label": "8 + 5", "numbers": 5}
    worked_by(monkeypatch, "4 + 9")
    assert llm.worked_solution("pairs", row) == "One step.\nAnswer: 4 + 9"
    with pytest.raises(UsageError, match=r"is '8 . 4', which check of pairs refuses"):
        llm.worked_solution("pairs", {**row, "label": "8 + 4"})
    worked_by(monkeypatch, "4 + 8")
    with pytest.raises(TaskError, match=r"but its steps lead to '4 . 8'"):
        llm.worked_solution("pairs", row)
