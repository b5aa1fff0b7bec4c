"""What a shell offers behind Tab, by click's protocol and in real shells."""

import os
import select
import shutil
import subprocess
import sys
import time

import click
import pytest

import synthbench
from synthbench.cli.completion import COMPLETED
from synthbench.cli.main import _run, commands
from synthbench.sharing.export import FORMATS
from synthbench.tasks.registry import list_tasks
from synthbench.training.recipes import find_study
from tests.support import environment


@pytest.fixture
def offered(monkeypatch, capsys):
    """What is offered behind a line, as `kind,value` words; the last word may be begun."""

    def complete(line):
        words = f"synthbench {line}".split(" ")
        monkeypatch.setenv("_SYNTHBENCH_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", " ".join(words))
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        with pytest.raises(SystemExit) as ended:
            _run(commands, [])
        out, err = capsys.readouterr()
        assert (ended.value.code, err) == (0, "")
        return out.split()

    return complete


def plain(names):
    return [f"plain,{name}" for name in names]


def test_names_are_completed(offered, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    synthbench.generate("ctl", out="made", preset="small", workers=1)
    models = [recipe.name for recipe in find_study("ctl").recipes]
    cases = {
        "gen": plain(["generate"]),
        "info ": plain(list_tasks()),
        "generate ": plain([*list_tasks(), "all"]),
        "generate listo": plain(["listops"]),
        "generate ctl --variant ": plain(["forward", "backward", "steps", "all"]),
        "preview ctl --variant b": plain(["backward"]),
        "generate ctl --variant forward --variant b": plain(["backward"]),
        "preview -n 3 ctl --split t": plain(["train", "test"]),
        "audit made --variant ": plain(["forward"]),  # those of the directory
        "evaluate made guesses.jsonl --split v": plain(["validation"]),
        "train ctl --level ": plain(["easy", "medium", "hard"]),
        "generate ctl --preset ": plain(["paper", "small"]),
        "generate ctl --preset s": plain(["small"]),
        "generate ctl --engine ": plain(["local", "dask"]),
        "export made --to ": plain(FORMATS),
        "export made --to jsonl --split v": plain(["validation"]),
        "ask ctl --model ": [],  # only the server knows
        "train ctl --study r": plain(["readout"]),
        "train ctl --model nd": plain(["ndr"]),
        "verify ma": ["dir,ma"],
        "generate ctl --out ma": ["dir,ma"],
        "evaluate made gu": ["file,gu"],
        # Nothing is known, and nothing is said.
        "generate nothing --variant ": [],
        "audit nothing --variant ": [],
        "train identity --profile wrong --model ": [],
        "preview --variant ": [],
    }
    for line, expected in cases.items():
        assert offered(line) == expected, line
    assert offered("reproduce ctl --model ")[: len(models)] == plain(models)


def test_everything_that_takes_a_name_is_completed():
    """Of each command, all arguments and options with values are known, or are free text."""
    free = {
        "-n", "--seed", "--shard-rows", "--workers", "--scheduler", "--time-limit", "--recipe",
        "--option", "--seeds", "--row", "--figure", "--revision", "name", "repo_id", "--set",
        "--rows", "--keep-checkpoints", "--min-bits", "--weights", "--shots", "--system",
        "--offset", "--request", "--base-url", "--samples", "--concurrency", "--retries",
        "--timeout", "--width", "--length", "--question", "--answer", "--rates", "--compare",
    }  # fmt: skip
    for name, command in commands.commands.items():
        for one in command.params:
            if isinstance(one, click.Option) and (one.is_flag or one.count):
                continue
            assert {*one.opts} & ({*COMPLETED} | free), f"{name} {one.opts}"


@pytest.fixture
def program(tmp_path):
    """A directory with the program `synthbench`, as an installation has it."""
    file = tmp_path / "bin" / "synthbench"
    file.parent.mkdir()
    file.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m synthbench "$@"\n')
    file.chmod(0o755)
    return file.parent


def shell_environment(program, **changes):
    path = f"{program}{os.pathsep}{os.environ['PATH']}"
    return environment(PATH=path, HOME=str(program), TERM="xterm-256color", **changes)


def found(shell):
    return shutil.which(shell) or pytest.skip(f"{shell} is not installed")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shell", "options", "setup"),
    [
        ("bash", ["--norc", "-i"], ""),
        ("zsh", ["-f", "-i"], "autoload -Uz compinit; compinit -u -D; "),
    ],
)
def test_tab_completes(shell, options, setup, program):
    import pty

    ours, its = pty.openpty()
    process = subprocess.Popen(
        [found(shell), *options],
        stdin=its, stdout=its, stderr=its, cwd=program,
        start_new_session=True, env=shell_environment(program),
    )  # fmt: skip
    os.close(its)

    def wait_for(text, seconds=60):
        shown, end = "", time.monotonic() + seconds
        while text not in shown:
            assert time.monotonic() < end, f"{text!r} is not in {shown!r}"
            if select.select([ours], [], [], 0.1)[0]:
                shown += os.read(ours, 4096).decode(errors="replace")

    source = f'eval "$(_SYNTHBENCH_COMPLETE={shell}_source synthbench)"; {setup}echo re""ady\r'
    try:
        os.write(ours, (setup + source).encode())
        wait_for("ready")
        os.write(ours, b"synthbench generate listo\t")
        wait_for("listops")
        os.write(ours, b" --level ea\t")
        wait_for("easy")
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.mark.slow
def test_fish_completes(program):
    script = "_SYNTHBENCH_COMPLETE=fish_source synthbench | source\n"
    for line in ("generate listo", "generate listops --level ea"):
        script += f"complete -C 'synthbench {line}'\n"
    done = subprocess.run(
        [found("fish"), "--no-config", "-c", script],
        env=shell_environment(program), capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["listops", "easy"]
    assert done.stderr == ""
