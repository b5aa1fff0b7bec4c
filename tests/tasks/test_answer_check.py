"""Checked tasks: `check` has the right form, gives truth values, and judges everything."""

import numpy as np
import pytest

import synthbench
from synthbench.errors import TaskError, UsageError
from synthbench.tasks import registry
from synthbench.tasks.answer_check import MOST_CHARACTERS, passes
from synthbench.tasks.features import sequence, value
from tests.checked_tasks import Pairs, Walks

ROW = {"text": "3 8 5 4 9 -> 13", "label": "8 + 5", "numbers": 5}
WALK = {"text": "S a b c a b c a G", "label": "S * * c a * c a G", "size": 3}


@pytest.fixture(autouse=True)
def _fresh_registry(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})


def changed(**attributes):
    return type("Changed", (Pairs,), {"name": "changed", **attributes})


async def _coroutine(self, row, answer):
    return True


def _generator(self, row, answer):
    yield True


@pytest.mark.parametrize(
    ("check", "shown"),
    [
        (lambda self, answer: True, r"takes \(answer\)"),
        (lambda self, row: True, r"takes \(row\)"),
        (lambda self: True, r"takes \(\)"),
        (lambda self, answer, row: True, r"takes \(answer, row\)"),
        (lambda self, row, answer, more: True, r"takes \(row, answer, more\)"),
        (lambda self, row, answer, *, strict: True, r"takes \(row, answer, \*, strict\)"),
        (lambda self, *, row, answer: True, r"takes \(\*, row, answer\)"),
        (lambda row, answer: True, r"takes \(answer\)"),
        (_coroutine, "is a coroutine"),
        (_generator, "is a coroutine or a generator"),
        (True, "is True"),
        (None, "is None"),
    ],
)
def test_a_check_of_another_form_is_refused(check, shown):
    with pytest.raises(TaskError, match=rf"^check of changed {shown}.*expected check\(self, row,"):
        synthbench.register(changed(check=check))
    assert "changed" not in synthbench.list_tasks()


@pytest.mark.parametrize(
    "check",
    [
        lambda self, row, answer: True,
        lambda self, given, said: True,
        lambda self, row, answer, strict=True: True,
        lambda self, *both: True,
        staticmethod(lambda row, answer: True),
    ],
)
def test_a_check_that_takes_a_row_and_an_answer_is_accepted(check):
    synthbench.register(changed(check=check))
    assert synthbench.score("changed", ROW, "anything") == 1.0


def test_a_checked_task_has_a_label():
    with pytest.raises(TaskError, match="check of changed: columns lacks 'label'"):
        synthbench.register(changed(columns={"text": value("string"), "numbers": value("int8")}))


@pytest.mark.parametrize("given", [1, 0.5, "yes", None, [True], np.array([True, False])])
def test_only_truth_values_are_verdicts(given):
    task = changed(check=lambda self, row, answer: given)()
    with pytest.raises(
        TaskError, match=r"check of changed, asked for '8 . 5', gave .* True or Fal"
    ):
        synthbench.score(task, ROW, "8 + 5")
    assert synthbench.score(changed(check=lambda *_: np.True_)(), ROW, "8 + 5") == 1.0


def test_what_a_check_raises_is_an_error_that_names_it():
    def check(self, row, answer):
        return eval(answer) == 13

    with pytest.raises(TaskError, match="check of changed, asked for '1 / 0', raises ZeroDivision"):
        synthbench.score(changed(check=check)(), ROW, "1 / 0")


def test_a_row_that_lacks_a_column_of_check_is_named():
    with pytest.raises(UsageError, match="A row has no column 'text', by which answers of pairs"):
        synthbench.score(Pairs(), {"label": "8 + 5"}, "8 + 5")
    assert synthbench.score(Pairs(), {"text": ROW["text"]}, "4 + 9") == 1.0  # without its label


def test_a_text_that_is_too_long_never_reaches_the_check():
    asked = []
    task = changed(check=lambda self, row, answer: asked.append(len(answer)) is None)()
    assert passes(task, ROW, "1" * MOST_CHARACTERS)
    assert not passes(task, ROW, "1" * (MOST_CHARACTERS + 1))
    assert not passes(task, ROW, None)
    assert asked == [MOST_CHARACTERS]


@pytest.mark.parametrize(
    ("task", "row", "answer", "score"),
    [
        (Pairs, ROW, "8 + 5", 1.0),
        (Pairs, ROW, "9+4", 1.0),
        (Pairs, ROW, "9 + 3", 0.0),
        (Pairs, ROW, 13, 0.0),
        (Walks, WALK, WALK["label"], 1.0),
        (Walks, WALK, WALK["label"].split(), 1.0),
        (Walks, WALK, "S a b * * b c * G", 1.0),
        (Walks, WALK, "RRDD", 1.0),
        (Walks, WALK, "d d r r", 1.0),
        (Walks, WALK, "RDR", 0.0),
        (Walks, WALK, "S * * c a * * a G", 0.0),
        (Walks, WALK, "up", 0.0),
    ],
)
def test_every_right_answer_scores_in_each_of_its_forms(task, row, answer, score):
    assert synthbench.score(task(), row, answer) == score


def test_metrics_are_those_of_whole_answers():
    assert Walks().metrics == Walks().binary_metrics == ("accuracy",)
    assert Walks().answer == sequence(("S", "G", "a", "b", "c", "*"))
    assert not synthbench.task("parity").is_checked


def test_check_of_any_task_compares_with_the_label():
    parity, row = synthbench.task("parity"), {"text": "3 4 7 2 =", "label": 7}
    assert (parity.check(row, 7), parity.check(row, 2)) == (True, False)
    more = changed(check=lambda self, row, answer: super(Pairs, self).check(row, answer))()
    assert [synthbench.score(more, ROW, one) for one in ("8 + 5", "4 + 9")] == [1.0, 0.0]
