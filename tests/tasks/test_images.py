"""Source images: found, read, checked and shared out, from small files and from real ones."""

import gzip
import hashlib
import io
import os
import pickle
import re
import shutil
import tarfile
import urllib.error
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from synthbench.errors import DatasetError, SynthbenchError, UsageError
from synthbench.sources import source_dir
from synthbench.tasks import images
from synthbench.tasks.image_files import read_cifar, scale
from synthbench.tasks.image_sources import Pool, Source
from tests.tasks.tiny_sources import (
    TEST,
    TRAINING,
    idx,
    labels,
    pictures,
    write_cifar,
    write_idx,
    write_sources,
    write_tree,
)

REAL = os.environ.get("SYNTHBENCH_DATA")
needs_real = pytest.mark.skipif(
    not REAL or not Path(REAL, "MNIST").is_dir(),
    reason="SYNTHBENCH_DATA does not name a directory with the real MNIST and Fashion-MNIST",
)
SPECS = ("mnist", "fashion", "cifar", "folder:pictures", "folder:split")
SPLITS = ("train", "validation", "test")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return write_sources(tmp_path_factory.mktemp("sources"))


@pytest.fixture
def sources(written, monkeypatch):
    monkeypatch.setenv("SYNTHBENCH_DATA", str(written))
    return written


@pytest.fixture
def empty(tmp_path, monkeypatch):
    monkeypatch.setenv("SYNTHBENCH_DATA", str(tmp_path))
    return tmp_path


# What is read.


@pytest.mark.parametrize(("spec", "folder", "seed"), [("mnist", "MNIST", 1), ("fashion", "", 2)])
def test_idx_files_are_read_training_set_first(sources, spec, folder, seed):
    source = images.load(spec)
    expected = [pictures(seed, 10 * count, 28, 28) for count in (TRAINING, TEST)]
    assert np.array_equal(source.pixels, np.concatenate(expected))
    shown = [labels(seed, count) for count in (TRAINING, TEST)]
    assert np.array_equal(source.labels, np.concatenate(shown))
    assert source.training == 10 * TRAINING
    assert source.classes == images.CLASSES[spec] == images.class_names(spec)


def test_compressed_idx_files_are_the_same_source(sources, tmp_path, monkeypatch):
    plain = images.load("mnist").describe()
    write_idx(tmp_path / "MNIST/raw", seed=1, packed=True)
    monkeypatch.setenv("SYNTHBENCH_DATA", str(tmp_path))
    assert images.load("mnist").describe() == plain


def test_batches_of_cifar_are_read_in_order_and_scaled(sources):
    source = images.load("cifar")
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
    source = images.load("folder:pictures")
    assert source.classes == images.class_names("folder:pictures")
    assert source.classes == ("car", "dove", "train", "wren")
    expected = [pictures(400 + label, TRAINING, 28, 28, 3) for label in range(4)]
    assert np.array_equal(source.pixels, np.concatenate(expected))
    assert source.training is None
    parted = images.load("folder:split")
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
    pixels = images.load("folder:mixed").pixels
    assert pixels.shape == (6, 28, 28, 3)
    assert np.array_equal(pixels[2], scale(wide[None])[0])
    assert np.array_equal(pixels[5], np.repeat(grey[..., None], 3, axis=2))


def test_a_source_is_read_once(sources):
    for spec in SPECS:
        assert images.load(spec) is images.load(spec)


def test_the_checksum_tells_any_other_pixel_or_label(sources):
    source = images.load("mnist")
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


# Who may use which image.


@pytest.mark.parametrize("spec", SPECS)
def test_every_image_is_in_one_split_only_and_none_is_left_out(sources, spec):
    source = images.load(spec)
    pools = [source.pool(split, range(len(source.classes))) for split in SPLITS]
    together = np.concatenate([pool.numbers for pool in pools])
    assert sorted(together.tolist()) == list(range(len(source.labels)))


@pytest.mark.parametrize("spec", SPECS)
def test_a_pool_lists_its_images_by_class(sources, spec):
    source = images.load(spec)
    for split in SPLITS:
        pool = source.pool(split, [])
        for label, (start, size) in enumerate(zip(pool.start, pool.size, strict=True)):
            assert (source.labels[pool.numbers[start : start + size]] == label).all()


def test_one_training_image_in_ten_of_each_class_is_for_validation(sources):
    for spec in ("mnist", "folder:split"):
        source = images.load(spec)
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
    source = images.load("folder:pictures")
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
    pool = images.load("mnist").pool("train", range(10))
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
    source = images.load("folder:few")
    with pytest.raises(DatasetError, match="class b has no image for train; every 10th"):
        source.pool("train", [1])
    with pytest.raises(DatasetError, match=r"class number 2 is needed.*only a, b"):
        source.pool("validation", [0, 1, 2])


# Where sources lie.


def test_the_variable_comes_before_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("SYNTHBENCH_DATA", str(tmp_path / "data"))
    assert source_dir() == tmp_path / "data"
    monkeypatch.delenv("SYNTHBENCH_DATA")
    assert source_dir() == tmp_path / "cache/synthbench"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert source_dir() == Path.home() / ".cache/synthbench"


def test_a_relative_tree_is_looked_for_among_the_sources_then_here(empty, monkeypatch):
    here = empty / "here"
    write_tree(here / "tree", ["a", "b"], seed=1)
    monkeypatch.chdir(here)
    assert images.class_names("folder:tree") == ("a", "b")
    write_tree(empty / "tree", ["c", "d"], seed=2)
    assert images.class_names("folder:tree") == ("c", "d")
    assert images.class_names(f"folder:{here / 'tree'}") == ("a", "b")


@pytest.mark.parametrize(
    ("spec", "file"),
    [
        ("mnist", "MNIST/raw/train-images-idx3-ubyte"),
        ("fashion", "FashionMNIST/raw/train-images-idx3-ubyte"),
        ("cifar", "cifar-10-batches-py/data_batch_1"),
    ],
)
def test_a_missing_set_is_named_with_the_place_and_the_command_that_fetches_it(empty, spec, file):
    assert not images.is_here(spec)
    with pytest.raises(UsageError) as error:
        images.load(spec)
    assert f"is missing: there is no {empty / file}.\n" in str(error.value)
    assert f"`python -m synthbench.tasks.images {spec} --to {empty}`" in str(error.value)
    assert "--source-dir" in str(error.value)


@pytest.mark.parametrize("name", ["train-labels-idx1-ubyte", "t10k-images-idx3-ubyte"])
def test_one_missing_file_is_named(empty, name):
    write_idx(empty / "MNIST/raw", seed=1)
    (empty / "MNIST/raw" / name).unlink()
    with pytest.raises(UsageError, match=f"MNIST is missing: there is no .*{name}"):
        images.load("mnist")


def test_missing_class_folders_are_named_with_the_places(empty, monkeypatch):
    monkeypatch.chdir("/")
    assert not images.is_here("folder:birds")
    with pytest.raises(UsageError, match=f"'birds' are missing: there is no {empty}/birds and no"):
        images.load("folder:birds")
    with pytest.raises(UsageError, match="'/no/birds' are missing: there is no /no/birds"):
        images.class_names("folder:/no/birds")


def test_an_unknown_source_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match=r"Unknown source 'fashon'.*Did you mean 'fashion'"):
        images.load("fashon")


# Broken files.


def broken(empty, name, change):
    """Write MNIST with one file changed; the error on reading all of it."""
    write_idx(empty / "MNIST/raw", seed=1)
    file = empty / "MNIST/raw" / name
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(DatasetError) as error:
        _ = images.load("mnist").pixels
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
        ("t10k-images-idx3-ubyte", lambda data: data[:9], "no idx file of bytes with 3 dimensions"),
        ("train-labels-idx1-ubyte", lambda data: b"", "no idx file of bytes with 1 dimensions"),
        ("train-labels-idx1-ubyte", lambda data: b"<htm" + data[4:], "no idx file of bytes with 1"),
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
            images.load("mnist")
    assert images.is_here("mnist")


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
        images.load("cifar")


class Malicious:
    def __reduce__(self):
        return os.putenv, ("SYNTHBENCH_WAS_HERE", "1")


def test_a_batch_cannot_run_code(tmp_path):
    file = tmp_path / "batch"
    file.write_bytes(pickle.dumps({"data": Malicious(), "labels": []}))
    with pytest.raises(ValueError, match="putenv has no place in a file of images"):
        read_cifar(file)


def test_a_broken_picture_is_named(empty):
    write_tree(empty / "tree", ["a", "b"], seed=1)
    file = empty / "tree/b/003.png"
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(DatasetError, match=re.escape(f"{file} is broken or no image")):
        _ = images.load("folder:tree").pixels


def test_class_folders_without_pictures_or_classes_are_named(empty):
    (empty / "none").mkdir()
    with pytest.raises(DatasetError, match=f"there is no folder in {empty / 'none'}"):
        images.load("folder:none")
    (empty / "tree/a").mkdir(parents=True)
    with pytest.raises(DatasetError, match=f"{empty / 'tree/a'} has no picture files"):
        images.load("folder:tree")
    write_tree(empty / "two/train", ["a", "b"], seed=1)
    write_tree(empty / "two/test", ["a"], seed=2)
    with pytest.raises(DatasetError, match="train has a, b, but test has a"):
        images.load("folder:two")


# Scaling.


def scaled_by_definition(image):
    """The weighted mean of the docstring, in fractions, for one `(height, width)` image."""

    def weights(length):
        rows = []
        for place in range(28):
            centre = Fraction(2 * place + 1, 2) * Fraction(length, 28)
            reach = max(Fraction(length, 28), Fraction(1))
            row = [max(0, 1 - abs(Fraction(2 * x + 1, 2) - centre) / reach) for x in range(length)]
            rows.append([weight / sum(row) for weight in row])
        return rows

    down, across = weights(len(image)), weights(len(image[0]))
    lines = [
        [
            sum(w * int(line[x]) for w, line in zip(row, image, strict=True) if w)
            for x in range(len(image[0]))
        ]
        for row in down
    ]
    return [
        [
            int(sum(w * v for w, v in zip(row, line, strict=True) if w) + Fraction(1, 2))
            for row in across
        ]
        for line in lines
    ]


@settings(max_examples=6, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 100))
def test_scaling_is_the_weighted_mean_exactly(height, width, seed):
    image = pictures(seed, 1, height, width, 1)
    assert scale(image)[0, :, :, 0].tolist() == scaled_by_definition(image[0, :, :, 0].tolist())


@pytest.mark.parametrize("size", [(32, 32), (100, 64), (28, 19), (9, 30)])
def test_scaling_differs_from_pillow_s_bilinear_by_no_more_than_a_rounding(size):
    many = pictures(5, 300, *size, 3)
    ours = scale(many).astype(int)
    for image, own in zip(many[::50], ours[::50], strict=True):
        theirs = Image.fromarray(image).resize((28, 28), Image.Resampling.BILINEAR)
        assert np.abs(own - np.asarray(theirs)).max() <= 1


def test_scaling_keeps_flat_images_and_images_of_the_right_size():
    many = pictures(1, 600, 28, 28, 3)
    assert np.array_equal(scale(many), many)
    for length in (1, 32, 3000):
        assert (scale(np.full((1, length, 31, 3), 255, np.uint8)) == 255).all()


# Fetching.


@pytest.fixture
def transport(monkeypatch):
    """A stand-in for the network: what it serves, by the end of the address."""
    datasets = pytest.importorskip("torchvision.datasets", reason="torchvision is not installed")
    served = {}

    def urlopen(request, *args, **kwargs):
        address = request if isinstance(request, str) else request.full_url
        for end, data in served.items():
            if address.endswith(end):
                response = io.BytesIO(data)
                response.url, response.length = address, len(data)
                response.headers = {"Content-Length": str(len(data))}
                return response
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr("urllib.request.urlopen", urlopen)

    def serve(kind, folder):
        """Serve a written set as its publisher does, and let torchvision expect its checksums."""
        if kind == "cifar":
            packed = io.BytesIO()
            with tarfile.open(fileobj=packed, mode="w:gz") as archive:
                archive.add(folder, arcname="cifar-10-batches-py")
            served["cifar-10-python.tar.gz"] = packed.getvalue()
            checksums = {
                file.name: hashlib.md5(file.read_bytes()).hexdigest() for file in folder.iterdir()
            }
            cifar = datasets.CIFAR10
            monkeypatch.setattr(cifar, "tgz_md5", hashlib.md5(packed.getvalue()).hexdigest())
            for name in ("train_list", "test_list"):
                listed = [[file, checksums[file]] for file, _ in getattr(cifar, name)]
                monkeypatch.setattr(cifar, name, listed)
            meta = {**cifar.meta, "md5": checksums["batches.meta"]}
            monkeypatch.setattr(cifar, "meta", meta)
            return
        resources = []
        for name in (
            "train-images-idx3",
            "train-labels-idx1",
            "t10k-images-idx3",
            "t10k-labels-idx1",
        ):
            data = gzip.compress((folder / f"{name}-ubyte").read_bytes())
            served[f"{name}-ubyte.gz"] = data
            resources.append((f"{name}-ubyte.gz", hashlib.md5(data).hexdigest()))
        title = {"mnist": "MNIST", "fashion": "FashionMNIST"}[kind]
        monkeypatch.setattr(getattr(datasets, title), "resources", resources)

    return serve


@pytest.mark.parametrize(
    ("kind", "folder"), [("mnist", "MNIST/raw"), ("fashion", "FashionMNIST/raw")]
)
def test_fetched_sets_are_what_was_served(sources, tmp_path, monkeypatch, transport, kind, folder):
    expected = images.load(kind).describe()
    transport(kind, sources / folder)
    root = tmp_path / "deep" / "cache"
    assert images.fetch(kind, root) == root / folder
    monkeypatch.setenv("SYNTHBENCH_DATA", str(root))
    assert images.load(kind).describe() == expected
    assert [path.name for path in root.iterdir()] == [folder.split("/")[0]]


def test_cifar_is_fetched_too(sources, tmp_path, monkeypatch, transport):
    served = tmp_path / "served"
    shutil.copytree(sources / "cifar-10-batches-py", served)
    (served / "batches.meta").write_bytes(pickle.dumps({"label_names": list("0123456789")}))
    transport("cifar", served)
    expected = images.load("cifar").describe()
    root = tmp_path / "cache"
    images.fetch("cifar", root)
    monkeypatch.setenv("SYNTHBENCH_DATA", str(root))
    assert images.load("cifar").describe() == expected
    assert [path.name for path in root.iterdir()] == ["cifar-10-batches-py"]


def test_a_failed_download_leaves_nothing_behind(tmp_path, transport):
    with pytest.raises(SynthbenchError, match=f"MNIST could not be fetched to {tmp_path}: "):
        images.fetch("mnist", tmp_path)
    assert not any(tmp_path.iterdir())


def test_a_download_with_another_checksum_leaves_nothing_behind(sources, tmp_path, transport):
    transport("mnist", sources / "MNIST/raw")
    transport("fashion", sources / "FashionMNIST/raw")  # under the same names: MNIST's are wrong
    with pytest.raises(SynthbenchError, match="MNIST could not be fetched"):
        images.fetch("mnist", tmp_path)
    assert not any(tmp_path.iterdir())


def test_what_is_there_is_not_fetched_again(sources):
    assert images.fetch("mnist", sources) == sources / "MNIST/raw"
    with pytest.raises(UsageError, match=r"Unknown source 'minst'.*Did you mean 'mnist'"):
        images.fetch("minst", sources)


def test_the_command_fetches_and_says_where(sources, tmp_path, transport, capsys):
    transport("mnist", sources / "MNIST/raw")
    assert images.main(["mnist", "--to", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'MNIST/raw'}\n"
    assert images.main(["fashion", "--to", str(tmp_path)]) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("Error: FashionMNIST could not")
    with pytest.raises(SystemExit) as stopped:
        images.main(["imagenet"])
    assert stopped.value.code == 2


# Real files.


@needs_real
@pytest.mark.parametrize(("kind", "title"), [("mnist", "MNIST"), ("fashion", "FashionMNIST")])
def test_real_sets_are_read_as_torchvision_reads_them(monkeypatch, kind, title):
    datasets = pytest.importorskip("torchvision.datasets", reason="torchvision is not installed")
    monkeypatch.setenv("SYNTHBENCH_DATA", REAL)
    source = images.load(kind)
    parts = [getattr(datasets, title)(REAL, train=train) for train in (True, False)]
    assert np.array_equal(source.pixels, np.concatenate([part.data.numpy() for part in parts]))
    assert np.array_equal(source.labels, np.concatenate([part.targets.numpy() for part in parts]))
    assert list(source.classes[1:]) == [name.split(" - ")[0] for name in parts[0].classes[1:]]
    sizes = [source.pool(split, range(10)).size.sum() for split in SPLITS]
    assert sum(sizes) == 70_000 and sizes[2] == 10_000 and 5_995 <= sizes[1] <= 6_010


@needs_real
def test_the_real_sets_have_known_checksums(monkeypatch):
    monkeypatch.setenv("SYNTHBENCH_DATA", REAL)
    assert [images.load(kind).describe()["sha256"][:16] for kind in ("mnist", "fashion")] == [
        "e0e40263401c36a8",
        "b49933a8748a955f",
    ]
