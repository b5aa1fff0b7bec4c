"""Real replies of 13 language models, read by our reader and by the files for lm-eval."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from benchmarks.replies import counts, main
from synthbench.answers import find_answer
from synthbench.tasks.features import value

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


def test_the_benchmark_prints_each_reader(capsys):
    main([str(FILE), "--repeat", "1"])
    printed = capsys.readouterr().out
    for reader in ("synthbench", "last number", "strict-match", "flexible-extract"):
        assert reader in printed
