"""From a command to a published directory: the same bytes, whoever makes them."""

import dataclasses
import threading

import datasets
import pytest

import synthbench
from synthbench import __version__
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import ParameterError, SynthbenchError, UsageError
from synthbench.generation import generate as generation
from synthbench.generation import shards
from tests.making import (
    CHUNK_ROWS,
    CTL,
    CTL_WORDS,
    files,
    interrupting,
    make,
    names,
)
from tests.support import digests, run_program, stored_rows
from tests.toy_task import Numbers

# What is made.


def test_a_directory_holds_its_shards_a_manifest_and_a_card_and_nothing_else(tmp_path, numbers):
    manifest = make(tmp_path / "data")
    assert names(tmp_path) == ["data"]
    assert names(tmp_path / "data") == ["README.md", "data", "manifest.json"]
    assert DatasetDirectory.open(tmp_path / "data").manifest == manifest
    listed = [
        shard.file
        for splits in manifest.variants.values()
        for split in splits.values()
        for shard in split.shards
    ]
    found = [name for name in files(tmp_path / "data") if name.endswith(".parquet")]
    assert sorted(listed) == found


def test_the_manifest_says_what_is_in_the_files(tmp_path, numbers):
    manifest = make(tmp_path, seed=3, rows={"train": 301})
    (splits,) = manifest.variants.values()
    assert list(splits) == ["train", "iid", "test"]  # as readers see them
    assert {name: split.rows for name, split in splits.items()} == {
        "train": 301,
        "iid": 90,
        "test": 70,
    }
    for name, split in splits.items():
        rows = stored_rows(tmp_path, "default", name)
        assert rows.num_rows == split.rows == sum(split.buckets.values())
        counted = dict.fromkeys(split.buckets, 0)
        for bucket in rows["bucket"].to_pylist():
            counted[str(bucket)] += 1
        assert split.buckets == counted
        assert split.candidates >= split.rows


def test_a_manifest_shows_itself_in_two_lines(tmp_path):
    rows = {"train": 1500, "iid": 90, "validation": 60, "test": 40}
    one = make(tmp_path / "one", "ctl", rows=rows, seed=3)
    assert repr(one).splitlines() == [
        f"Manifest of ctl: seed 3, made by synthbench {__version__}",
        "forward: train 1,500, iid 90, validation 60, test 40 rows",
    ]
    both = make(tmp_path / "both", "ctl", variant="all", rows=rows)
    counts = ", ".join(f"{name} 1,690" for name in ("forward", "backward", "steps"))
    assert repr(both).splitlines()[1] == f"3 variants: {counts} rows"
    # A manifest may come from anybody.
    split = both.variants["forward"]
    many = {f"variant-{number}": split for number in range(1_000)}
    strange = dataclasses.replace(both, variants=many, synthbench="0\n\x1b[2J" * 1_000)
    lines = repr(strange).split("\n")
    assert len(lines) == 2 and all(len(line) <= 200 and line.isprintable() for line in lines)


def test_variants_are_made_as_each_alone_would_be(tmp_path):
    both = make(tmp_path / "both", "ctl", variant="all", **CTL)
    assert list(both.variants) == ["forward", "backward", "steps"]
    for variant in both.variants:
        alone = make(tmp_path / variant, "ctl", variant=variant, **CTL)
        assert digests(alone) == {variant: digests(both)[variant]}
    turned = make(tmp_path / "turned", "ctl", variant=["backward", "forward"], **CTL)
    assert list(turned.variants) == ["backward", "forward"]


def test_the_small_preset_has_a_hundredth_and_at_least_a_hundred_rows_where_they_exist(
    tmp_path, numbers
):
    def sizes(task, **options):
        made = make(tmp_path / f"{len(names(tmp_path))}", task, preset="small", **options)
        (splits,) = made.variants.values()
        return {name: split.rows for name, split in splits.items()}

    assert sizes("ctl") == {"train": 537, "iid": 100, "validation": 100, "test": 100}
    assert sizes("parity") == {"train": 100, "test": 100}
    assert sizes("numbers") == {"train": 100, "iid": 90, "test": 70}
    # Iid and train share two buckets of 20 rows; about an eighth of all rows are held out.
    few = sizes("numbers", parameters={"sizes": (20, 20, 40)})
    assert few["train"] + few["iid"] == 40
    assert 0 < few["iid"] < 10
    assert 0 < few["test"] < 10


# The same bytes, whoever makes them.


def test_the_number_of_workers_changes_no_byte_of_many_small_blocks(tmp_path, whole):
    for workers in (2, 5):
        make(tmp_path / f"{workers}", workers=workers)
        assert files(tmp_path / f"{workers}") == whole


def test_few_rows_are_made_without_threads_and_the_bytes_are_the_same(tmp_path, monkeypatch):
    started, start = [], threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda self: (started.append(self), start(self)))
    rows = {"train": 300, "test": 200}
    make(tmp_path / "few", "parity", rows=rows)
    assert not started
    monkeypatch.setattr(shards, "FEW_ROWS", 0)
    monkeypatch.setattr(generation, "FEW_ROWS", 0)
    make(tmp_path / "with threads", "parity", rows=rows)
    assert started
    assert files(tmp_path / "few") == files(tmp_path / "with threads")


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(
            {"PYTHONHASHSEED": "0", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            marks=pytest.mark.slow,
        ),
        {
            "PYTHONHASHSEED": "random",
            "TZ": "America/St_Johns",
            "LC_ALL": "tr_TR.UTF-8",
            "PYTHONOPTIMIZE": "2",
        },
    ],
    ids=["plain C locale", "Turkish and optimised"],
)
def test_hash_seed_locale_time_zone_and_optimising_change_no_byte(tmp_path, ctl, changes):
    """A locale that is not installed leaves the C locale, and proves no more than that."""
    done = run_program("generate", *CTL_WORDS, "--workers=2", cwd=tmp_path, **changes)
    assert done.returncode == 0, done.stderr
    assert files(tmp_path / "ctl") == ctl


def test_the_rows_of_a_shard_change_files_but_no_digest(tmp_path, numbers):
    expected = digests(make(tmp_path / "default"))
    read = {name: stored_rows(tmp_path / "default", "default", name) for name in ("train", "iid")}
    for shard_rows, chunks in ((7, 1), (40, 2), (499, 25), (500, 25)):
        out = tmp_path / f"{shard_rows}"
        manifest = make(out, shard_rows=shard_rows)
        assert digests(manifest) == expected
        whole = chunks * CHUNK_ROWS
        assert [shard.rows for shard in manifest.variants["default"]["train"].shards] == [
            min(whole, 500 - first) for first in range(0, 500, whole)
        ]
        for name, rows in read.items():
            assert stored_rows(out, "default", name).to_pylist() == rows.to_pylist()


# Places that cannot be used.


def test_a_place_that_cannot_be_used_is_refused_before_any_work(tmp_path, numbers, monkeypatch):
    drawn = interrupting(monkeypatch, Numbers, "propose", -1)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "home")
    before, there = files(tmp_path), names(tmp_path)
    for place, text in [
        ("file", "is a file"),
        ("file/below", "cannot be written: Not a directory"),
        ("full", r"holds other files \('notes.txt'\)"),
        ("/proc/nothing/here", "cannot be written"),
        ("/", "holds other files"),
        ("home", "is the working directory, which cannot be replaced"),
    ]:
        for overwrite in (False, True):
            with pytest.raises(UsageError, match=text):
                make(tmp_path / place, overwrite=overwrite)
    assert not drawn
    assert (files(tmp_path), names(tmp_path)) == (before, there)


def test_an_empty_directory_or_a_link_to_one_will_do(tmp_path, whole):
    (tmp_path / "empty").mkdir()
    make(tmp_path / "empty")
    assert files(tmp_path / "empty") == whole
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to("target")
    make(tmp_path / "link", seed=1)
    make(tmp_path / "link", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert files(tmp_path / "target") == whole
    (tmp_path / "later").symlink_to("not-yet")
    make(tmp_path / "later")
    assert files(tmp_path / "not-yet") == whole
    assert names(tmp_path) == ["empty", "later", "link", "not-yet", "target"]


# Names and numbers that are refused.


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"variant": ["forward", "forward"]}, "a name is repeated"),
        ({"variant": []}, "No task is given"),
        ({"seed": 1.5}, "Seed 1.5: allowed are whole numbers from 0"),
        ({"rows": {"train": True}}, "Rows train=True: allowed are whole numbers from 0"),
        ({"shard_rows": 2.5}, "Shard rows 2.5: expected a whole number"),
        ({"task": "parity", "rows": {"test": 14_642}}, "14,642 rows asked for, but only 1,844"),
        ({"task": "parity", "rows": {"train": 14_641}}, "only 12,797 exist that are not held out"),
    ],
)
def test_what_is_impossible_is_refused_in_one_line_before_any_file_is_made(tmp_path, options, text):
    with pytest.raises(UsageError, match=text.replace("?", r"\?")) as refused:
        make(tmp_path / "data", **{"task": "ctl", **options})
    assert refused.value.exit_status == 2
    assert "\n" not in str(refused.value)
    assert names(tmp_path) == []


def test_a_bucket_that_cannot_be_filled_ends_the_run_by_name_and_publishes_nothing(
    tmp_path, numbers
):
    parameters = {"sizes": (7, 20, 500), "counted": False}
    with pytest.raises(SynthbenchError, match=r"200 rows asked for.*bucket 0: \d found, bucket 1:"):
        make(tmp_path / "data", parameters=parameters, rows={"train": 200, "iid": 2})
    assert names(tmp_path) == []
    with pytest.raises(ParameterError, match=r"200 rows asked for, but only 23 exist.*bucket 0: 4"):
        make(
            tmp_path / "counted",
            parameters={**parameters, "counted": True},
            rows={"train": 200, "iid": 2},
        )
    assert names(tmp_path) == []


def test_a_split_with_0_rows_is_left_out(tmp_path):
    rows = {"train": 30, "iid": 10, "validation": 0, "test": 10}
    manifest = synthbench.generate("ctl", out=tmp_path / "less", rows=rows, progress=False)
    more = {**rows, "validation": 9}
    whole = synthbench.generate("ctl", out=tmp_path / "all", rows=more, progress=False)
    there, every = manifest.variants["forward"], whole.variants["forward"]
    assert list(there) == ["train", "iid", "test"]
    assert all(there[name].digest == every[name].digest for name in there)
    assert synthbench.verify(tmp_path / "less", progress=False).ok
    assert list(datasets.load_dataset(str(tmp_path / "less"))) == list(there)
    card = (tmp_path / "less" / "README.md").read_text(encoding="utf-8")
    assert "| validation | 0 | left out |" in card
    assert "--rows validation=0" in card
    with pytest.raises(UsageError, match="Allowed: train, iid, test"):
        synthbench.evaluate(tmp_path / "less", {}, split="validation")
    none = dict.fromkeys(rows, 0)
    with pytest.raises(UsageError, match="every split has 0 rows"):
        synthbench.generate("ctl", out=tmp_path / "none", rows=none, progress=False)
