"""Options that belong to a task: which commands take them, and what the others say."""

import re

import click
import pytest

from synthbench.cli.main import commands
from synthbench.cli.options import OF_TASKS
from tests.support import ROOT

READERS = ("verify", "audit", "evaluate", "export", "push")


@pytest.mark.parametrize("command", READERS)
def test_a_command_that_reads_a_dataset_says_how_one_is_made(program, command):
    for option in OF_TASKS:
        for words in (f"listops {option} easy", f"listops {option}=easy", f"listops {option}"):
            status, printed, errors = program(f"{command} {words}")
            assert (status, printed, len(errors.splitlines())) == (2, "", 1)
            value = "easy" if "easy" in words else "..."
            assert f"synthbench generate listops {option} {value} --out DIR, then " in errors
            assert errors.endswith(f"synthbench {command} DIR.\n")
        _, _, errors = program(f"{command} {option} easy listops")
        assert f"synthbench generate TASK {option} easy --out DIR" in errors
    assert "No such option '--levle'" in program(f"{command} listops --levle easy")[2]


def test_the_guide_names_the_commands_that_take_a_level():
    text = (ROOT / "docs/pages/guides/levels.md").read_text("utf-8")
    (sentence,) = re.findall(r"[^.]* take `--level`", text)
    named = set(re.findall(r"`([a-z][a-z-]*)`", sentence))
    have = {
        name
        for name, command in commands.commands.items()
        if any("--level" in one.opts for one in command.params if isinstance(one, click.Option))
    }
    assert named == have


def test_a_lack_of_memory_offers_one_worker_where_that_helps(program, monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr("synthbench.generation.generate.run", fail)
    monkeypatch.setattr("synthbench.tasks.describe.task_facts", fail)
    for words, hint in (
        ("", True),
        ("--workers 2", True),
        ("--workers 12", True),
        ("--workers 1", False),
        ("--workers=1 --quiet", False),
    ):
        status, _, errors = program(f"generate parity {words}")
        assert status == 1
        assert errors.startswith("Error: Out of memory. Finished parts are kept.")
        assert ("--workers 1 needs less memory" in errors) is hint
    assert program("info parity")[2] == "Error: Out of memory.\n"
