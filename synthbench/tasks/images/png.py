"""Small RGB images as PNG, whose bytes do not depend on the version of any compressor.

An image is one stored (uncompressed) deflate block, because Parquet's zstd compresses whole row
groups better if the images in them are not compressed. Measured on rows of the composites task,
56x56 pixels, one core: 8 microseconds and 2.8 kB a row in Parquet (9.5 kB before compression),
against 90 microseconds and 2.5 kB with zlib's fastest level, 160 and 2.3 with its default level,
and 260 and 2.8 with Pillow. Pillow reads the images of other encoders.

Source: PNG (W3C recommendation, third edition), sections 5 and 10; RFC 1950 and 1951.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.checks import needs
from synthbench.tasks.numeric import join_bytes, split_bytes

#: The largest number of bytes of a stored deflate block.
_LARGEST_BLOCK = 0xFFFF
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
#: Bytes 24 and 25 of a file.
_RGB_OF_8_BITS = bytes([8, 2])
#: The most pixels of an image that is decoded: a few bytes could claim billions.
_MOST_PIXELS = 1 << 20
#: Bytes of a file behind the image's lines: two checksums and the last chunk.
_AFTER_LINES = 4 + 4 + 12
#: Images that are decoded at a time: few enough to stay in the processor's cache.
_CHUNK = 128


def encode(pixels: NDArray[np.uint8]) -> pa.Array:
    """Encode images of one size.

    Args:
        pixels: uint8 `(images, height, width, 3)`.

    Returns:
        Arrow binary array `(images,)`, each value a PNG file.

    Raises:
        ValueError: an image has more than 65,535 bytes, counting one more for each line.
    """
    files = _encode(pixels)
    return join_bytes(files, np.full(len(files), files.shape[1]), pa.binary())


def _encode(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Images of one size as PNG files, uint8 `(images, bytes)`."""
    count, height, width, _ = pixels.shape
    template = _template(height, width)
    files = np.tile(template.view(np.uint8), (count, 1))
    parts = files.view(template.dtype)[:, 0]
    parts["lines"][:, :, 1:] = pixels.reshape(count, height, 3 * width)
    # Checksums are zlib's, one image at a time: a microsecond or two each, and NumPy lacks them.
    parts["adler"] = [zlib.adler32(lines) for lines in parts["lines"]]
    parts["crc"] = [zlib.crc32(data) for data in parts["data"]]
    return files


@lru_cache(maxsize=16)
def _template(height: int, width: int) -> NDArray[np.void]:
    """The file of a black image, an array `(1,)` whose fields are the differences between images.

    `lines` are the image's lines, each after a filter byte that is 0; `adler` is zlib's checksum
    over them. `data`, from the chunk's kind to `adler`, is the content of the checksum `crc`.
    """
    length = height * (1 + 3 * width)
    if not 0 < length <= _LARGEST_BLOCK:
        raise ValueError(
            f"an image of {height}x{width} pixels has {length} bytes, counting a filter byte for "
            f"each line. Allowed are 1 to {_LARGEST_BLOCK}"
        )
    # 8 bits, RGB, and the only compression, filtering and (no) interlacing.
    header = struct.pack(">II", width, height) + _RGB_OF_8_BITS + bytes(3)
    # zlib's header. A last block, stored, with its length twice.
    stored = b"\x78\x01\x01" + struct.pack("<HH", length, length ^ _LARGEST_BLOCK)
    before = _SIGNATURE + _chunk(b"IHDR", header)
    data = _chunk(b"IDAT", stored + bytes(length) + struct.pack(">I", zlib.adler32(bytes(length))))
    file = before + data + _chunk(b"IEND", b"")
    start, end = len(before) + 4, len(before) + len(data) - 4
    fields = {
        "lines": (("u1", (height, 1 + 3 * width)), end - 4 - length),
        "adler": (">u4", end - 4),
        "data": (("u1", end - start), start),
        "crc": (">u4", end),
    }
    kinds, offsets = zip(*fields.values(), strict=True)
    layout = np.dtype(
        {"names": [*fields], "formats": kinds, "offsets": offsets, "itemsize": len(file)}
    )
    return np.frombuffer(file, layout)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def decode(encoded: bytes) -> NDArray[np.uint8]:
    """Decode one image.

    Returns:
        uint8 `(height, width, 3)`.

    Raises:
        ValueError: the bytes are not a PNG image in RGB with 8 bits, or it is broken or has more
            than 2**20 pixels.
        SynthbenchError: another encoder wrote it, and Pillow is not installed.
    """
    pixels = _decode_ours(np.frombuffer(encoded, np.uint8).reshape(1, -1))
    return _decode_any(encoded) if pixels is None else pixels[0]


def decode_all(encoded: pa.Array, checked: bool = True) -> Iterator[NDArray[np.uint8]]:
    """Decode images in order. Neighbours of one size that `encode` wrote are decoded together.

    Args:
        encoded: Arrow binary array `(images,)`.
        checked: whether the checksums of images that `encode` wrote are checked.

    Yields:
        uint8 `(images, height, width, 3)`, a few images at a time.

    Raises:
        ValueError: an image is missing, or cannot be decoded, see `decode`.
        SynthbenchError: another encoder wrote it, and Pillow is not installed.
    """
    if encoded.null_count:
        raise ValueError("an image is missing")
    for first in range(0, len(encoded), _CHUNK):
        chunk = encoded[first : first + _CHUNK]
        data, sizes = split_bytes(chunk)
        one_size = sizes.min() == sizes.max() > 0
        pixels = _decode_ours(data.reshape(len(chunk), -1), checked) if one_size else None
        if pixels is not None:
            yield pixels
        else:
            yield from (decode(image.as_py())[None] for image in chunk)


def _decode_ours(files: NDArray[np.uint8], checked: bool = True) -> NDArray[np.uint8] | None:
    """The pixels of files, uint8 `(images, bytes)`; None if `encode` did not write all of them."""
    if files.shape[1] < 24:
        return None
    width, height = struct.unpack_from(">II", files[0].tobytes(), 16)
    if not 0 < height * (1 + 3 * width) <= _LARGEST_BLOCK:
        return None
    template = _template(height, width)
    if files.shape[1] != template.itemsize:
        return None
    lines = files.view(template.dtype)["lines"].reshape(-1, height, 1 + 3 * width)
    pixels = lines[:, :, 1:].reshape(-1, height, width, 3)
    if checked:
        return pixels if np.array_equal(_encode(pixels), files) else None
    # With any writer, the pixels are there if the block is stored and no line is filtered.
    start = files.shape[1] - lines[0].size - _AFTER_LINES
    stored = (files[:, :start] == template.view(np.uint8)[:start]).all()
    return pixels if stored and not lines[:, :, 0].any() else None


def _decode_any(encoded: bytes) -> NDArray[np.uint8]:
    with needs("Reading images of other encoders", "Pillow", "vision"):
        from PIL import Image

    def opened() -> Any:
        # By default, Pillow also tries formats for which it runs other programs.
        return Image.open(io.BytesIO(encoded), formats=("PNG",))

    try:
        if encoded[24:26] != _RGB_OF_8_BITS:
            raise ValueError("it is not in RGB with 8 bits")
        with opened() as image:
            if image.width * image.height > _MOST_PIXELS:
                raise ValueError(f"{image.width}x{image.height} pixels are too many")
            image.verify()  # loading alone would overlook a wrong checksum
        with opened() as image:
            return np.array(image)
    except Exception as error:  # broken bytes may raise anything
        raise ValueError(f"{len(encoded)} bytes are not an image: {error}") from None
