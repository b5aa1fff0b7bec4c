"""Tables in the form of Long Range Arena."""

import csv

import pytest

import synthbench
from synthbench.sharing.export import export
from synthbench.sharing.text_formats import why_not_tsv
from synthbench.tasks import registry
from synthbench.tasks.registry import make_task
from tests.planted.task import Reversal


@pytest.mark.parametrize("name", ["listops", "arithmetic", "ctl", "parity"])
def test_a_csv_reader_finds_text_and_class_of_every_row(name, tiny, tmp_path):
    dataset = synthbench.DatasetDirectory.open(tiny(name))
    export(tiny(name), "tsv", tmp_path / "out")
    for variant, splits in dataset.manifest.variants.items():
        for split in splits:
            file = {"validation": "val"}.get(split, split)
            with (tmp_path / "out" / variant / f"basic_{file}.tsv").open(newline="") as lines:
                read = list(csv.DictReader(lines, delimiter="\t"))
            assert list(read[0]) == ["Source", "Target"]
            rows = dataset.rows(variant, split, ["text", "label"])
            pairs = [(row["text"], str(row["label"])) for row in rows]
            assert [(line["Source"], line["Target"]) for line in read] == pairs


def test_labels_that_are_text_stand_as_they_are(tmp_path, monkeypatch):
    monkeypatch.setitem(registry._registered, Reversal.name, Reversal)
    synthbench.generate("reversal", out=tmp_path / "made", workers=1, progress=False)
    export(tmp_path / "made", "tsv", tmp_path / "out")
    with (tmp_path / "out/default/basic_test.tsv").open(newline="") as lines:
        read = [(line["Source"], line["Target"]) for line in csv.DictReader(lines, delimiter="\t")]
    assert len(read) == 40
    assert all(source[::-1] == target for source, target in read)


@pytest.mark.parametrize("name", ["grid-count", "identity", "clusters", "composites"])
def test_rows_of_another_kind_are_refused(name):
    reason = "its rows lack a text, or a label that is a class or a text"
    assert why_not_tsv(make_task(name)) == reason


def test_the_files_are_named_as_the_loaders_look_for_them(tiny, tmp_path):
    sizes = export(tiny("listops"), "tsv", tmp_path / "out")
    assert {f"default/basic_{name}.tsv" for name in ("train", "val", "test")} <= set(sizes)
    raw = (tmp_path / "out/default/basic_test.tsv").read_bytes()
    assert raw.startswith(b"Source\tTarget\n[")
    assert raw.count(b"\n") == 41
    assert b"\r" not in raw
