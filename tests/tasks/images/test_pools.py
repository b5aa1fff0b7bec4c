"""Which split may use which image."""

import numpy as np
import pytest

from synthbench.errors import DatasetError
from synthbench.tasks.images import load
from synthbench.tasks.images.pools import Pool
from tests.tasks.tiny_sources import SPECS, SPLITS, TEST, TRAINING, write_tree


@pytest.mark.parametrize("spec", SPECS)
def test_every_image_is_in_one_split_only_and_none_is_left_out(sources, spec):
    source = load.load(spec)
    pools = [source.pool(split, range(len(source.classes))) for split in SPLITS]
    together = np.concatenate([pool.numbers for pool in pools])
    assert sorted(together.tolist()) == list(range(len(source.labels)))


@pytest.mark.parametrize("spec", SPECS)
def test_a_pool_lists_its_images_by_class(sources, spec):
    source = load.load(spec)
    for split in SPLITS:
        pool = source.pool(split, [])
        for label, (start, size) in enumerate(zip(pool.start, pool.size, strict=True)):
            assert (source.labels[pool.numbers[start : start + size]] == label).all()


def test_one_training_image_in_ten_of_each_class_is_for_validation(sources):
    for spec in ("mnist", "folder:split"):
        source = load.load(spec)
        train, validation, test = (source.pool(split, []) for split in SPLITS)
        assert set(validation.size) == {2} and set(train.size) == {TRAINING - 2}
        assert set(test.size) == {TEST}
        assert (test.numbers >= source.training).all()
        assert (train.numbers < source.training).all()
        for label in range(len(source.classes)):
            own = np.flatnonzero(source.labels[: source.training] == label)
            start = validation.start[label]
            assert validation.numbers[start : start + 2].tolist() == own[[0, 10]].tolist()


def test_one_tree_is_parted_in_three(sources):
    source = load.load("folder:pictures")
    train, validation, test = (source.pool(split, []) for split in SPLITS)
    for label in range(4):
        first = label * TRAINING
        assert validation.numbers[validation.start[label] :][:2].tolist() == [first, first + 10]
        assert test.numbers[test.start[label] :][:2].tolist() == [first + 1, first + 11]
        assert train.numbers[train.start[label] :][:8].tolist() == list(
            range(first + 2, first + 10)
        )
    assert set(validation.size) == set(test.size) == {2} and set(train.size) == {8}


def test_every_image_of_a_class_is_picked_alike(sources):
    pool = load.load("mnist").pool("train", range(10))
    classes = np.repeat(np.arange(10), 1000)
    uniform = np.tile(np.arange(1000) / 1000, 10)
    picked, counts = np.unique(pool.pick(classes, uniform), return_counts=True)
    assert np.array_equal(picked, np.sort(pool.numbers))
    assert set(counts) == {100}


def test_the_largest_uniform_number_picks_the_last_image():
    pool = Pool(np.arange(6000, dtype=np.int32), np.array([0]), np.array([6000]))
    assert pool.pick(np.array([0]), np.array([1.0 - 2.0**-53])).tolist() == [5999]


def test_a_class_without_images_for_a_split_is_named(empty):
    write_tree(empty / "few", ["a", "b"], seed=1, count=1)
    source = load.load("folder:few")
    with pytest.raises(DatasetError, match="class b has no image for train; every 10th"):
        source.pool("train", [1])
    with pytest.raises(DatasetError, match=r"class number 2 is needed.*only a, b"):
        source.pool("validation", [0, 1, 2])
