"""What the README shows, run as it is printed; the gate runs its two set-up commands."""

import os
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

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
def test_the_pictures_are_those_that_the_results_give(tmp_path):
    made = start("docs/readme_picture.py", str(tmp_path))
    assert made.returncode == 0, made.stderr
    there = ROOT / "examples" / "pictures"
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {
        file.name: file.read_text() for file in there.iterdir()
    }


@pytest.mark.slow
def test_the_python_runs_and_the_command_after_it(tmp_path, monkeypatch, capsys):
    pytest.importorskip("datasets", reason="datasets is not installed")
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    for python in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        exec(compile(python, "README.md", "exec"), scope)
    assert repr(scope["test"][0]["text"])[:30] in README  # the row that is shown
    assert scope["test"][0]["label"] == scope["answers"][0] == 0
    line = "synthbench new-task my-task"
    assert f"`{line}`" in README
    assert _run(commands, shlex.split(line)[1:]) == 0, line
    _, _, following = capsys.readouterr().out.rpartition("Next: ")
    assert f"`{following.strip()}`" in README  # `tests/tasks/test_new_task.py` runs it


def test_every_command_that_it_shows_has_its_options():
    shown = "".join(re.findall(r"^```bash\n(.*?)^```$", README, re.DOTALL | re.MULTILINE))
    lines = [shlex.split(line, comments=True) for line in shown.splitlines()]
    assert len(lines) == 4
    for program, name, *words in lines:
        assert program == "synthbench"
        commands.commands[name].make_context(name, words, resilient_parsing=True)


def test_it_is_short_and_names_only_files_that_are_there():
    assert len(README.splitlines()) <= 120
    for place in re.findall(r'(?:\]\(|src(?:set)?=")([\w/.-]+)', README):
        assert place.startswith("http") or (ROOT / place).exists(), place


def test_its_citation_names_the_title_version_and_year_of_the_citation_file():
    known = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    (shown,) = re.findall(r"^```bibtex\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    fields = dict(re.findall(r"(\w+) +=\s+{+(.*?)}", shown))
    assert fields["title"] == known["title"]
    assert fields["version"] == known["version"]
    assert fields["year"] == str(known["date-released"].year)
    assert fields["author"] == known["authors"][0]["name"]


def test_the_release_makes_every_link_absolute(tmp_path):
    """The index of packages shows README without the files beside it."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
    (step,) = (one for one in workflow["jobs"]["build"]["steps"] if "sed" in one.get("run", ""))
    shutil.copy(ROOT / "README.md", tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    where = {
        "GITHUB_SERVER_URL": "https://forge.example",
        "GITHUB_REPOSITORY": "someone/synthbench",
        "GITHUB_REF_NAME": "v9.9.9",
    }
    subprocess.run(
        ["bash", "-euc", step["run"]], cwd=tmp_path, env={**os.environ, **where}, check=True
    )
    made = (tmp_path / "README.md").read_text(encoding="utf-8")
    places = re.findall(r'(?:\]\(|src(?:set)?=")([^)"]+)', made)
    assert len(places) > 25
    assert all(place.startswith("https://") for place in places)
    assert "](https://forge.example/someone/synthbench/blob/v9.9.9/cards)" in made
    urls = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "urls"
    ]
    assert urls["Source"] == "https://forge.example/someone/synthbench"
