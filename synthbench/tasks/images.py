"""Source images: where they lie, and which split may use which of them.

A source is `mnist`, `fashion` or `cifar`, in the files as torchvision lays them out, or
`folder:PATH`, a tree with one folder of picture files for each class.

Sources lie in the directory that the environment variable `SYNTHBENCH_DATA` names (the option
`--source-dir` sets it), else in the user's cache. Nothing is downloaded unless asked for:

    python -m synthbench.tasks.images mnist fashion cifar

The images of a source are numbered: first the training set's, then the test set's, each in the
order of its files. No image serves two splits, whatever the seed: of each class's training images
every tenth, from the first on, is for validation. A class-folder tree has `train` and `test` at
its top, or is one tree; then of each class's images every tenth, from the first on, is for
validation, and every tenth, from the second on, for test.
"""

from __future__ import annotations

import argparse
import hashlib
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import DatasetError, SynthbenchError, UsageError, unknown_name
from synthbench.sources import SOURCE_VARIABLE, expanded, source_dir
from synthbench.tasks.image_files import SUFFIXES, read_cifar, read_idx, read_pictures, scale

T = TypeVar("T")

#: One image in so many of a class's training images is for validation.
HELD_OUT = 10

#: The class names of torchvision's sets, in the order of their labels.
CLASSES = {
    "mnist": tuple("0123456789"),
    "fashion": (
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
        "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
    ),
    "cifar": (
        "airplane", "automobile", "bird", "cat", "deer",
        "dog", "frog", "horse", "ship", "truck",
    ),
}  # fmt: skip


class _Set(NamedTuple):
    """One of torchvision's sets: its class there, and the folder that it keeps its files in."""

    title: str
    folder: str


_SETS = {
    "mnist": _Set("MNIST", "MNIST/raw"),
    "fashion": _Set("FashionMNIST", "FashionMNIST/raw"),
    "cifar": _Set("CIFAR10", "cifar-10-batches-py"),
}


class Pool(NamedTuple):
    """The images that one split may use, class by class.

    Attributes:
        numbers: image numbers, int32, those of the first class first.
        start: where each class begins in `numbers`, int64 `(classes,)`.
        size: how many images each class has, int64 `(classes,)`.
    """

    numbers: NDArray[np.int32]
    start: NDArray[np.int64]
    size: NDArray[np.int64]

    def pick(
        self, classes: NDArray[np.integer[Any]], uniform: NDArray[np.float64]
    ) -> NDArray[np.int32]:
        """An image of each of the classes; all of a class's are equally likely.

        Args:
            classes: class numbers, each of a class that has images.
            uniform: uniform numbers in `[0, 1)`, of the same shape.
        """
        rank = (uniform * self.size[classes]).astype(np.int64)
        picked: NDArray[np.int32] = self.numbers[self.start[classes] + rank]
        return picked


@dataclass(frozen=True, eq=False)
class Source:
    """The images of one source, in order; pixels are read when they are first needed.

    Attributes:
        title: what to call it in an error.
        classes: names of the classes, in the order of their labels.
        labels: the class of each image, int16 `(images,)`.
        training: how many images, the first ones, are the training set's; None for one tree.
        read: reads the pixels.
    """

    title: str
    classes: tuple[str, ...]
    labels: NDArray[np.int16]
    training: int | None
    read: Callable[[], NDArray[np.uint8]]

    @cached_property
    def pixels(self) -> NDArray[np.uint8]:
        """All images, uint8 `(images, 28, 28)` if grey, else `(images, 28, 28, 3)`.

        Raises:
            DatasetError: a file is broken, or there are more or fewer images than labels.
        """
        pixels = self.read()
        if len(pixels) != len(self.labels):
            raise DatasetError(
                f"{self.title}: {len(pixels):,} images, but {len(self.labels):,} labels."
            )
        return pixels

    def describe(self) -> dict[str, Any]:
        """What the manifest says of it; the checksum is over labels and decoded, scaled pixels."""
        checksum = hashlib.sha256(np.array(self.pixels.shape, "<i8").tobytes())
        checksum.update(self.labels.astype("<i2").data)
        checksum.update(np.ascontiguousarray(self.pixels).data)
        return {
            "images": len(self.labels),
            "training_images": self.training,
            "classes": list(self.classes),
            "sha256": checksum.hexdigest(),
        }

    def pool(self, split: str, classes: Iterable[int]) -> Pool:
        """The images that a split may use.

        Args:
            split: `train`, `validation` or `test`.
            classes: the classes that must have images.

        Raises:
            DatasetError: one of them has none.
        """
        pool = self._pools[split]
        for number in classes:
            if number >= len(self.classes):
                raise DatasetError(
                    f"{self.title}: class number {number} is needed, counted from 0, but there "
                    f"are only {', '.join(self.classes)}."
                )
            if not pool.size[number]:
                raise DatasetError(
                    f"{self.title}: class {self.classes[number]} has no image for {split}; "
                    f"every {HELD_OUT}th of its training images is for validation."
                )
        return pool

    @cached_property
    def _pools(self) -> dict[str, Pool]:
        classes = len(self.classes)
        training = len(self.labels) if self.training is None else self.training
        test = np.arange(len(self.labels)) >= training
        # The place of each image among those of its class and set.
        group = self.labels + classes * test.astype(np.int64)
        order = np.argsort(group, kind="stable").astype(np.int32)
        count = np.bincount(group, minlength=2 * classes)
        place = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
        tested = test[order] if self.training is not None else place % HELD_OUT == 1
        validated = ~tested & (place % HELD_OUT == 0)
        return {
            "train": self._pool(order[~tested & ~validated]),
            "validation": self._pool(order[validated]),
            "test": self._pool(order[tested]),
        }

    def _pool(self, numbers: NDArray[np.int32]) -> Pool:
        size = np.bincount(self.labels[numbers], minlength=len(self.classes))
        return Pool(numbers, np.cumsum(size) - size, size)


# Where sources lie.


def load(spec: str) -> Source:
    """A source by its name; read once in a process.

    Args:
        spec: `mnist`, `fashion`, `cifar` or `folder:PATH`. A relative path is looked for in the
            directory of the sources, then in the working directory.

    Raises:
        UsageError: it is not there.
        DatasetError: one of its files is broken.
    """
    kind, _, path = spec.partition(":")
    if kind == "folder":
        return _load_folder(_find_folder(path))
    if kind not in _SETS:
        raise unknown_name("source", spec, [*_SETS, "folder:PATH"])
    return _load_cifar(source_dir()) if kind == "cifar" else _load_idx(kind, source_dir())


def is_here(spec: str) -> bool:
    """Whether a source's files lie where `load` looks, broken or not."""
    try:
        load(spec)
    except UsageError:
        return False
    except DatasetError:
        return True
    return True


def class_names(spec: str) -> tuple[str, ...]:
    """The names of a source's classes; torchvision's sets need not be there.

    Raises:
        UsageError: a class-folder tree that is not there.
    """
    kind, _, path = spec.partition(":")
    return _folder_classes(_find_folder(path)) if kind == "folder" else CLASSES[kind]


# torchvision's sets.


@lru_cache(maxsize=8)
def _load_idx(kind: str, root: Path) -> Source:
    parts = ("train", "t10k")
    images = [_find_file(kind, root, f"{part}-images-idx3-ubyte") for part in parts]

    def read(file: Path, dimensions: int) -> NDArray[np.uint8]:
        return _checked(kind, root, file, lambda found: read_idx(found, dimensions))

    training, test = (
        read(_find_file(kind, root, f"{part}-labels-idx1-ubyte"), 1) for part in parts
    )
    labels = np.concatenate([training, test]).astype(np.int16)
    title, classes = f"{_SETS[kind].title} in {root}", CLASSES[kind]
    if labels.max(initial=0) >= len(classes):
        raise DatasetError(f"{title}: there is a label {labels.max()}; allowed are 0 to 9.")
    return Source(
        title=title,
        classes=classes,
        labels=labels,
        training=len(training),
        read=lambda: np.concatenate([read(file, 3) for file in images]),
    )


@lru_cache(maxsize=2)
def _load_cifar(root: Path) -> Source:
    names = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")
    files = [_find_file("cifar", root, name) for name in names]

    def read(file: Path) -> tuple[NDArray[np.uint8], NDArray[np.int16]]:
        return _checked("cifar", root, file, read_cifar)

    # Pixels lie in the same files as labels; they are read again when they are needed.
    labels = [read(file)[1] for file in files]
    return Source(
        title=f"{_SETS['cifar'].title} in {root}",
        classes=CLASSES["cifar"],
        labels=np.concatenate(labels),
        training=sum(map(len, labels[:-1])),
        read=lambda: np.concatenate([scale(read(file)[0]) for file in files]),
    )


def _find_file(kind: str, root: Path, name: str) -> Path:
    file = root / _SETS[kind].folder / name
    for candidate in (file, file.with_name(f"{name}.gz")):
        if candidate.is_file():
            return candidate
    raise UsageError(
        f"{_SETS[kind].title} is missing: there is no {file}.\n"
        f"Fetch it with `{_fetch_command(kind, root)}`, or name the directory that has it with "
        f"--source-dir or {SOURCE_VARIABLE}."
    )


def _checked(kind: str, root: Path, file: Path, read: Callable[[Path], T]) -> T:
    try:
        return read(file)
    except (OSError, ValueError) as error:
        raise DatasetError(
            f"{file} of {_SETS[kind].title} is broken: {error}.\n"
            f"Remove {root / _SETS[kind].folder} and fetch it again: {_fetch_command(kind, root)}"
        ) from None


def _fetch_command(kind: str, root: Path) -> str:
    return f"python -m synthbench.tasks.images {kind} --to {shlex.quote(str(root))}"


# Class folders.


def _find_folder(path: str) -> Path:
    given = expanded(path)
    places = [given] if given.is_absolute() else [source_dir() / given, given.absolute()]
    for place in places:
        if place.is_dir():
            return place
    raise UsageError(
        f"Class folders {path!r} are missing: there is no {' and no '.join(map(str, places))}.\n"
        f"Name the directory that they lie in with --source-dir or {SOURCE_VARIABLE}."
    )


def _folder_parts(root: Path) -> tuple[Path, ...]:
    """`train` and `test`, or the tree itself."""
    parts = (root / "train", root / "test")
    return parts if all(part.is_dir() for part in parts) else (root,)


@lru_cache(maxsize=8)
def _folder_classes(root: Path) -> tuple[str, ...]:
    parts = _folder_parts(root)
    names = [sorted(entry.name for entry in part.iterdir() if entry.is_dir()) for part in parts]
    if not names[0]:
        raise DatasetError(f"Class folders {root}: there is no folder in {parts[0]}.")
    if names[0] != names[-1]:
        raise DatasetError(
            f"Class folders {root}: train has {', '.join(names[0])}, "
            f"but test has {', '.join(names[-1]) or 'none'}."
        )
    return tuple(names[0])


@lru_cache(maxsize=8)
def _load_folder(root: Path) -> Source:
    classes, parts = _folder_classes(root), _folder_parts(root)
    files: list[Path] = []
    labels: list[int] = []
    training = 0
    for part in parts:
        training = len(files)
        for label, name in enumerate(classes):
            entries = sorted((part / name).iterdir())
            found = [entry for entry in entries if entry.suffix.lower() in SUFFIXES]
            if not found:
                raise DatasetError(f"Class folder {part / name} has no picture files.")
            files += found
            labels += [label] * len(found)
    return Source(
        title=f"Class folders {root}",
        classes=classes,
        labels=np.array(labels, np.int16),
        training=training if len(parts) == 2 else None,
        read=lambda: read_pictures(files),
    )


# Fetching.


def fetch(kind: str, root: Path) -> Path:
    """Download a source with torchvision; it appears as a whole or not at all.

    Args:
        kind: `mnist`, `fashion` or `cifar`.
        root: the directory of the sources; made if it is not there.

    Returns:
        The folder with the files. If it is there already, nothing is done.

    Raises:
        UsageError: an unknown source.
        SynthbenchError: torchvision is not installed, or the download failed.
    """
    if kind not in _SETS:
        raise unknown_name("source", kind, _SETS)
    title, folder = _SETS[kind]
    if (root / folder).exists():
        return root / folder
    try:
        from torchvision import datasets
    except ImportError:
        raise SynthbenchError(
            "Fetching images needs torchvision: pip install 'synthbench[vision]'."
        ) from None
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="fetching-", dir=root) as scratch:
            getattr(datasets, title)(scratch, download=True)
            (root / folder).parent.mkdir(exist_ok=True)
            (Path(scratch) / folder).rename(root / folder)
    except (OSError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise SynthbenchError(f"{title} could not be fetched to {root}: {reason}") from None
    return root / folder


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch sources: `python -m synthbench.tasks.images mnist fashion cifar [--to DIR]`."""
    parser = argparse.ArgumentParser(
        prog="python -m synthbench.tasks.images",
        description="Download the images that composites are made of, with torchvision.",
    )
    parser.add_argument("sources", nargs="+", choices=list(_SETS), metavar="SOURCE")
    parser.add_argument("--to", type=Path, default=source_dir(), help="default: %(default)s")
    chosen = parser.parse_args(arguments)
    try:
        for kind in chosen.sources:
            print(fetch(kind, chosen.to))
    except SynthbenchError as error:
        print(f"Error: {error}", file=sys.stderr)
        return error.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main())
