"""The command `ask`: what it prints, where it writes, how it ends."""

import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from tests.llm.server import serve
from tests.llm.test_asking import solved
from tests.support import environment

pytest.importorskip("httpx", reason="the extras ask, all and test have httpx")

PARITY = "ask parity --level easy -n 6 --base-url"


@pytest.fixture(autouse=True)
def _no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def test_replies_are_kept_in_a_place_named_by_task_and_model(program, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    with serve(solved, models=["org/tiny:1b"], key="sk-1") as url:
        status, printed, errors = program(f"{PARITY} {url} --model org/tiny:1b")
        assert (status, errors) == (0, "")
        assert "1.0000" in printed
        place = "asked/parity/default/org-tiny-1b/replies.jsonl"
        assert f"Replies: {place}" in printed
        assert len((tmp_path / place).read_text().splitlines()) == 6
        words = f"{PARITY} {url} --model org/tiny:1b --json --samples 2 --shots 2 --out other"
        status, printed, errors = program(f"{words} --request temperature=0.5 --request stop=x")
        report = json.loads(printed)
        assert (status, report["accuracy"], report["samples"]) == (0, 1.0, 2)
        asked = json.loads((tmp_path / "other/ask.json").read_text())
        assert asked["request"] == {"temperature": 0.5, "stop": "x"}
        assert len(asked["prompt"]) == 5


def test_a_directory_is_asked_with_its_own_parameters(program, tmp_path):
    program("generate parity --set n_values=6 --preset small --workers 1 --quiet")
    program("generate parity --preset small --workers 1 --quiet --out ./made")
    with serve(solved) as url:
        status, printed, _ = program(f"ask ./made -n 5 --base-url {url} --model tiny")
        assert (status, "asked/made/tiny" in printed) == (0, True)
        status, _, errors = program(f"ask ./made --level easy --base-url {url} --model tiny")
        assert (status, "leave out --variant, --seed, --level and --set" in errors) == (2, True)


def test_rows_without_a_reply_end_with_status_1(program):
    count = iter(range(100))
    with serve(lambda messages: 400 if next(count) == 3 else solved(messages)) as url:
        status, printed, _ = program(f"{PARITY} {url} --model tiny --concurrency 1")
        assert status == 1
        assert "1 requests got no reply, such as: status 400" in printed
        status, printed, _ = program(f"{PARITY} {url} --model tiny")
        assert (status, "1 in" in printed) == (0, True)


@pytest.mark.parametrize(
    ("words", "expected", "message"),
    [
        ("ask parity --model tiny --base-url http://127.0.0.1:9/v1", 1, "gives no reply: "),
        ("ask partiy --model tiny --base-url http://127.0.0.1:9/v1", 2, "Did you mean 'parity'"),
        ("ask parity --model tiny --base-url 127.0.0.1", 2, "expected the address of a server"),
        ("ask parity --model tiny --base-url http://h/v1 --request n=2", 2, "'n' is set by ask"),
        ("ask identity --model tiny --base-url http://h/v1", 2, "is not for language models"),
        ("ask parity --model tiny", 2, "Missing option '--base-url'"),
    ],
)
def test_what_is_wrong_is_one_line(program, tmp_path, words, expected, message):
    status, printed, errors = program(words)
    assert (status, printed, len(errors.splitlines())) == (expected, "", 1)
    assert message in errors
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_control_c_stops_a_run_that_waits_and_the_same_command_goes_on(tmp_path):
    stall, waits = threading.Event(), threading.Semaphore(0)
    count = iter(range(100))

    def answer(messages):
        if next(count) >= 3 and not stall.is_set():
            waits.release()
            stall.wait(60)
        return solved(messages)

    with serve(answer) as url:
        words = [*PARITY.split(), url, "--model", "tiny"]
        # Background jobs of a shell ignore SIGINT.
        begin = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        program = f"{begin}from synthbench.__main__ import main; main()"
        process = subprocess.Popen(
            [sys.executable, "-c", program, *words],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert waits.acquire(timeout=60)
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate(timeout=20)
        assert (process.returncode, printed) == (130, "")
        assert errors.strip() == "Interrupted. Run the same command again to continue."
        stall.set()
        (file,) = tmp_path.rglob("replies.jsonl")
        kept = len(file.read_text().splitlines())
        assert 1 <= kept < 6
        command = [sys.executable, "-m", "synthbench", *words, "--json"]
        again = subprocess.run(
            command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True
        )
        assert json.loads(again.stdout)["asked"] == 6 - kept
