"""Audit of state tracking: products from few elements, or from elements unordered.

All shortcuts answer at each place; `position_accuracy` shows how many places they get right.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.audit_spec import AuditSpec, Columns, Levels, Shortcut
from synthbench.tasks.state_tracking.task import StateTracking
from synthbench.tasks.windows import last_symbols

Ids = NDArray[np.int64]


def audit_spec(task: StateTracking) -> AuditSpec:
    """Shortcuts through the last elements and through elements in another order."""
    shortcuts = [
        last_symbols(
            task,
            count,
            f"last {word} elements",
            f"At each place the most frequent product for the {word} elements that end there.",
        )
        for count, word in ((2, "two"), (3, "three"))
    ]
    if not task.group.commutes:
        shortcuts.append(
            Shortcut(
                "elements in ascending order",
                "At each place the product of the elements so far, sorted by their numbers.",
                lambda train: functools.partial(_sorted_products, task),
            )
        )
    return AuditSpec(
        shortcuts=tuple(shortcuts),
        distributions={
            "last product": lambda columns: [
                label.rpartition(" ")[2] for label in columns["label"].to_pylist()
            ]
        },
        # A few elements are all that the shortest rows have.
        levels=Levels("length", task.buckets, each_must_be_hard=False),
    )


def _sorted_products(task: StateTracking, columns: Columns) -> list[str]:
    """At each place the product of the elements so far, in ascending order of their numbers.

    This follows from their multiset alone: of a permutation, whether it is even.
    """
    elements = task.parse(columns)["tokens"].astype(np.int64) - 1
    products = np.zeros_like(elements)
    for place in range(elements.shape[1]):
        ascending = np.sort(elements[:, : place + 1], axis=1)
        product = ascending[:, 0]
        for following in ascending.T[1:]:
            product = task.group.products[product, following]
        products[:, place] = 1 + product
    return _texts(task, np.where(elements >= 0, products, 0))


def _texts(task: StateTracking, ids: Ids) -> list[str]:
    texts: list[str] = task.vocabulary.join(ids.astype(task.vocabulary.dtype)).to_pylist()
    return texts
