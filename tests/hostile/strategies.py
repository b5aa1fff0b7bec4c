"""What an attacker may write: bytes, JSON values, lines, tables and cards, for hypothesis."""

from __future__ import annotations

import contextlib
import copy
import json
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from tests import arbitrary

Draw = st.DrawFn

# Bytes.

_NUMBERS = [
    b"\x00", b"\xff", b"\x7f", b"\x80", b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff\x0f", b"\x80" * 9,
    b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"\x00" * 8, b"PAR1", b"\n", b"\r", b'"', b"{",
]  # fmt: skip


@st.composite
def mutated_bytes(draw, original, focus=0, most=6):
    """The bytes with some changed, more often behind `focus`; now and then cut or blown up."""
    data = bytearray(original)
    for _ in range(draw(st.integers(1, most))):
        low = focus if draw(st.integers(0, 3)) else 0
        place = draw(st.integers(min(low, len(data)), len(data)))
        match draw(st.integers(0, 7)):
            case 0 if place < len(data):
                data[place] ^= 1 << draw(st.integers(0, 7))
            case 1 if place < len(data):
                data[place] = draw(st.integers(0, 255))
            case 2:
                piece = draw(st.sampled_from(_NUMBERS))
                data[place : place + len(piece)] = piece
            case 3:
                data[place:place] = draw(st.binary(max_size=12))
            case 4:
                del data[place : place + draw(st.integers(1, 40))]
            case 5:
                start = draw(st.integers(0, len(data)))
                data[place:place] = data[start : start + draw(st.integers(1, 200))]
            case 6:
                data[place : place + 64] = bytes(len(data[place : place + 64]))
            case _:
                if not draw(st.integers(0, 5)):
                    del data[place:]
    return bytes(data)


# JSON.

PLACES = [
    "../secret.parquet", "data/../../secret.parquet", "/etc/passwd", "C:\\secret.parquet",
    "..\\secret.parquet", "data/default/../../../outside/secret.parquet", "//host/secret.parquet",
    "data/default", "data", ".", "..", "", "data//x.parquet", "~/secret.parquet", "data/a\x00b",
    "file:///etc/passwd", "http://localhost:9/x.parquet", "data/default/.hidden.parquet",
    "outside/secret.parquet", "\udce9.parquet", "data/link/train-00000-of-00001.parquet",
]  # fmt: skip
_TEXTS = st.sampled_from([*PLACES, "\x1b[2J\x1b]0;x\x07", "a\nb\nc", "\u2028", "x" * 3_000])


def odd_values(deep=True):
    """Values that nobody expects where they stand."""
    plain = (
        st.none()
        | st.booleans()
        | st.integers(-3, 3)
        | st.sampled_from([2**31, 2**63, 10**9, 10**12, -(2**63), 10**300])
        | st.floats()
        | st.text(max_size=8)
        | _TEXTS
    )
    if not deep:
        return plain
    return st.recursive(
        plain,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
        max_leaves=6,
    ) | st.integers(5, 400).map(nested)


def nested(depth):
    """A list of lists of lists."""
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def _paths(value, path=()):
    """The places in a JSON value, those that hold others before these; not the deepest ones."""
    inside: Any = []
    if len(path) == 12:
        return [path]
    if isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, list):
        inside = enumerate(value)
    return [path] + [one for key, inner in inside for one in _paths(inner, (*path, key))]


@st.composite
def mutated_json(draw, original):
    """The value with one to three places changed, taken away, added or renamed."""
    value = copy.deepcopy(original)
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        places = _paths(value)[1:]
        if not places:
            return value
        *above, last = draw(st.sampled_from(places))
        holder = value
        for key in above:
            holder = holder[key]
        value = value if _change(draw, holder, last) else draw(odd_values())
        if not isinstance(value, dict):
            return value
    return value


def _change(draw, holder, key):
    """Change one entry of an object or list; whether the whole is to stay at all."""
    there = holder[key]
    match draw(st.integers(0, 9)):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[draw(st.text(max_size=6) | _TEXTS)] = there
        case 2 if isinstance(holder, dict):
            holder[draw(st.text(max_size=6) | _TEXTS)] = holder.pop(key)
        case 3 if isinstance(holder, list):
            holder.insert(key, there)
        case 4 | 5:
            holder[key] = _like(draw, there)
        case 6:
            return bool(draw(st.integers(0, 30)))
        case _:
            holder[key] = draw(odd_values())
    return True


def _like(draw, there):
    """Another value of the same kind, or one that a careless reader takes for the same."""
    if isinstance(there, bool):
        return int(there)
    if isinstance(there, int):
        near = [there + 1, there - 1, -there, float(there), str(there), there * 10**9, bool(there)]
        return draw(st.sampled_from(near))
    if isinstance(there, str):
        texts = [f"{there}?", there[:-1], f" {there}", there.upper(), f"{there}\n", [there]]
        return draw(st.sampled_from(texts) | _TEXTS)
    if isinstance(there, list):
        return draw(st.sampled_from([there[::-1], there + there, there[:-1], {}, None]))
    return draw(odd_values())


@st.composite
def json_bytes(draw, values):
    """JSON values as a file has them: mostly well, else in another encoding or damaged."""
    text = json.dumps(draw(values), ensure_ascii=draw(st.booleans()))
    encoding = draw(st.sampled_from(["utf-8"] * 6 + ["utf-8-sig", "utf-16", "utf-32", "latin-1"]))
    data = text.encode(encoding, "surrogatepass" if encoding.startswith("utf") else "replace")
    return draw(mutated_bytes(data, most=2)) if not draw(st.integers(0, 3)) else data


# Predictions.


@st.composite
def prediction_lines(draw, ids):
    """Lines of a predictions file, few of them as they should be."""
    lines = draw(st.lists(_prediction_line(ids), max_size=8))
    ending = draw(st.sampled_from([b"\n", b"\n", b"\r\n", b"\r", b"\n\n", b"\x00", b"\x0c\n"]))
    data = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf", b"\xff\xfe"])) + ending.join(lines)
    return draw(mutated_bytes(data, most=2)) if not draw(st.integers(0, 4)) else data


@st.composite
def _prediction_line(draw, ids):
    match draw(st.integers(0, 11)):
        case 0:
            return draw(st.binary(max_size=30))
        case 1:
            depth = draw(st.sampled_from([40, 990, 5_000, 100_000]))
            closed = draw(st.booleans())
            return b"[" * depth + (b"]" * depth if closed else b"")
        case 2:
            depth = draw(st.sampled_from([20, 300, 3_000]))
            inner = b'{"a":' * depth + b"1" + b"}" * depth
            return b'{"id": "' + ids[0].encode() + b'", "prediction": ' + inner + b"}"
        case 3:
            number = draw(st.sampled_from([b"7" * 5_000, b"1e999", b"-1e-999", b"NaN", b"-0"]))
            return b'{"id": "' + ids[0].encode() + b'", "prediction": ' + number + b"}"
        case 4:
            return b'{"id": "a", "id": "b", "prediction": 1}'
    entry: Any = {
        "id": draw(st.sampled_from(list(ids)) | odd_values(deep=False)),
        "prediction": draw(odd_values() | st.integers(0, 9)),
    }
    if draw(st.booleans()):
        entry["split"] = draw(st.sampled_from(["train", "iid", "test"]) | odd_values(deep=False))
    if not draw(st.integers(0, 5)):
        del entry[draw(st.sampled_from(sorted(entry)))]
    return json.dumps(entry, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")


# Tables.

_TYPES = [
    pa.null(), pa.bool_(), pa.int8(), pa.uint64(), pa.float16(), pa.float64(), pa.string(),
    pa.large_string(), pa.binary(), pa.binary(3), pa.date32(), pa.date64(), pa.time32("s"),
    pa.time64("ns"), pa.timestamp("s"), pa.timestamp("ns", "UTC"), pa.timestamp("us", "Moon/Base"),
    pa.duration("us"), pa.decimal128(38, 3), pa.decimal256(70, -3), pa.list_(pa.int8()),
    pa.list_(pa.string(), 2), pa.large_list(pa.null()), pa.struct([("a", pa.int8())]),
    pa.struct([("a", pa.list_(pa.struct([("b", pa.string())])))]), pa.map_(pa.string(), pa.int8()),
    pa.dictionary(pa.int8(), pa.string()), pa.list_(pa.list_(pa.int16())),
]  # fmt: skip


@st.composite
def columns(draw, rows):
    """A column of any type that Parquet can hold, with any values."""
    if draw(st.booleans()):
        feature = draw(arbitrary.features())
        values = [draw(arbitrary.values(feature)) for _ in range(rows)]
        return pa.array(values, feature.arrow)
    numbers = draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=rows, max_size=rows))
    kind = draw(st.sampled_from(_TYPES))
    with contextlib.suppress(pa.ArrowException):
        if pa.types.is_temporal(kind):
            width = pa.int32() if kind.bit_width == 32 else pa.int64()
            return pa.array(numbers, pa.int64()).cast(width, safe=False).view(kind)
        return pa.array(numbers, pa.int64()).cast(kind, safe=False)
    return pa.nulls(rows, kind)


@st.composite
def mutated_tables(draw, original):
    """The table with one to three things about it changed: columns, types, values, metadata."""
    table = original
    for _ in range(draw(st.integers(1, 3))):
        if not table.num_columns:
            return table
        index = draw(st.integers(0, table.num_columns - 1))
        field = table.schema.field(index)
        match draw(st.integers(0, 11)):
            case 0:
                table = table.remove_column(index)
            case 1:
                table = table.append_column(field, table.column(index))
            case 2:
                names = list(table.schema.names)
                names[index] = draw(st.text(max_size=5) | st.sampled_from(["id", "label", "a.b"]))
                table = table.rename_columns(names)
            case 3:
                table = table.select(draw(st.permutations(range(table.num_columns))))
            case 4:
                table = table.set_column(index, field.name, draw(columns(table.num_rows)))
            case 5:
                start = draw(st.integers(0, table.num_rows))
                table = table.slice(start, draw(st.integers(0, table.num_rows)))
            case 6:
                table = pa.concat_tables([table, table.slice(0, draw(st.integers(0, 3)))])
            case 7:
                table = table.replace_schema_metadata(draw(_metadata(table.schema.metadata)))
            case 8:
                with contextlib.suppress(pa.ArrowException):
                    encoded = table.column(index).dictionary_encode()
                    table = table.set_column(index, field.name, encoded)
            case _:
                table = draw(_with_another_value(table, index))
    return table


def _metadata(original):
    try:
        features = st.just(json.loads(original[b"huggingface"]))
    except (ValueError, KeyError, TypeError):  # spoilt before
        features = st.just({})
    return st.one_of(
        st.none(),
        st.just({**(original or {}), b"pandas": b'{"index_columns": ["id"]}'}),
        features.flatmap(mutated_json).map(lambda one: {b"huggingface": json.dumps(one)}),
        st.binary(max_size=9).map(lambda one: {b"huggingface": one}),
    )


@st.composite
def _with_another_value(draw, table, index):
    """The table with one value replaced: by another row's, by one a little off, by none."""
    field, values = table.schema.field(index), table.column(index).to_pylist()
    if not values:
        return table
    place = draw(st.integers(0, len(values) - 1))
    there = values[place]
    other = draw(st.sampled_from([None, values[draw(st.integers(0, len(values) - 1))], "near"]))
    if other == "near" and isinstance(there, str):
        other = draw(st.sampled_from([there + " ", there[:-1], there.upper(), "", f"{there}0"]))
    elif other == "near":
        other = draw(_near(there))
    values[place] = other
    with contextlib.suppress(pa.ArrowException):
        return table.set_column(index, field, pa.array(values, field.type))
    return table


@st.composite
def _near(draw, there):
    if isinstance(there, bool):
        return not there
    if isinstance(there, int | float):
        return draw(st.sampled_from([there + 1, there - 1, -there, 0, float("nan")]))
    if isinstance(there, bytes):
        return draw(mutated_bytes(there, most=2))
    if isinstance(there, list) and there:
        place = draw(st.integers(0, len(there) - 1))
        return [*there[:place], draw(_near(there[place])), *there[place + 1 :]]
    if isinstance(there, dict) and there:
        name = draw(st.sampled_from(sorted(there)))
        return {**there, name: draw(_near(there[name]))}
    return draw(st.sampled_from([None, "", 0, []]))


#: How a table may be written: what readers must not depend on.
WRITE_OPTIONS = st.fixed_dictionaries(
    {
        "compression": st.sampled_from(["zstd", "snappy", "gzip", "none", "lz4", "brotli"]),
        "use_dictionary": st.booleans(),
        "data_page_version": st.sampled_from(["1.0", "2.0"]),
        "row_group_size": st.sampled_from([1, 3, 1_000]),
        "write_statistics": st.booleans(),
        "store_schema": st.booleans(),
        "write_page_index": st.booleans(),
    }
)
