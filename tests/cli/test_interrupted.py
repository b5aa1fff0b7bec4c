"""Control-C while the program starts, and what is said after it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import click
import pytest

from synthbench.cli.main import _run
from tests.support import environment


@pytest.mark.parametrize(
    ("words", "continued"),
    [
        (["generate", "ctl"], True),
        (["train", "ctl"], True),
        (["validate", "ctl"], True),
        (["list"], False),
        (["verify", "made"], False),
        (["export", "made"], False),
        ([], False),
    ],
)
def test_only_what_can_be_continued_is_said_to_continue(words, continued, capsys):
    @click.command(context_settings={"ignore_unknown_options": True})
    @click.argument("words", nargs=-1)
    def interrupted(words):
        raise KeyboardInterrupt

    assert _run(interrupted, words) == 130
    said = capsys.readouterr().err.strip()
    if continued:
        assert said == "Interrupted; run the same command again to continue."
    else:
        assert said == "Interrupted."


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_control_c_while_modules_are_loaded_leaves_one_line():
    # It says when it is about to load them: before, Python itself is interrupted.
    code = (
        "import synthbench.__main__ as m, sys; print(flush=True); sys.argv[1:] = ['list']; m.main()"
    )
    struck = 0
    for delay in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4):
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
        if process.returncode:
            assert (process.returncode, said.strip()) == (130, "Interrupted."), delay
            struck += 1
    assert struck
