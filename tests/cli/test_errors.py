"""Errors are a line or two that say what was got and what is allowed, and leave nothing behind."""

import re

import pytest

from tests.making import names


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ("lst", 2, r"Unknown command 'lst'. Allowed: .*\. Did you mean 'list'\?"),
        ("info listop", 2, r"Unknown task 'listop'. .* Did you mean 'listops'\?"),
        ("preview ctl --variant foward", 2, r"Unknown variant of ctl .* mean 'forward'\?"),
        ("preview ctl --split tset", 2, r"Unknown split of ctl 'tset'. .* mean 'test'\?"),
        ("generate partiy", 2, r"Unknown task 'partiy'. .* Did you mean 'parity'\?"),
        ("generate ctl --variant foward", 2, r"Unknown variant of ctl .* mean 'forward'\?"),
        ("generate ctl --rows trian=5", 2, r"Unknown split of ctl 'trian'. .* mean 'train'\?"),
        ("generate ctl --set symbol=5", 2, r"Unknown parameter 'symbol'. .* mean 'symbols'\?"),
        ("generate ctl --preset smal", 2, r"Unknown preset 'smal'. .* Did you mean 'small'\?"),
        ("generate ctl --engine daks", 2, r"Unknown engine 'daks'. .* Did you mean 'dask'\?"),
        ("generate ctl --sed 5", 2, r"No such option.*--seed"),
        ("generate ctl --seed x", 2, r"Invalid value for '--seed': 'x' is not a valid integer\."),
        ("generate ctl --seed -1", 2, r"Seed -1: allowed are whole numbers from 0\."),
        ("generate ctl --rows train", 2, r"--rows 'train': expected SPLIT=N\."),
        ("generate ctl --rows =5", 2, r"--rows '=5': expected SPLIT=N\."),
        ("generate ctl --rows train=", 2, r"Rows train='': allowed are whole numbers from 0\."),
        ("generate ctl --rows train=1.5", 2, r"Rows train='1.5': allowed are whole numbers"),
        ("generate ctl --rows train=-1", 2, r"Rows train=-1: allowed are whole numbers from 0\."),
        ("generate ctl --rows iid=5 --rows iid=6", 2, r"'iid=6': iid is given already, as '5'\."),
        ("generate ctl --set symbols=0", 2, r"Parameter symbols=0: allowed are 2 to 1024\."),
        ("generate ctl --set symbols=many", 2, r"Parameter symbols='many': expected a whole"),
        ("generate parity --rows train=15000", 2, r"15,000 rows asked for, but only .* exist"),
        ("generate parity --shard-rows 0", 2, r"Shard rows 0: allowed are whole numbers from 1\."),
        ("generate parity --workers 0", 2, r"Workers 0: allowed are whole numbers from 1 to 256\."),
        ("generate parity --workers 100000", 2, r"Workers 100000: allowed .* 1 to 256\."),
        ("generate all --workers 257", 2, r"Workers 257: allowed .* 1 to 256\."),
        ("generate parity --engine dask --workers 257", 2, r"Workers 257: allowed .* 1 to 256\."),
        ("verify nowhere --workers 257", 2, r"Workers 257: allowed .* 1 to 256\."),
        ("reproduce parity --workers 257", 2, r"Workers 257: allowed .* 1 to 256\."),
        (
            "train parity --model softmax --workers 257",
            2,
            r"Workers 257: allowed .* 1 to 256\.",
        ),
        ("generate parity --scheduler a:1", 2, r"A scheduler address needs engine 'dask'"),
        ("generate parity --out note.txt", 2, r"Output '.*note.txt' is a file; name a directory"),
        ("generate parity --out taken", 2, r"Output '.*taken' holds other files"),
        ("generate", 2, r"Missing argument 'TASK'\."),
        ("generate parity ctl", 2, r"Got unexpected extra argument"),
        ("preview ctl -n 0", 2, r"Invalid value for '-n': 0 is not in the range"),
        ("verify", 2, r"Missing argument 'DIR'\."),
        ("verify nowhere", 2, r"No dataset at 'nowhere': there is no such directory\."),
        ("verify note.txt", 1, r"No dataset at 'note.txt': it is a file\."),
        ("preview parity --out a.png", 2, r"Output 'a.png': parity has no images to draw"),
        (
            "train parity",
            2,
            r"Missing option '--model' or '--layer'. With recipes for parity: softmax, heat, norm",
        ),
        ("train parity --model nrmsoftmax", 2, r"Unknown model for parity .* 'normsoftmax'\?"),
        ("verify taken", 1, r"No dataset at 'taken': it has no manifest.json\."),
        ("evaluate nowhere answers.jsonl", 2, r"No dataset at 'nowhere'"),
        ("audit nowhere", 2, r"No dataset at 'nowhere'"),
        ("export nowhere --to jsonl --out exported", 2, r"No dataset at 'nowhere'"),
        ("push nowhere USER/nowhere --dry-run", 2, r"No dataset at 'nowhere'"),
        ("preview parity --source-dir nowhere", 2, r"Source directory 'nowhere': there is no"),
        ("generate parity --source-dir nowhere", 2, r"Source directory 'nowhere': there is no"),
        ("figures nowhere", 2, r"No run at 'nowhere'"),
        ("preview composites", 2, r"MNIST is missing: there is no .*train-images"),
    ],
)
def test_an_error_is_a_line_or_two_that_say_what_was_got_and_what_is_allowed(
    program, tmp_path, words, status, message
):
    (tmp_path / "note.txt").write_text("something")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "note.txt").write_text("something")
    got, printed, errors = program(words)
    assert (got, printed) == (status, "")
    assert re.match(f"Error: .*{message}", errors), errors
    assert 1 <= len(errors.splitlines()) <= 2
    assert errors.endswith("\n")
    assert names(tmp_path) == ["note.txt", "taken"]
    assert names(tmp_path / "taken") == ["note.txt"]


def test_a_damaged_shard_is_a_finding_or_an_error_that_names_it(program, tmp_path):
    assert program("generate parity --preset small --quiet")[0] == 0
    (shard,) = (tmp_path / "parity").rglob("test-*.parquet")
    shard.write_bytes(shard.read_bytes()[:2_000])
    status, verdict, errors = program("verify parity --workers 1")
    assert (status, errors) == (1, "")
    assert f"- data/default/{shard.name}: " in verdict
    (tmp_path / "answers.jsonl").write_text('{"id": "0", "prediction": 1}')
    for words in (
        "evaluate parity answers.jsonl",
        "audit parity",
        "export parity --to tsv --out b",
    ):
        status, printed, errors = program(words)
        assert (status, printed) == (1, ""), words
        assert shard.name in errors
        assert len(errors.splitlines()) <= 2


def test_the_traceback_is_there_for_those_who_ask(program, monkeypatch):
    assert "Traceback" not in program("info nothing")[2]
    monkeypatch.setenv("SYNTHBENCH_DEBUG", "1")
    status, _, errors = program("info nothing")
    assert status == 2
    assert errors.startswith("Traceback")
    assert errors.splitlines()[-1].startswith("Error: Unknown task 'nothing'")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ZeroDivisionError("division by zero\nand more"), "Unexpected ZeroDivisionError: division"),
        (PermissionError(13, "Permission denied", "/there"), "Permission denied: /there"),
        (MemoryError(), "Out of memory. Finished parts are kept."),
    ],
)
def test_what_nobody_expected_is_two_lines_too(program, monkeypatch, error, message):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("synthbench.generation.generate.run", fail)
    status, printed, errors = program("generate parity")
    assert (status, printed) == (1, "")
    assert errors.startswith(f"Error: {message}")
    assert len(errors.splitlines()) <= 2
