"""Broken files of source images are named with the reason."""

import os
import pickle
import re

import numpy as np
import pytest

from synthbench.errors import DatasetError
from synthbench.tasks.images import load
from synthbench.tasks.images.file_formats import read_cifar
from tests.tasks.tiny_sources import idx, write_cifar, write_idx, write_tree


def broken(empty, name, change):
    """Write MNIST with one file changed; the error on reading all of it."""
    write_idx(empty / "MNIST/raw", seed=1)
    file = empty / "MNIST/raw" / name
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(DatasetError) as error:
        _ = load.load("mnist").pixels
    return str(error.value)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("train-images-idx3-ubyte", lambda data: data[:-1], "it has 94,095 bytes where its header"),
        (
            "t10k-images-idx3-ubyte",
            lambda data: data + b"x",
            "it has 31,377 bytes where its header",
        ),
        ("t10k-images-idx3-ubyte", lambda data: data[:9], "idx file of bytes with 3 dimensions"),
        ("train-labels-idx1-ubyte", lambda data: b"", "idx file of bytes with 1 dimensions"),
        ("train-labels-idx1-ubyte", lambda data: b"<htm" + data[4:], "idx file of bytes with 1"),
        (
            "t10k-images-idx3-ubyte",
            lambda data: idx(np.zeros((4, 32, 32))),
            "images have 32x32 pixels, not 28x28",
        ),
    ],
)
def test_a_broken_idx_file_is_named_with_the_reason(empty, name, change, said):
    text = broken(empty, name, change)
    assert text.startswith(f"{empty / 'MNIST/raw' / name} of MNIST is broken: ")
    assert said in text
    assert f"Remove {empty / 'MNIST/raw'} and fetch it again: python -m" in text


def test_labels_that_do_not_go_with_the_images_are_an_error(empty):
    fewer = broken(empty, "train-labels-idx1-ubyte", lambda data: idx(np.zeros(119)))
    assert "160 images, but 159 labels" in fewer


def test_a_label_beyond_nine_is_an_error(empty):
    assert "there is a label 10" in broken(
        empty, "t10k-labels-idx1-ubyte", lambda data: data[:-1] + b"\x0a"
    )


def test_a_broken_compressed_file_is_named(empty):
    write_idx(empty / "MNIST/raw", seed=1, packed=True)
    file = empty / "MNIST/raw/train-labels-idx1-ubyte.gz"
    whole = file.read_bytes()
    for data in (whole[:-10], whole[:30] + b"\xff\xff\xff" + whole[33:], b"no gzip"):
        file.write_bytes(data)
        with pytest.raises(DatasetError, match=re.escape(f"{file} of MNIST is broken: ")):
            load.load("mnist")
    assert load.is_here("mnist")


@pytest.mark.parametrize(
    "batch",
    [
        b"",
        b"\x80\x02}(",
        pickle.dumps({"data": np.zeros((3, 3072), np.uint8)}),
        pickle.dumps({"data": np.zeros((3, 3072), np.uint8), "labels": [1, 2]}),
        pickle.dumps({"data": np.zeros((2, 3072), np.int32), "labels": [1, 2]}, protocol=2),
        pickle.dumps({"data": np.zeros((2, 3072), np.uint8), "labels": [1, 10]}, protocol=2),
        pickle.dumps([1, 2]),
    ],
)
def test_a_broken_batch_is_named(empty, batch):
    write_cifar(empty / "cifar-10-batches-py", seed=3)
    file = empty / "cifar-10-batches-py/data_batch_3"
    file.write_bytes(batch)
    with pytest.raises(DatasetError, match=re.escape(f"{file} of CIFAR10 is broken: ")):
        load.load("cifar")


class Malicious:
    def __reduce__(self):
        return os.putenv, ("SYNTHBENCH_WAS_HERE", "1")


def test_a_batch_cannot_run_code(tmp_path):
    file = tmp_path / "batch"
    file.write_bytes(pickle.dumps({"data": Malicious(), "labels": []}))
    with pytest.raises(ValueError, match="putenv does not belong in a file of images"):
        read_cifar(file)


def test_a_broken_picture_is_named(empty):
    write_tree(empty / "tree", ["a", "b"], seed=1)
    file = empty / "tree/b/003.png"
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(DatasetError, match=re.escape(f"{file} is broken or not an image")):
        _ = load.load("folder:tree").pixels


def test_class_folders_without_pictures_or_classes_are_named(empty):
    (empty / "none").mkdir()
    with pytest.raises(DatasetError, match=f"there is no folder in {empty / 'none'}"):
        load.load("folder:none")
    (empty / "tree/a").mkdir(parents=True)
    with pytest.raises(DatasetError, match=f"{empty / 'tree/a'} has no picture files"):
        load.load("folder:tree")
    write_tree(empty / "two/train", ["a", "b"], seed=1)
    write_tree(empty / "two/test", ["a"], seed=2)
    with pytest.raises(DatasetError, match="train has a, b, but test has a"):
        load.load("folder:two")
