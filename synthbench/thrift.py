"""Thrift's compact protocol, as far as Parquet uses it, from bytes that may be anything.

A struct becomes a mapping from the number and the kind of each field to its value: a reader that
is generated from a schema passes over a field of another kind, and so does who looks here for the
kind that the schema says. As for such a reader, of a field that comes twice the last one counts.

Source: Apache Thrift, `thrift-compact-protocol.md`.
"""

from __future__ import annotations

import mmap
from typing import Any

#: Kinds of fields.
I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12
_TRUE, _FALSE, _BYTE, _I16, _DOUBLE, _SET = 1, 2, 3, 4, 7, 10
#: Structs and lists are not nested deeper in Parquet.
_DEEPEST = 16

Data = mmap.mmap | bytes
Struct = dict[tuple[int, int], Any]


class Cursor:
    """Reads values one behind the other.

    Args:
        data: the bytes.
        place: where to begin.
        end: where the last value ends, at most.

    Attributes:
        place: where the next value begins.
    """

    def __init__(self, data: Data, place: int, end: int) -> None:
        self.place = place
        self._data, self._end = data, end

    def struct(self, depth: int = 0) -> Struct:
        """A struct.

        Raises:
            ValueError: the bytes are none.
        """
        if depth > _DEEPEST:
            raise ValueError("its metadata is nested too deeply")
        fields: Struct = {}
        number = 0
        while (byte := self._byte()) != 0:
            kind = byte & 15
            number = number + (byte >> 4) if byte >> 4 else self._integer()
            number = (number + 0x8000) % 0x10000 - 0x8000  # of 16 bits
            # Of truth values the kind is the value.
            fields[number, kind] = None if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_I16, I32, I64):
            return self._integer()
        if kind == BINARY:
            return self._bytes(self._varint())
        if kind == STRUCT:
            return self.struct(depth + 1)
        if kind in (LIST, _SET):
            return self._list(depth + 1)
        if kind in (_TRUE, _FALSE, _BYTE, _DOUBLE):  # in a list, a truth value has a byte
            return self._bytes(8 if kind == _DOUBLE else 1)
        raise ValueError(f"its metadata has a value of an unknown kind {kind}")

    def _list(self, depth: int) -> tuple[int, list[Any]]:
        """The kind of its values, and they."""
        if depth > _DEEPEST:
            raise ValueError("its metadata is nested too deeply")
        byte = self._byte()
        count = byte >> 4 if byte >> 4 < 15 else self._varint()
        if count > self._end - self.place:  # each has a byte at least
            raise ValueError("its metadata is cut off")
        return byte & 15, [self._value(byte & 15, depth) for _ in range(count)]

    def _integer(self) -> int:
        varint = self._varint()
        return (varint >> 1) ^ -(varint & 1)

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("its metadata has a number without an end")

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, count: int) -> bytes:
        if count > self._end - self.place:
            raise ValueError("its metadata is cut off")
        self.place += count
        return self._data[self.place - count : self.place]
