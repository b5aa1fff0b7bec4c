"""What the README shows, run as it is printed; the gate runs its two set-up commands."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from synthbench.cli.main import _run, commands
from tests.support import start

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_each_of_the_two_commands_that_do_all_the_set_up_is_one_line():
    blocks = re.findall(r"^```sh\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    assert blocks[:2] == [
        "pip install . && synthbench generate listops\n",
        "pip install -e '.[test]' && python -m pytest\n",
    ]


@pytest.mark.slow
def test_the_pictures_are_those_that_the_results_and_the_tasks_give(tmp_path):
    made = start("docs/thumbnails.py", str(tmp_path))
    assert made.returncode == 0, made.stderr
    there = ROOT / "examples" / "pictures"
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {
        file.name: file.read_text() for file in there.iterdir()
    }


@pytest.mark.slow
def test_the_python_runs_and_the_commands_after_it(tmp_path, monkeypatch, capsys):
    pytest.importorskip("datasets", reason="datasets is not installed")
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    for python in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        exec(compile(python, "README.md", "exec"), scope)
    assert repr(scope["test"][0]["text"])[:30] in README  # the row that is shown
    assert scope["test"][0]["label"] == scope["answers"][0] == 0
    assert len(scope["batch"]["input_ids"]) == 512
    assert len(scope["rows"]) == 100
    (shown,) = re.findall(r"^```\n(synthbench new-task.*?)^```", README, re.DOTALL | re.MULTILINE)
    for line in shown.splitlines():
        assert _run(commands, shlex.split(re.split(r"  +", line)[0])[1:]) == 0, line
        assert capsys.readouterr().out.strip()


def test_it_is_short_and_names_only_files_that_are_there():
    assert len(README.splitlines()) <= 160
    for place in re.findall(r'(?:\]\(|src=")([\w/.-]+)', README):
        assert place.startswith("http") or (ROOT / place).exists(), place
