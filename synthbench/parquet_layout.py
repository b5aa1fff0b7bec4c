"""Where the parts of a Parquet file lie, and what its pages unpack to, before any is unpacked.

A footer may say anything, a page of a few bytes may unpack to gigabytes, and pyarrow ends the
process at some footers. So the footer and the headers of the pages are read here first.

Source: the Parquet format, `parquet.thrift`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from synthbench.thrift import BINARY, I32, I64, LIST, STRUCT, Cursor, Data, Struct

_MAGIC = b"PAR1"
#: Bytes of a footer, at most; one of 100 row groups has some 100,000.
_LARGEST_FOOTER = 1 << 24
#: Columns are not nested more deeply, and values of a fixed length have no more bytes.
_DEEPEST, _LONGEST = 64, 1 << 16
#: Kinds of pages and encodings, as `parquet.thrift` numbers them.
_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3
_DELTA_BYTE_ARRAY = 7


@dataclasses.dataclass(frozen=True)
class Chunk:
    """A column in a row group.

    Attributes:
        values: how many there are, nulls included.
        start, end: where its pages lie in the file.
    """

    values: int
    start: int
    end: int


@dataclasses.dataclass(frozen=True)
class Group:
    """A row group: its rows, and its columns in the order of the schema's leaves."""

    rows: int
    chunks: tuple[Chunk, ...]


def read_groups(data: Data) -> list[Group]:
    """The row groups of a file.

    Raises:
        ValueError: it is no Parquet file, or one whose footer is impossible.
    """
    end = len(data) - 8
    if end < 4 or data[:4] != _MAGIC or data[-4:] != _MAGIC:
        raise ValueError("it does not begin and end as Parquet files do, perhaps it is cut off")
    length = int.from_bytes(data[end : end + 4], "little")
    start = end - length
    if start < 4 or length > _LARGEST_FOOTER:
        raise ValueError(f"its footer has an impossible length of {length:,} bytes")
    footer = Cursor(data, start, end).struct()
    _check_schema(_structs(footer, 2))
    groups = [
        Group(
            rows=_number(group, 3, I64),
            chunks=tuple(_chunk(chunk, start) for chunk in _structs(group, 1)),
        )
        for group in _structs(footer, 4)
    ]
    if sum(group.rows for group in groups) != _number(footer, 3, I64):
        raise ValueError("its row groups do not add up to its rows")
    return groups


def _check_schema(schema: Sequence[Struct]) -> None:
    """Refuse columns nested more deeply than a reader can follow, and nulls of many bytes each.

    A schema is a tree, each element followed by as many below it as its field 5 says. Field 2 is
    the length of values that all have one, also of those that are missing.
    """
    below = [1]
    for element in schema:
        if element.get((2, I32), 0) > _LONGEST:
            raise ValueError(f"its columns have values of more than {_LONGEST:,} bytes each")
        while below and not below[-1]:
            below.pop()
        if not below or len(below) > _DEEPEST:
            raise ValueError(f"its columns are nested more than {_DEEPEST} deep")
        below[-1] -= 1
        below.append(max(0, element.get((5, I32), 0)))


def _chunk(fields: Struct, footer: int) -> Chunk:
    """A column chunk by the footer, which begins where no page can be any more."""
    if (1, BINARY) in fields:
        raise ValueError("it has columns in other files")
    found = fields.get((3, STRUCT), {})
    values, start, size = (_number(found, number, I64) for number in (5, 9, 7))
    dictionary = found.get((11, I64), 0)
    if 0 < dictionary < start:
        start = dictionary
    if values and (start < 4 or start + size > footer):
        raise ValueError("it has a column that lies outside of it")
    return Chunk(values, start, start + size)


def _structs(fields: Struct, number: int) -> Sequence[Struct]:
    kind, values = fields.get((number, LIST), (STRUCT, []))
    if kind != STRUCT:
        raise ValueError("its footer has a list of another kind")
    structs: Sequence[Struct] = values
    return structs


def _number(fields: Struct, number: int, kind: int) -> int:
    found = fields.get((number, kind), -1)
    if found < 0:
        raise ValueError("its metadata has an impossible number")
    value: int = found
    return value


@dataclasses.dataclass
class Pages:
    """What pages unpack to.

    Attributes:
        size: the bytes of all pages, unpacked.
        values: their values, nulls included.
        shared: the bytes of the largest page, unpacked, of which many values can have a part each
            at no cost: a dictionary, or texts that share their beginnings.
    """

    size: int = 0
    values: int = 0
    shared: int = 0

    def add(self, data: Data, chunk: Chunk) -> None:
        """Add the pages of a column chunk, as far as a reader reads them.

        Raises:
            ValueError: a page has no header.
        """
        place, values = chunk.start, 0
        while place < chunk.end and values < chunk.values:
            cursor = Cursor(data, place, chunk.end)
            header = cursor.struct()
            kind, unpacked = _number(header, 1, I32), _number(header, 2, I32)
            place = cursor.place + _number(header, 3, I32)
            self.size += unpacked
            encoding: Any = None
            if kind in (_DATA, _DATA_V2):
                of_data = header.get((8 if kind == _DATA_V2 else 5, STRUCT), {})
                values += _number(of_data, 1, I32)
                encoding = of_data.get((4 if kind == _DATA_V2 else 2, I32))
            if kind == _DICTIONARY or encoding == _DELTA_BYTE_ARRAY:
                self.shared = max(self.shared, unpacked)
        self.values += values
