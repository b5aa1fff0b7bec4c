"""`load_dataset`: made once, opened from the cache ever after, never other rows."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import Any

import pytest

import synthbench
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import UsageError
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


def load(split="test", **arguments):
    its = ("variant", "seed", "level", "source_dir", "n_value", "n_values")
    chosen = {name: arguments.pop(name) for name in its if name in arguments}
    task = synthbench.task("parity", **chosen)
    return synthbench.load_dataset(task, split, **{"rows": ROWS, **arguments})


def entries(place):
    return sorted(path.name for path in place.glob("parity-*") if path.is_dir())


def test_the_rows_are_those_that_generate_writes_with_their_features(tmp_path):
    make(tmp_path / "made", "parity", rows=ROWS, seed=3)
    rows = list(DatasetDirectory.open(tmp_path / "made").rows("default", "test"))
    loaded = load(seed=3)
    assert loaded.to_list() == rows
    assert loaded.features["label"].names == [str(number) for number in range(11)]
    both = load(None, seed=3)
    assert {name: len(split) for name, split in both.items()} == ROWS


def test_a_named_split_is_the_only_one_that_is_made_and_has_the_same_rows(place):
    for name in ("test", "train"):
        alone = load(name).to_list()
        (entry,) = set(entries(place))
        assert [*DatasetDirectory.open(place / entry).manifest.variants["default"]] == [name]
        shutil.rmtree(place)
        whole = load(None)
        assert whole[name].to_list() == alone
        (entry,) = entries(place)
        assert load(name).to_list() == alone  # from the dataset of all splits
        assert entries(place) == [entry]
        shutil.rmtree(place)


def test_the_second_call_makes_nothing(monkeypatch):
    first = load()["id"][:]
    monkeypatch.setattr(cache, "run", None)
    assert load()["id"][:] == first


def test_every_request_has_a_directory_of_its_own(place):
    requests: list[dict[str, Any]] = [
        {},
        {"seed": 1},
        {"n_values": 12},
        {"rows": {**ROWS, "train": 61}},
        {"preset": "small"},
    ]
    names: set[str] = set()
    for number, request in enumerate(requests, start=1):
        load(**request)
        names.update(entries(place))
        assert len(names) == number
    load(n_values=11)  # the default, said
    assert set(entries(place)) == names


def test_the_name_of_a_directory_is_the_same_in_every_process(place):
    load()
    here = entries(place)
    code = f"import synthbench; synthbench.load_dataset('parity', 'test', rows={ROWS!r})"
    run_python(code)
    assert entries(place) == here


def test_two_directories_of_one_name_are_never_mixed_up(tmp_path):
    ids = []
    for seed in (1, 2):
        make(tmp_path / str(seed) / "parity", "parity", rows=ROWS, seed=seed)
        dataset = DatasetDirectory.open(tmp_path / str(seed) / "parity")
        ids.append(open_with_datasets(dataset, "default", "test")["id"][:])
        assert ids[-1] == [row["id"] for row in dataset.rows("default", "test", ["id"])]
    assert ids[0] != ids[1]


@pytest.mark.slow
def test_of_two_processes_at_once_the_second_waits_for_the_first(place):
    code = (
        "import synthbench; "
        "print(synthbench.load_dataset('listops', 'test', preset='small')['id'][0])"
    )
    command = [sys.executable, "-c", code]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    ended = [process.communicate(timeout=300) for process in running]
    assert [process.returncode for process in running] == [0, 0], ended
    assert ended[0][0] == ended[1][0] != ""
    assert len([path for path in place.glob("listops-*") if path.is_dir()]) == 1
    assert not list(place.glob(".*.partial"))


def test_a_cache_that_cannot_be_written_is_said_once_and_left(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path / "file" / "cache"))
    assert len(load()) == len(load(seed=1)) == 50
    said = [line for line in capsys.readouterr().err.splitlines() if "cannot be written" in line]
    assert len(said) == 1
    assert "SYNTHBENCH_CACHE" in said[0]


def test_an_entry_that_is_broken_or_removed_is_made_again(place):
    first = load().to_list()
    (entry,) = entries(place)
    next((place / entry / "data").rglob("test-*.parquet")).unlink()
    assert load().to_list() == first
    shutil.rmtree(place / entry)
    assert load().to_list() == first


def test_equal_tasks_have_one_entry_however_they_are_chosen(place):
    rows = load(level="hard").to_list()
    assert load(n_values=20).to_list() == load(level="easy", n_values="20").to_list() == rows
    assert len(entries(place)) == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"split": "tset"}, "Did you mean 'test'"),
        ({"split": "default"}, "is a variant, not a split"),
        ({"split": "train[:10]"}, r"split='train'\)\.select\(range\(10\)\)"),
        ({"split": "train+test"}, "expected the name of one split"),
        ({"split": "tran[:10]"}, "Did you mean 'train'"),
        ({"source_dir": "/images"}, "parity has no images. Leave it out"),
        ({"workers": 2}, "no argument 'workers'. Allowed: task, split, rows, preset"),
        ({"rows": 100}, r"Rows 100: .*{'train': 1000}"),
        ({"rows": "100"}, "Rows '100': "),
        ({"variant": "all"}, "Unknown variant"),
        ({"n_value": 3}, "n_values"),
        ({"parameters": {"n_values": 3}}, r"no argument 'parameters'. .* synthbench.task\("),
        ({"preset": "tiny"}, "paper, small"),
        ({"rows": {"train": -1}}, "whole numbers from 0"),
    ],
)
def test_wrong_requests_are_refused_before_anything_is_written(wrong, message, place):
    with pytest.raises(UsageError, match=message):
        load(**wrong)
    assert not place.exists()


@pytest.mark.slow
def test_a_task_of_another_package_is_made_again_when_its_module_changes(place, tmp_path):
    module = tmp_path / "own_task.py"
    text = (
        "import synthbench\n"
        "from synthbench.tasks.parity.task import Parity\n"
        "@synthbench.register\n"
        "class Own(Parity):\n"
        "    name = 'parity-own'\n"
    )
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import own_task, synthbench; "
        f"synthbench.load_dataset('parity-own', 'test', rows={ROWS!r})"
    )
    for number, comment in enumerate(["", "# changed\n", "# changed\n"]):
        module.write_text(text + comment)
        run_python(code)
        assert len(entries(place)) == min(number + 1, 2)
