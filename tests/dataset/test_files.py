"""Files of a dataset are read only where they lie in it, and only regular ones."""

import os
import sys
from pathlib import Path

import pytest

from synthbench.dataset.files import read_json, read_regular, reading, regular_file, why_unreadable
from synthbench.errors import DatasetError

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes in folders")


@pytest.fixture
def directory(tmp_path):
    """A directory with a file, and another file beside it."""
    (tmp_path / "outside.txt").write_text("secret")
    (tmp_path / "in" / "a" / "b").mkdir(parents=True)
    (tmp_path / "in" / "a" / "b" / "file.txt").write_text("text")
    return tmp_path / "in"


def test_a_regular_file_is_found_and_read(directory):
    assert regular_file(directory, "a/b/file.txt") == directory / "a" / "b" / "file.txt"
    assert read_regular(directory, "a/b/file.txt", 4) == b"text"


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../outside.txt", "a/../../outside.txt", "/etc/passwd", "a//b", "a\\b", "a/",
     "C:/x", "~/x", ".hidden", "a\x00b", "a\nb", "x" * 300, "ü"],
)  # fmt: skip
def test_a_name_that_could_lead_elsewhere_is_no_path(directory, name):
    assert why_unreadable(directory, name) == "not a path in a dataset"


@pytest.mark.parametrize("name", ["none", "a/none", "a/b/file.txt/x", "none/x"])
def test_what_is_not_there_is_missing(directory, name):
    assert why_unreadable(directory, name) == "missing"
    with pytest.raises(DatasetError, match=f"{directory / name} is missing"):
        regular_file(directory, name)


def test_a_directory_is_no_regular_file(directory):
    assert why_unreadable(directory, "a/b") == "not a regular file"


@posix
def test_a_pipe_is_no_regular_file_and_nobody_waits_for_it(directory):
    os.mkfifo(directory / "pipe")
    with pytest.raises(DatasetError, match="pipe is not a regular file"):
        read_regular(directory, "pipe", 100)


@posix
def test_links_out_of_the_directory_are_not_followed(directory):
    (directory / "link.txt").symlink_to("../outside.txt")
    (directory / "up").symlink_to("..")
    (directory / "loop").symlink_to("loop")
    for name in ("link.txt", "up/outside.txt"):
        assert str(why_unreadable(directory, name)).startswith("a link out of the dataset")
    assert why_unreadable(directory, "loop") == "missing"


@posix
def test_the_directory_itself_may_be_a_link_for_its_caller_has_named_it(directory):
    (directory.parent / "alias").symlink_to("in")
    assert read_regular(directory.parent / "alias", "a/b/file.txt", 100) == b"text"


def test_a_file_that_is_larger_than_allowed_is_not_read(directory):
    with pytest.raises(DatasetError, match=r"has 4 bytes. At most 3 are read"):
        read_regular(directory, "a/b/file.txt", 3)


def test_whatever_a_library_raises_while_it_reads_names_the_file(directory):
    for error in (KeyError("x"), RecursionError(), OSError(5, "Input error"), MemoryError()):
        with (
            pytest.raises(DatasetError, match=f"^{directory} cannot be read: .+"),
            reading(directory),
        ):
            raise error


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "Expecting value"),
        (b"\xff", "invalid start byte"),
        ('{"a": 1}'.encode("utf-16"), "invalid start byte"),
        (b'{"x": [{"a": 1, "a": 1}]}', "a name appears more than once"),
        (b"[NaN]", "NaN and infinities"),
        (b"1e999", "NaN and infinities"),
        (b"7" * 5_000, "Exceeds the limit"),
        (b"[" * 40 + b"]" * 40, "nested more than 32 deep"),
        (b"[" * 1_000_000, "nested more than 32 deep"),
        (b"{} {}", "Extra data"),
    ],
    ids=range(10),
)
def test_what_readers_could_take_for_something_else_is_no_json(data, reason):
    with pytest.raises(ValueError, match=reason):
        read_json(data)
    assert read_json(b"[" * 32 + b"]" * 32) is not None
    assert read_json(b"[-Infinity]", constants=True) == [float("-inf")]


def test_a_file_that_is_removed_while_it_is_looked_at_is_missing(directory, monkeypatch):
    resolve = Path.resolve

    def removing(path, *arguments):
        (directory / "a/b/file.txt").unlink(missing_ok=True)
        return resolve(path, *arguments)

    monkeypatch.setattr(Path, "resolve", removing)
    with pytest.raises(DatasetError, match=r"file\.txt is missing\.$"):
        regular_file(directory, "a/b/file.txt")
