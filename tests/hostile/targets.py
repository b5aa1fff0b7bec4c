"""What is attacked, with what, and what must hold whatever was drawn.

Each target is a function of one drawn case that fails if something is raised that is no error of
ours, if `verify` finds a dataset good that readers would not see as it was made, or if anything
outside of what was given is touched. `TARGETS` has them by name.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from huggingface_hub import DatasetCard
from hypothesis import strategies as st

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.forms import same
from synthbench.dataset.manifest import Manifest
from synthbench.errors import DatasetError, SynthbenchError
from synthbench.evaluation.evaluate import evaluate
from synthbench.evaluation.predictions import read_predictions
from synthbench.evaluation.single_rows import score
from synthbench.generation.generate import generate
from synthbench.tasks.images import png
from synthbench.text.lines import is_one_line
from synthbench.verification.verify import VerificationReport, verify
from tests.hostile import made, strategies
from tests.hostile.watching import nothing_else_is_touched, scratch

Case = Any
TARGETS: dict[str, tuple[st.SearchStrategy[Case], Callable[[Case], None]]] = {}

NAMES = st.sampled_from(list(made.ASKED))
#: Those whose rows need no sources to be looked at, and small: verified many times.
SMALL = st.sampled_from(["listops", "ctl", "identity", "grid-count"])


def target(strategy):
    """Note a target under its function's name."""

    def note(function):
        TARGETS[function.__name__] = strategy, function
        return function

    return note


def ours(function):
    """What a function returns, or the error of ours that it raises, which is short and plain."""
    try:
        return function()
    except SynthbenchError as error:
        text = str(error)
        assert 0 < len(text) < 5_000
        assert len(text.splitlines()) <= 2 and all(map(is_one_line, text.splitlines())), text
        assert error.exit_status in (1, 2)
        return error


def judged(directory):
    """What `verify` makes of a dataset."""
    sources = made.sources()
    verdict = ours(lambda: verify(directory, workers=1, source_dir=sources, progress=False))
    if isinstance(verdict, VerificationReport):
        assert all(text.isprintable() and len(text) <= 1_000 for text in verdict.failures)
        str(verdict).encode("utf-8")
    assert isinstance(verdict, VerificationReport | SynthbenchError)
    return verdict


def is_good(verdict):
    return isinstance(verdict, VerificationReport) and verdict.ok


def evaluated(*arguments, **options):
    """Evaluate, and look at the report in all its forms."""
    report = ours(lambda: evaluate(*arguments, **options))
    if not isinstance(report, SynthbenchError):
        str(report).encode("utf-8")
        json.dumps(report.to_dict(), allow_nan=False)


# The manifest.

_MANIFESTS = NAMES.flatmap(
    lambda name: st.tuples(
        st.just(name), strategies.mutated_json(made.manifest_values(name)) | strategies.odd_values()
    )
)


@target(_MANIFESTS)
def manifest_values(case):
    """What is accepted as a manifest is what it was made from; all else is named."""
    _, values = case
    manifest = ours(lambda: Manifest.from_dict(values))
    if isinstance(manifest, Manifest):
        assert json.dumps(manifest.to_dict(), sort_keys=True) == json.dumps(values, sort_keys=True)
        for variant in manifest.variants:
            ours(lambda variant=variant: [split.name for split in task_of(manifest, variant)])
    else:
        assert isinstance(manifest, DatasetError)
        assert str(manifest).startswith("manifest.json")


def task_of(manifest, variant):
    return DatasetDirectory(Path("/nowhere"), manifest).make_task(variant).splits


@target(_MANIFESTS.flatmap(lambda case: st.tuples(
    st.just(case[0]), strategies.json_bytes(st.just(case[1])))))  # fmt: skip
def manifest_file(case):
    """A dataset whose manifest says anything else is not found good; nothing outside is read."""
    name, data = case
    with scratch() as root:
        directory = made.copy_of(name, root)
        (directory / "manifest.json").write_bytes(data)
        with nothing_else_is_touched(root, [directory]):
            opened = ours(lambda: DatasetDirectory.open(directory))
            if isinstance(opened, SynthbenchError):
                return
            good = is_good(judged(directory))
            evaluated(directory, {"0" * 16: 1}, split="test")
            before = sorted(one.name for one in directory.rglob("*"))
        ours(lambda: generate(out=directory, **made.command(name)))
        assert sorted(one.name for one in directory.rglob("*")) == before
    if good:
        assert _same_but_untold(json.loads(data), made.manifest_values(name))


def _same_but_untold(values, original):
    """Whether manifests of one version are the same; another's rows are not made again."""
    return values["synthbench"] != original["synthbench"] or same(values, original)


# The card.


@target(SMALL.flatmap(lambda name: st.tuples(
    st.just(name),
    strategies.mutated_bytes((made.dataset(name) / "README.md").read_bytes()[:2_500], most=3),
)))  # fmt: skip
def card(case):
    """A card that `datasets` would read in another way is not found good."""
    name, data = case
    whole = (made.dataset(name) / "README.md").read_bytes()
    spoilt = data + whole[2_500:]
    with scratch() as root:
        directory = made.copy_of(name, root)
        (directory / "README.md").write_bytes(spoilt)
        with nothing_else_is_touched(root, [directory]):
            good = is_good(judged(directory))
    if good:
        there, original = (
            DatasetCard(text.decode("utf-8")).data.to_dict() for text in (spoilt, whole)
        )
        for section in ("configs", "dataset_info"):
            assert same(there[section], original[section])


# Shards.


@st.composite
def _spoilt_shards(draw):
    name = draw(NAMES)
    found = made.shards(made.dataset(name))
    number = draw(st.integers(0, len(found) - 1))
    data = found[number].read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    return name, number, draw(strategies.mutated_bytes(data, focus=footer)), draw(st.booleans())


@target(_spoilt_shards())
def shard_bytes(case):
    """Damaged shards are found, also where checksums and digests are made to fit."""
    name, number, data, fitted = case
    with scratch() as root:
        directory = made.copy_of(name, root)
        path = made.shards(directory)[number]
        whole = path.read_bytes()
        path.write_bytes(data)
        if fitted:
            made.fit_checksum(directory, path)
        with nothing_else_is_touched(root, [directory]):
            good = is_good(judged(directory))
            evaluated(directory, {"0" * 16: 1}, split=path.name.split("-")[0])
        if good:
            assert data == whole or (fitted and _same_for_readers(path, made.dataset(name), number))


def _same_for_readers(path, original, number):
    there, right = pq.read_table(path), pq.read_table(made.shards(original)[number])
    return bool(there.equals(right) and there.schema.equals(right.schema, check_metadata=True))


@st.composite
def _spoilt_tables(draw):
    name = draw(NAMES)
    found = made.shards(made.dataset(name))
    number = draw(st.integers(0, len(found) - 1))
    table = draw(strategies.mutated_tables(pq.read_table(found[number])))
    return name, number, table, draw(strategies.WRITE_OPTIONS)


@target(_spoilt_tables())
def shard_tables(case):
    """Forged rows and columns are found though manifest and card are made to fit them."""
    name, number, table, options = case
    with scratch() as root:
        directory = made.copy_of(name, root)
        path = made.shards(directory)[number]
        right = pq.read_table(path)
        with contextlib.suppress(Exception):  # what cannot be written, or fitted, is as good
            pq.write_table(table, path, **options)
            made.fit(directory)
        with nothing_else_is_touched(root, [directory]):
            good = is_good(judged(directory))
            evaluated(directory, {"0" * 16: 1}, split=path.name.split("-")[0])
        if good:
            there = pq.read_table(path)
            assert there.schema.equals(right.schema, check_metadata=True)
            assert there.to_pylist() == right.to_pylist()


# Predictions.

_IDS = ["0" * 16, "f" * 16, ""]


_ENDINGS = st.sampled_from(["jsonl", "json", "csv", "tsv"])


@target(st.tuples(strategies.prediction_lines(_IDS), _ENDINGS))
def prediction_lines(case):
    """Lines of anything are read as predictions or named, whatever the file is called."""
    data, ending = case
    with scratch() as root:
        directory, path = made.dataset("listops"), root / f"p.{ending}"
        path.write_bytes(data)
        with nothing_else_is_touched(root, [path, directory]):
            read = ours(lambda: read_predictions(path, "test"))
            if not isinstance(read, SynthbenchError):
                evaluated(directory, path, split="test")


@st.composite
def _prediction_tables(draw):
    rows = draw(st.integers(0, 5))
    names = draw(st.lists(st.sampled_from(["id", "prediction", "split", "id.a", "x"]), max_size=5))
    ids = pa.array(draw(st.lists(st.sampled_from([*_IDS, None]), min_size=rows, max_size=rows)))
    drawn = [
        ids if name == "id" and draw(st.booleans()) else draw(strategies.columns(rows))
        for name in names
    ]
    return pa.Table.from_arrays(drawn, names), draw(strategies.WRITE_OPTIONS), None


@target(_prediction_tables())
def prediction_tables(case):
    """Tables of anything are read as predictions or named."""
    table, options, _ = case
    with scratch() as root:
        directory, path = made.dataset("listops"), root / "p.parquet"
        try:
            pq.write_table(table, path, **options)
        except (pa.ArrowException, ValueError, TypeError, OSError):
            return
        with nothing_else_is_touched(root, [path, directory]):
            evaluated(directory, path, split="test")


@st.composite
def _prediction_files(draw):
    sink = pa.BufferOutputStream()
    ids = pa.array(_IDS).dictionary_encode() if draw(st.booleans()) else pa.array(_IDS)
    table = pa.table({"id": ids, "prediction": [[1], [2, None], None], "split": ["test"] * 3})
    pq.write_table(table, sink, **draw(strategies.WRITE_OPTIONS))
    return draw(strategies.mutated_bytes(sink.getvalue().to_pybytes(), focus=200))


@target(_prediction_files())
def prediction_bytes(data):
    """Damaged Parquet files are read as predictions or named."""
    with scratch() as root:
        path = root / "p.parquet"
        path.write_bytes(data)
        with nothing_else_is_touched(root, [path]):
            ours(lambda: read_predictions(path))


_ANSWERS = strategies.odd_values() | st.sampled_from([
    b"3", np.int8(3), np.float32("nan"), np.str_("3"), np.bool_(True), np.array(3),
    np.zeros((2, 2)), np.array([1, "a"], object), np.datetime64("NaT"), 1e400, 3 + 0j, (), {1},
    range(3), 10**400,
    [[1, 2], [3]], [None], [["1"]], [10**400], [[float("inf")] * 5], np.zeros((0, 3)), 1 << 64,
])  # fmt: skip


@target(st.tuples(NAMES, _ANSWERS, st.integers(0, 2)))
def answers(case):
    """Any value is judged as an answer by every task, as a mapping and in order."""
    name, answer, number = case
    directory = made.dataset(name)
    task = made.ASKED[name][0]
    rows = pq.read_table(made.shards(directory)[-1]).to_pylist()
    row = rows[number]
    options = {"parameters": made.ASKED[name][1].get("parameters")}
    ours(lambda: score(task, row, answer, **options))
    evaluated(rows, {row["id"]: answer}, task=task, **options)
    evaluated(rows, [answer] * len(rows), task=task, **options)
    evaluated(rows, answer, task=task, **options)


@st.composite
def _rows_at_hand(draw):
    name = draw(NAMES.filter(lambda one: one != "composites"))
    rows = pq.read_table(made.shards(made.dataset(name))[-1]).to_pylist()
    return name, draw(strategies.mutated_json(rows) | strategies.odd_values())


@target(_rows_at_hand())
def rows_at_hand(case):
    """Rows given as values are judged or named, whatever they hold."""
    name, rows = case
    parameters = made.ASKED[name][1].get("parameters")
    predictions: Any
    for predictions in ({"0" * 16: 1}, [1, 2, 3]):
        if not isinstance(rows, str):
            evaluated(rows, predictions, task=made.ASKED[name][0], parameters=parameters)


# What else is read.


@st.composite
def _images(draw):
    count = draw(st.integers(1, 3))
    size = draw(st.sampled_from([(1, 1), (8, 5), (56, 56)]))
    files = png.encode(np.full((count, *size, 3), draw(st.integers(0, 255)), np.uint8)).to_pylist()
    place = draw(st.integers(0, count - 1))
    files[place] = draw(strategies.mutated_bytes(files[place][:60], most=4)) + files[place][60:]
    return [bytes(file) for file in files]


@target(_images())
def images(files):
    """Damaged images are decoded alike alone and together, or refused."""
    alone: list[Any] = []
    for file in files:
        try:
            alone.append(png.decode(file))
        except ValueError:
            alone.append(None)
    try:
        together = [one for some in png.decode_all(pa.array(files, pa.binary())) for one in some]
    except ValueError:
        assert any(one is None for one in alone)
    else:
        assert all(np.array_equal(*pair) for pair in zip(alone, together, strict=True))


@st.composite
def _leftovers(draw):
    progress = {"sha256": "0" * 64, "progress": {"default": {"iid": {"shards": [], "emitted": 0}}}}
    drawn = strategies.json_bytes(strategies.mutated_json(progress) | strategies.odd_values())
    return draw(st.none() | drawn), draw(st.none() | drawn)


@target(_leftovers())
def leftovers(case):
    """Garbage in what an interrupted run left changes nothing in what is made, or is refused."""
    progress, begun = case
    with scratch() as root:
        partial = root / ".data.partial"
        partial.mkdir()
        if progress is not None:
            (partial / "progress.json").write_bytes(progress)
        if begun is not None:
            (partial / "command.json").write_bytes(begun)
        outcome = ours(lambda: generate(out=root / "data", **made.command("identity")))
        if isinstance(outcome, Manifest):
            made_again = [path.read_bytes() for path in made.shards(root / "data")]
            assert made_again == [p.read_bytes() for p in made.shards(made.dataset("identity"))]
        shutil.rmtree(partial, ignore_errors=True)
