"""Tasks and rows as a person reads them."""

import collections
import re

import pytest

from synthbench.errors import ParameterError, UsageError
from synthbench.sampling.preview import preview, sample_rows
from synthbench.tasks.describe import describe, describe_tasks, draw_row
from synthbench.tasks.features import class_label, image, list_of, struct, value
from synthbench.tasks.registry import list_tasks
from synthbench.tasks.registry import task as make_task
from synthbench.text.tables import render
from tests.support import ONE_EACH

every_task = pytest.mark.parametrize("name", list_tasks())
first_variant = pytest.mark.parametrize(("name", "variant"), ONE_EACH)


# Tasks.


def test_the_list_names_tasks_variants_splits_and_default_sizes():
    rows = {row[0]: row[1:] for row in describe_tasks().rows}
    assert list(rows) == list_tasks()
    for task in map(make_task, list_tasks()):
        summary, variants, splits, sizes = (str(cell).split("\n") for cell in rows[task.name])
        assert (summary, variants) == ([task.summary], list(task.variants))
        assert splits == [split.name for split in task.splits]
        assert sizes == [f"{split.rows:,}" for split in task.splits]


@every_task
def test_the_description_has_all_there_is_to_know_before_generating(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")  # nothing wraps
    text, task = render(describe(name)), make_task(name)
    for part in (task.title, task.summary, task.source, *task.variants.values()):
        assert part in text
    for split in task.splits:
        assert re.search(rf"^{split.name} +{split.rows:,}(  |$)", text, re.MULTILINE)
    for key in task.parameters.to_dict():
        assert re.search(rf"^{key} +\S", text, re.MULTILINE)
    for key in ("id", *task.columns):
        assert re.search(rf"^{key} +\S", text, re.MULTILINE)
    assert all(line == line.rstrip() for line in text.splitlines())


def test_a_description_shows_defaults_as_the_command_line_takes_them():
    text = render(describe("ctl"))
    assert re.search(r"^train_lengths +1\.\.5 +buckets of train", text, re.MULTILINE)
    assert re.search(r"^label +ClassLabel\(000, 001, .*, 111\)$", text, re.MULTILINE)
    assert re.search(r"^steps +List\(string\)$", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("feature", "name"),
    [
        (value("int16"), "int16"),
        (list_of(value("int8")), "List(int8)"),
        (list_of(list_of(value("float32"))), "List(List(float32))"),
        (class_label(["no", "yes"]), "ClassLabel(no, yes)"),
        (class_label([str(n) for n in range(100)]), "ClassLabel(0, 1 .. 99)"),
        (image(), "Image"),
        (
            list_of(struct({"kind": value("string"), "rgb": list_of(value("uint8"))})),
            "List({kind: string, rgb: List(uint8)})",
        ),
    ],
)
def test_a_type_is_shown_in_the_words_of_datasets(feature, name):
    assert str(feature) == name


# Rows.


@first_variant
def test_a_preview_shows_five_different_rows_unless_asked_otherwise(name, variant):
    task = make_task(name, variant)
    drawn = sample_rows(task, task.splits[0].name, 5)
    assert len({repr(row) for row in drawn}) == 5
    text = preview(task)
    assert str(text) == "\n\n".join(str(draw_row(task, row)) for row in drawn)
    assert preview(task) == text
    assert preview(make_task(name, variant, seed=1)) != text
    assert preview(task, rows=1) == draw_row(task, sample_rows(task, task.splits[0].name, 1)[0])


@pytest.mark.parametrize("name", ["ctl", "listops", "grid-count", "identity"])
def test_previewed_rows_are_spread_over_the_splits_buckets(name):
    task = make_task(name)
    for split in task.splits:
        drawn = sample_rows(task, split.name, 3 * len(split.buckets))
        assert all(list(row) == list(task.columns) for row in drawn)
        counts = collections.Counter(row.get(task.bucket_name) for row in drawn)
        if set(counts) != {None}:
            assert set(counts) == set(split.buckets)


def test_a_preview_follows_variant_split_and_parameters():
    forward, backward = (str(preview(make_task("ctl", name))) for name in ("forward", "backward"))
    first = forward.splitlines()[0].split("  ->  ")
    assert backward.splitlines()[0].split("  ->  ") == [" ".join(first[0].split()[::-1]), first[1]]
    longest = str(preview(make_task("ctl", test_lengths="10"), split="test", rows=1))
    assert len(longest.splitlines()[0].split("  ->  ")[0].split()) == 11


def test_asked_for_more_rows_than_there_are_a_preview_shows_those_there_are():
    # Of the 81 equations five are held out.
    assert str(preview(make_task("parity", n_values="3"), rows=1000)).count(" =  ->  ") == 76


@pytest.mark.parametrize("rows", [0, -1])
def test_a_preview_of_no_rows_is_refused(rows):
    with pytest.raises(UsageError, match=f"Rows {rows}: allowed are whole numbers from 1"):
        preview("parity", rows=rows)


def test_impossible_parameters_are_refused_before_anything_is_drawn(tmp_path):
    with pytest.raises(ParameterError, match="n_values=1"):
        preview(make_task("parity", n_values=1), out=tmp_path / "sheet.png")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["sheet.html", "sheet", "sheet.png.jpg", "."])
def test_a_contact_sheet_goes_to_no_file_but_a_png(name, tmp_path):
    with pytest.raises(UsageError, match=r"Allowed are names that end in \.png"):
        preview("composites", out=tmp_path / name)
    assert list(tmp_path.iterdir()) == []
