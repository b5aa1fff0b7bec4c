"""Of composites, what pictures show is told right in every variant."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from synthbench.auditing.variant import audit_spec_of
from synthbench.tasks.base import Block
from synthbench.tasks.composites import quadrants
from synthbench.tasks.composites.audit import answers, compared, other_answer
from synthbench.tasks.composites.parts import FIRST_TARGET, SECOND_TARGET
from synthbench.tasks.composites.task import Composites
from synthbench.tasks.registry import task as make_task
from tests.support import draw_splits
from tests.tasks.composites.making import VARIANTS

every_variant = pytest.mark.parametrize("variant", VARIANTS)


@functools.cache
def rows_of(variant):
    task = make_task("composites", variant)
    assert isinstance(task, Composites)
    return task, task.rendered(draw_splits(task, 100, "train")["train"].block)


@every_variant
def test_the_answer_of_the_case_that_holds_is_the_label(variant):
    task, columns = rows_of(variant)
    label, outcome = (columns[name].to_numpy(zero_copy_only=False) for name in ("label", "outcome"))
    first, second = answers(task, columns).T
    assert (np.where(outcome, first, second) == label).all()
    other = np.array(task.label_names)[np.where(outcome, second, first)]
    assert other_answer(task, columns).tolist() == other.tolist()


@every_variant
def test_targets_are_found_where_the_row_says_and_all_parts_in_different_places(variant):
    task, columns = rows_of(variant)
    places = task.parts.find(task.parse(columns)["kind"])
    assert (np.sort(places, axis=1) == np.arange(4)).all()
    outcome = columns["outcome"].to_numpy(zero_copy_only=False)
    selected = columns["selected"].to_numpy()
    second = not task.design.color_answers
    decisive = np.where(outcome, FIRST_TARGET, SECOND_TARGET if second else FIRST_TARGET)
    assert (places[np.arange(len(places)), decisive] == selected).all()


@every_variant
def test_what_is_compared_tells_the_case_and_one_of_the_two_alone_does_not(variant):
    task, columns = rows_of(variant)
    outcome = columns["outcome"].to_numpy(zero_copy_only=False)
    cases: dict[tuple[int, ...], set[bool]] = {}
    alone: dict[int, set[bool]] = {}
    for pair, one in zip(compared(task, columns).tolist(), outcome.tolist(), strict=True):
        cases.setdefault(tuple(pair), set()).add(one)
        alone.setdefault(pair[0], set()).add(one)
    assert all(len(found) == 1 for found in cases.values())
    assert any(len(found) == 2 for found in alone.values())


@every_variant
def test_shortcuts_without_both_indicators_are_right_in_half_of_the_rows_or_little_more(variant):
    task, columns = rows_of(variant)
    names = {one.name: one for one in audit_spec_of(task).shortcuts}
    label = columns["label"].to_numpy()
    outcome = columns["outcome"].to_numpy(zero_copy_only=False)
    for name, case in (("first answer alone", True), ("second answer alone", False)):
        right = names[name].fit(columns)(columns) == label
        assert right[outcome == case].all() or right.mean() > 0.5


def test_near_duplicates_have_the_same_images_whatever_their_places_and_colours():
    task, columns = rows_of("same-color")
    block = task.parse(columns)
    moved = {name: column[:, ::-1] for name, column in block.columns.items()}
    moved["color"] = 5 - moved["color"]  # blue is 1, red 4
    again = {"quadrants": quadrants.to_arrow(Block(moved))}
    (code,) = audit_spec_of(task).near_duplicate_keys.values()
    assert code(again).tolist() == code(columns).tolist()
    assert len(set(code(columns).tolist())) > 90


def test_levels_are_the_cases_of_the_rule_and_none_is_to_withstand_a_shortcut_by_itself():
    task, columns = rows_of("main")
    levels = audit_spec_of(task).levels
    assert levels is not None
    assert not levels.each_must_be_hard
    outcome = columns["outcome"].to_numpy(zero_copy_only=False)
    assert (
        np.array([levels.label(one) for one in levels.of(columns).tolist()])
        == np.where(outcome, "same digit", "different digits")
    ).all()
