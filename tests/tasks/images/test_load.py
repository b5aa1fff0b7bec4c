"""Source images are read, from where they lie, as their publishers wrote them."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from synthbench.errors import UsageError
from synthbench.tasks.images import load
from synthbench.tasks.images.file_formats import read_cifar, scale
from synthbench.tasks.images.pools import Source
from synthbench.tasks.images.source_dirs import DEFAULT_DIRS
from tests.tasks.tiny_sources import SPECS, TEST, TRAINING, labels, pictures, write_idx, write_tree

# What is read.


@pytest.mark.parametrize(("spec", "folder", "seed"), [("mnist", "MNIST", 1), ("fashion", "", 2)])
def test_idx_files_are_read_training_set_first(sources, spec, folder, seed):
    source = load.load(spec)
    expected = [pictures(seed, 10 * count, 28, 28) for count in (TRAINING, TEST)]
    assert np.array_equal(source.pixels, np.concatenate(expected))
    shown = [labels(seed, count) for count in (TRAINING, TEST)]
    assert np.array_equal(source.labels, np.concatenate(shown))
    assert source.training == 10 * TRAINING
    assert source.classes == load.CLASSES[spec] == load.class_names(spec)


def test_compressed_idx_files_are_the_same_source(sources, tmp_path, monkeypatch):
    plain = load.load("mnist").describe()
    write_idx(tmp_path / "MNIST/raw", seed=1, packed=True)
    monkeypatch.setenv("SYNTHBENCH_DATA", str(tmp_path))
    assert load.load("mnist").describe() == plain


def test_batches_of_cifar_are_read_in_order_and_scaled(sources):
    source = load.load("cifar")
    parts = [pictures(30 + number, 10 * (TRAINING // 4), 3, 32, 32) for number in range(1, 6)]
    planes = np.concatenate([*parts, pictures(3, 10 * TEST, 3, 32, 32)])
    assert np.array_equal(source.pixels, scale(np.moveaxis(planes, 1, 3)))
    assert source.training == 50 * (TRAINING // 4)
    assert source.classes[1:3] == ("automobile", "bird")


def test_batches_pickled_by_today_s_python_are_read_too(tmp_path):
    batch = {"data": pictures(0, 5, 3072), "labels": [0, 1, 2, 3, 9]}
    file = tmp_path / "batch"
    for protocol in range(2, 5):
        file.write_bytes(pickle.dumps(batch, protocol=protocol))
        pixels, shown = read_cifar(file)
        assert np.array_equal(np.moveaxis(pixels, 3, 1).reshape(5, 3072), batch["data"])
        assert shown.tolist() == batch["labels"]


def test_class_folders_are_read_by_class_and_file_name(sources):
    source = load.load("folder:pictures")
    assert source.classes == load.class_names("folder:pictures")
    assert source.classes == ("car", "dove", "train", "wren")
    expected = [pictures(400 + label, TRAINING, 28, 28, 3) for label in range(4)]
    assert np.array_equal(source.pixels, np.concatenate(expected))
    assert source.training is None
    parted = load.load("folder:split")
    assert parted.training == 2 * TRAINING
    expected = [pictures(500 + label, TRAINING, 28, 28, 3) for label in range(2)]
    expected += [pictures(600 + label, TEST, 28, 28, 3) for label in range(2)]
    assert np.array_equal(parted.pixels, np.concatenate(expected))


def test_pictures_of_any_size_and_mode_are_used_in_colour(empty):
    write_tree(empty / "mixed", ["a", "b"], seed=1, count=2)
    wide = pictures(2, 1, 20, 90, 3)[0]
    grey = pictures(3, 1, 28, 28)[0]
    Image.fromarray(wide).save(empty / "mixed/a/900.bmp")
    Image.fromarray(grey).save(empty / "mixed/b/901.PNG")
    (empty / "mixed/b/notes.txt").write_text("no picture")
    pixels = load.load("folder:mixed").pixels
    assert pixels.shape == (6, 28, 28, 3)
    assert np.array_equal(pixels[2], scale(wide[None])[0])
    assert np.array_equal(pixels[5], np.repeat(grey[..., None], 3, axis=2))


def test_a_source_is_read_once(sources):
    for spec in SPECS:
        assert load.load(spec) is load.load(spec)


def test_the_checksum_tells_any_other_pixel_or_label(sources):
    source = load.load("mnist")
    seen = {source.describe()["sha256"]}
    for change in range(3):
        pixels, shown = source.pixels.copy(), source.labels.copy()
        if change < 2:
            pixels[-change, 27 * change, 5] ^= 1
        else:
            shown[7] ^= 1
        other = Source("other", source.classes, shown, source.training, lambda p=pixels: p)
        seen.add(other.describe()["sha256"])
    assert len(seen) == 4
    assert source.describe()["images"] == 10 * (TRAINING + TEST)


# Where sources lie.


def test_the_variable_comes_before_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("SYNTHBENCH_DATA", str(tmp_path / "data"))
    assert DEFAULT_DIRS.roots()[0] == tmp_path / "data"
    monkeypatch.delenv("SYNTHBENCH_DATA")
    assert DEFAULT_DIRS.roots()[0] == tmp_path / "cache/synthbench"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert DEFAULT_DIRS.roots()[0] == Path.home() / ".cache/synthbench"


def test_a_relative_tree_is_looked_for_among_the_sources_then_here(empty, monkeypatch):
    here = empty / "here"
    write_tree(here / "tree", ["a", "b"], seed=1)
    monkeypatch.chdir(here)
    assert load.class_names("folder:tree") == ("a", "b")
    write_tree(empty / "tree", ["c", "d"], seed=2)
    assert load.class_names("folder:tree") == ("c", "d")
    assert load.class_names(f"folder:{here / 'tree'}") == ("a", "b")


@pytest.mark.parametrize(
    ("spec", "file"),
    [
        ("mnist", "MNIST/raw/train-images-idx3-ubyte"),
        ("fashion", "FashionMNIST/raw/train-images-idx3-ubyte"),
        ("cifar", "cifar-10-batches-py/data_batch_1"),
    ],
)
def test_a_missing_set_is_named_with_the_place_and_the_command_that_fetches_it(empty, spec, file):
    assert not load.is_here(spec)
    with pytest.raises(UsageError) as error:
        load.load(spec)
    assert f"is missing: there is no {empty / file}.\n" in str(error.value)
    assert f"`python -m synthbench.tasks.images {spec} --to {empty}`" in str(error.value)
    assert "--source-dir" in str(error.value)


@pytest.mark.parametrize("name", ["train-labels-idx1-ubyte", "t10k-images-idx3-ubyte"])
def test_one_missing_file_is_named(empty, name):
    write_idx(empty / "MNIST/raw", seed=1)
    (empty / "MNIST/raw" / name).unlink()
    with pytest.raises(UsageError, match=f"MNIST is missing: there is no .*{name}"):
        load.load("mnist")


def test_missing_class_folders_are_named_with_the_places(empty, monkeypatch):
    monkeypatch.chdir("/")
    assert not load.is_here("folder:birds")
    with pytest.raises(UsageError, match=f"'birds' are missing: there is no {empty}/birds and no"):
        load.load("folder:birds")
    with pytest.raises(UsageError, match="'/no/birds' are missing: there is no /no/birds"):
        load.class_names("folder:/no/birds")


def test_an_unknown_source_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match=r"Unknown source 'fashon'.*Did you mean 'fashion'"):
        load.load("fashon")
