"""A dataset that `generate --overwrite` replaces while somebody reads it: never rows of both."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterator

import pytest

from synthbench.dataset import dataset as dataset_module
from synthbench.dataset import places, staging
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import DatasetError
from synthbench.evaluation.evaluate import evaluate
from synthbench.sharing import export as exporting
from synthbench.sharing.export import export
from synthbench.verification import verify as verification
from synthbench.verification.verify import verify
from tests.making import make, recut

ROWS = {"train": 300, "test": 100}
REPLACED = "was replaced or removed while it was being read"


def write(out, seed):
    """A dataset of parity in 6 shards of train and 2 of test."""
    make(out, "parity", seed=seed, rows=ROWS, overwrite=True)
    recut(out, 50)
    return out


@pytest.fixture
def directory(tmp_path):
    return write(tmp_path / "parity", seed=0)


def test_a_reader_gets_an_error_instead_of_rows_of_another_dataset(directory):
    dataset = DatasetDirectory.open(directory)
    batches = dataset.batches("default", "train")
    first = next(batches)
    write(directory, seed=1)
    with pytest.raises(DatasetError, match=REPLACED):
        next(batches)
    with pytest.raises(DatasetError, match=REPLACED):
        list(dataset.rows("default", "test"))
    again = list(DatasetDirectory.open(directory).batches("default", "train"))
    assert sum(map(len, again)) == 300 and not again[0].equals(first)


def test_a_dataset_of_fewer_shards_in_its_place_is_no_missing_file(directory):
    batches = DatasetDirectory.open(directory).batches("default", "train")
    next(batches)
    make(directory, "parity", seed=1, rows=ROWS, overwrite=True)
    with pytest.raises(DatasetError, match=REPLACED):
        list(batches)


def test_the_check_does_not_rest_on_the_inode_alone(directory):
    """The file system may give the third dataset the inode of the first, which is free again."""
    batches = DatasetDirectory.open(directory).batches("default", "train")
    next(batches)
    for seed in (1, 0):
        write(directory, seed)
    with pytest.raises(DatasetError, match=REPLACED):
        next(batches)


def test_a_dataset_that_went_to_another_process_is_still_checked(directory):
    dataset = pickle.loads(pickle.dumps(DatasetDirectory.open(directory)))
    assert len(list(dataset.rows("default", "test"))) == 100
    write(directory, seed=1)
    with pytest.raises(DatasetError, match=REPLACED):
        list(dataset.rows("default", "test"))


def replacing(function, directory):
    """The function, before whose first call the dataset is replaced."""
    calls: Iterator[int] = itertools.count()

    def replaced(*arguments, **options):
        if next(calls) == 0:
            write(directory, seed=1)
        return function(*arguments, **options)

    return replaced


def test_verify_reports_no_failures_of_a_mixture(directory, monkeypatch):
    always = ("check_tables", "check_card", "open_variant", "hash_split")
    for name in (*always, "compare_with_files", "check_row_group"):
        with monkeypatch.context() as patch:
            function = getattr(verification, name)
            patch.setattr(verification, name, replacing(function, directory))
            with pytest.raises(DatasetError, match=REPLACED):  # rows alone are read if fast
                verify(directory, workers=1, progress=False, fast=name == "check_row_group")
        assert verify(directory, workers=1, progress=False).ok
        write(directory, seed=0)


def test_evaluate_scores_no_mixture_of_splits(directory, monkeypatch):
    predictions = {
        row["id"]: row["label"] for row in DatasetDirectory.open(directory).rows("default", "test")
    }
    monkeypatch.setattr(DatasetDirectory, "batches", replacing(DatasetDirectory.batches, directory))
    with pytest.raises(DatasetError, match=REPLACED):
        evaluate(directory, predictions, split="test")


def test_export_leaves_no_mixture_behind(directory, tmp_path, monkeypatch):
    monkeypatch.setattr(exporting, "check_whole", replacing(exporting.check_whole, directory))
    with pytest.raises(DatasetError, match=REPLACED):
        export(directory, "jsonl", tmp_path / "exported")
    assert not (tmp_path / "exported").exists()


def test_a_missing_shard_of_a_replaced_dataset_is_not_called_damage(directory):
    dataset = DatasetDirectory.open(directory)
    make(directory, "parity", seed=1, rows=ROWS, overwrite=True)
    with pytest.raises(DatasetError, match=REPLACED):
        staging.check_whole(dataset)


def test_between_the_two_renames_the_error_says_that_the_dataset_is_being_replaced(directory):
    workplace = places.staging_of(directory)
    workplace.mkdir()
    lock = places.hold(workplace)
    assert lock is not None
    with lock:
        directory.rename(workplace / places.OLD)
        with pytest.raises(DatasetError, match="`generate --overwrite` is replacing it"):
            DatasetDirectory.open(directory)


def test_a_dataset_that_appears_only_while_it_is_opened_is_never_left_unchecked(
    directory, monkeypatch
):
    """The first look at the manifest may come just between the two renames."""
    moved = directory.rename(directory.with_name("moved"))
    looks = itertools.count()
    identify = dataset_module._identify

    def identified(manifest):
        found = identify(manifest)
        if next(looks) == 0:
            moved.rename(directory)
        return found

    monkeypatch.setattr(dataset_module, "_identify", identified)
    with pytest.raises(DatasetError, match=REPLACED):
        DatasetDirectory.open(directory)
    assert DatasetDirectory.open(directory).manifest.task == "parity"


def test_a_dataset_that_is_only_moved_away_is_called_missing_when_it_is_opened(directory):
    dataset = DatasetDirectory.open(directory)
    directory.rename(directory.with_name("moved"))
    with pytest.raises(DatasetError, match=REPLACED):
        next(dataset.rows("default", "test"))
    with pytest.raises(DatasetError, match="there is no such directory"):
        DatasetDirectory.open(directory)
