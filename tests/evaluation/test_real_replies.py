"""Real replies of 13 language models, read by our reader and by the files for lm-eval."""

from __future__ import annotations

import collections
import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from benchmarks.replies import counts, main
from synthbench.answers import find_answer, score_answer
from synthbench.evaluation.final_answer import kind_of
from synthbench.sharing.export import export
from synthbench.tasks.features import value
from synthbench.tasks.registry import task as make_task

FILE = Path(__file__).parent / "replies" / "replies.parquet"
EXPECTED = {"right": 187, "another number": 106, "not read": 7}
TASK = SimpleNamespace(answer=value("int64"), labels=None)


@pytest.fixture(scope="module")
def rows():
    return pq.read_table(FILE).to_pylist()


def test_real_replies_are_read_as_before(rows):
    found = [find_answer(TASK, row["reply"]) for row in rows]
    assert counts(rows, found) == EXPECTED


def test_words_in_a_box_or_a_tag_are_no_answer(rows):
    worded = [row["reply"] for row in rows if "annot be determined</answer>" in row["reply"]]
    assert [find_answer(TASK, reply) for reply in worded] == [None] * len(worded)
    assert find_answer(TASK, "In 6 steps: \\boxed{\\text{Cannot be determined}}") is None


def test_a_truncated_reply_is_read_where_it_is_marked(rows):
    for row in rows:
        whole = find_answer(TASK, row["reply"])
        assert find_answer(TASK, row["reply"], truncated=True) in (whole, None)
        assert find_answer(TASK, row["reply"].rpartition("<answer>")[0], truncated=True) is None


def test_the_benchmark_prints_each_reader(capsys, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)  # `math-verify` is slow
    main([str(FILE), "--repeat", "1"])
    printed = capsys.readouterr().out
    for reader in ("synthbench", "last number", "strict-match", "flexible-extract"):
        assert reader in printed


def test_the_files_for_lm_eval_give_the_same_verdicts(rows, tiny, tmp_path):
    """The functions that a task file names as its filter and as `process_results`."""
    export(tiny("listops"), "lm-eval", tmp_path / "out")
    module = runpy.run_path(str(tmp_path / "out/rows.py"))
    for name in ("listops", "arithmetic", "modular-arithmetic", "addition", "state-tracking"):
        task = make_task(name)
        shape = {"answer_kind": json.dumps(kind_of(task.answer))}
        if (vocabulary := task.answer.vocabulary) is not None:
            shape |= {"answer_separator": vocabulary.separator, "answer_ignored": ""}
            shape |= {"answer_number": task.answer.is_number}
        verdicts = collections.Counter()
        for number, row in enumerate(rows):
            label = task.answer.read(find_answer(task, row["reply"]), None)
            if label is None or number % 3 == 0:
                label = task.answer.read("1", None)
            doc = {**shape, "answer": task.answer.format_answer(label)}
            ((found,),) = module["find"]([[row["reply"]]], [doc])
            right = score_answer(task, {"label": label, "text": ""}, row["reply"])
            assert module["score"](doc, [found])["exact_match"] == right, row["reply"]
            verdicts[right] += 1
        assert min(verdicts[0.0], verdicts[1.0]) > 5
