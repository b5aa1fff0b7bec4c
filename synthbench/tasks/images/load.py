"""Source images: where they are, and how to fetch them.

A source is `mnist`, `fashion` or `cifar`, in files laid out as torchvision does it, or
`folder:PATH`, a tree with one folder of picture files for each class.

Sources are searched for in the directories that the option `--source-dir` names, else in the one
that the environment variable `SYNTHBENCH_DATA` names, else in the user's cache. Nothing is
downloaded unless asked for:

    python -m synthbench.tasks.images mnist fashion cifar
"""

from __future__ import annotations

import argparse
import shlex
import tempfile
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from synthbench.checks import check_name, needs
from synthbench.errors import (
    DatasetError,
    MissingSourceError,
    SynthbenchError,
    UsageError,
    unknown_name,
)
from synthbench.tasks.images.file_formats import (
    SUFFIXES,
    read_cifar,
    read_idx,
    read_pictures,
    scale,
)
from synthbench.tasks.images.pools import Source
from synthbench.tasks.images.source_dirs import (
    DEFAULT_DIRS,
    FOLDER,
    SOURCE_VARIABLE,
    SourceDirs,
    expanded,
)
from synthbench.text.lines import is_one_line
from synthbench.text.progress import note

T = TypeVar("T")

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
#: torchvision's class for each set, and the folder in which it keeps the files.
TITLES = {"mnist": "MNIST", "fashion": "FashionMNIST", "cifar": "CIFAR10"}
_FOLDERS = {"mnist": "MNIST/raw", "fashion": "FashionMNIST/raw", "cifar": "cifar-10-batches-py"}


def load(spec: str, where: SourceDirs = DEFAULT_DIRS) -> Source:
    """A source by its name. Each is read once in a process.

    Args:
        spec: `mnist`, `fashion`, `cifar` or `folder:PATH`. A relative path is searched for in the
            source directories, then in the working directory.
        where: the source directories.

    Raises:
        UsageError: the source is missing or unknown.
        DatasetError: one of its files is broken.
    """
    kind, _, path = spec.partition(":")
    if kind == "folder":
        return load_folder(find_folder(path, where))
    if kind not in TITLES:
        raise unknown_name("source", spec, [*TITLES, "folder:PATH"])
    own = where.own(kind)
    roots = tuple(where.roots() if own is None else [own])
    return _load_cifar(roots) if kind == "cifar" else _load_idx(kind, roots)


def is_here(spec: str, where: SourceDirs = DEFAULT_DIRS) -> bool:
    """True if `load` finds a source's files, even if they are broken."""
    try:
        load(spec, where)
    except UsageError:
        return False
    except DatasetError:
        return True
    return True


def class_names(spec: str, where: SourceDirs = DEFAULT_DIRS) -> tuple[str, ...]:
    """The names of a source's classes. Torchvision's sets need not exist here.

    Raises:
        UsageError: a class-folder tree does not exist.
    """
    kind, _, path = spec.partition(":")
    return folder_classes(find_folder(path, where)) if kind == "folder" else CLASSES[kind]


# torchvision's sets.


@lru_cache(maxsize=8)
def _load_idx(kind: str, roots: tuple[Path, ...]) -> Source:
    parts, root = ("train", "t10k"), _root_of(kind, roots)
    images = [_find_file(kind, roots, f"{part}-images-idx3-ubyte") for part in parts]

    def read(file: Path, dimensions: int) -> NDArray[np.uint8]:
        return _checked(kind, root, file, lambda path: read_idx(path, dimensions))

    training, test = (
        read(_find_file(kind, roots, f"{part}-labels-idx1-ubyte"), 1) for part in parts
    )
    labels = np.concatenate([training, test]).astype(np.int16)
    title, classes = f"{TITLES[kind]} in {root}", CLASSES[kind]
    if labels.max(initial=0) >= len(classes):
        raise DatasetError(f"{title}: there is a label {labels.max()}. Allowed are 0 to 9.")
    return Source(
        title=title,
        classes=classes,
        labels=labels,
        training=len(training),
        read=lambda: np.concatenate([read(file, 3) for file in images]),
    )


@lru_cache(maxsize=2)
def _load_cifar(roots: tuple[Path, ...]) -> Source:
    root = _root_of("cifar", roots)
    names = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")
    files = [_find_file("cifar", roots, name) for name in names]

    def read(file: Path) -> tuple[NDArray[np.uint8], NDArray[np.int16]]:
        return _checked("cifar", root, file, read_cifar)

    # The files have labels and pixels. Pixels are read again when they are needed.
    labels = [read(file)[1] for file in files]
    return Source(
        title=f"{TITLES['cifar']} in {root}",
        classes=CLASSES["cifar"],
        labels=np.concatenate(labels),
        training=sum(map(len, labels[:-1])),
        read=lambda: np.concatenate([scale(read(file)[0]) for file in files]),
    )


def _root_of(kind: str, roots: tuple[Path, ...]) -> Path:
    """The first directory that has a set's folder, or else the first, which errors name."""
    return next((root for root in roots if (root / _FOLDERS[kind]).is_dir()), roots[0])


def _find_file(kind: str, roots: tuple[Path, ...], name: str) -> Path:
    root = _root_of(kind, roots)
    file = root / _FOLDERS[kind] / name
    for candidate in (file, file.with_name(f"{name}.gz")):
        if candidate.is_file():
            return candidate
    folders = [str(other / _FOLDERS[kind] / name) for other in roots]
    raise MissingSourceError(
        f"{TITLES[kind]} is missing: there is no {' and no '.join(folders)}.\n"
        f"Fetch it with `{_fetch_command(kind, root)}`, or name the directory that has it with "
        f"--source-dir (it may be repeated) or {SOURCE_VARIABLE}."
    )


def _checked(kind: str, root: Path, file: Path, read: Callable[[Path], T]) -> T:
    try:
        return read(file)
    except (OSError, ValueError) as error:
        raise DatasetError(
            f"{file} of {TITLES[kind]} is broken: {error}.\n"
            f"Remove {root / _FOLDERS[kind]} and fetch it again: {_fetch_command(kind, root)}"
        ) from None


def _fetch_command(kind: str, root: Path) -> str:
    return f"python -m synthbench.tasks.images {kind} --to {shlex.quote(str(root))}"


# Class folders.


def find_folder(path: str, where: SourceDirs = DEFAULT_DIRS) -> Path:
    """The tree at `path`. A relative path is searched in the source directories, then from here.

    Raises:
        MissingSourceError: the tree does not exist.
        UsageError: the path begins with the home directory of an unknown user.
    """
    if (own := where.own(FOLDER + path)) is not None:
        folders = [own]
    else:
        folder_path = expanded(path)
        roots = [] if folder_path.is_absolute() else where.roots()
        folders = [*(root / folder_path for root in roots), folder_path.absolute()]
    for folder in folders:
        if folder.is_dir():
            return folder
    raise MissingSourceError(
        f"Class folders {path!r} are missing: there is no {' and no '.join(map(str, folders))}.\n"
        f"Name a directory that has them with --source-dir (it may be repeated) or "
        f"{SOURCE_VARIABLE}, or the folders themselves with "
        f"--source-dir {shlex.quote(FOLDER + path)}=DIR."
    )


def _parts(root: Path) -> tuple[Path, ...]:
    """`train` and `test`, or the tree itself."""
    parts = (root / "train", root / "test")
    return parts if all(part.is_dir() for part in parts) else (root,)


@lru_cache(maxsize=8)
def folder_classes(root: Path) -> tuple[str, ...]:
    """The names of a tree's classes.

    Raises:
        DatasetError: it lacks folders, has others in `train` than in `test`, or one whose name
            is not a line of text.
    """
    parts = _parts(root)
    names = [sorted(entry.name for entry in part.iterdir() if entry.is_dir()) for part in parts]
    if not names[0]:
        raise DatasetError(f"Class folders {root}: there is no folder in {parts[0]}.")
    if names[0] != names[-1]:
        raise DatasetError(
            f"Class folders {root}: train has {', '.join(names[0])}, "
            f"but test has {', '.join(names[-1]) or 'none'}."
        )
    for name in names[0]:
        if not is_one_line(name):
            raise DatasetError(
                f"Class folder {name!r} in {parts[0]}: the name of a class must be a line of text, "
                "without tabs, line breaks or other control characters. Rename the folder."
            )
    return tuple(names[0])


@lru_cache(maxsize=8)
def load_folder(root: Path) -> Source:
    """The pictures of a tree: class by class, in the order of their names.

    Raises:
        DatasetError: as in `folder_classes`, or a class lacks pictures.
    """
    classes, parts = folder_classes(root), _parts(root)
    files: list[Path] = []
    labels: list[int] = []
    training = 0
    for part in parts:
        training = len(files)
        for label, name in enumerate(classes):
            entries = sorted((part / name).iterdir())
            pictures = [entry for entry in entries if entry.suffix.lower() in SUFFIXES]
            if not pictures:
                raise DatasetError(f"Class folder {part / name} has no picture files.")
            files += pictures
            labels += [label] * len(pictures)
    return Source(
        title=f"Class folders {root}",
        classes=classes,
        labels=np.array(labels, np.int16),
        training=training if len(parts) == 2 else None,
        read=lambda: read_pictures(files),
    )


# Fetching.


def fetch(kind: str, root: Path) -> Path:
    """Download a source with torchvision. The folder appears complete or not at all.

    Args:
        kind: `mnist`, `fashion` or `cifar`.
        root: the directory for sources. Created if it does not exist.

    Returns:
        The folder with the files. If it exists already, nothing is downloaded.

    Raises:
        UsageError: an unknown source.
        SynthbenchError: torchvision is not installed, or the download failed.
    """
    check_name("source", kind, TITLES)
    title, folder = TITLES[kind], _FOLDERS[kind]
    if (root / folder).exists():
        return root / folder
    with needs("Fetching images", "torchvision", "vision"):
        from torchvision import datasets
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
    parser.add_argument("sources", nargs="+", choices=list(TITLES), metavar="SOURCE")
    parser.add_argument(
        "--to", type=Path, default=DEFAULT_DIRS.roots()[0], help="default: %(default)s"
    )
    options = parser.parse_args(arguments)
    try:
        for kind in options.sources:
            print(fetch(kind, options.to))
    except SynthbenchError as error:
        note(f"Error: {error}")
        return error.exit_status
    return 0
