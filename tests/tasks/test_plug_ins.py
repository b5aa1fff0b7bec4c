"""Packages with broken tasks or damaged entry points: named by `list`, and in nothing's way."""

import json

import pytest

from synthbench.tasks.registry import list_tasks
from tests.support import ROOT, run_program

pytestmark = pytest.mark.slow
OURS = len(list_tasks())
#: What a plug-in's module does when it is imported, and what the list says of it.
MODULES = {
    "exits": ("import sys; sys.exit(0)", "SystemExit: 0"),
    "ends": ("import os; os._exit(0)", "it ends the process that loads it (exit status 0)"),
    "ends-badly": ("import os; os._exit(7)", "(exit status 7)"),
    "aborts": ("import os; os.abort()", "it ends the process that loads it"),
    "raises": ("1 / 0", "ZeroDivisionError"),
    "raises-anything": ("class Odd(BaseException): pass\nraise Odd('a\\nb')", "Odd: a"),
    "interrupts": ("raise KeyboardInterrupt", "it ends the process that loads it"),
    "stops": ("import asyncio; raise asyncio.CancelledError", "CancelledError"),
    "is-none": ("Task = 3", "has the name None"),
    "syntax": ("def", "SyntaxError"),
    "unprintable": (
        "class Odd(Exception):\n    __str__ = None\nraise Odd",
        "cannot be loaded: Odd",
    ),
}


def package(site, name, points, module=""):
    """A package in a directory on Python's path."""
    information = site / f"{name.replace('-', '_')}-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(points)
    (site / f"{name.replace('-', '_')}.py").write_text(module)


def list_with(site, *options, error=""):
    ended = run_program("list", *options, cwd=site.parent, PYTHONPATH=f"{site}:{ROOT}")
    assert (ended.returncode, ended.stderr) == (0, error)
    return ended.stdout


def test_broken_plug_ins_are_named_and_the_others_listed(tmp_path):
    site = tmp_path / "site"
    for name, (module, _) in MODULES.items():
        place = name.replace("-", "_")
        package(site, name, f"[synthbench.tasks]\n{name} = {place}:Task\n", module)
    numbers = "print('loaded')\nfrom tests.toy_task import Numbers"
    package(site, "whole", "[synthbench.tasks]\nnumbers = whole:Numbers\n", numbers)
    facts = json.loads(list_with(site, "--json", error="loaded\n"))
    faults = {one["task"]: one["fault"] for one in facts if "fault" in one}
    assert faults.keys() == MODULES.keys()
    for name, (_, said) in MODULES.items():
        assert said in faults[name]
        assert len(faults[name].splitlines()) == 1
    whole = [one["task"] for one in facts if "fault" not in one]
    assert (len(whole), whole[-1]) == (OURS + 1, "numbers")
    text = list_with(site, error="loaded\n")
    assert all(name in text for name in (*MODULES, "numbers", "listops"))


def test_broken_plug_ins_are_named_and_not_searched_for(tmp_path):
    site, row = tmp_path / "site", "[MED 4 8 5 [MAX 8 4 9 ] ]"
    for name in ("exits", "raises", "raises-anything", "is-none", "syntax"):
        place = name.replace("-", "_")
        points = f"[synthbench.tasks]\n{name} = {place}:Task\n"
        package(site, name, points, MODULES[name][0])
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": row}))
    words = ["decontaminate", "a.jsonl", "--out", "b.jsonl", "--quiet"]
    ended = run_program(*words, cwd=tmp_path, PYTHONPATH=f"{site}:{ROOT}")
    assert ended.returncode == 0
    warned = ended.stderr.splitlines()
    assert {line.split("'")[1] for line in warned if line.startswith("Warning: Left out")} == {
        *("exits", "raises", "raises-anything", "is-none", "syntax")
    }
    assert (tmp_path / "b.jsonl").exists()


def test_damaged_entry_points_of_any_package_hide_no_task(tmp_path):
    site = tmp_path / "site"
    unread = {
        "first-damaged": "[synthbench.tasks]\nno sign\n",
        "second-damaged": "[console_scripts]\nno sign\n",
    }
    damaged = {**unread, "third-damaged": "no section\n", "fourth-damaged": "=\n[\n"}
    for name, points in damaged.items():
        package(site, name, points)
    numbers = "from tests.toy_task import Numbers"
    package(site, "whole", "[synthbench.tasks]\nnumbers = whole:Numbers\n", numbers)
    facts = json.loads(list_with(site, "--json"))
    assert [one["task"] for one in facts if "fault" not in one][-1] == "numbers"
    faults = {one["task"]: one["fault"] for one in facts if "fault" in one}
    assert unread.keys() <= faults.keys() <= damaged.keys()
    assert all("entry_points.txt cannot be read" in faults[name] for name in unread)
    for words in ("info listops", "train ctl --model nothing"):
        ended = run_program(*words.split(), cwd=tmp_path, PYTHONPATH=f"{site}:{ROOT}")
        assert "bug in synthbench" not in ended.stderr
