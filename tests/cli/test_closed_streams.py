"""No standard streams, as in services and `pythonw`: everything works, and says nothing."""

import io
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

import synthbench
from synthbench.engine.worker_pool import WorkerPool
from synthbench.sharing.export import export
from synthbench.text import progress
from synthbench.training.train import train
from tests.making import make
from tests.support import start

pytestmark = pytest.mark.slow

posix = pytest.mark.skipif(os.name != "posix", reason="redirections as POSIX shells have them")


#: Runs commands one after the other, and leaves the status of each in a file.
RUN_COMMANDS = """
import json, pathlib, sys
from synthbench.cli.main import main
statuses = []
for words in json.loads(sys.argv[1]):
    try:
        main(words)
    except SystemExit as ended:
        statuses.append(ended.code)
pathlib.Path("statuses.json").write_text(json.dumps(statuses))
"""


def run(redirections, *words, cwd):
    """The command line, or Python with `-c`, with standard streams as a shell redirects them."""
    program = words if words[0] == "-c" else ("-m", "synthbench", *words)
    shell = f'exec "$0" "$@" {redirections}'
    code = "import os, sys; os.execvp('sh', ['sh', '-c', *sys.argv[1:]])"
    return start("-c", code, shell, sys.executable, *program, cwd=cwd)


@posix
def test_every_command_works_without_any_standard_stream(tmp_path):
    sizes = {"train": 40, "iid": 20, "test": 20}
    make(tmp_path / "there", "grid-count", rows=sizes)
    (row, *_) = synthbench.DatasetDirectory.open(tmp_path / "there").rows("default", "test")
    (tmp_path / "answers.jsonl").write_text(json.dumps({"id": row["id"], "prediction": [1]}))
    shutil.rmtree(tmp_path / "there")
    rows = [word for name, size in sizes.items() for word in ("--rows", f"{name}={size}")]
    recipe = ["--recipe", "steps=2", "--workers", "2", "--stream", "--dataset", "made"]
    commands = [
        ["list"],
        ["info", "grid-count"],
        ["preview", "grid-count"],
        ["generate", "grid-count", "--out", "made", "--workers", "2", *rows],
        ["verify", "made", "--workers", "2"],
        ["audit", "made", "--out", "audited"],
        ["evaluate", "made", "answers.jsonl", "--split", "test"],
        ["export", "made", "--to", "jsonl", "--out", "exported"],
        ["push", "made", "me/made", "--dry-run"],
        ["train", "grid-count", "--model", "counting", "--out", "run", *recipe, *rows],
        ["figures", "run", "--figure", "curves"],
        ["generate", "nothing"],
    ]
    closed = "<&- >&- 2>&-"
    run(closed, "-c", RUN_COMMANDS, json.dumps(commands), cwd=tmp_path)
    ended = json.loads((tmp_path / "statuses.json").read_text())
    assert list(zip(ended, commands, strict=True)) == [
        (2 if words == ["generate", "nothing"] else 0, words) for words in commands
    ]
    there = {path.name for path in tmp_path.iterdir()} - {"statuses.json"}
    assert there == {"answers.jsonl", "made", "audited", "exported", "run"}
    # What opens the streams first may be a command that starts workers.
    words = ["generate", "parity", "--preset", "small", "--workers", "2"]
    made = run(closed, *words, cwd=tmp_path)
    assert made.returncode == 0


@posix
def test_without_standard_error_results_are_printed_as_ever(tmp_path):
    made = run("2>&-", "generate", "parity", "--preset", "small", cwd=tmp_path)
    assert made.returncode == 0
    assert "parity" in made.stdout
    verified = run("2>&-", "verify", "parity", cwd=tmp_path)
    assert verified.returncode == 0
    assert "matches its manifest" in verified.stdout


@posix
def test_no_file_takes_the_number_of_a_closed_standard_stream():
    code = """
import os, sys
from synthbench.cli.main import _open_missing_streams
os.close(0)
os.close(2)
sys.stdin = sys.stderr = None
_open_missing_streams()
print(os.open(os.devnull, os.O_RDONLY) > 2, sys.stdin.read() == "", sys.stderr.write("lost"))
print(os.get_inheritable(0), os.get_inheritable(2))
"""
    done = start("-c", code)
    assert done.stdout == "True True 4\nTrue True\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_an_error_that_cannot_be_written_still_has_its_status(tmp_path):
    assert run("2>/dev/full", "generate", "nothing", cwd=tmp_path).returncode == 2


def closed_stream():
    stream = io.StringIO()
    stream.close()
    return stream


# Set in the tests, because pytest sets standard error between a fixture and its test.
streams = pytest.mark.parametrize("stream", [None, closed_stream()], ids=["none", "closed"])


@pytest.mark.parametrize(
    "stream", [None, closed_stream(), io.StringIO()], ids=["none", "closed", "a file"]
)
def test_python_needs_no_standard_error_and_shows_bars_on_a_terminal_only(
    tmp_path, monkeypatch, stream
):
    monkeypatch.setattr(sys, "stderr", stream)
    made = tmp_path / "made"
    rows = {"train": 60, "iid": 20, "test": 20}
    synthbench.generate("grid-count", out=made, rows=rows)
    assert synthbench.verify(made).ok
    synthbench.audit(made)
    export(made, "jsonl", tmp_path / "exported")
    train(
        "grid-count",
        model="counting",
        out=tmp_path / "run",
        dataset=made,
        rows=rows,
        recipe={"steps": 2},
    )
    assert stream is None or stream.closed or stream.getvalue() == ""


@posix
@streams
def test_a_note_goes_nowhere_else(capsys, monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    assert not progress.on_terminal()
    with WorkerPool(2) as pool:
        pool._workers[0].process.kill()
        assert sum(pool.submit(abs, -1).result() for _ in range(4)) == 4
    assert capsys.readouterr().out == ""
