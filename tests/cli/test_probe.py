"""Journeys through `synthbench probe`."""

import json
import shlex

import pytest

from tests.probing.test_sources import TEST, TRAIN, write_jsonl


def test_the_same_command_asks_a_single_question_again(tmp_path, program):
    for name, rows in (("train", TRAIN), ("test", TEST)):
        (tmp_path / "my rows").mkdir(exist_ok=True)
        write_jsonl(tmp_path / "my rows" / f"{name}.jsonl", rows)
    status, printed, _ = program("probe", "my rows", "--question", "question", "--json")
    assert status == 1
    (leak,) = (one for one in json.loads(printed)["verdicts"] if one["result"] == "wrong")
    first, *words = shlex.split(leak["again"])
    assert first == "synthbench"
    status, printed, _ = program(*words, "--json")
    assert status == 1
    assert leak in json.loads(printed)["verdicts"]
    status, printed, _ = program(*words)
    assert status == 1
    assert "2 of 22 evaluation rows" in " ".join(printed.split())
    assert leak["again"] in printed


def test_sound_rows_end_with_status_0(tmp_path, program):
    write_jsonl(tmp_path / "rows.jsonl", TRAIN)
    assert program("probe", "rows.jsonl", "--quiet")[::2] == (0, "")


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        ("nowhere.jsonl", 2, "'nowhere.jsonl' is missing"),
        ("rows.txt", 2, "rows.txt"),
        ("reasoning-gim:leg_counting", 2, "'reasoning-gim:leg_counting' is missing"),
        ("rows.jsonl --question qestion", 2, "Did you mean 'question'"),
        ("rows.jsonl --evaluation tset", 2, "Unknown evaluation split or file 'tset'"),
        ("rows.jsonl --only leek", 2, "Did you mean 'leaks'"),
        ("rows.jsonl --scorer none.py:score", 2, "file 'none.py' is missing"),
        ("rows.jsonl --scorer-reads repli", 2, "Did you mean 'reply'"),
        ("rows.jsonl --rows 5", 2, "rows= counts the rows of a generator"),
        ("empty.jsonl", 1, "is empty"),
        ("bad.jsonl", 1, "line 2: expected an object"),
        ("none.py:rows", 2, "file 'none.py' is missing"),
    ],
)
def test_errors_name_what_was_given(tmp_path, program, words, status, text):
    write_jsonl(tmp_path / "rows.jsonl", TRAIN)
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "bad.jsonl").write_text('{"question": 1}\n[]\n')
    (tmp_path / "rows.txt").write_text("a\n")
    found, _, errors = program("probe", *words.split())
    assert (found, text in errors) == (status, True), errors


@pytest.mark.slow
def test_errors_of_generators_name_what_they_gave(tmp_path, program):
    (tmp_path / "gen.py").write_text(
        "def number(seed, split):\n    yield 5\n"
        "def one(seed): pass\n"
        "def fails(seed, split):\n    yield {'question': 1 / seed}\n"
        "def empty(seed, split): return []\n"
        "def fine(seed, split):\n"
        "    if split == 'other': raise KeyError(split)\n"
        "    return [{'question': str(seed)}]\n"
    )
    for words, status, text in [
        ("gen.py:number", 2, "gave the row 5: expected a dict"),
        ("gen.py:one", 2, "expected two arguments, (seed, split)"),
        ("gen.py:fails", 1, "raised ZeroDivisionError"),
        ("gen.py:empty", 1, "gave no rows"),
        ("gen.py:rwos", 2, "Unknown function of gen.py 'rwos'"),
        ("gen.py:fine --evaluation other", 2, "split 'other': raised KeyError"),
    ]:
        found, _, errors = program("probe", *words.split())
        assert (found, text in errors) == (status, True), errors


@pytest.mark.slow
def test_a_file_of_evaluation_rows_is_compared_with_a_generator(tmp_path, program):
    (tmp_path / "gen.py").write_text(
        "def rows(seed, split):\n    return [{'question': f'{seed} and {n}'} for n in range(60)]\n"
    )
    write_jsonl(tmp_path / "held_out.jsonl", [{"question": "0 and 5"}, {"question": "x"}])
    status, printed, _ = program("probe", "gen.py:rows", "--evaluation", "held_out.jsonl")
    assert status == 1
    assert "1 of 2 evaluation rows" in " ".join(printed.split())
