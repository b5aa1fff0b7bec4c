"""The work before the first row of a stream, estimated from a few trees.

A round of a stream waits for rows of all buckets, and a deep tree rarely fits into few tokens. So
some trees of a depth are drawn, until 64 fit. Their share within the limits gives the trees that a
round draws, and their random words the time that each takes. Estimates are sums over counts,
without a clock, so they are the same everywhere.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import ParameterError
from synthbench.seeding import Draws
from synthbench.tasks.base import Split
from synthbench.tasks.returned import proposed
from synthbench.tasks.row_ids import HELD_OUT_SHARE, fingerprints, share_of
from synthbench.tasks.trees.distribution import DEPTH_BITS, KeyDistribution
from synthbench.tasks.trees.pools import draws_of_key
from synthbench.tasks.trees.task import ExpressionTask

#: Processor seconds and MiB: the most before a first row.
_MOST_SECONDS, _MOST_MEBIBYTES = 2.0, 500
#: Seconds for a block, and without pools for a level of it and for an operator.
_PER_BLOCK, _PER_LEVEL, _PER_OPERATOR = 155e-6, 124e-6, 72e-9
#: Seconds with pools: for a draw of many numbers, for a token that is written, and for an operator
#: of the root's pool.
_PER_CALL, _PER_TOKEN, _PER_DRAWN = 37e-6, 14e-9, 45e-9
#: Seconds for a random word. If a block has so few that they fit into a processor's cache, seconds
#: for a word and for a tree.
_PER_WORD, _CACHED_WORDS, _PER_CACHED_WORD, _PER_TREE = 12e-9, 1 << 20, 5.5e-9, 0.3e-6
#: Medians sort their arguments: a word for them takes `_SORTING` times its seconds more, by the
#: share of MED among the operators. Words of a draw whatever the number of trees.
_SORTING, _WORDS_OF_CALL = 1.2, 30
#: MiB before a round, and bytes for every place of its tokens. Its longest row by the longest of a
#: trial.
_BEFORE_MEBIBYTES, _PER_PLACE, _LONGER = 60, 4.5, 1.25
#: Trees that are drawn of a depth, those that have to fit, and the depths that are tried at most,
#: besides the shallowest.
_TREES, _FITTING, _DEPTHS = 256, 64, 4
#: Trees that are drawn without pools, which is fast, and the most repeats that are ignored.
_MANY_TREES, _EQUAL = 4_096, 8
#: Random words, after which no more trees are drawn.
_MOST_WORDS = 500_000
#: A bucket ends after so many blocks if each gives fewer new rows.
_STALL_BLOCKS, _STALL_FOUND = 16, 1 / 8
#: A bucket of a label with so many blocks and seconds has a trial of its own. The largest number of
#: trees per distinct tree that counts.
_MANY_BLOCKS, _LONG, _MOST_REPEATS = 3, 0.03, 4.0
#: Depths that an error may recommend.
_TRIED = (24, 16, 12, 8, 5, 4, 3, 2, 1)
#: The most rows of a round of an evaluation split, and the rows of a first batch.
_EVALUATION_ROWS, _BATCH_ROWS = 2_048, 64


def check_effort(
    task: ExpressionTask,
    distribution: Callable[[Split], KeyDistribution] | None,
    split: Split,
    round_rows: Callable[[Split], int],
) -> None:
    """Raise a ParameterError if a round of a split would take too long or too much memory.

    Args:
        task: the task.
        distribution: the proposal of a split and the keys of its trees, None if keys are depths
            alone, so that operators do not come from pools.
        split: the split.
        round_rows: gives the rows of a round of a split.
    """
    if task.is_ordinary:
        return
    seconds, mebibytes = _effort(task, distribution, split, round_rows(split))
    if seconds <= _MOST_SECONDS and mebibytes <= _MOST_MEBIBYTES:
        return
    needed = f"take about {math.ceil(seconds):,} seconds, where two"
    if seconds <= _MOST_SECONDS:
        needed = f"take about {math.ceil(mebibytes):,} MiB, where {_MOST_MEBIBYTES}"
    parameters = task.parameters
    depths = sorted({task.goal(bucket).depth for bucket in split.buckets})
    name = "train_depths" if split.name == "iid" else f"{split.name}_depths"
    given = [f"{name}={','.join(map(str, depths))}", f"max_length={parameters.max_length}"]
    if (shortest := getattr(parameters, "min_length", 1)) > 1:
        given.append(f"min_length={shortest}")
    if parameters.balance == "label":
        given.append(f"operators={','.join(parameters.operators)}")
        if modulus := getattr(parameters, "modulus", 0):
            given.append(f"modulus={modulus}")
    text = (
        f"Split {split.name} of {task.name}: the first row of a stream would {needed} are "
        f"allowed, with {', '.join(given)} and balance={parameters.balance}"
    )
    for depth in (tried for tried in _TRIED if tried < depths[-1]):
        shallow = Split(split.name, split.rows, task.buckets_of((depth,)), split.evaluation)
        seconds, mebibytes = _effort(task, distribution, shallow, round_rows(shallow))
        if seconds <= _MOST_SECONDS and mebibytes <= _MOST_MEBIBYTES:
            text += f". Allowed is {name}={depth}"
            break
    raise ParameterError(f"{text}. Datasets may have such rows.")


@functools.lru_cache(maxsize=256)
def _effort(
    task: ExpressionTask,
    distribution: Callable[[Split], KeyDistribution] | None,
    split: Split,
    rows: int,
) -> tuple[float, float]:
    """About the seconds that a round takes, and the MiB."""
    if split.evaluation:
        rows = min(rows, _EVALUATION_ROWS)
    depths = sorted({task.goal(bucket).depth for bucket in split.buckets})
    tried = sorted({depths[(len(depths) - 1) * part // _DEPTHS] for part in range(1 + _DEPTHS)})
    trees = _TREES if distribution else _MANY_TREES
    trials = {depth: _trial(task.by_depth, tuple(depths), depth, trees) for depth in tried}
    expected = {}  # by bucket the trial of its depth, and the rows of a block that it may have
    limits = {}  # the rows of the buckets that have few
    for bucket in split.buckets:
        goal, share = task.goal(bucket), share_of(task, split, bucket)
        trial = trials[min(depth for depth in tried if depth >= goal.depth)]
        found = trial.share * max(1e-9, task.label_chance(goal)) * share * task.block_rows
        capacity = task.capacity(split, bucket)
        if capacity is None and distribution is None:  # all rows are drawn, and repeat
            found /= 1.0 + rows / len(depths) / trial.different
        expected[bucket] = trial, found
        if found < _STALL_FOUND:  # ends early
            limits[bucket] = 0.0
        elif capacity is not None and capacity * share < rows / len(split.buckets):
            limits[bucket] = capacity * share / 2  # the other half is listed
    if not any(found >= _STALL_FOUND for _, found in expected.values()):
        limits = {}
    # The other buckets share the rest.
    most = (rows - sum(limits.values())) / max(1, len(expected) - len(limits))
    seconds = longest = candidates = 0.0
    counts = {}  # by bucket its blocks, and the seconds of a block
    for bucket, (trial, found) in expected.items():
        blocks = _STALL_BLOCKS
        if found >= _STALL_FOUND or not limits:
            blocks = math.ceil(limits.get(bucket, most) / found)
        goal = task.goal(bucket)
        if distribution is None:
            # Trees that become too long are left about half-way.
            operators = task.block_rows * trial.tokens / 3 * (1 + trial.share) / 2
            block = _PER_BLOCK + _PER_LEVEL * goal.depth + _PER_OPERATOR * operators
        else:
            block = _PER_BLOCK + trial.seconds(task.block_rows)
            if goal.label is not None:
                key = goal.label << DEPTH_BITS | goal.depth
                drawn = draws_of_key(distribution(split), goal.operator, key)
                block += _PER_DRAWN * task.block_rows * drawn
        counts[bucket] = blocks, block
        seconds += blocks * block
        length = min(_LONGER * trial.longest, task.parameters.max_length)
        longest, candidates = max(longest, length), candidates + blocks * found * length
    # Rows of a label may be shorter or longer than others of their depth, and few of them may
    # differ. So a bucket of a label that takes long has a trial of its own, and so has the next
    # bucket where a trial shows more than twice the seconds.
    labelled = [bucket for bucket in counts if distribution and task.goal(bucket).label is not None]
    for bucket in sorted(labelled, key=lambda bucket: -math.prod(counts[bucket])):
        blocks, block = counts[bucket]
        if seconds > _MOST_SECONDS:
            break
        own = _trial(task, split.buckets, bucket)
        # The more rows repeat, the rarer new rows become, until the bucket ends.
        more = min(own.repeats, _MOST_REPEATS) ** 2
        more *= max(1.0, expected[bucket][0].share / own.share)
        cost = math.ceil(blocks * more) * own.seconds(task.block_rows)
        seconds += cost - blocks * block
        if cost < 2.0 * blocks * block and (blocks < _MANY_BLOCKS or blocks * block < _LONG):
            break
    seconds *= math.ceil(_BATCH_ROWS / rows)
    return seconds, _BEFORE_MEBIBYTES + (candidates + _PER_PLACE * rows * longest) / (1 << 20)


class _Trial(NamedTuple):
    """Trees that were drawn to see how long others take.

    Attributes:
        share: the share that is within the limits.
        tokens: their mean tokens.
        calls: draws of many numbers at once.
        words: random words per `_TREES` trees.
        longest: the most tokens.
        repeats: trees per distinct tree.
        different: about the number of equally likely trees, from the repeats. Infinite with
            `_EQUAL` repeats or fewer.
    """

    share: float
    tokens: float
    calls: int
    words: float
    longest: float
    repeats: float
    different: float

    def seconds(self, trees: int) -> float:
        """About the seconds that it takes to draw this many trees from pools."""
        # Pools for a few rare keys are as large for fewer trees.
        once = min(_WORDS_OF_CALL * self.calls, 0.8 * self.words)
        words = once + (self.words - once) * trees / _TREES
        written = _PER_TOKEN * self.tokens * self.share * trees
        drawn = _PER_WORD * words
        if words <= _CACHED_WORDS:
            drawn = _PER_CACHED_WORD * words + _PER_TREE * trees
        return _PER_CALL * self.calls + drawn + written


class _CountedDraws(Draws):
    """Draws that count their random words."""

    calls = drawn = 0

    def words(self, count: int) -> NDArray[np.uint64]:
        self.calls, self.drawn = self.calls + 1, self.drawn + count
        return super().words(count)


@functools.lru_cache(maxsize=256)
def _trial(
    task: ExpressionTask, buckets: tuple[int, ...], bucket: int, trees: int = _TREES
) -> _Trial:
    """A trial of so many trees of a bucket.

    While few trees are within the limits, more are drawn, unless that takes many random words or
    the bucket has a label. Without any the share is taken as small.
    """
    split = Split("trial", trees, buckets, evaluation=False)
    while True:
        draws = _CountedDraws({"task": task.name, "trial": bucket, "trees": trees})
        block = proposed(task, draws, trees, split, bucket)
        is_enough = len(block) >= _FITTING or draws.drawn > _MOST_WORDS
        if is_enough or task.goal(bucket).label is not None:
            break
        trees *= 4
    # Less a standard deviation: a share of few trees is noisy.
    fitting = len(block) - math.sqrt(len(block) * (1.0 - len(block) / trees))
    share = max(0.05, fitting) / trees / (1 - HELD_OUT_SHARE)
    tokens = block["length"].mean() if len(block) else task.parameters.max_length
    operators = task.parameters.operators
    different = len(np.unique(fingerprints(task, block))) if len(block) else 0
    return _Trial(
        min(1.0, share),
        float(tokens),
        draws.calls,
        draws.drawn * _TREES / trees * (1 + ("MED" in operators) * _SORTING / len(operators)),
        float(block["length"].max(initial=1)),
        max(1, len(block)) / max(1, different),
        len(block) ** 2 / 2 / equal if (equal := len(block) - different) > _EQUAL else math.inf,
    )
