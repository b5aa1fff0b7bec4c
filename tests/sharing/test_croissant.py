"""Croissant metadata, read by the reference library."""

import json
import shutil

import pytest

import synthbench
from synthbench.sharing.croissant import unsupported_reason
from synthbench.sharing.export import export
from synthbench.tasks.registry import list_tasks
from synthbench.tasks.registry import task as make_task
from tests.making import files

#: A task of each form of columns and labels.
TASKS = {
    str([(type(column), column.arrow, bool(task.labels)) for column in task.columns.values()]): name
    for name in list_tasks()
    for task in [make_task(name)]
    if unsupported_reason(task) is None
}.values()


@pytest.fixture
def described(tiny, tmp_path):
    """The description of a task's tiny dataset, in a copy of it."""

    def describe(name, **chosen):
        directory = tmp_path / name
        shutil.copytree(tiny(name), directory)
        export(directory, "croissant", directory / "croissant.json", **chosen)
        return directory / "croissant.json"

    return describe


def text(value):
    """A value of the library, which gives texts as bytes."""
    if isinstance(value, list):
        return [text(one) for one in value]
    return value.decode() if isinstance(value, bytes) else value


@pytest.mark.dev
@pytest.mark.filterwarnings("ignore")  # of rdflib
@pytest.mark.parametrize("name", TASKS)
def test_the_reference_library_finds_it_valid_and_reads_every_row(name, described):
    mlcroissant = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
    file = described(name)
    opened = mlcroissant.Dataset(jsonld=str(file))
    assert not opened.metadata.issues.errors
    assert all("datePublished" in one for one in opened.metadata.issues.warnings)
    dataset = synthbench.DatasetDirectory.open(file.parent)
    for variant, splits in dataset.manifest.variants.items():
        read = [
            {key.rpartition("/")[2]: text(value) for key, value in row.items()}
            for row in opened.records(variant)
        ]
        rows = [
            {"split": split, **row}
            for split in sorted(splits)
            for row in dataset.rows(variant, split)
        ]
        assert read == rows


@pytest.mark.dev
@pytest.mark.filterwarnings("ignore")  # of rdflib
def test_one_split_of_each_of_two_variants_is_read(tmp_path):
    mlcroissant = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
    tasks = [make_task("modular-arithmetic", one) for one in ("sum-of-squares", "add")]
    sizes = {"train": 7, "test": 3}
    synthbench.generate(tasks, out=tmp_path / "made", rows=sizes, progress=False)
    file = tmp_path / "made" / "croissant.json"
    export(file.parent, "croissant", file)
    dataset = synthbench.DatasetDirectory.open(file.parent)
    for task in tasks:
        variant = task.variant
        for split, count in sizes.items():
            opened = mlcroissant.Dataset(jsonld=str(file))  # a filter changes what was read
            records = list(opened.records(variant, filters={f"{variant}/split": split}))
            assert {text(one[f"{variant}/split"]) for one in records} == {split}
            assert [text(one[f"{variant}/id"]) for one in records] == [
                row["id"] for row in dataset.rows(variant, split)
            ]
            assert len(records) == count


def test_every_shard_is_listed_with_its_checksum(described):
    file = described("ctl")
    told = json.loads(file.read_text("utf-8"))
    listed = {
        one["contentUrl"]: one["sha256"]
        for one in told["distribution"]
        if one["@type"] == "cr:FileObject"
    }
    found = files(file.parent)
    assert listed == {name: found[name] for name in found if name.endswith(".parquet")}
    assert "csordas2022neural" in told["citeAs"]
    (label,) = (one for one in told["recordSet"][0]["field"] if one["name"] == "label")
    assert label["description"].endswith("000, 001, 010, 011, 100, 101, 110, 111.")


def test_variants_and_splits_that_are_named_are_described_alone(described):
    told = json.loads(described("ctl", variants=["backward"], splits=["test"]).read_text("utf-8"))
    assert [one["@id"] for one in told["recordSet"]] == ["backward"]
    places = [one.get("contentUrl") or one["includes"] for one in told["distribution"]]
    assert places == [
        "data/backward/test-00000-of-00002.parquet",
        "data/backward/test-00001-of-00002.parquet",
        ["data/backward/test-*.parquet"],
    ]


def test_the_dataset_still_verifies_and_an_older_description_is_replaced(described):
    file = described("parity")
    assert synthbench.verify(file.parent, workers=1, progress=False).ok
    export(file.parent, "croissant", file, overwrite=True)


def test_images_are_not_described():
    assert (
        unsupported_reason(make_task("composites"))
        == "its column 'image' is not of numbers or text"
    )
    described = {name for name in list_tasks() if unsupported_reason(make_task(name)) is None}
    assert described == set(list_tasks()) - {"composites"}
