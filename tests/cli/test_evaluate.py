"""Predictions that `synthbench evaluate` reads from a file or from standard input, or refuses."""

import gzip
import io
import json
import re
import subprocess
import sys

import pytest

import synthbench
from tests.support import environment, stored_rows

# From a file.


@pytest.mark.parametrize(
    ("words", "expected_status", "message"),
    [
        ("evaluate parity none.jsonl", 2, r"none.jsonl is missing\."),
        ("evaluate parity none.parquet", 2, r"none.parquet is missing\."),
        ("evaluate parity a.jsonl --split tset", 2, r"Unknown split in .*Did you mean 'test'"),
        ("evaluate parity a.jsonl --variant defalt", 2, r"Unknown variant in .*mean 'default'\?"),
        ("evaluate parity a.jsonl", 1, r"a.jsonl, line 1: "),
        ("evaluate parity a.txt", 2, r"allowed are files .jsonl, .json, .csv, .tsv"),
        ("evaluate parity none.csv.gz", 2, r"none.csv.gz is missing\."),
    ],
)
def test_predictions_that_cannot_be_read_are_named(
    program, tmp_path, words, expected_status, message
):
    program("generate parity --preset small --workers 1 --quiet")
    (tmp_path / "a.jsonl").write_text("not JSON\n")
    status, printed, errors = program(words)
    assert (status, printed) == (expected_status, "")
    assert re.match(f"Error: .*{message}", errors), errors
    assert len(errors.splitlines()) <= 2


def test_most_answers_unreadable_is_a_warning_that_says_what_would_mend_it(program, tmp_path):
    program("generate parity --preset small --workers 1 --quiet")
    rows = stored_rows(tmp_path / "parity", "default", "test").to_pylist()
    lines = [json.dumps({"id": row["id"], "response": f"It is {row['label']}."}) for row in rows]
    (tmp_path / "responses.jsonl").write_text("\n".join(lines))
    status, printed, errors = program("evaluate parity responses.jsonl")
    assert status == 0
    assert re.fullmatch(
        r"Warning: (\d+) of \1 predictions cannot be read, such as 'It is \d+\.' for id '\w+'\. "
        r"With --read text \(read='text'\) answers are found in running text\.\n",
        errors,
    )
    status, printed, errors = program("evaluate parity responses.jsonl --read text --json")
    assert (status, errors) == (0, "")
    report = json.loads(printed)
    assert report["accuracy"] == 1.0
    assert report["readings"] == {"text": len(rows)}
    assert program("evaluate parity responses.jsonl --read texts")[0] == 2


# From standard input.


@pytest.fixture
def send(program, monkeypatch):
    """Evaluate what comes on standard input against a small dataset of parity."""
    synthbench.generate("parity", out="parity", preset="small", workers=1)

    def evaluate(sent):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(sent)))
        return program("evaluate parity - --json")

    return evaluate


def test_predictions_are_read_from_standard_input(send, tmp_path):
    rows = stored_rows(tmp_path / "parity", "default", "test").to_pylist()
    entries = [{"id": row["id"], "prediction": row["label"]} for row in rows]
    lines = "".join(f"{json.dumps(entry)}\n" for entry in entries).encode()
    table = [["id", "prediction"], *([row["id"], str(row["label"])] for row in rows)]
    comma, tab = ("".join(f"{mark.join(line)}\n" for line in table).encode() for mark in ",\t")
    packed = gzip.compress(lines)
    for sent in (b"\xef\xbb\xbf\n" + lines, json.dumps(entries).encode(), comma, tab, packed):
        status, printed, errors = send(sent)
        assert status == 0, errors
        assert json.loads(printed)["accuracy"] == 1.0
    done = subprocess.run(
        [sys.executable, "-m", "synthbench", "evaluate", "parity", "-", "--json"],
        cwd=tmp_path,
        env=environment(),
        input=packed,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["accuracy"] == 1.0


def test_what_is_wrong_with_standard_input_is_told(send):
    for sent, message in (
        (b"", "Standard input is empty: it holds no predictions."),
        (b"\x1f\x8b", "Standard input cannot be read: "),
        (b'{"id": "a"}', "Standard input, line 1: no 'prediction'; expected"),
        (b"id,answer\na,3\n", "Standard input: no 'prediction'; expected"),
    ):
        status, printed, errors = send(sent)
        assert (status, printed) == (1, "")
        assert errors.startswith(f"Error: {message}")
