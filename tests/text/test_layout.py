"""Tables in narrow terminals: a figure stands in the line of its label, at any width."""

import re

import pytest

from synthbench.text.tables import Heading, Table, render

RUNS = Table(
    ["model", "measure", "here", "paper", "seconds"],
    [
        ["lstm", "training rows\niid\ntest", "0.994\n0.986\n0.694", "\n0.990\n0.710", "1,292"],
        ["data router", "training rows\niid\ntest", "1.000\n1.000\n0.968", "\n0.990\n0.980", "9"],
    ],
    right=[2, 3, 4],
    whole=[1],
    keys=2,
    apart=True,
)


@pytest.fixture
def shown(monkeypatch):
    """The lines of a table at a width."""

    def at(table, width, colors=False):
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("TERM", "xterm")
        return render(table, colors=colors).splitlines()

    return at


def test_a_table_that_fits_is_in_one_piece(shown):
    assert shown(RUNS, 50) == [
        "model        measure         here  paper  seconds",
        "lstm         training rows  0.994           1,292",
        "             iid            0.986  0.990",
        "             test           0.694  0.710",
        "",
        "data router  training rows  1.000               9",
        "             iid            1.000  0.990",
        "             test           0.968  0.980",
    ]


def test_what_does_not_fit_continues_below_behind_the_keys(shown):
    assert shown(RUNS, 36) == [
        "model    measure         here  paper",
        "lstm     training rows  0.994",
        "         iid            0.986  0.990",
        "         test           0.694  0.710",
        "",
        "data     training rows  1.000",
        "router   iid            1.000  0.990",
        "         test           0.968  0.980",
        "",
        "model        measure        seconds",
        "lstm         training rows    1,292",
        "             iid",
        "             test",
        "",
        "data router  training rows        9",
        "             iid",
        "             test",
    ]


@pytest.mark.parametrize("width", [30, 36, 40, 50, 60, 80, 120, 200])
def test_every_measure_has_one_line_with_its_figure(shown, width):
    lines = shown(RUNS, width)
    for measure, *figures in (
        ("training rows", "0.994", "1.000"),
        ("iid", "0.986", "1.000"),
        ("test", "0.694", "0.968"),
    ):
        behind = [line.partition(measure)[2].split() for line in lines if measure in line]
        found = [words[0] for words in behind if words and words[0] in figures]
        assert found == figures
    assert max(map(len, lines)) <= width


def test_colours_change_no_line(shown):
    for width in (36, 80):
        colored = "\n".join(shown(RUNS, width, colors=True))
        assert "\x1b[" in colored
        plain = [line.rstrip() for line in re.sub(r"\x1b\[[\d;]*m", "", colored).splitlines()]
        assert plain == shown(RUNS, width)


def test_lines_of_cells_that_wrap_stay_beside_each_other(shown):
    table = Table(
        ["what", "part", "share"],
        [["a sentence of many words", "the first of two\nthe second", "one\ntwo"]],
    )
    assert shown(table, 25) == [
        "what      part      share",
        "a         the       one",
        "sentence  first of",
        "of many   two",
        "words     the       two",
        "          second",
    ]


def test_a_right_aligned_column_stays_with_its_labels(shown):
    table = Table(
        ["task", "variants", "splits", "rows"],
        [["ctl", "forward\nbackward", "train\ntest", "53,704\n1,000"]],
        right=[3],
        whole=[1, 2],
    )
    assert shown(table, 26) == [
        "task  variants",
        "ctl   forward",
        "      backward",
        "",
        "task  splits    rows",
        "ctl   train   53,704",
        "      test     1,000",
    ]


def test_a_heading_within_a_table_names_the_columns_of_each_piece(shown):
    rows = [["test", "40", "0.5000"], Heading(["depth", "rows", "accuracy"]), ["1", "8", "0.2500"]]
    assert shown(Table(["split", "rows", "accuracy"], rows, right=[1, 2]), 18) == [
        "split  rows",
        "test     40",
        "",
        "depth  rows",
        "1         8",
        "",
        "split  accuracy",
        "test     0.5000",
        "",
        "depth  accuracy",
        "1        0.2500",
    ]


def test_a_room_for_nothing_ends(shown):
    lines = shown(RUNS, 1)
    assert any("0.694" in line for line in lines)
