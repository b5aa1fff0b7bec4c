"""What a shell offers when the tab key is pressed."""

import shutil
import subprocess
import sys

import pytest

from synthbench.cli.main import commands, main
from synthbench.tasks.registry import list_tasks
from tests.support import environment, run_program


@pytest.fixture
def request_completion(monkeypatch, capsys):
    """The command line as a shell calls it when the tab key is pressed."""

    def ask(shell, **words):
        monkeypatch.setenv("_SYNTHBENCH_COMPLETE", f"{shell}_complete")
        for name, text in words.items():
            monkeypatch.setenv(name, text)
        with pytest.raises(SystemExit) as ended:
            main([])
        assert isinstance(ended.value.code, int)
        return ended.value.code, *capsys.readouterr()

    return ask


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("synthbench gen", ["generate"]),
        ("synthbench info ", list_tasks()),
        ("synthbench info c", ["ctl", "composites", "clusters"]),
        ("synthbench generate ctl --variant ", ["forward", "backward"]),
        ("synthbench generate no-such-task --variant ", []),
        ("synthbench generate --preset s", ["small"]),
        ("synthbench train clusters --model clusters-", ["clusters-softmax", "clusters-dnas"]),
        ("synthbench export listops --to t", ["tsv", "torch"]),
        ("synthbench no-such-command ", list(commands.commands)),
    ],
)
def test_names_are_offered_that_go_on_with_what_is_typed(line, words, request_completion):
    place = str(len(line.split(" ")) - 1)
    status, printed, errors = request_completion("bash", COMP_WORDS=line, COMP_CWORD=place)
    assert (status, errors) == (0, "")
    offered = [one.partition(",")[2] for one in printed.splitlines() if one]
    assert sorted(offered) == sorted(words)


@pytest.mark.parametrize(
    ("line", "kind"), [("synthbench verify lis", "dir"), ("synthbench evaluate d pre", "file")]
)
def test_places_are_left_to_the_shell(line, kind, request_completion):
    place = str(len(line.split()) - 1)
    assert request_completion("bash", COMP_WORDS=line, COMP_CWORD=place)[1].startswith(f"{kind},")


@pytest.mark.parametrize("shell", ["bash", "zsh"])
@pytest.mark.parametrize(
    "words",
    [
        {},
        {"COMP_WORDS": "synthbench gen"},
        {"COMP_CWORD": "1"},
        {"COMP_WORDS": "synthbench gen", "COMP_CWORD": ""},
        {"COMP_WORDS": "synthbench gen", "COMP_CWORD": "one"},
    ],
)
def test_a_request_that_cannot_be_read_is_wrong_usage(shell, words, request_completion):
    assert request_completion(shell, **words) == (
        2,
        "",
        f"Error: Completion of COMP_WORDS={words.get('COMP_WORDS')!r}, "
        f"COMP_CWORD={words.get('COMP_CWORD')!r}: expected the command line in COMP_WORDS and the "
        "number of a word in COMP_CWORD.\n",
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("", "0"),
        ("synthbench gen", "99"),
        ("synthbench gen", "-7"),
        ("synthbench 'gen", "1"),
        ("synthbench verify \udcff", "2"),
        ("synthbench evaluate d \udcff", "3"),
        ("synthbench \udcff", "1"),
        ("synthbench preview ctl --variant \udcff", "4"),
    ],
)
def test_whatever_is_typed_is_completed_without_an_error(shell, line, number, request_completion):
    place = line[-1:] if shell == "fish" else number
    status, _, errors = request_completion(shell, COMP_WORDS=line, COMP_CWORD=place)
    assert (status, errors) == (0, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell_that_it_accepts(shell, tmp_path):
    program = tmp_path / "synthbench"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m synthbench "$@"\n')
    program.chmod(0o755)
    path = f"{tmp_path}:{environment()['PATH']}"
    done = run_program(cwd=tmp_path, _SYNTHBENCH_COMPLETE=f"{shell}_source", PATH=path)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"_SYNTHBENCH_COMPLETE={shell}_complete" in done.stdout
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=done.stdout, text=True, check=True)
