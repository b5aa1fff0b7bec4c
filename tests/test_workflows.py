"""The workflow of a release gives the package the links of the repository that it is built in."""

import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]


def test_a_release_links_to_its_own_repository(tmp_path):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    before = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
    (step,) = (
        step["run"]
        for step in workflow["jobs"]["build"]["steps"]
        if step.get("name", "").startswith("Project links")
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
