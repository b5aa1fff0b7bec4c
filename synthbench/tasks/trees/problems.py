"""Problem keys: an expression's question, whatever the order of its arguments.

MIN, MAX, MED, SM, `+` and `*` ignore the order of their arguments, so these rows pose one problem
in four forms:

    [SM 3 [MIN 4 1 ] ]    [SM 3 [MIN 1 4 ] ]    [SM [MIN 4 1 ] 3 ]    [SM [MIN 1 4 ] 3 ]

A model that has learned one of them knows the others, so all four are held out together. The
row's *problem key* decides, a hash of the tree that adds up the keys of arguments, so that their
order does not count:

    key(digit)    = code(digit)
    key(operator) = mix(code(operator) + sum of its arguments' keys)      modulo 2**64
    code(token)   = mix(id of the token), 0 for a bracket that is a token of its own

`mix` is the finaliser of SplitMix64. The nesting counts, because the sum of each level is mixed
before it is added to the level above: `[SM 3 [MIN 4 1 ] ]` and `[SM 1 [MIN 4 3 ] ]` differ.

In listops 1, 3 and 4 have the ids 2, 4 and 5, and `[MIN` and `[SM` have 12 and 15. So all four rows
above have the key

    inner = mix(mix(12) + mix(5) + mix(2))    = 9b5efe496630fa66
    key   = mix(mix(15) + mix(4) + inner)     = 49bc16b23bb786d6

The generator computes this hash level by level from its trees (`grammar.Forest.problems`). Here it
is computed from token ids, read from left to right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import mix

_OPENING, _CLOSING, _SILENT = "[(", "])", "()]"


def token_codes(tokens: Sequence[str]) -> NDArray[np.uint64]:
    """The code of each token by its id, uint64 `(1 + tokens,)`. Padding, id 0, has code 0."""
    ids = [0 if token in _SILENT else number for number, token in enumerate(tokens, start=1)]
    return mix(np.array([0, *ids], np.uint64))


def brackets(tokens: Sequence[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """By id, which tokens open an operator and which close it, both bool `(1 + tokens,)`."""
    opens = [False, *(token[0] in _OPENING for token in tokens)]
    return np.array(opens), np.array([False, *(token in _CLOSING for token in tokens)])


def problem_keys(ids: NDArray[np.integer[Any]], tokens: Sequence[str]) -> NDArray[np.uint64]:
    """The problem key of each row, from its tokens.

    All rows are read side by side. Each row keeps the running sum of its innermost open operator
    and a stack of the sums of the operators around it.

    Args:
        ids: ids of tokens, uint8 `(rows, width)`, padded with 0 at the end.
        tokens: all tokens in the order of their ids. Those that begin with a bracket open an
            operator, and a closing bracket ends it.

    Returns:
        uint64 `(rows,)`. The key of a row whose brackets do not match means nothing.

    Example:
        >>> import pyarrow as pa
        >>> import synthbench
        >>> from synthbench.tasks.trees.problems import problem_keys
        >>> task = synthbench.task("arithmetic")
        >>> ids = task.vocabulary.encode(pa.array(["((1+2)*3)", "(3*(2+1))", "((1*2)+3)"]))
        >>> [f"{key:016x}" for key in problem_keys(ids, task.tokens)]
        ['235597942bee5fbc', '235597942bee5fbc', '5bd57dfbe8041c41']
    """
    codes = token_codes(tokens)
    opens, closes = brackets(tokens)
    # The stacks lie one behind the other, each as high as its row has operators.
    heights = np.count_nonzero(opens.take(ids), axis=1)
    bottom = np.cumsum(heights) - heights
    stacks = np.zeros(int(heights.sum()) + 1, np.uint64)
    top = bottom.copy()
    running = np.zeros(len(ids), np.uint64)
    for column in ids.T.copy():
        opened = np.flatnonzero(opens.take(column))
        index = top.take(opened)
        stacks[index] = running.take(opened)
        running[opened] = 0
        top[opened] = index + 1
        closed = np.flatnonzero(closes.take(column))
        index = np.maximum(top.take(closed) - 1, bottom.take(closed))
        running[closed] = stacks.take(index) + mix(running.take(closed))
        top[closed] = index
        running += codes.take(column)
    return running
