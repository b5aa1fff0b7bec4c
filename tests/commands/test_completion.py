"""What a shell offers when the tab key is pressed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from synthbench import cli
from synthbench.registry import task_names
from tests.support import environment, run_program


def offered(line: str, cwd: Path) -> list[str]:
    """What bash would be told to offer for the last word of a command line."""
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    done = run_program(cwd=cwd, _SYNTHBENCH_COMPLETE="bash_complete", **words)
    assert done.stderr == ""
    return [one.partition(",")[2] for one in done.stdout.splitlines() if one]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("synthbench gen", ["generate"]),
        ("synthbench info ", task_names()),
        ("synthbench info c", ["ctl", "composites", "clusters"]),
        ("synthbench generate ctl --variant ", ["forward", "backward"]),
        ("synthbench generate no-such-task --variant ", []),
        ("synthbench generate --preset s", ["small"]),
        ("synthbench train clusters --model clusters-", ["clusters-softmax", "clusters-dnas"]),
        ("synthbench export listops --to t", ["tsv", "torch"]),
        ("synthbench no-such-command ", list(cli.commands.commands)),
    ],
)
def test_names_are_offered_that_go_on_with_what_is_typed(
    line: str, words: list[str], tmp_path: Path
) -> None:
    assert sorted(offered(line, tmp_path)) == sorted(words)


@pytest.mark.parametrize(
    ("line", "kind"), [("synthbench verify lis", "dir"), ("synthbench evaluate d pre", "file")]
)
def test_places_are_left_to_the_shell(line: str, kind: str, tmp_path: Path) -> None:
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    done = run_program(cwd=tmp_path, _SYNTHBENCH_COMPLETE="bash_complete", **words)
    assert done.stdout.startswith(f"{kind},")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell_that_it_accepts(shell: str, tmp_path: Path) -> None:
    program = tmp_path / "synthbench"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m synthbench.cli "$@"\n')
    program.chmod(0o755)
    path = f"{tmp_path}:{environment()['PATH']}"
    done = run_program(cwd=tmp_path, _SYNTHBENCH_COMPLETE=f"{shell}_source", PATH=path)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"_SYNTHBENCH_COMPLETE={shell}_complete" in done.stdout
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=done.stdout, text=True, check=True)
