"""Readers of image files: idx files, CIFAR-10's batches, and picture files, scaled to 28x28 pixels.

Readers raise OSError or ValueError with the fault. The caller adds the name of the file.
"""

from __future__ import annotations

import codecs
import functools
import gzip
import pickle
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.checks import needs
from synthbench.errors import DatasetError

#: Height and width of every source image, in pixels.
SIZE = 28
#: Suffixes of the files that count as images in a class folder.
SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".ppm", ".tif", ".tiff", ".webp"}
#: Images that are scaled at a time: few enough to stay in the processor's cache.
_CHUNK = 256


def read_idx(file: Path, dimensions: int) -> NDArray[np.uint8]:
    """An idx file of bytes, compressed if its name ends in .gz.

    Args:
        file: the file.
        dimensions: 3 for images of 28x28 pixels, 1 for labels.

    Returns:
        uint8 `(images, 28, 28)` or `(labels,)`.

    Raises:
        OSError, ValueError: it cannot be read, or is not what its header says.
    """
    data = file.read_bytes()
    if file.suffix == ".gz":
        try:
            data = gzip.decompress(data)
        except (EOFError, zlib.error) as error:
            raise ValueError(str(error)) from None
    start = 4 + 4 * dimensions
    if data[:4] != bytes([0, 0, 8, dimensions]) or len(data) < start:
        raise ValueError(f"it is not an idx file of bytes with {dimensions} dimensions")
    shape = tuple(int(length) for length in np.frombuffer(data[4:start], ">u4"))
    if shape[1:] not in ((), (SIZE, SIZE)):
        raise ValueError(f"its images have {shape[1]}x{shape[2]} pixels, not {SIZE}x{SIZE}")
    expected = start + functools.reduce(int.__mul__, shape)
    if len(data) != expected:
        raise ValueError(f"it has {len(data):,} bytes where its header says {expected:,}")
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)


def read_cifar(file: Path) -> tuple[NDArray[np.uint8], NDArray[np.int16]]:
    """One of CIFAR-10's pickled batches.

    Returns:
        Images uint8 `(images, 32, 32, 3)` and labels int16 `(images,)`, 0 to 9.

    Raises:
        OSError, ValueError: it cannot be read, or is not a batch of CIFAR.
    """
    with file.open("rb") as opened:
        try:
            batch = _ArrayUnpickler(opened, encoding="latin1").load()
            pixels, labels = np.asarray(batch["data"]), np.array(batch["labels"], np.int16)
        except Exception as error:  # unpickling broken bytes may raise anything
            raise ValueError(f"it cannot be unpickled: {error}") from None
    if pixels.dtype != np.uint8 or pixels.shape != (len(labels), 3 * 32 * 32):
        raise ValueError(f"it has {pixels.dtype} {pixels.shape} for {len(labels):,} labels")
    if not np.isin(labels, range(10)).all():
        raise ValueError("it has labels other than 0 to 9")
    return np.moveaxis(pixels.reshape(-1, 3, 32, 32), 1, 3), labels


def _dtype(name: str, align: int, copy: int) -> np.dtype[Any]:
    # Python 2 pickled the flags as integers, and newer versions of NumPy warn about those.
    return np.dtype(name, align=bool(align), copy=bool(copy))


class _ArrayUnpickler(pickle.Unpickler):
    """Reads arrays, lists, dicts and text, and refuses everything else."""

    def find_class(self, module: str, name: str) -> Any:
        allowed = {
            "numpy.ndarray": np.ndarray,
            "numpy.dtype": _dtype,
            "numpy.core.multiarray._reconstruct": np.empty(0).__reduce__()[0],
            "numpy._core.multiarray._reconstruct": np.empty(0).__reduce__()[0],
            "_codecs.encode": codecs.encode,
        }
        if f"{module}.{name}" not in allowed:
            raise pickle.UnpicklingError(f"{module}.{name} does not belong in a file of images")
        return allowed[f"{module}.{name}"]


def read_pictures(files: Sequence[Path]) -> NDArray[np.uint8]:
    """Files of any format that Pillow reads, in colour, scaled to 28x28 pixels.

    Returns:
        uint8 `(files, 28, 28, 3)`.

    Raises:
        DatasetError: a file is broken or not an image.
        SynthbenchError: Pillow is not installed.
    """
    with needs("Reading class folders", "Pillow", "vision"):
        from PIL import Image
    by_shape: dict[tuple[int, ...], list[tuple[int, NDArray[np.uint8]]]] = {}
    for number, file in enumerate(files):
        try:
            with Image.open(file) as image:
                pixels = np.array(image.convert("RGB"))
        except (OSError, SyntaxError, ValueError) as error:
            raise DatasetError(f"{file} is broken or not an image: {error}") from None
        by_shape.setdefault(pixels.shape, []).append((number, pixels))
    scaled = np.empty((len(files), SIZE, SIZE, 3), np.uint8)
    for same in by_shape.values():
        scaled[[number for number, _ in same]] = scale(np.stack([pixels for _, pixels in same]))
    return scaled


def scale(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Scale images to 28x28 pixels, bilinear, in integer arithmetic: the same on every machine.

    Every pixel is the weighted mean, rounded to the nearest integer, of the pixels around its
    place. Weights fall off linearly to 0 at the distance of one pixel of the coarser grid. This is
    what Pillow and torchvision call bilinear, but without rounding in between. An image that is not
    square is stretched.

    Args:
        images: uint8 `(images, height, width, channels)`.

    Returns:
        uint8 `(images, 28, 28, channels)`.
    """
    count, height, width, channels = images.shape
    (rows, row_weights), (columns, column_weights) = _taps(height), _taps(width)
    total = (row_weights.sum(axis=0)[:, None] * column_weights.sum(axis=0))[:, :, None]
    exact = np.int32 if 4 * 255 * int(total.max()) < 1 << 31 else np.int64
    total = total.astype(exact)
    scaled = np.empty((count, SIZE, SIZE, channels), np.uint8)
    for first in range(0, count, _CHUNK):
        part = images[first : first + _CHUNK].astype(exact)
        lines = _weigh(part, rows, row_weights, axis=1)
        sums = _weigh(lines, columns, column_weights, axis=2)
        scaled[first : first + _CHUNK] = (2 * sums + total) // (2 * total)
    return scaled


def _taps(length: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pixels of a line that each of 28 is made of, and their weights: int64 `(taps, 28)`."""
    # In units of 1 / (2 * 28 * length) of the line, pixel centres lie at odd multiples.
    centres = (2 * np.arange(SIZE) + 1) * length
    indices = (2 * np.arange(length)[:, None] + 1) * SIZE
    weights = np.maximum(2 * max(length, SIZE) - np.abs(indices - centres), 0)
    most = int((weights > 0).sum(axis=0).max())
    order = np.argsort(weights == 0, axis=0, kind="stable")[:most]
    return order, np.take_along_axis(weights, order, axis=0)


def _weigh(
    images: NDArray[Any], indices: NDArray[np.int64], weights: NDArray[np.int64], axis: int
) -> NDArray[Any]:
    """Weighted sums along an axis of `(images, height, width, channels)`. Its length becomes 28."""
    shape = [1, 1, 1, 1]
    shape[axis] = SIZE
    terms = (
        np.take(images, index, axis) * weight.astype(images.dtype).reshape(shape)
        for index, weight in zip(indices, weights, strict=True)
    )
    return functools.reduce(np.add, terms)
