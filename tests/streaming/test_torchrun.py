"""Processes that train together read each row of a stream once, with and without workers."""

import collections
import json

import pytest

import synthbench
from synthbench.streaming import rounds as streaming
from tests.streaming.read_rows import ROWS
from tests.support import ROOT, start

#: How accelerate and the Trainer share rows: `dispatch` reads in one process, `each` in each.
LIBRARIES = {
    "accelerate": [
        *("accelerate-0", "accelerate-2-each", "accelerate-2-dispatch-split"),
        *("accelerate-0-each-split", "accelerate-2-each-stateful-given"),
    ],
    "transformers": ["trainer-0", "trainer-2-each", "trainer-0-each-split", "trainer-2-dispatch"],
}
#: What is refused, and with which words.
REFUSED = {
    "accelerate-0-whole": "accelerate shares single rows",
    "accelerate-0-each-whole": "accelerate shares single rows",
    "accelerate-0-unprepared": "Read the stream through accelerator.prepare",
    "accelerate-0-stateful": "also give TorchStream rank=0, world_size=1",
    "accelerate-2-each-stateful": "also give TorchStream rank=0, world_size=1",
}


def read(folder, ranks, ways, torchrun=False):
    """What each rank has read, by the way in which it was read."""
    program = [str(ROOT / "tests/streaming/read_rows.py")]
    if torchrun:
        run = ("-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}")
        program = [*run, *program]
    else:
        program.append(str(ranks))
    changes = {"PYTHONWARNINGS": "", "OMP_NUM_THREADS": "1"}
    done = start(*program, str(folder), *ways, cwd=folder, **changes)
    assert done.returncode == 0, done.stderr[-4_000:]
    found = [json.loads((folder / f"{rank}.json").read_text("utf-8")) for rank in range(ranks)]
    return {way: [one[way] for one in found] for way in ways}


def counted(rows):
    return collections.Counter(map(tuple, rows))


@pytest.fixture
def expected(monkeypatch):
    """The rows of two rounds, of one task and of a mixture."""
    monkeypatch.setattr(streaming, "ROUND_ROWS", 256)

    def rows(way):
        task = {"listops": 2, "arithmetic": 1} if "mixture" in way else "listops"
        if "mixture" in way and "-2" in way:  # units of three rounds, of which no worker reads all
            return None
        return counted(synthbench.tokens(task, batch_size=ROWS)[0]["input_ids"].tolist())

    return rows


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize(("ranks", "torchrun"), [(2, True), (4, False)])
def test_ranks_and_workers_together_read_the_rows_of_tokens(ranks, torchrun, expected, tmp_path):
    ways = ["plain-0", "plain-2", "plain-0-mixture", "plain-2-mixture"]
    if ranks == 2:
        ways.append("plain-1-spawn")
    for way, shares in read(tmp_path, ranks, ways, torchrun).items():
        together = sum(map(counted, shares), collections.Counter())
        if (rows := expected(way)) is not None:
            assert together == rows, way
        else:
            assert max(together.values()) <= 2
            assert together.total() == ROWS


@pytest.mark.slow
@pytest.mark.dev
@pytest.mark.torch
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_that_shares_rows_itself_reads_each_row_once(library, expected, tmp_path):
    for needed in (library, "torchdata"):
        pytest.importorskip(needed, reason=f"{needed} is not installed: the extra dev has it")
    refused = REFUSED if library == "accelerate" else {}
    found = read(tmp_path, 2, [*LIBRARIES[library], *refused])
    for way in LIBRARIES[library]:
        assert isinstance(found[way][0], list), f"{way}: {found[way]}"
        assert sum(map(counted, found[way]), collections.Counter()) == expected(way), way
    for way, said in refused.items():
        assert all(isinstance(one, str) and said in one for one in found[way]), found[way]
