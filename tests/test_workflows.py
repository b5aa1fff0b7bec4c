"""A release: its links, its version in all files, and the datasets that go to the Hub with it."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.tasks.registry import task_class
from synthbench.verification.verify import verify
from tests.sharing.fake_hub import serve

ROOT = Path(__file__).parents[1]


def workflow(name):
    text = (ROOT / f".github/workflows/{name}.yml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


def test_a_release_links_to_its_own_repository(tmp_path):
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    before = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))
    (step,) = (
        step["run"]
        for step in workflow("release")["jobs"]["build"]["steps"]
        if step.get("name", "").startswith("Links of the project")
    )
    names = {
        "GITHUB_SERVER_URL": "https://git.example",
        "GITHUB_REPOSITORY": "somebody/a-fork",
        "GITHUB_REF_NAME": "v9",
    }
    subprocess.run(["bash", "-eu", "-c", step], cwd=tmp_path, env=os.environ | names, check=True)
    after = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))
    assert after["project"].pop("urls") == {
        "Source": "https://git.example/somebody/a-fork",
        "Documentation": "https://somebody.github.io/a-fork/",
        "Changelog": "https://git.example/somebody/a-fork/blob/v9/CHANGELOG.md",
        "Issues": "https://git.example/somebody/a-fork/issues",
    }
    assert after == before
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r'\]\(([^)]+)\)|(?:src|srcset)="([^"]+)"', readme)
    assert len(targets) > 10
    for link, picture in targets:
        there = link or picture
        assert there.startswith(("http", "#")), there
        if picture:
            assert there.startswith("https://git.example/somebody/a-fork/raw/v9/")


def checkout(folder, *names):
    """A copy of some files of this checkout."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def run_script(folder, name, *words, **environment):
    return subprocess.run(
        [folder / name, *words],
        cwd=folder, env=os.environ | environment,
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


FILES = ("synthbench/__init__.py", "CITATION.cff", "CHANGELOG.md", "README.md")


def test_a_release_has_one_version_everywhere_and_the_workflow_sees_it(tmp_path):
    folder = checkout(tmp_path, ".ci/release", *FILES)
    changelog = (folder / "CHANGELOG.md").read_text(encoding="utf-8")
    # Right after a release nothing is new.
    changelog = changelog.replace("## [Unreleased]\n", "## [Unreleased]\n\n- New.\n", 1)
    (folder / "CHANGELOG.md").write_text(changelog, encoding="utf-8")
    (step,) = (
        step["run"]
        for step in workflow("release")["jobs"]["build"]["steps"]
        if step.get("name", "").endswith("name one version")
    )

    def agrees(tag):
        return not subprocess.run(
            ["bash", "-e", "-c", step], cwd=folder, env=os.environ | {"GITHUB_REF_NAME": tag}
        ).returncode

    assert not agrees("v77.0.1")
    done = run_script(folder, ".ci/release", "77.0.1")
    assert done.returncode == 0 and "git tag v77.0.1" in done.stdout
    assert agrees("v77.0.1") and not agrees("v77.0.2")
    citation = yaml.safe_load((folder / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == "77.0.1"
    cited = f"version = {{77.0.1}},\n  year    = {{{citation['date-released'].year}}}\n"
    assert cited in (folder / "README.md").read_text(encoding="utf-8")
    after = (folder / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = f"## [Unreleased]\n\n## [77.0.1] - {citation['date-released']}\n"
    assert after == changelog.replace("## [Unreleased]\n", heading)
    before = {name: (folder / name).read_bytes() for name in FILES}
    for version, text in {
        "77.0.1": "version 77.0.1 is not above 77.0.1",
        "9.0.0": "version 9.0.0 is not above 77.0.1",
        "78.0.0": "CHANGELOG.md has nothing under [Unreleased]",
        "next": "usage: .ci/release VERSION",
    }.items():
        refused = run_script(folder, ".ci/release", version)
        assert refused.returncode == 1 and text in refused.stderr
    assert before == {name: (folder / name).read_bytes() for name in FILES}


@pytest.mark.slow
def test_the_datasets_of_several_tasks_go_to_a_hub_with_their_cards(tmp_path):
    """As downloaded again, each is whole, and the reference solvers say so."""
    program = tmp_path / "bin" / "synthbench"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m synthbench "$@"\n')
    program.chmod(0o755)
    tasks = ("ctl", "clusters")
    with serve() as hub:
        given = {
            "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT), "PRESET": "small", "DATASETS": str(tmp_path / "made"),
            "HF_ENDPOINT": hub.url, "HF_TOKEN": hub.token, "HF_HUB_OFFLINE": "0",
        }  # fmt: skip
        script = ".ci/publish-datasets"
        dry = run_script(ROOT, script, "us", "--dry-run", *tasks, **given)
        assert (dry.returncode, hub.repositories) == (0, {}), dry.stderr
        done = run_script(ROOT, script, "us", *tasks, **given)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "us/clusters"
    assert {*hub.repositories} == {f"us/{name}" for name in tasks}
    for name in tasks:
        folder = tmp_path / "there" / name
        for path, content in hub.repositories[f"us/{name}"]["main"].items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        assert verify(folder, fast=True).ok
        opened = DatasetDirectory.open(folder)
        assert opened.manifest.seed == 0
        assert [*opened.manifest.variants] == [*task_class(name).variants]
        assert "## Held-out rows" in (folder / "README.md").read_text(encoding="utf-8")
