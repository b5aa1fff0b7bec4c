"""The work before the first row of a stream, estimated from a few trees.

A round of a stream waits for rows of all buckets, and a deep tree rarely fits into few tokens. So
256 trees of a depth are drawn, or more until eight fit, and their share within the limits gives the
trees that a round draws. Estimates are sums over counts, without a clock, so they are the same
everywhere.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from synthbench.errors import ParameterError
from synthbench.seeding import Draws
from synthbench.tasks.base import Split
from synthbench.tasks.row_ids import HELD_OUT_SHARE, share_of
from synthbench.tasks.trees.distribution import DEPTH_BITS, KeyDistribution
from synthbench.tasks.trees.pools import draws_of_key
from synthbench.tasks.trees.task import ExpressionTask

#: Seconds of one core: the most before a first row, for a level of a block, for a pool of
#: operators, of which a block has as many as the square of its depth, and for an operator.
#: Estimates are one to 2.6 times the time that a round takes.
_MOST_SECONDS, _PER_LEVEL, _PER_POOL, _PER_OPERATOR = 3.1, 200e-6, 90e-6, 0.2e-6
#: Trees that are drawn of a depth, those that have to fit, and the most depths that are tried.
_TREES, _FITTING, _DEPTHS = 256, 8, 4
#: Trees, by the square of their depth and by their most tokens, after which no more are drawn.
_MOST_WORK = 400_000
#: Trees that are drawn for a row with a label that is not in the keys, by the number of labels.
_PER_LABEL = 1.5
#: Depths that an error may recommend.
_TRIED = (24, 16, 12, 8, 5, 4, 3, 2, 1)
#: The most rows of a round of an evaluation split.
_EVALUATION_ROWS = 2_048


def check_effort(
    task: ExpressionTask,
    distribution: Callable[[Split], KeyDistribution] | None,
    split: Split,
    rows: int,
) -> None:
    """Raise a ParameterError if a round of `rows` rows of a split would take too long.

    Args:
        task: the task.
        distribution: the proposal of a split and the keys of its trees, None if keys are depths
            alone, so that operators do not come from pools.
        split: the split.
        rows: rows of a round.
    """
    if task.is_ordinary:
        return
    seconds = _seconds(task, distribution, split, rows)
    if seconds <= _MOST_SECONDS:
        return
    parameters = task.parameters
    depths = sorted({task.goal(bucket).depth for bucket in split.buckets})
    name = "train_depths" if split.name == "iid" else f"{split.name}_depths"
    limits = [f"max_length={parameters.max_length}"]
    if (shortest := getattr(parameters, "min_length", 1)) > 1:
        limits.append(f"min_length={shortest}")
    text = (
        f"Split {split.name} of {task.name}: the first row of a stream would take up to "
        f"{math.ceil(seconds):,} seconds, where two are allowed, with "
        f"{name}={','.join(map(str, depths))}, "
        f"{', '.join(limits)} and balance={parameters.balance}"
    )
    for depth in (tried for tried in _TRIED if tried < depths[-1]):
        shallow = Split(split.name, rows, task.buckets_of((depth,)), split.evaluation)
        if _seconds(task, distribution, shallow, rows) <= _MOST_SECONDS:
            text += f". Allowed is {name}={depth}"
            break
    raise ParameterError(f"{text}. Datasets may have such rows.")


@functools.lru_cache(maxsize=256)
def _seconds(
    task: ExpressionTask,
    distribution: Callable[[Split], KeyDistribution] | None,
    split: Split,
    rows: int,
) -> float:
    """About the seconds that a round takes."""
    if split.evaluation:
        rows = min(rows, _EVALUATION_ROWS)
    seconds = 0.0
    depths = sorted({task.goal(bucket).depth for bucket in split.buckets})
    tried = sorted({depths[(len(depths) - 1) * part // _DEPTHS] for part in range(1, 1 + _DEPTHS)})
    trials = {depth: _trial(task.by_depth, tuple(depths), depth) for depth in tried}
    for bucket in split.buckets:
        goal = task.goal(bucket)
        share, tokens = trials[min(depth for depth in tried if depth >= goal.depth)]
        wanted = rows / len(split.buckets) / share / share_of(task, split, bucket)
        if goal.label is not None and distribution is None:
            wanted *= _PER_LABEL * len(task.labels)
        block = _PER_POOL * goal.depth**2 if distribution else _PER_LEVEL * goal.depth
        blocks = math.ceil(wanted / task.block_rows)
        # Trees that become too long are left about half-way.
        operators = task.block_rows * tokens / 3 * (1 + share) / 2
        if goal.label is not None and distribution is not None:
            key = goal.label << DEPTH_BITS | goal.depth
            operators += task.block_rows * draws_of_key(distribution(split), goal.operator, key)
        seconds += blocks * (block + _PER_OPERATOR * operators)
    return seconds


@functools.lru_cache(maxsize=256)
def _trial(task: ExpressionTask, depths: tuple[int, ...], depth: int) -> tuple[float, float]:
    """The share of the trees of a depth that are within the limits, and their mean tokens.

    While few trees are, more are drawn, unless they are deep. Without any the share is taken as
    small.
    """
    trees = _TREES
    while True:
        split = Split("trial", trees, depths, evaluation=False)
        draws = Draws({"task": task.name, "trial": depth, "trees": trees})
        block = task.propose(draws, trees, split, depth)
        work = trees * (depth**2 + task.parameters.max_length)
        if len(block) >= _FITTING or work > _MOST_WORK:
            break
        trees *= 4
    share = max(0.05, len(block)) / trees / (1 - HELD_OUT_SHARE)
    tokens = block["length"].mean() if len(block) else task.parameters.max_length
    return min(1.0, share), float(tokens)
