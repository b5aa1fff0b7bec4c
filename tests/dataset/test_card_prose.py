"""The prose of cards, in the repository and in an installed package."""

from __future__ import annotations

import importlib.util
import re
import shutil
import zipfile

import pytest
import yaml

import synthbench
from synthbench.dataset.card import _yaml, prose
from synthbench.dataset.card_sections import split_prose
from synthbench.tasks.registry import list_tasks
from synthbench.tasks.registry import task as make_task
from tests.support import ROOT, start

SECTIONS = ["Columns", "How rows are drawn", "What the paper leaves open", "Scoring"]


@pytest.mark.parametrize("name", list_tasks())
def test_every_task_has_prose_with_the_sections_of_a_card(name):
    text = (ROOT / "cards" / f"{name}.md").read_text(encoding="utf-8")
    assert prose(make_task(name)) == text
    intro, sections = split_prose(text)
    assert re.match(r"[A-Z]", intro)  # a paragraph: no front matter, no title
    open_ones = ["Results", *(["Held-out rows"] if "Held-out rows" in sections else [])]
    first, *rest = SECTIONS
    wanted = [*open_ones, first, *rest, "Shortcuts in full", "Citation"]
    assert [one for one in sections if one not in ("Variants", "Positions")] == wanted
    assert re.search(r"^```bibtex\n@\w+\{\w+,", sections["Citation"], re.MULTILINE)
    plain = re.sub(r"^```.*?^```$|^\|.*$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert len(plain.split()) < 500  # tables and code not counted


@pytest.mark.parametrize("name", list_tasks())
def test_the_prose_tells_of_every_column(name):
    task = make_task(name)
    columns = split_prose(prose(task))[1]["Columns"]
    assert [key for key in ("id", *task.columns) if f"`{key}`" not in columns] == []


def test_every_file_of_prose_belongs_to_a_task():
    assert {file.stem for file in (ROOT / "cards").iterdir()} == set(list_tasks())


def test_names_of_classes_cannot_turn_the_text_of_the_front_matter_around():
    values = {
        "names": {
            str(number): f"a{chr(code)}b" for number, code in enumerate((0x202E, 0x200F, 0x2066))
        },
        "text": "plain ßü 日本",
        "more": ["x: \u2067 # 'y' \"z\" \\", "two\nlines", "no: yes", "3"],
    }
    written = _yaml(values)
    assert yaml.safe_load(written) == values
    assert written.replace("\n", "").isprintable()
    assert "plain ßü 日本" in written


# In an installed package.


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    for tool in ("build", "hatchling"):
        if importlib.util.find_spec(tool) is None:
            pytest.skip(f"{tool} is not installed")
    root = tmp_path_factory.mktemp("wheel")
    # From a copy, so that nothing is written beside the sources.
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, root / name)
    for name in ("synthbench", "cards", "examples/results"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    words = ["-m", "build", "--wheel", "--no-isolation", "--outdir", "dist", "."]
    done = start(*words, cwd=root)
    assert done.returncode == 0, done.stderr
    (built,) = (root / "dist").glob("*.whl")
    return built


def test_the_wheel_has_the_prose_the_types_and_the_command(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        for name in list_tasks():
            packed = archive.read(f"synthbench/cards/{name}.md").decode("utf-8")
            assert packed == (ROOT / "cards" / f"{name}.md").read_text(encoding="utf-8")
        (entry_points,) = (name for name in names if name.endswith("entry_points.txt"))
        assert "synthbench = synthbench.__main__:main" in archive.read(entry_points).decode("utf-8")
        (metadata,) = (name for name in names if name.endswith("/METADATA"))
        assert f"\nVersion: {synthbench.__version__}\n" in archive.read(metadata).decode("utf-8")
    assert {"synthbench/py.typed", "synthbench/__init__.pyi"} <= names
    for template in (ROOT / "synthbench" / "tasks" / "templates").iterdir():
        assert f"synthbench/tasks/templates/{template.name}" in names
    assert wheel.name.startswith(f"synthbench-{synthbench.__version__}-py3-none-any")
    tops = {name.split("/")[0] for name in names}
    # verifiers finds plugins by top-level modules alone, hence the module beside the package.
    ours = {"synthbench", "synthbench_taskset.py"}
    assert tops == {*ours, f"synthbench-{synthbench.__version__}.dist-info"}
