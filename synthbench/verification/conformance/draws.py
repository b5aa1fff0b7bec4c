"""Checks of how a task draws rows: names, parameters, randomness, buckets.

Each check returns the problems it found, as sentences.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from synthbench.errors import SynthbenchError, TaskError
from synthbench.sampling.plan import LISTABLE_ROWS
from synthbench.seeding import Draws
from synthbench.tasks import declared
from synthbench.tasks.base import Block, Split, Task
from synthbench.tasks.returned import (
    capacity_of,
    draws_together,
    enumerated,
    proposed,
    proposed_blocks,
)
from synthbench.tasks.row_ids import fingerprints
from synthbench.text.lines import short
from synthbench.verification.conformance.rows import Problems, plain_rows
from synthbench.verification.global_state import (
    global_states,
    restored_state,
    seed_global_states,
)

_CANDIDATES = 256
#: Blocks that are proposed for a bucket before it counts as starved.
_TRIED_BLOCKS = 3
#: Buckets with at most so many rows are listed.
_LISTED = 1 << 16
#: Values tried for every parameter. A task must work with them or refuse them with our errors.
_STRANGE_VALUES: tuple[Any, ...] = ("?", "", None, [], 0, -1, 1, 2.5, True)


def check_names(task: Task) -> Problems:
    """The class describes itself; `synthbench.tasks.declared` has checked the form."""
    problems = []
    # `python -OO` strips all docstrings.
    if not task.__doc__ and sys.flags.optimize < 2:
        problems.append(f"Class {type(task).__name__} lacks a docstring.")
    if not all(task.variants.values()):
        problems.append("variants has a variant without a sentence on it.")
    for split in task.splits:
        if split.evaluation != (split.name != "train"):
            problems.append(
                f"Split {split.name} has evaluation={split.evaluation}: only train has False. All "
                "other splits get rows that are held out."
            )
    return problems


def check_pickling(task: Task) -> Problems:
    """The task can be pickled for worker processes, and the copy equals the original."""
    try:
        again = pickle.loads(pickle.dumps(task))
    except Exception as error:
        return [f"It cannot be sent to a worker process: {type(error).__name__}: {error}."]
    if again != task or again.stream != task.stream:
        return ["It pickles into another task: everything that rows depend on must be a parameter."]
    return []


def check_parameters(task: Task) -> Problems:
    """Strange values of parameters either work or are refused with errors of this package."""
    problems = []
    for name in task.parameters.to_dict():
        for value in _STRANGE_VALUES:
            try:
                other = type(task)(task.variant, {name: value})
                declared.check_task(other)
                for split in other.splits:
                    for bucket in split.buckets[:1] + split.buckets[-1:]:
                        block = proposed(other, _draws(other), 16, split, bucket)
                        plain_rows(other, block)
            except Exception as error:
                if isinstance(error, SynthbenchError) and not isinstance(error, TaskError):
                    continue
                problems.append(
                    f"{name}={value!r} is accepted and then fails with {type(error).__name__}: "
                    f"{error} Refuse it in __post_init__ of {task.parameters_type.__name__} "
                    "with a ParameterError that says what is allowed."
                )
                break
    return problems


def check_blocks(task: Task, split: Split) -> Problems:
    """Blocks of all buckets of a split have the same columns, of the same types."""
    forms: dict[str, int] = {}
    for bucket in split.buckets:
        block = proposed(task, _draws(task), _CANDIDATES, split, bucket)
        forms.setdefault(_form(block), bucket)
    if len(forms) == 1:
        return []
    (form, first), (other, second) = list(forms.items())[:2]
    return [
        f"Split {split.name}: propose gives arrays {form} for {task.bucket_name} "
        f"{task.bucket_label(first)} and {other} for {task.bucket_label(second)}: give the same."
    ]


def check_repeatable(task: Task, split: Split, bucket: int) -> Problems:
    """A block depends only on its draws, not on blocks drawn before it or together with it."""

    def block(drawing: Task, number: int) -> Block:
        return proposed(drawing, _draws(drawing, number), _CANDIDATES, split, bucket)

    first, second = block(task, 0), block(task, 1)
    fresh = pickle.loads(pickle.dumps(task))
    if not (_equal(block(fresh, 1), second) and _equal(block(fresh, 0), first)):
        return [
            "propose gave other rows when it was called again with the same draws. Look for "
            "np.random.default_rng(), time, and anything that propose remembers between calls."
        ]
    if draws_together(task):
        several = [_draws(task, number) for number in range(2)]
        together = proposed_blocks(task, several, _CANDIDATES, split, bucket)
        if not all(map(_equal, together, (first, second))):
            return ["propose_blocks gave other rows than propose gives for each of the blocks."]
    if _equal(first, second) and len(first) > 1:
        return ["propose gave the same rows from other draws: it must use its argument draws."]
    return []


def check_global_state(task: Task, split: Split, bucket: int) -> Problems:
    """No method uses `random` or `np.random`."""
    problems: Problems = []
    blocks = []
    with restored_state():
        for seed in (1, 2, 1):
            seed_global_states(seed)
            with _watched("propose", problems):
                block = proposed(task, _draws(task), _CANDIDATES, split, bucket)
            blocks.append(block)
            with _watched("render", problems):
                rows = plain_rows(task, block.take(slice(0, 20)))
            with _watched("solve", problems):
                for row in rows:
                    task.solve(row[task.inputs[0]])
    if not problems and _equal(blocks[0], blocks[2]) and not _equal(blocks[0], blocks[1]):
        problems.append("propose depends on how random and np.random were seeded.")
    return list(dict.fromkeys(problems))


@contextmanager
def _watched(method: str, problems: Problems) -> Iterator[None]:
    """Add a problem for each global generator that the block uses."""
    before = global_states()
    yield
    for name, state in global_states().items():
        if name in before and state != before[name]:
            problems.append(
                f"{method} draws from {name}, the global random state. All randomness must come "
                "from the argument draws of propose (synthbench.seeding.Draws)."
            )


def propose_rows(task: Task, split: Split, bucket: int, rows: int) -> tuple[Block, int]:
    """At most `rows` rows of a bucket, and the number of candidates that were proposed."""
    tried = 0
    for number, count in enumerate([4 * _CANDIDATES] + [task.block_rows] * _TRIED_BLOCKS):
        block = proposed(task, _draws(task, number), count, split, bucket)
        tried += count
        if len(block):
            break
    return block.take(slice(0, rows)), tried


def starved(task: Task, split: Split, bucket: int, tried: int) -> Problems:
    """Report a bucket that got no rows, unless its rows can be enumerated."""
    capacity = capacity_of(task, split, bucket)
    if capacity is not None and capacity <= LISTABLE_ROWS:
        return []
    return [
        f"Split {split.name}, {task.bucket_name} {task.bucket_label(bucket)} is starved: of "
        f"{tried:,} candidates that propose drew for it, it kept none. Draw them given the bucket, "
        "or take the bucket out of splits."
    ]


def enumerated_rows(task: Task, split: Split, bucket: int) -> Block | None:
    """All rows of a bucket that are counted and few; None of any other bucket."""
    capacity = capacity_of(task, split, bucket)
    few = capacity is not None and 0 < capacity <= _LISTED
    return enumerated(task, split, bucket) if few else None


def check_enumerated(task: Task, split: Split, bucket: int, listed: Block) -> Problems:
    """The rows that `enumerate_rows` gives are different, and those that `propose` draws.

    A row has one id, whichever method gave it. Otherwise it could be held out and not.
    """
    drawn = proposed(task, _draws(task), _CANDIDATES, split, bucket)
    form, other = _form(listed), _form(drawn)
    if form != other:
        return [f"enumerate_rows gives arrays {form}, propose gives {other}: give the same."]
    prints = fingerprints(task, listed)
    count = len(np.unique(prints))
    if count < len(prints):
        return [
            f"Of {len(prints):,} rows that enumerate_rows gives, only {count:,} differ in content."
        ]
    lacking = ~np.isin(fingerprints(task, drawn), prints)
    if not lacking.any():
        return []
    row = plain_rows(task, drawn.take(lacking))[0]
    return [
        f"propose gives {short(row[task.inputs[0]])}, whose id none of the rows has that "
        f"enumerate_rows gives for {task.bucket_name} {task.bucket_label(bucket)}: list every row, "
        "and let content be the same for the same row."
    ]


def _form(block: Block) -> str:
    """Names and types of a block's columns. Columns of two axes may have any width."""
    return ", ".join(
        f"{name} {array.dtype} {('rows', *(['width'] if array.ndim > 1 else []), *array.shape[2:])}"
        for name, array in block.columns.items()
    )


def _draws(task: Task, number: int = 0) -> Draws:
    return Draws({**task.stream, "check": True}, number)


def _equal(block: Block, other: Block) -> bool:
    return block.columns.keys() == other.columns.keys() and all(
        np.array_equal(column, other[name]) for name, column in block.columns.items()
    )
