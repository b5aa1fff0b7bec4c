"""What the command line says of hostile files: one line or two, exit status 1 or 2."""

import os

import pytest

from synthbench.cli.main import main

Told = tuple[int, str, str]


@pytest.fixture
def run(capsys):
    """The command line in this process: exit status, standard output and error."""

    def run(*words):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        assert isinstance(ended.value.code, int)
        return ended.value.code, *capsys.readouterr()

    return run


def is_one_error(told, status):
    """Whether a command failed with this status and an error of one line or two, no traceback."""
    code, out, err = told
    lines = err.splitlines()
    is_short = 1 <= len(lines) <= 2 and all(line.isprintable() for line in lines)
    ours = err.startswith("Error: ") and "bug in synthbench" not in err
    return code == status and not out and is_short and ours


MANIFESTS = [
    b"", b"[" * 100_000, b"\xff\xfe\x00", b'{"format": NaN}', b'{"format": 9}', b"[]", b"{}",
    b'{"format": 1, "format": 1}', b'"\\ud800\\u001b[2J"', b"\x00" * 1000, b'{"a\\nb": 1}',
]  # fmt: skip


@pytest.mark.parametrize("data", MANIFESTS, ids=range(len(MANIFESTS)))
def test_a_manifest_of_anything_is_one_error(listops, run, data):
    (listops / "manifest.json").write_bytes(data)
    again = ["generate", "listops", "--out", listops, "--workers", "1"]
    assert is_one_error(run("verify", listops, "--workers", "1"), 1)
    assert is_one_error(run("evaluate", listops, listops / "p.jsonl"), 1)
    assert is_one_error(run(*again), 1)


LINES = [
    b"", b"{}", b"[" * 100_000, b"\xff", b'{"id": 1, "prediction": 1}', b"\x00\x00",
    b'{"id": "a", "prediction": 1, "split": "\\u001b[2J\\n\\ud800"}', b'{"id": "a"}',
    b'{"id": "a", "id": "b", "prediction": 1}', b'"' + b"x" * 100_000 + b'"', b"7" * 5_000,
]  # fmt: skip


@pytest.mark.parametrize("data", LINES, ids=range(len(LINES)))
def test_predictions_of_anything_are_one_error(listops, run, data):
    path = listops.parent / "p.jsonl"
    path.write_bytes(data)
    assert is_one_error(run("evaluate", listops, path, "--split", "iid"), 1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders here")
@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_a_pipe_in_place_of_predictions_is_not_waited_for(listops, run, suffix):
    path = listops.parent / f"p.{suffix}"
    os.mkfifo(path)
    assert is_one_error(run("evaluate", listops, path), 1)


def test_a_name_too_long_for_any_file_is_one_error(run):
    assert is_one_error(run("verify", "x" * 5_000), 2)
    assert is_one_error(run("evaluate", "x" * 5_000, "p.jsonl"), 2)


def test_ids_that_a_terminal_would_obey_are_shown_as_text(listops, run):
    path = listops.parent / "p.jsonl"
    path.write_text('{"id": "\\u001b[2J\\u009b\\ud800", "prediction": 1}\n')
    code, out, _ = run("evaluate", listops, path, "--split", "iid")
    assert code == 0
    assert all(line.isprintable() for line in out.splitlines())
    assert r"\x1b[2J" in out


def test_file_names_that_a_terminal_would_obey_are_shown_as_text(listops, run):
    (listops / "data" / "a\x1b[2J\nb").write_bytes(b"")
    (listops / "data" / os.fsdecode(b"\xff\xfe")).write_bytes(b"")
    code, out, _ = run("verify", listops, "--workers", "1", "--quiet")
    assert code == 1
    assert r"data/a\x1b[2J\nb: not in the manifest" in out
    assert r"data/\udcff\udcfe: not in the manifest" in out
    assert all(line.isprintable() for line in out.splitlines())
