"""A curriculum: its level follows the rewards, and nothing else decides which rows come."""

import itertools
import json

import numpy as np
import pytest

import synthbench
from synthbench import llm
from synthbench.errors import UsageError
from synthbench.tasks.registry import task as make_task


def run(curriculum, pattern):
    """The rows that come while completions are right (1) or wrong (0) by a pattern."""
    rows, taken = iter(curriculum), []
    for right in pattern:
        row = next(rows)
        taken.append(row)
        text = f"Answer: {row['answer']}" if right else "I cannot say."
        columns = {name: [value] for name, value in row.items()}
        assert curriculum.reward([text], **columns) == [float(right)]
    return taken


def test_the_level_rises_with_right_answers_and_falls_with_wrong_ones():
    curriculum = llm.Curriculum("parity", window=4)
    pattern = [1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    levels = [row["level"] for row in run(curriculum, pattern)]
    # Half of a window right keeps the level; beyond the last and the first there is no level.
    expected = [*["easy"] * 4, *["medium"] * 8, *["hard"] * 4, *["medium"] * 4, *["easy"] * 5]
    assert levels == expected


def test_a_mean_that_is_just_up_or_just_down_moves_the_level():
    curriculum = llm.Curriculum("parity", up=0.75, down=0.25, window=4)
    levels = [row["level"] for row in run(curriculum, [1, 1, 1, 0, 1, 0, 0, 0, 1])]
    assert levels == [*["easy"] * 4, *["medium"] * 4, "easy"]


def test_rows_are_those_of_the_levels_streams_and_never_held_out():
    rows = run(llm.Curriculum("ctl", seed=3, window=5), [1] * 12)
    for level in ("easy", "medium", "hard"):
        stream = next(synthbench.stream(make_task("ctl", level=level), seed=3, batch_size=12))
        mine = [row for row in rows if row["level"] == level]
        for name in ("id", "text"):
            assert [row[name] for row in mine] == stream[name][: len(mine)].tolist()
        assert all(row["id"] >= "2" for row in mine)
    # The prompt has the tables of the row's own level.
    assert [row["prompt"][0]["content"].count(" to ") for row in rows[::5]] == [26, 74, 74]


def test_the_same_rewards_give_the_same_rows_and_a_state_goes_on_with_them():
    pattern = [1, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1]
    whole = run(llm.Curriculum("parity", window=3), pattern)
    assert run(llm.Curriculum("parity", window=3), pattern) == whole
    for stop in range(len(pattern)):
        first = llm.Curriculum("parity", window=3)
        begun = run(first, pattern[:stop])
        second = llm.Curriculum("parity", window=3)
        second.load_state_dict(json.loads(json.dumps(first.state_dict())))
        assert [*begun, *run(second, pattern[stop:])] == whole


def test_a_trainer_that_reads_ahead_gets_rows_of_the_new_level_and_old_rewards_do_not_count():
    curriculum = llm.Curriculum("parity", window=2)
    rows = iter(curriculum.dataset())
    ahead = [next(rows) for _ in range(4)]
    columns = {name: [row[name] for row in ahead] for name in ahead[0]}
    completions = [f"Answer: {row['answer']}" for row in ahead]
    assert curriculum.reward(completions, **columns) == [1.0] * 4
    assert curriculum.state_dict()["rewards"] == []
    assert next(rows)["level"] == "medium"


def test_rewards_of_a_level_count_when_the_next_has_rows_of_several_tasks():
    several = {"listops": 1, "parity": 1}
    curriculum = llm.Curriculum("parity", levels={"one": make_task("parity"), "both": several})
    rows = list(itertools.islice(curriculum, 2))
    curriculum.level = "both"
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    assert curriculum.reward([f"Answer: {row['answer']}" for row in rows], **columns) == [1.0] * 2


def test_levels_may_be_chosen_or_made():
    made = {name: make_task("listops", train_depths=[n]) for name, n in (("tiny", 1), ("small", 2))}
    curriculum = llm.Curriculum("listops", levels=made, window=3)
    rows = run(curriculum, [1] * 6)
    assert [row["dependency_depth"] for row in rows] == [1, 1, 1, 2, 2, 2]
    assert llm.Curriculum("parity", levels=["medium", "hard"]).level == "medium"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: llm.Curriculum("lisops"), "Did you mean 'listops'"),
        (lambda: llm.Curriculum("parity", levels=["esay"]), "Did you mean 'easy'"),
        (lambda: llm.Curriculum("composites"), "missing for 'composites'"),
        (
            lambda: llm.Curriculum("composites", levels={"all": make_task("composites")}),
            "needs rows of text",
        ),
        (
            lambda: llm.Curriculum("identity", levels={"all": make_task("identity")}),
            "neither a text nor an image",
        ),
        (lambda: llm.Curriculum("parity", levels={"all": {}}), "'all' is {}: expected a task"),
        (lambda: llm.Curriculum("parity", seed=-1), "Seed -1"),
        (lambda: llm.Curriculum("parity", window=0), "Window 0"),
        (lambda: llm.Curriculum("parity", up=0.1), "down=0.2 and up=0.1"),
        (lambda: llm.Curriculum("parity").reward(["7"], label=[7]), "the column 'level'"),
        (
            lambda: llm.Curriculum("parity").reward(["7"], label=[7], level=["esay"]),
            "Did you mean 'easy'",
        ),
        (lambda: llm.Curriculum("parity").load_state_dict({"next": 3}), "what state_dict returns"),
        (
            lambda: llm.Curriculum("parity").load_state_dict(
                llm.Curriculum("parity", levels=["hard"]).state_dict()
            ),
            "State of the levels hard: this curriculum has easy, medium, hard",
        ),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(UsageError, match=message):
        call()


def test_a_seed_may_be_an_integer_of_numpy():
    given, plain = (next(iter(llm.Curriculum("parity", seed=seed))) for seed in (np.int64(7), 7))
    assert given == plain


def test_several_tasks_take_turns_at_every_level():
    mixture = {"listops": 2, "parity": 1}
    curriculum = llm.Curriculum(mixture, window=3)
    assert curriculum.level == "easy"
    for level in ("medium", "hard"):
        rows = list(itertools.islice(curriculum, 3))
        names = [row["task"].partition(" ")[0] for row in rows]
        assert names == ["listops", "parity", "listops"]
        columns = {name: [row[name] for row in rows] for name in ("level", "task", "row")}
        said = [f"Answer: {row['answer']}" for row in rows]
        assert curriculum.reward(said, **columns) == [1.0] * 3
        assert curriculum.level == level
    again = llm.Curriculum(mixture, window=3)
    again.load_state_dict(curriculum.state_dict())
    assert list(itertools.islice(again, 4)) == list(itertools.islice(curriculum, 4))
    own = llm.Curriculum("listops", levels={"one": synthbench.task("parity"), "both": mixture})
    assert "task" not in next(iter(own))
    with pytest.raises(UsageError, match="missing for 'parity' and 'composites'"):
        llm.Curriculum(["parity", "composites"])
