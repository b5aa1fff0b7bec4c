"""The source images of composites in one file, as their directory in a compressed archive."""

import contextlib
import io
import tarfile
import tempfile
from pathlib import Path

import numpy as np

from synthbench.errors import DatasetError, UsageError
from synthbench.tasks.images import load
from synthbench.tasks.images.source_dirs import use_source_dir
from synthbench.tasks.registry import task as make_task

#: The most bytes of the file.
_MOST = 50_000_000


def pack(path):
    """Write the source images of composites into one file; returns its bytes.

    Raises:
        UsageError: a source is missing.
        DatasetError: the file would be too large to be carried.
    """
    task = make_task("composites")
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:xz", preset=9) as archive:
        for kind in task.parts.sources:
            source = load.load(kind, task.source_dirs)
            for part, rows in (
                ("train", slice(source.training)),
                ("t10k", slice(source.training, None)),
            ):
                place = f"{load.TITLES[kind]}/raw/{part}"
                _add(archive, f"{place}-images-idx3-ubyte", source.pixels[rows])
                _add(archive, f"{place}-labels-idx1-ubyte", source.labels[rows])
    size = content.tell()
    if size > _MOST:
        raise DatasetError(f"{path} would have {size:,} bytes; allowed are {_MOST:,}.")
    Path(path).write_bytes(content.getbuffer())
    return size


def _add(archive, name, array):
    """Add an idx file of bytes."""
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    data = header + array.astype(np.uint8).tobytes()
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


@contextlib.contextmanager
def unpacked(path):
    """Take source images from what `pack` made, for tasks that are made within a `with` block.

    Raises:
        UsageError: there is no such file.
        DatasetError: it is broken.
    """
    if not Path(path).is_file():
        raise UsageError(f"Images {str(path)!r}: there is no such file; `queue pack` makes one.")
    with tempfile.TemporaryDirectory() as place:
        try:
            with tarfile.open(path, "r:xz") as archive:
                archive.extractall(place, filter="data")
        except (tarfile.TarError, EOFError, OSError) as error:
            raise DatasetError(f"{path} is broken: {error}") from None
        with use_source_dir(place):
            yield
