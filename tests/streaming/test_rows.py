"""Rows by number: of one task or several, shared by ranks and workers."""

import pickle

import numpy as np
import pytest

import synthbench
from synthbench.errors import UsageError
from synthbench.streaming import rounds as streaming
from synthbench.streaming.rows import StreamRows
from synthbench.tasks.mixture import Mixture
from synthbench.tasks.registry import as_task

SIZE = 60
SOURCES = (
    "ctl",
    ["listops", "parity"],
    {"listops": 3, "parity": 1, "ctl": 2},
    {"parity": 2, synthbench.task("addition"): 5},
)


@pytest.fixture(autouse=True)
def short_rounds(monkeypatch):
    monkeypatch.setattr(streaming, "ROUND_ROWS", SIZE)
    monkeypatch.setattr(streaming, "EVALUATION_ROUND_ROWS", SIZE)
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)


def rows_of(batch):
    return [tuple(row) for row in np.asarray(batch["input_ids"]).tolist()]


def test_a_row_by_number_is_the_row_of_the_stream():
    stream = synthbench.stream("ctl", batch_size=3 * SIZE, seed=5)[0]
    rows = StreamRows(Mixture.of(as_task("ctl")), "train", 5)
    for number in (0, 1, SIZE - 1, SIZE, 3 * SIZE - 1, 7):
        task, row = rows[number]
        assert task.name == "ctl"
        assert (row["id"], row["text"]) == (stream["id"][number], stream["text"][number])
    again = pickle.loads(pickle.dumps(rows))
    assert again[77] == rows[77]


def test_tasks_take_turns_and_keep_their_own_rows():
    sources = {"listops": 3, "parity": 1}
    mixed = StreamRows(Mixture.of(sources).map(as_task), "train")
    alone = {name: StreamRows(Mixture.of(as_task(name)), "train") for name in sources}
    taken = dict.fromkeys(sources, 0)
    for number in range(200):
        task, row = mixed[number]
        assert row == alone[task.name][taken[task.name]][1]
        taken[task.name] += 1
    assert taken == {"listops": 150, "parity": 50}


@pytest.mark.parametrize("number", [-1, 1.5, True, 2**63])
def test_numbers_that_no_row_has_are_refused(number):
    with pytest.raises(UsageError, match="Row"):
        StreamRows(Mixture.of(as_task("parity")), "train")[number]
    with pytest.raises(UsageError, match=r"[Rr]ow|Batch number"):
        synthbench.stream("parity")[number]


# Ranks.


@pytest.mark.usefixtures("short_rounds")
@pytest.mark.parametrize("source", SOURCES)
def test_row_j_of_share_r_is_row_j_times_world_size_plus_r(source):
    whole = synthbench.tokens(source, form="causal-lm", batch_size=200)[0]
    for world_size, size in ((2, 16), (3, 30)):
        for rank in range(world_size):
            options = {"form": "causal-lm", "rank": rank, "world_size": world_size}
            share = synthbench.tokens(source, batch_size=size, **options)
            for number in range(2):
                expected = rank + world_size * (np.arange(size) + number * size)
                for name, array in next(share).items():
                    np.testing.assert_array_equal(array, whole[name][expected])
            copy = pickle.loads(pickle.dumps(share))
            assert rows_of(next(copy)) == rows_of(next(share))


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ({"rank": 2, "world_size": 2}, "Rank 2: allowed are whole numbers from 0 to 1"),
        ({"rank": 0, "world_size": 0}, "World size 0: allowed are whole numbers from 1"),
        ({"rank": -1, "world_size": 3}, "Rank -1"),
        ({"rank": "1", "world_size": 3}, "Rank '1'"),
    ],
)
def test_ranks_that_do_not_exist_are_refused(ranks, message):
    with pytest.raises(UsageError, match=message):
        synthbench.tokens("parity", **ranks)
