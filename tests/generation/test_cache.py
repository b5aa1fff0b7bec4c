"""The cache of `load_dataset`: whatever is damaged in it, the right rows are served."""

from __future__ import annotations

import os
import random
import shutil

import pytest

import synthbench
from synthbench.errors import DatasetError, UsageError
from synthbench.generation import cache
from synthbench.generation.load_dataset import open_with_datasets
from tests.making import make
from tests.support import run_python

ROWS = {"train": 60, "test": 50}


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """An empty cache directory."""
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def load():
    return {
        name: rows.to_list() for name, rows in synthbench.load_dataset("parity", rows=ROWS).items()
    }


def _flipped(content, draw):
    changed = bytearray(content)
    changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


#: What happens to the content of a file.
CONTENTS = {
    "emptied": lambda content, draw: b"",
    "truncated": lambda content, draw: content[: draw.randrange(len(content))],
    "flipped": _flipped,
    "garbage": lambda content, draw: draw.randbytes(len(content)),
    "longer": lambda content, draw: content + draw.randbytes(9),
}


def _fill(path):
    path.mkdir()
    (path / "inside").write_text("something")


#: What comes into the place of a file or a directory.
IN_ITS_PLACE = {
    "nothing": lambda path: None,
    "an empty directory": lambda path: path.mkdir(),
    "a full directory": _fill,
    "a file": lambda path: path.write_bytes(b"\x00\xff"),
    "a dangling link": lambda path: path.symlink_to(path.with_name("nowhere")),
    "a link to itself": lambda path: path.symlink_to(path),
    "a pipe": os.mkfifo,
}


def _damages(place):
    """Every file and directory of the cache, each with what can happen to it."""
    for path in sorted(place.rglob("*")):
        if path.is_file() and path.stat().st_size:
            yield from ((path, kind) for kind in CONTENTS)
        yield from ((path, kind) for kind in IN_ITS_PLACE)


def _damage(path, kind, draw):
    if kind in CONTENTS:
        path.write_bytes(CONTENTS[kind](path.read_bytes(), draw))
        return
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    IN_ITS_PLACE[kind](path)


def test_whatever_is_damaged_the_right_rows_are_served_and_a_line_says_so(place, tmp_path, capfd):
    draw = random.Random(1)
    right = load()
    shutil.copytree(place, tmp_path / "whole")
    cases = list(_damages(place))
    assert len(cases) > 100
    for path, kind in cases:
        shutil.rmtree(place)
        shutil.copytree(tmp_path / "whole", place)
        _damage(path, kind, draw)
        capfd.readouterr()
        case = f"{path.relative_to(place)}: {kind}"
        assert load() == right, case
        said = capfd.readouterr().err.splitlines()
        unnoticed = path.parent == place and path.is_dir() and kind == "nothing"  # as if never made
        if path.suffix == ".lock":
            assert said == [], case  # what is whole needs no lock
        elif not unnoticed:
            assert said, case
            assert all("is damaged" in line and "made again" in line for line in said), case
        assert load() == right, case
        assert capfd.readouterr().err == "", case


def test_a_lock_that_is_no_file_is_replaced_when_it_is_needed(place, capfd):
    right = load()
    locks = sorted(place.glob("*.lock"))
    assert len(locks) == 3  # of the dataset and of each split's Arrow file
    for kind in set(IN_ITS_PLACE) - {"nothing", "a file"}:
        shutil.rmtree(place)
        place.mkdir()
        for lock in locks:
            IN_ITS_PLACE[kind](lock)
        capfd.readouterr()
        assert load() == right, kind
        assert capfd.readouterr().err.count(".lock in the cache is damaged") == 3, kind


def _lock_is_directory(staging):
    (staging / "lock").mkdir(parents=True)


def _dataset_is_file(staging):
    staging.mkdir()
    (staging / "dataset").write_text("")
    (staging / "command.json").write_text("{}")


def _notes_are_a_directory(staging):
    (staging / "finished.jsonl").mkdir(parents=True)


def _old_is_damaged(staging):
    (staging / "old").mkdir(parents=True)
    (staging / "old" / "manifest.json").write_text("{")


@pytest.mark.parametrize(
    "left",
    [
        lambda staging: staging.write_text(""),
        _lock_is_directory,
        _dataset_is_file,
        _notes_are_a_directory,
        _old_is_damaged,
    ],
)
def test_a_damaged_rest_of_an_interrupted_run_is_no_obstacle(left, place):
    right = load()
    (entry,) = (path for path in place.glob("parity-*") if path.is_dir())
    shutil.rmtree(place)
    place.mkdir()
    left(place / f".{entry.name}.partial")
    assert load() == right
    assert not (place / f".{entry.name}.partial").exists()


def test_a_file_is_hashed_once_as_long_as_it_does_not_change(monkeypatch):
    hashed = []
    real = cache.file_sha256
    monkeypatch.setattr(cache, "file_sha256", lambda path: hashed.append(path) or real(path))
    load()
    load()
    assert hashed
    hashed.clear()
    load()
    assert hashed == []


def test_a_damaged_shard_of_a_directory_of_ones_own_is_refused(tmp_path):
    make(tmp_path / "made", "parity", rows=ROWS)
    dataset = synthbench.DatasetDirectory.open(tmp_path / "made")
    shard = next((tmp_path / "made" / "data").rglob("test-*.parquet"))
    shard.write_bytes(_flipped(shard.read_bytes(), random.Random(1)))
    with pytest.raises(DatasetError, match=r"test-.*is damaged.*--overwrite"):
        open_with_datasets(dataset, "default", "test")


def test_a_cache_that_has_no_usable_path_is_refused_with_a_remedy(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for path in (os.fsdecode(b"/tmp/caf\xe9"), "relative", "~nobody-of-this-name/cache"):
        monkeypatch.setenv(cache.CACHE_VARIABLE, path)
        with pytest.raises(UsageError, match=f"Set {cache.CACHE_VARIABLE} to the absolute path"):
            load()


@pytest.mark.slow
def test_a_working_directory_that_is_gone_is_no_obstacle(tmp_path):
    (tmp_path / "gone").mkdir()
    run_python(
        "import os, sys, synthbench\n"
        f"os.chdir({str(tmp_path / 'gone')!r}); os.rmdir(os.getcwd())\n"
        f"assert len(synthbench.load_dataset('parity', 'test', rows={ROWS!r})) == 50"
    )


def test_rows_of_another_package_are_made_again_when_any_module_of_it_has_changed(tmp_path):
    package = tmp_path / "helped"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from helped import rule\nfrom tests.toy_task import Numbers\n\n\n"
        "class Helped(Numbers):\n    name = 'helped'\n\n"
        "    def solve(self, question):\n        return rule.ADDED + super().solve(question)\n"
    )
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from types import SimpleNamespace\nfrom helped import Helped\n"
        "from synthbench.generation import cache\n"
        "print(cache._entry(SimpleNamespace(preset='small', rows=None, split=None), Helped()))\n"
    )
    names = []
    for rule in ("ADDED = 0\n", "ADDED = 1\n", "ADDED = 0\n"):
        (package / "rule.py").write_text(rule)
        names.append(run_python(code))
    assert names[0] == names[2] != names[1]
