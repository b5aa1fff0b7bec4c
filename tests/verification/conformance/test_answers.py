"""`synthbench check-task` says what is wrong with a `check`."""

import random
import re
import time

import pytest

import synthbench
from synthbench.errors import TaskError
from synthbench.tasks import registry
from synthbench.verification.conformance import answers
from synthbench.verification.conformance import draws as draws_of
from synthbench.verification.conformance.answers import check_checker
from synthbench.verification.conformance.check import check_task
from tests.checked_tasks import Pairs, Walks

SOUND = Pairs.check
PAIR = re.compile(r"([0-9]{1,2}) *[+] *([0-9]{1,2})")


@pytest.fixture(autouse=True)
def _fresh_registry(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})


@pytest.mark.slow
@pytest.mark.parametrize("task", [Pairs, Walks])
def test_sound_checks_are_found_sound(task):
    synthbench.register(task)
    assert [one for one in check_task(task.name) if one.problems] == []


def anything(self, row, answer):
    return True


def any_pair(self, row, answer):
    return PAIR.fullmatch(answer) is not None


def in_order(self, row, answer):
    first, _, second = answer.partition(" + ")
    return f"{first} " in row["text"].partition(f" {second} ")[0] and SOUND(self, row, answer)


def somewhere(self, row, answer):
    return any(SOUND(self, row, found[0]) for found in PAIR.finditer(answer))


def converts(self, row, answer):
    first, _, second = answer.partition("+")
    return SOUND(self, row, f"{int(first)} + {int(second)}")


def evaluates(self, row, answer):
    return eval(answer) == int(row["text"].split(" ")[-1]) and SOUND(self, row, answer)


def descends(self, row, answer):
    if answer.startswith("("):
        return descends(self, row, answer[1:])
    return SOUND(self, row, answer)


def compares_all(self, row, answer):
    until = time.process_time() + (len(answer) / 20_000) ** 2
    while time.process_time() < until:
        pass
    return SOUND(self, row, answer)


def never_ends(self, row, answer):
    while len(answer) > 1_000:
        time.sleep(0.01)
    return SOUND(self, row, answer)


def takes_away(self, row, answer):
    return SOUND(self, {"text": row["text"]}, answer) and row.pop("numbers", 0) >= 0


def remembers(self, row, answer):
    key = (row["text"], answer)
    known = key in SEEN
    SEEN.add(key)
    return SOUND(self, row, answer) and not known


def draws(self, row, answer):
    return SOUND(self, row, answer) and random.random() < 0.5


def counts(self, row, answer):
    return int(SOUND(self, row, answer))


SEEN: set = set()

#: The check with a mistake, and words of the sentence that says so.
BROKEN = [
    (anything, "check accepts '' for .*, which answers no question"),
    (any_pair, "check accepts the labels of 10 rows for each of them: it refuses nothing"),
    (in_order, "check refuses '.* . .*', the label of"),
    (somewhere, "check accepts '.* or .*' for .*, of which a part is wrong: parse the whole"),
    (converts, "check of pairs, asked for '.*', raises ValueError: invalid literal for int"),
    (evaluates, "check of pairs, asked for '.*', raises (SyntaxError|NameError)"),
    (descends, "check of pairs, asked for '[(]+.*, raises RecursionError"),
    (compares_all, r"check takes [0-9.]+ seconds for .*\([0-9,]+ characters\).*: bound what it"),
    (takes_away, "check changes the row"),
    (remembers, "check refuses|gave another verdict"),
    (draws, "refuses|another verdict"),
    (counts, "check of pairs, asked for .*, gave 1: expected True or False"),
]


def problems(check, monkeypatch):
    """The problems of the task with another check; an error counts, as in `check_task`."""
    monkeypatch.setattr(Pairs, "check", check)
    monkeypatch.setattr(answers, "_SECONDS", 0.2)
    task = Pairs()
    block, _ = draws_of.propose_rows(task, task.splits[0], 5, 10)
    try:
        return check_checker(task, block)
    except TaskError as error:
        return [str(error)]


@pytest.mark.parametrize(("check", "sentence"), BROKEN, ids=[one.__name__ for one, _ in BROKEN])
def test_a_mistake_gets_its_sentence(check, sentence, monkeypatch):
    SEEN.clear()
    found = problems(check, monkeypatch)
    assert re.search(sentence, " ".join(found)), found


def test_a_sound_check_has_no_problems(monkeypatch):
    assert problems(SOUND, monkeypatch) == []


@pytest.mark.slow
def test_a_check_that_never_ends_is_stopped_and_named(monkeypatch):
    monkeypatch.setattr(Pairs, "check", never_ends)
    synthbench.register(Pairs)
    last = [one for one in check_task("pairs", seconds=5) if one.problems][-1]
    assert last.statement == "Its check takes right answers alone, and any text at all"
    assert "It did not end within 5 seconds" in last.problems[0]
