"""Class folders and paths to them that have markup or control characters in their names."""

import dataclasses
import html
import os
import re

import pytest

import synthbench
from synthbench.dataset.card_sections import _uneven_buckets
from synthbench.errors import DatasetError, ParameterError
from synthbench.tasks.images.source_dirs import use_source_dir
from tests.support import card_sections
from tests.tasks.tiny_sources import write_sources, write_tree

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no such names")

MARKUP = [
    "<b>bold", "<img src=x onerror=alert(1)>", "[x](y)", "a|b", "back\\|slash", "c`d", "_e*f_",
]  # fmt: skip
FOLDER = "we|ird`<b>"


def make(root, folder):
    """A dataset of composites whose targets come from class folders, at `root / "made"`."""
    synthbench.generate(
        synthbench.task(
            "composites", source_dir=root / "sources", target_source=f"folder:{folder}"
        ),
        out=root / "made",
        rows={"train": 28, "validation": 14, "test": 15},
        workers=1,
        progress=False,
    )


def shown(cell):
    """The text that a reader sees of a cell: without the marks of code, escapes undone."""
    if re.fullmatch(r"`[^`]*`", cell):
        return cell[1:-1].replace("\\|", "|")
    cell = cell.removeprefix("<code>").removesuffix("</code>")
    assert not re.search(r"[<>|]|(?<!\\)(?:\\\\)*(?<!\\)[`*\[]", cell), cell
    return html.unescape(re.sub(r"\\([\\`*_\[~])", r"\1", cell))


def cells(line):
    """The cells of a line of a table, as GitHub cuts it: an escaped character is no border."""
    assert line.startswith("| ") and line.endswith(" |")
    return [cell.strip() for cell in re.findall(r"((?:\\.|[^|\\])+)\|", line[1:])]


def test_names_with_markup_stand_in_the_card_as_they_are(tmp_path):
    write_tree(write_sources(tmp_path / "sources") / FOLDER, MARKUP, seed=7)
    make(tmp_path, FOLDER)
    with use_source_dir(tmp_path / "sources"):
        assert synthbench.verify(tmp_path / "made", progress=False).ok

    card = (tmp_path / "made/README.md").read_text(encoding="utf-8")
    sections = card_sections(card)
    splits = synthbench.DatasetDirectory.open(tmp_path / "made").manifest.variants["main"]

    for line, (name, split) in zip(tables(sections["Splits"]), splits.items(), strict=True):
        buckets = ", ".join(f"{bucket}: {count}" for bucket, count in split.buckets.items())
        assert [shown(cell) for cell in cells(line)[:3]] == [name, str(split.rows), buckets]
    made = {shown(cells(line)[0]): shown(cells(line)[1]) for line in tables(sections["Provenance"])}
    assert made["target_source"] == f"folder:{FOLDER}"
    assert f"classes: {' '.join(sorted(MARKUP))};" in made[f"folder:{FOLDER}"]
    (remark,) = re.findall(r"^> .* has target_source (.*?), 28 rows", sections["Results"])
    assert shown(remark) == f"folder:{FOLDER}"
    with use_source_dir(tmp_path / "sources"):
        task = synthbench.task("composites", target_source=f"folder:{FOLDER}")
    for least in splits["test"].buckets:
        counts = {one: 1 if one == least else 9 for one in splits["test"].buckets}
        uneven = {"test": dataclasses.replace(splits["test"], buckets=counts)}
        (said,) = _uneven_buckets(task, uneven, named=False)
        (named,) = re.findall(r"outcome and label (.*?) has only 1 row, because", said)
        assert shown(named) == least


def tables(section):
    """The lines of a section's tables, without their heads."""
    return re.findall(r"^\|(?! (?:---|split|parameter|sources) ).*$", section, re.MULTILINE)


@pytest.mark.parametrize("name", ["a\tb", "a\nb", "red\x1b[31m", "bell\x07", "\udcff"])
def test_a_class_that_is_no_line_of_text_is_refused_before_any_row_is_made(name, tmp_path):
    write_tree(write_sources(tmp_path / "sources") / "tree", ["first", name], seed=7)
    expected = "the name of a class must be a line of text"
    with pytest.raises(DatasetError, match=expected) as caught:
        make(tmp_path, "tree")
    assert repr(name) in str(caught.value)
    assert [entry.name for entry in tmp_path.iterdir()] == ["sources"]


@pytest.mark.parametrize("folder", ["a\tb", "a\nb", "red\x1b[31m", "\udcff", "long" * 250])
def test_a_path_that_is_no_line_of_text_is_refused_before_any_row_is_made(folder, tmp_path):
    (tmp_path / "sources").mkdir()
    with pytest.raises(ParameterError, match="expected a line of text, of at most 1,000"):
        make(tmp_path, folder)
    assert [entry.name for entry in tmp_path.iterdir()] == ["sources"]
