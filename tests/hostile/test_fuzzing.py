"""Damaged files: an error of a line or two or a finding, never a traceback, never a wrong "ok".

A few cases of every target, the same ones each time; with FUZZ=100 in the environment a hundred
times as many, others each time.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import DatasetCard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synthbench.errors import SynthbenchError
from synthbench.evaluation.evaluate import evaluate
from synthbench.generation.generate import generate
from synthbench.tasks.images.source_dirs import use_source_dir
from synthbench.text.lines import is_one_line
from synthbench.verification.verify import verify
from tests.hostile import made

pytestmark = pytest.mark.slow

TIMES = int(os.environ.get("FUZZ", "1"))
#: Small datasets, some with lists, structs and images.
NAMES = st.sampled_from(list(made.ASKED))


def fuzz(cases):
    """Settings of a target of so many cases."""
    return settings(
        max_examples=TIMES * cases,
        derandomize=TIMES == 1,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


# What a file may hold.

_NUMBERS = [
    b"\x00", b"\xff", b"\x7f", b"\x80", b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff\x0f", b"\x80" * 9,
    b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"\x00" * 8, b"PAR1", b"\n", b"\r", b'"', b"{",
]  # fmt: skip


@st.composite
def damaged(draw, data, focus=0):
    """The bytes with some changed, more often behind `focus`; now and then cut."""
    data = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        low = focus if draw(st.integers(0, 3)) else 0
        place = draw(st.integers(min(low, len(data)), len(data)))
        match draw(st.integers(0, 5)):
            case 0 if place < len(data):
                data[place] ^= 1 << draw(st.integers(0, 7))
            case 1:
                piece = draw(st.sampled_from(_NUMBERS))
                data[place : place + len(piece)] = piece
            case 2:
                data[place:place] = draw(st.binary(max_size=12))
            case 3:
                del data[place : place + draw(st.integers(1, 40))]
            case 4:
                data[place : place + 64] = bytes(len(data[place : place + 64]))
            case _:
                if not draw(st.integers(0, 5)):
                    del data[place:]
    return bytes(data)


ODD = st.sampled_from([
    None, True, -1, 0, 1, 2**63, 10**300, 0.5, float("nan"), "", "x", "../secret", "\x1b[2J",
    "\ud800", [], {}, [[]], [None], {"a": {}}, "9" * 5_000,
])  # fmt: skip


@st.composite
def altered(draw, values):
    """JSON values of which one, at any place, is another or gone."""
    values = json.loads(json.dumps(values))
    holder = values
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = draw(st.sampled_from(keys))
        if isinstance(holder[key], dict | list) and holder[key] and draw(st.integers(0, 6)):
            holder = holder[key]
            continue
        if draw(st.integers(0, 5)):
            holder[key] = draw(ODD)
        else:
            del holder[key]
        return json.dumps(values).encode()


# What comes of it.


def ours(function):
    """What a function returns, or the error of ours that it raises, which is short and plain."""
    try:
        return function()
    except SynthbenchError as error:
        lines = str(error).splitlines()
        assert 1 <= len(lines) <= 2 and all(map(is_one_line, lines)), error
        return error


def read(directory):
    """Let every reader at a dataset; whether `verify` finds it good."""
    ours(lambda: str(evaluate(directory, {"0" * 16: 1}, split="test")))
    with use_source_dir(made.sources()):
        verdict = ours(lambda: verify(directory, workers=1, progress=False))
    if isinstance(verdict, SynthbenchError):
        return False
    assert all(text.isprintable() and len(text) <= 1_100 for text in verdict.failures)
    return verdict.ok


@contextlib.contextmanager
def copy_of(name):
    with tempfile.TemporaryDirectory(prefix="hostile-") as root:
        yield made.copy_of(name, Path(root))


@fuzz(30)
@given(st.data())
def test_a_damaged_manifest_is_never_found_good(data):
    name = data.draw(NAMES)
    original = (made.dataset(name) / "manifest.json").read_bytes()
    there = data.draw(altered(json.loads(original)) | damaged(original))
    with copy_of(name) as directory:
        (directory / "manifest.json").write_bytes(there)
        if read(directory):
            one, other = json.loads(there), json.loads(original)
            assert one == other or one["synthbench"] != other["synthbench"]


@fuzz(15)
@given(st.data())
def test_a_damaged_card_that_datasets_would_read_in_another_way_is_never_found_good(data):
    name = data.draw(NAMES)
    original = (made.dataset(name) / "README.md").read_bytes()
    there = data.draw(damaged(original[:2_500])) + original[2_500:]
    with copy_of(name) as directory:
        (directory / "README.md").write_bytes(there)
        if read(directory):
            cards = (DatasetCard(text.decode()).data.to_dict() for text in (there, original))
            one, other = ((card["configs"], card["dataset_info"]) for card in cards)
            assert one == other


@fuzz(30)
@given(st.data())
def test_a_damaged_shard_is_never_found_good_though_its_sum_be_made_to_fit(data):
    name = data.draw(NAMES)
    number = data.draw(st.integers(0, len(made.shards(made.dataset(name))) - 1))
    whole = made.shards(made.dataset(name))[number]
    original = whole.read_bytes()
    footer = len(original) - 8 - int.from_bytes(original[-8:-4], "little")
    with copy_of(name) as directory:
        shard = made.shards(directory)[number]
        shard.write_bytes(data.draw(damaged(original, footer)))
        if data.draw(st.booleans()):
            made.fit_checksums(directory)
        if read(directory):
            one, other = pq.read_table(shard), pq.read_table(whole)
            # What the items of a list are called is the writer's choice, and types are equal.
            assert one.schema.equals(other.schema, check_metadata=True)
            assert one.to_pylist() == other.to_pylist()


def test_an_image_that_cannot_be_decoded_is_found():
    with copy_of("composites") as directory:
        shard = made.shards(directory)[0]
        table = pq.read_table(shard)
        images = [{**image, "bytes": image["bytes"][:60]} for image in table["image"].to_pylist()]
        number = table.schema.get_field_index("image")
        field = table.schema.field("image")
        pq.write_table(table.set_column(number, field, pa.array(images, field.type)), shard)
        made.fit_checksums(directory)
        with use_source_dir(made.sources()):
            verdict = verify(directory, workers=1, progress=False)
        assert any("cannot be read: 60 bytes are not an image" in one for one in verdict.failures)


PREDICTIONS = {
    "jsonl": b'{"id": "0000000000000000", "prediction": 7}\n' * 3,
    "csv": b"id,prediction\n0000000000000000,7\n",
    "tsv": b"id\tprediction\n0000000000000000\t7\n",
    "json": b'[{"id": "0000000000000000", "prediction": [1, {"a": null}]}]',
}


@fuzz(60)
@given(st.data())
def test_damaged_predictions_are_scored_or_refused(data):
    shard = made.shards(made.dataset("listops"))[0].read_bytes()
    ending = data.draw(st.sampled_from([*PREDICTIONS, "parquet"]))
    written = data.draw(damaged(PREDICTIONS.get(ending, shard)))
    with tempfile.TemporaryDirectory(prefix="hostile-") as root:
        path = Path(root) / f"p.{ending}"
        path.write_bytes(written)
        ours(lambda: str(evaluate(made.dataset("listops"), path, split="test")))


@fuzz(15)
@given(st.data())
def test_damage_in_what_an_interrupted_run_left_changes_nothing_in_what_is_made(data):
    progress = {"sha256": "0" * 64, "progress": {"default": {"iid": {"shards": []}}}}
    with tempfile.TemporaryDirectory(prefix="hostile-") as root:
        partial, out = Path(root) / ".data.partial", Path(root) / "data"
        partial.mkdir()
        for name in ("progress.json", "command.json"):
            if data.draw(st.booleans()):
                original = json.dumps(progress).encode()
                there = data.draw(altered(progress) | damaged(original))
                (partial / name).write_bytes(there)
        made_now = ours(lambda: generate(out=out, **made.command("identity")))
        if not isinstance(made_now, SynthbenchError):
            right = [path.read_bytes() for path in made.shards(made.dataset("identity"))]
            assert [path.read_bytes() for path in made.shards(out)] == right
