"""The four quadrants of a composite: as a column, as arrays, as bytes and as pixels.

The arrays are columns of a block with one entry per quadrant: `kind` uint8 `(rows, 4)`, an index
into `KINDS`; `class` int16; `color` int8, an index into `COLORS`; `source_index` int32, the number
of the image in its source; and `rgb` uint8 `(rows, 4, 3)`. For an empty quadrant `kind` and `rgb`
are 0 and the others -1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from synthbench.tasks.arrow import arrow_array
from synthbench.tasks.base import Block
from synthbench.tasks.composites.rules import COLORS
from synthbench.tasks.features import list_of, struct, value
from synthbench.tasks.images.file_formats import SIZE
from synthbench.tasks.images.pools import Source
from synthbench.tasks.numeric import list_array

#: The possible contents of a quadrant.
KINDS = ("empty", "mnist", "fashion", "cifar", "folder")
COLUMN = list_of(
    struct(
        {
            "kind": value("string"),
            "class": value("int16"),
            "color": value("string"),
            "rgb": list_of(value("uint8")),
            "source_index": value("int32"),
        }
    )
)
_NULLABLE = ("class", "color", "rgb", "source_index")
#: Rows that are drawn at a time: few enough to stay in the processor's cache.
_CHUNK = 128


def to_bytes(block: Block) -> NDArray[np.uint8]:
    """The quadrants as bytes, uint8 `(rows, 44)`, eleven each."""
    parts = [
        block["kind"][:, :, None],
        (block["class"] + 1).astype(">i2")[:, :, None].view(np.uint8),
        (block["color"] + 1).astype(np.uint8)[:, :, None],
        block["rgb"],
        (block["source_index"] + 1).astype(">i4")[:, :, None].view(np.uint8),
    ]
    return np.concatenate(parts, axis=2).reshape(len(block), 4 * 11)


def to_numpy(block: Block) -> NDArray[Any]:
    """A structured array `(rows, 4)` with the column's fields. Kinds and colours by name."""
    fields = {
        "kind": np.array(KINDS)[block["kind"]],
        "class": block["class"],
        "color": np.array([*COLORS, ""])[block["color"]],
        "rgb": block["rgb"],
        "source_index": block["source_index"],
    }
    dtype = [(name, field.dtype, field.shape[2:]) for name, field in fields.items()]
    quadrants = np.empty((len(block), 4), dtype)
    for name, field in fields.items():
        quadrants[name] = field
    return quadrants


def to_arrow(block: Block) -> pa.Array:
    """The column: for each row a list of four structs."""
    present = (block["kind"] > 0).reshape(-1)
    absent = ~present
    rgb = block["rgb"].reshape(-1, 3)[present].reshape(-1)
    colors = arrow_array(block["color"].reshape(-1), absent)
    fields = {
        "kind": pc.take(arrow_array(KINDS), arrow_array(block["kind"].reshape(-1))),
        "class": arrow_array(block["class"].reshape(-1), absent),
        "color": pc.take(arrow_array([*COLORS]), colors),
        "rgb": list_array(arrow_array(rgb), 3 * present, arrow_array(absent)),
        "source_index": arrow_array(block["source_index"].reshape(-1), absent),
    }
    structs = pa.StructArray.from_arrays(list(fields.values()), names=list(fields))
    return list_array(structs, np.full(len(block), 4))


def from_arrow(column: pa.Array) -> Block:
    """A block from the column.

    Raises:
        ValueError: a row without four quadrants, an unknown kind or colour, a value that is
            missing from a quadrant with an image, or given for an empty quadrant.
    """
    if (pc.list_value_length(column).fill_null(0).to_numpy() != 4).any():
        raise ValueError("a row does not have four quadrants")
    structs = column.flatten()
    names = [structs.type.field(index).name for index in range(structs.type.num_fields)]
    fields = dict(zip(names, structs.flatten(), strict=True))
    kind = _codes(fields["kind"].fill_null(""), KINDS, "kind of quadrant")
    present = kind > 0
    for name in _NULLABLE:
        if not np.array_equal(fields[name].is_valid().to_numpy(zero_copy_only=False), present):
            raise ValueError(f"{name} is missing from a quadrant, or given for an empty one")
    if (pc.list_value_length(fields["rgb"]).drop_null().to_numpy() != 3).any():
        raise ValueError("rgb does not have three channels")
    rgb = np.zeros((len(kind), 3), np.uint8)
    rgb[present] = fields["rgb"].flatten().to_numpy().reshape(-1, 3)
    numbers: dict[str, NDArray[Any]] = {
        "kind": kind.astype(np.uint8),
        "class": _filled(fields["class"]).astype(np.int16),
        "color": _codes(fields["color"], list(COLORS), "colour").astype(np.int8),
        "source_index": _filled(fields["source_index"]).astype(np.int32),
    }
    if any((numbers[name][present] < 0).any() for name in ("class", "source_index")):
        raise ValueError("class or source_index is below 0")
    columns = {name: column.reshape(-1, 4) for name, column in numbers.items()}
    return Block({**columns, "rgb": rgb.reshape(-1, 4, 3)})


def _codes(texts: pa.Array, names: Sequence[str], what: str) -> NDArray[Any]:
    """The index of each text in `names`, -1 for null."""
    codes = pc.index_in(texts, value_set=pa.array(names))
    unknown = pc.and_(texts.is_valid(), codes.is_null())
    if pc.any(unknown).as_py():
        raise ValueError(f"unknown {what} {texts[pc.index(unknown, True).as_py()].as_py()!r}")
    return _filled(codes)


def _filled(array: pa.Array) -> NDArray[Any]:
    filled: NDArray[Any] = array.fill_null(-1).to_numpy(zero_copy_only=False)
    return filled


def to_pixels(
    block: Block, sources: Sequence[Source], owner: NDArray[np.int8]
) -> NDArray[np.uint8]:
    """The images that the quadrants describe.

    Every channel is the source image's times the colour's, both as fractions of 255, rounded to
    the nearest integer. An empty quadrant is black.

    Args:
        block: the quadrants.
        sources: where their images come from.
        owner: for each quadrant an index into `sources`, -1 where it is empty, int8 `(rows, 4)`.

    Returns:
        uint8 `(rows, 56, 56, 3)`.
    """
    whole = np.empty((len(block), 2 * SIZE, 2 * SIZE, 3), np.uint8)
    for first in range(0, len(block), _CHUNK):
        rows = slice(first, first + _CHUNK)
        parts = _gather(sources, owner[rows], block["source_index"][rows])
        _tint(parts, block["rgb"][rows], whole[rows])
    return whole


def _gather(
    sources: Sequence[Source], owner: NDArray[np.int8], index: NDArray[np.int32]
) -> NDArray[np.uint8]:
    """The quadrants' source images, uint8 `(1 or 3, rows, 4, 28, 28)`: grey, or three channels."""
    channels = 3 if any(source.pixels.ndim == 4 for source in sources) else 1
    parts = np.zeros((channels, *owner.shape, SIZE, SIZE), np.uint8)
    for number, source in enumerate(sources):
        own = owner == number
        pixels = source.pixels[index[own]]
        parts[:, own] = pixels if pixels.ndim == 3 else np.moveaxis(pixels, 3, 0)
    return parts


def _tint(parts: NDArray[np.uint8], rgb: NDArray[np.uint8], whole: NDArray[np.uint8]) -> None:
    """Multiply quadrants by their colours, into the `whole` images, uint8 `(rows, 56, 56, 3)`."""
    rows = len(whole)
    # A line of the whole image is a line of the left and of the right quadrant.
    lines = parts.reshape(-1, rows, 2, 2, SIZE, SIZE).transpose(0, 1, 2, 4, 3, 5)
    factor = rgb.reshape(rows, 2, 1, 2, 1, 3).astype(np.uint16)
    target = whole.reshape(rows, 2, SIZE, 2, SIZE, 3)
    for channel in range(3):
        product = lines[channel % len(lines)].astype(np.uint16) * factor[..., channel]
        # The same as product / 255, rounded, but without a division.
        product += np.uint16(128)
        product += product >> np.uint16(8)
        product >>= np.uint16(8)
        target[..., channel] = product
