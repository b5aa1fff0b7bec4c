"""Processes that train together read each row of a stream once, with and without workers."""

import collections
import json

import pytest

import synthbench
from synthbench.streaming import rounds as streaming
from tests.streaming.read_rows import ROWS
from tests.support import ROOT, start

#: How accelerate and the Trainer share rows: `dispatch` reads in one process, `each` in each.
SHARED = [
    *("accelerate-0", "accelerate-2-each", "accelerate-2-dispatch-split"),
    *("accelerate-0-each-split", "accelerate-2-each-stateful-given"),
    *("trainer-0", "trainer-2-each", "trainer-0-each-split", "trainer-2-dispatch"),
]
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
        task = {"copying": 2, "parity": 1} if "mixture" in way else "copying"
        if "mixture" in way and "-2" in way:  # units of three rounds, of which no worker reads all
            return None
        return counted(synthbench.tokens(task, batch_size=ROWS)[0]["input_ids"].tolist())

    return rows


def assert_read_once(way, shares, expected):
    together = sum(map(counted, shares), collections.Counter())
    if (rows := expected(way)) is not None:
        assert together == rows, way
    else:
        assert max(together.values()) <= 2
        assert together.total() == ROWS


#: Ways without another library. Under `torchrun` those whose ranks differ most from forks.
PLAIN = ["plain-0", "plain-2", "plain-0-mixture", "plain-2-mixture"]


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize(
    ("ranks", "torchrun", "ways"),
    [(2, True, ["plain-0-mixture", "plain-1-spawn"]), (4, False, PLAIN)],
)
def test_ranks_and_workers_together_read_the_rows_of_tokens(
    ranks, torchrun, ways, expected, tmp_path
):
    for way, shares in read(tmp_path, ranks, ways, torchrun).items():
        assert_read_once(way, shares, expected)


@pytest.mark.slow
@pytest.mark.dev
@pytest.mark.torch
def test_libraries_that_share_rows_themselves_read_each_row_once(expected, tmp_path):
    """One process imports PyTorch and the libraries, and two ranks read in every way."""
    for needed in ("accelerate", "transformers", "torchdata"):
        pytest.importorskip(needed, reason=f"{needed} is not installed: the extra dev has it")
    found = read(tmp_path, 2, [*SHARED, *REFUSED])
    for way in SHARED:
        assert isinstance(found[way][0], list), f"{way}: {found[way]}"
        assert_read_once(way, found[way], expected)
    for way, said in REFUSED.items():
        assert all(isinstance(one, str) and said in one for one in found[way]), found[way]
