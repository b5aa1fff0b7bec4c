"""Files of a dataset are read only where they lie in it, and only regular ones."""

import os
import sys

import pytest

from synthbench.dataset.files import entries_below, read_regular, regular_file, why_unreadable
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
def test_links_are_not_followed_wherever_they_are_on_the_way(directory):
    (directory / "link.txt").symlink_to("../outside.txt")
    (directory / "c").symlink_to("a")
    (directory / "up").symlink_to("..")
    assert "a link, and links are not followed" in str(why_unreadable(directory, "link.txt"))
    behind = f"behind the link {directory / 'c'}"
    assert str(why_unreadable(directory, "c/b/file.txt")).startswith(behind)
    assert str(why_unreadable(directory, "up/outside.txt")).startswith("behind the link")


@posix
def test_the_directory_itself_may_be_a_link_for_its_caller_has_named_it(directory):
    (directory.parent / "alias").symlink_to("in")
    assert read_regular(directory.parent / "alias", "a/b/file.txt", 100) == b"text"


def test_a_file_that_is_larger_than_allowed_is_not_read(directory):
    with pytest.raises(DatasetError, match="has 4 bytes; at most 3 are read"):
        read_regular(directory, "a/b/file.txt", 3)


def test_all_that_lies_below_a_directory_is_listed_in_order_but_directories(directory):
    for name in ("a/z.txt", "a/b/.hidden", "a/a.txt"):
        (directory / name).write_text("")
    (directory / "a" / "empty").mkdir()
    expected = ["a/a.txt", "a/b/.hidden", "a/b/file.txt", "a/z.txt"]
    assert list(entries_below(directory, "a")) == expected
    assert list(entries_below(directory, "none")) == []


@posix
def test_links_are_listed_and_not_followed(directory):
    (directory / "a" / "up").symlink_to("..")
    (directory / "c").symlink_to("a")
    assert "a/up" in list(entries_below(directory, "a"))
    assert list(entries_below(directory, "c")) == ["c"]


def test_directories_nested_deeper_than_python_calls_are_listed(directory):
    nested = [directory / "a"]
    for _ in range(1_500):
        nested.append(nested[-1] / "d")
        nested[-1].mkdir()
    (nested[-1] / "file").write_text("")
    assert len(list(entries_below(directory, "a"))) == 2
    (nested[-1] / "file").unlink()
    for path in reversed(nested[1:]):  # pytest would call itself for every one
        path.rmdir()
