"""What a terminal shows, and what is left out where nobody looks at colours."""

import json
import os
import subprocess
import sys

import pytest

from synthbench.cli.main import _run, commands
from synthbench.tasks.describe import describe, describe_tasks, task_facts
from synthbench.tasks.registry import list_tasks
from synthbench.text.tables import render
from tests.support import environment, terminal


def on_terminal(*words, cwd, **changes):
    """What the program writes to a terminal."""
    with terminal() as (its, shown):
        process = subprocess.Popen(
            [sys.executable, "-m", "synthbench", *words],
            cwd=cwd,
            env=environment(**{"TERM": "xterm-256color", **changes}),
            stdout=its,
            stderr=its,
        )
        text = shown().decode()
    process.wait(timeout=300)
    return text.replace("\r\n", "\n")


@pytest.mark.skipif(os.name != "posix", reason="terminals as POSIX has them")
def test_colours_are_for_terminals_alone_and_can_be_turned_off(tmp_path, capsys):
    words = ("preview", "listops", "-n", "5")
    assert _run(commands, words) == 0
    plain = capsys.readouterr().out
    shown = on_terminal(*words, cwd=tmp_path)
    assert "\x1b[32m" in shown  # what decides is green, what does not is dim
    assert "\x1b[2m(" in shown
    assert "\x1b" not in plain
    assert on_terminal(*words, cwd=tmp_path, NO_COLOR="1") == plain
    dumb = ("generate", "parity", "--preset", "small", "--workers", "1")
    assert "\x1b" not in on_terminal(*dumb, cwd=tmp_path, TERM="dumb")
    assert on_terminal("lst", cwd=tmp_path).startswith("\x1b[31m\x1b[1mError:\x1b[0m Unknown")


@pytest.mark.parametrize("columns", [60, 80])
def test_tables_fit_the_terminal(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    for part in (describe_tasks(), describe("ctl"), describe("composites")):
        assert max(map(len, render(part).splitlines())) <= columns


def test_tasks_are_there_as_json(capsys):
    assert _run(commands, ["info", "ctl", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == task_facts("ctl")
    assert _run(commands, ["list", "--json"]) == 0
    assert [one["task"] for one in json.loads(capsys.readouterr().out)] == list_tasks()
