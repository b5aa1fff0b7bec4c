"""Predictions that `synthbench evaluate` reads from a file, or refuses."""

import json
import re

import pytest

from tests.support import stored_rows


@pytest.mark.parametrize(
    ("words", "expected_status", "message"),
    [
        ("evaluate parity none.jsonl", 2, r"none.jsonl is missing\."),
        ("evaluate parity none.parquet", 2, r"none.parquet is missing\."),
        ("evaluate parity a.jsonl --split tset", 2, r"Unknown split in .*Did you mean 'test'"),
        ("evaluate parity a.jsonl --variant defalt", 2, r"Unknown variant in .*mean 'default'\?"),
        ("evaluate parity a.jsonl", 1, r"a.jsonl, line 1: "),
        ("evaluate parity a.pkl", 2, r"allowed are files .jsonl, .json, .csv, .tsv"),
        ("evaluate parity a.csv.gz", 2, r"allowed are files .jsonl, .json, .csv, .tsv"),
        ("evaluate parity -", 2, r"allowed are files .jsonl, .json, .csv, .tsv"),
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
    lines = [json.dumps({"id": row["id"], "response": f"Answer: {row['label']}."}) for row in rows]
    (tmp_path / "responses.jsonl").write_text("\n".join(lines))
    status, printed, errors = program("evaluate parity responses.jsonl")
    assert status == 0
    assert re.fullmatch(
        r"Warning: (\d+) of \1 predictions cannot be read, such as 'Answer: \d+\.' for id '\w+'\. "
        r"With --read text \(read='text'\) answers are found in running text\.\n",
        errors,
    )
    status, printed, errors = program("evaluate parity responses.jsonl --read text --json")
    assert (status, errors) == (0, "")
    report = json.loads(printed)
    assert report["accuracy"] == 1.0
    assert report["parsed_as"] == {"text": len(rows)}
    assert program("evaluate parity responses.jsonl --read texts")[0] == 2


def test_only_the_rows_that_were_asked_count(program, tmp_path):
    program("generate parity --preset small --workers 1 --quiet")
    rows = stored_rows(tmp_path / "parity", "default", "test").to_pylist()[:20]
    samples = [
        {"id": row["id"], "output": {"completion": f"Answer: {row['label']}."}} for row in rows
    ]
    samples[0]["output"]["completion"] = "No idea."
    log = {"version": 2, "status": "success", "eval": {}, "samples": samples}
    (tmp_path / "log.json").write_text(json.dumps(log))
    status, printed, errors = program("evaluate parity log.json --answered-only --json")
    assert (status, errors) == (0, "")
    report = json.loads(printed)
    assert (report["rows"], report["asked"], report["accuracy"]) == (20, 20, 0.95)
    report = json.loads(program("evaluate parity log.json --json")[1])
    assert (report["rows"], report["asked"], report["missing"]) == (100, 20, 80)


@pytest.mark.parametrize("words", ["", " --split test", " --answered-only", " --read text"])
def test_a_file_of_which_no_id_is_known_is_an_error(program, tmp_path, words):
    program("generate parity --preset small --workers 1 --quiet")
    (tmp_path / "other.json").write_text('{"version": "7", "status": "7"}')
    status, printed, errors = program(f"evaluate parity other.json{words}")
    assert (status, printed) == (1, "")
    assert re.match("Error: None of the 2 predictions has an id of .*begin 'version', ", errors)
