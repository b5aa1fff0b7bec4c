"""Control-C while the program starts, and what is said after it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import click
import pytest

from synthbench.cli.main import _run
from tests.support import environment


@pytest.mark.parametrize(
    ("words", "continued"),
    [
        (["generate", "ctl"], True),
        (["ask", "ctl"], True),
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
        assert said == "Interrupted. Run the same command again to continue."
    else:
        assert said == "Interrupted."


def test_what_is_saved_is_said_after_a_real_signal(capsys):
    @click.command()
    def interrupted():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            error.add_note("Step 3 of 40 of small is saved")
            raise

    assert _run(interrupted, []) == 130
    assert "Interrupted. Step 3 of 40 of small is saved. Run the" in capsys.readouterr().err


#: Waits when a module is looked for, and says so before. Background jobs of a shell ignore SIGINT.
WAIT = """
import importlib.abc, signal, sys, time

signal.signal(signal.SIGINT, signal.default_int_handler)

class Wait(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            print("waits", flush=True)
            time.sleep(30)

sys.meta_path.insert(0, Wait())
sys.argv[1:] = ["list"]
from synthbench.__main__ import main
main()
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_control_c_while_modules_are_loaded_leaves_one_line():
    modules = (
        "synthbench.engine.signals",
        "synthbench.cli.main",
        "click",
        "pyarrow",
        "rich.console",
    )
    for module in modules:
        process = subprocess.Popen(
            [sys.executable, "-c", WAIT.format(module=module)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        assert process.stdout.readline() == "waits\n", f"{module} is not loaded"
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
        assert (process.returncode, said.strip()) == (130, "Interrupted."), module
