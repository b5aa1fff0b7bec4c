"""Public functions refuse arguments of a wrong type in a line or two, before they do anything."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import synthbench
from synthbench import llm
from synthbench.arguments import checked
from synthbench.errors import SynthbenchError, UsageError
from synthbench.sampling.preview import sample_rows
from synthbench.tasks.registry import task as make_task
from synthbench.training.recipes import find_study
from tests.making import make
from tests.support import ONE_EACH


class Odd:
    """A value that is of no type that anything expects."""


ODD = [
    7, -1, 3.5, float("nan"), 10**30, "wrong", "", "\0", "\udcff", b"raw", True, None, ...,
    [], [3], ["a", Odd()], [["train"]], {}, {3: 4}, {"train": Odd()}, {"train": "5"},
    {"n_values": Odd()}, {"n_values": [3]}, {"text": 3}, ("a",), {"set"}, Odd(), Odd, len,
    np.array([1, 2]), np.float32(2), np.int64(3), range(3),
]  # fmt: skip


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SYNTHBENCH_CACHE", str(tmp_path / "cache"))
    make("made", "parity", rows={"train": 30, "test": 20})


RECIPE = find_study("parity").recipes[0]
ROW = {"text": "3 4 7 2 =", "label": 7}
ROWS = {"train": 30, "test": 20}
#: A right call of each function; each of its arguments is replaced in turn.
CALLS = {
    "generate": {"task": "parity", "rows": ROWS, "workers": 1},
    "load_dataset": {"task": "parity", "rows": ROWS},
    "export": {"dataset": "made", "to": "jsonl", "out": "exported"},
    "push": {"dataset": "made", "repo_id": "someone/parity", "dry_run": True},
    "verify": {"dataset": "made", "fast": True, "workers": 1},
    "audit": {"dataset": "made"},
    "solve": {"task": "parity", "question": ROW["text"]},
    "score": {"task": "parity", "row": ROW, "answer": "7"},
    "is_held_out": {"task": "parity", "text_or_row": ROW["text"]},
    "train": {"task": "parity", "model": "softmax", "dataset": "made", "recipe": {"batch_size": 8}},
    "reproduce": {"task": "parity", "dataset": "made"},
}
#: Functions that work for seconds when nothing is wrong; they get only what cannot be right.
HEAVY = {"train", "reproduce", "audit"}


def _cases(name):
    """Calls with one odd argument, each with that argument's name."""
    for argument in inspect.signature(getattr(synthbench, name)).parameters:
        for odd in ODD:
            yield argument, odd, {**CALLS[name], argument: odd}


@pytest.mark.parametrize("name", sorted(set(CALLS) - HEAVY))
def test_every_odd_argument_is_refused_or_right(name):
    refused = 0
    for argument, odd, call in _cases(name):
        if argument == "dry_run" and odd is not True:
            continue  # nothing is to be uploaded
        case = f"{name}({argument}={odd!r})"
        try:
            getattr(synthbench, name)(**call)
        except SynthbenchError as error:
            assert 1 <= len(str(error).splitlines()) <= 2, case
            refused += 1
        except Exception as error:
            raise AssertionError(f"{case} raised {type(error).__name__}: {error}") from error
    assert refused > 20


#: Right for no argument of any function.
NEVER_RIGHT = [3.5, float("nan"), b"raw", Odd(), len, [Odd()], {3: 4}, ..., np.array([1, 2])]


@pytest.mark.parametrize("name", sorted(HEAVY))
def test_functions_that_work_long_refuse_at_once(name):
    for argument in inspect.signature(getattr(synthbench, name)).parameters:
        for odd in NEVER_RIGHT:
            with pytest.raises(SynthbenchError) as caught:
                getattr(synthbench, name)(**{**CALLS[name], argument: odd})
            assert 1 <= len(str(caught.value).splitlines()) <= 2, (argument, odd)


@pytest.mark.torch
def test_values_in_the_mappings_of_train_are_refused_by_name():
    wrong = {
        "rows": {"train": Odd()},
        "recipe": {"steps": Odd()},
        "options": {"d_model": Odd()},
    }
    for argument, given in wrong.items():
        with pytest.raises(SynthbenchError, match=next(iter(given))):
            synthbench.train(**{**CALLS["train"], argument: given})


def test_odd_choices_of_a_task_are_refused_or_right():
    refused = 0
    for argument in ("name", "variant", "seed", "level", "source_dir", "n_values", "other"):
        for odd in ODD:
            case = f"{argument}={odd!r}"
            try:
                made = synthbench.task(**{"name": "parity", argument: odd})
            except SynthbenchError as error:
                assert 1 <= len(str(error).splitlines()) <= 2, case
                refused += 1
            except Exception as error:
                raise AssertionError(f"{case} raised {type(error).__name__}: {error}") from error
            else:
                assert made == make_task(
                    "parity", seed=made.seed, n_values=made.parameters.n_values
                )
    assert refused > 180


def test_what_a_task_is_is_no_argument_of_other_functions():
    for name in ("generate", "load_dataset", "train", "reproduce"):
        for argument in ("variant", "level", "parameters", "source_dir"):
            with pytest.raises(UsageError, match=rf"no argument '{argument}'. .*synthbench.task\("):
                getattr(synthbench, name)(**CALLS[name], **{argument: None})


@pytest.mark.parametrize("task", [name for name, _ in ONE_EACH])
def test_odd_rows_questions_and_predictions_of_every_task(task):
    made = make_task(task)
    (row,) = sample_rows(made, made.splits[-1].name, 1)
    questions = [*ODD, *(dict.fromkeys(made.inputs, odd) for odd in ODD)]
    rows = [*ODD, *({**row, column: odd} for column in row for odd in ODD)]
    calls = [
        *((synthbench.solve, (task, odd)) for odd in questions),
        *((synthbench.is_held_out, (task, odd)) for odd in questions),
        *((synthbench.score, (task, row, odd)) for odd in ODD),
        *((synthbench.score, (task, odd, row.get("label"))) for odd in rows),
    ]
    for function, arguments in calls:
        try:
            function(*arguments)
        except SynthbenchError as error:
            assert len(str(error).splitlines()) <= 2, arguments
        except Exception as error:
            case = f"{function.__name__}{arguments!r:.300}"
            raise AssertionError(f"{case} raised {type(error).__name__}: {error}") from error


def test_whole_numbers_of_numpy_are_whole_numbers(tmp_path):
    plain = synthbench.generate(
        synthbench.task("parity", seed=3), out="plain", rows=ROWS, shard_rows=8192
    )
    rows = {name: np.int32(count) for name, count in ROWS.items()}
    given = {"rows": rows, "shard_rows": np.uint16(8192), "workers": np.int8(1)}
    parity = synthbench.task("parity", seed=np.int64(3))
    assert synthbench.generate(parity, out="numpy", **given) == plain
    loaded = synthbench.load_dataset(synthbench.task("parity", seed=np.int64(3)), "test", rows=rows)
    assert (
        loaded["id"]
        == synthbench.load_dataset(synthbench.task("parity", seed=3), "test", rows=ROWS)["id"]
    )
    assert synthbench.solve(synthbench.task("parity", seed=np.int64(3)), "3 4 7 2 =") == 7


#: A value for each kind of number that a `float` may be given as, and values that are no number.
REALS = [1, 0.5, np.float16(0.5), np.float32(0.5), np.float64(0.5), np.int8(1), np.uint64(1)]
REALS += [Fraction(1, 2), Decimal("0.5")]
NO_REALS = [True, False, np.True_, np.False_, 1j, "a half", b"1", Odd(), [0.5], 10**400, 10**5000]
NO_REALS += [Decimal("sNaN"), np.array([0.5, 0.5])]


def test_every_real_number_may_be_given_for_a_float():
    @checked
    def some(share: float = 0.5, limit: float | None = None, many: Sequence[float] = ()):
        return share

    takes = [
        lambda value: some(value),
        lambda value: synthbench.task("grid-count", fill=value).parameters.fill,
        lambda value: RECIPE.changed({"learning_rate": value}, {}).learning_rate,
        lambda value: RECIPE.changed({"heat": (value, 1, 1)}, {}).heat[0],
        lambda value: llm.Curriculum("parity", up=value)._up,
        lambda value: llm.Curriculum("parity", down=value, up=2)._down,
    ]
    for take in takes:
        for value in REALS:
            assert (take(value), type(take(value))) == (float(value), float)
        for value in NO_REALS:
            with pytest.raises(SynthbenchError, match=r"expected (a|two|three) number") as found:
                take(value)
            assert len(str(found.value)) < 300
    assert some(0.5, limit=None, many=[1, np.float32(2)]) == 0.5
    with pytest.raises(UsageError, match=r"^Limit True: expected a number or None\.$"):
        some(limit=True)
    with pytest.raises(UsageError, match="Many"):
        some(many=[True])


def test_an_argument_is_refused_with_what_is_allowed():
    @checked
    def some(name: str, rows: dict | None = None, count: int | None = None, *, on: bool = True):
        return count

    assert some("a", count=np.int64(4)) == 4
    assert type(some("a", count=np.int64(4))) is int
    with pytest.raises(UsageError, match=r"^Name 3: expected text\.$"):
        some(3)
    with pytest.raises(UsageError, match=r"^Count True: expected a whole number or None\.$"):
        some("a", count=True)
    with pytest.raises(UsageError, match=r"^On 'no': expected True or False\.$"):
        some("a", on="no")
    with pytest.raises(TypeError, match=r"some\(\) got an unexpected keyword argument 'nmae'"):
        some("a", nmae="b")
