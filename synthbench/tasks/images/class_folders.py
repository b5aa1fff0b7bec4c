"""Class folders: trees with one folder of picture files for each class, a source of images."""

from __future__ import annotations

import shlex
from functools import lru_cache
from pathlib import Path

import numpy as np

from synthbench.errors import DatasetError, MissingSourceError
from synthbench.tasks.images.file_formats import SUFFIXES, read_pictures
from synthbench.tasks.images.pools import Source
from synthbench.tasks.images.source_dirs import (
    FOLDER,
    SOURCE_VARIABLE,
    expanded,
    named_source,
    source_dirs,
)
from synthbench.text.lines import is_one_line


def find_folder(path: str) -> Path:
    """The tree at `path`; a relative one is searched in the source directories, then from here.

    Raises:
        MissingSourceError: there is no such tree.
        UsageError: the path begins with the home directory of an unknown user.
    """
    if (named := named_source(FOLDER + path)) is not None:
        places = [named]
    else:
        given = expanded(path)
        roots = [] if given.is_absolute() else source_dirs()
        places = [*(root / given for root in roots), given.absolute()]
    for place in places:
        if place.is_dir():
            return place
    raise MissingSourceError(
        f"Class folders {path!r} are missing: there is no {' and no '.join(map(str, places))}.\n"
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
        DatasetError: it has no folders, different ones in `train` and `test`, or one whose name
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
                "without tabs, line breaks or other control characters; rename the folder."
            )
    return tuple(names[0])


@lru_cache(maxsize=8)
def load_folder(root: Path) -> Source:
    """The pictures of a tree: class by class, in the order of their names.

    Raises:
        DatasetError: as in `folder_classes`, or a class has no pictures.
    """
    classes, parts = folder_classes(root), _parts(root)
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
