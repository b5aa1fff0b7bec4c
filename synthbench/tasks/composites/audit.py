"""Audit of composites: labels that follow from some of the four pictures.

These shortcuts know the pictures' contents, so they are upper bounds for models that see only
the pixels of the same pictures.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.audit_spec import AuditSpec, Columns, Levels, by_key, codes, numbers
from synthbench.tasks.composites.parts import FIRST_TARGET, SECOND_TARGET
from synthbench.tasks.composites.rules import COLORS, QUADRANTS
from synthbench.tasks.composites.task import Composites


def audit_spec(task: Composites) -> AuditSpec:
    """Shortcuts through some of the four pictures, and rows made from the same images."""
    see_answers, see_compared = (functools.partial(see, task) for see in (answers, compared))
    both = "Both answers that the rule may ask for"
    return AuditSpec(
        shortcuts=(
            by_key(
                "first answer alone",
                "The answer of the rule's first case, as if it always held.",
                lambda columns: see_answers(columns)[:, 0],
            ),
            by_key(
                "second answer alone",
                "The answer of the rule's second case, as if it always held.",
                lambda columns: see_answers(columns)[:, 1],
            ),
            by_key(
                "both answers, no indicator", f"{both}, and nothing that says which.", see_answers
            ),
            *(
                by_key(
                    f"both answers and the {name} indicator",
                    f"{both}, and one of the two things that are compared.",
                    lambda columns, part=part: np.column_stack(  # type: ignore[misc]
                        [see_answers(columns), see_compared(columns)[:, part]]
                    ),
                )
                for part, name in enumerate(("first", "second"))
            ),
            by_key("indicators alone", "The compared values, without targets.", see_compared),
        ),
        near_duplicate_keys={
            "the same images in other places or colours": functools.partial(_images, task)
        },
        distributions={
            "deciding quadrant": lambda columns: np.array(QUADRANTS)[numbers(columns["selected"])],
            "both cases have the same answer": lambda columns: np.where(
                np.equal(*see_answers(columns).T), "yes", "no"
            ),
            "answer of the case that does not hold": functools.partial(other_answer, task),
            "colours": functools.partial(_colors, task),
        },
        levels=Levels(
            "rule's case",
            lambda columns: 1 - numbers(columns["outcome"]),
            lambda level: task.design.outcomes[level],
            each_must_be_hard=False,
        ),
    )


def answers(task: Composites, columns: Columns) -> NDArray[np.int64]:
    """The answers of the rule's two cases, int64 `(rows, 2)`."""
    block = task.parse(columns)
    quadrants = task.parts.find(block["kind"])
    first = _at(block["class"], quadrants[:, FIRST_TARGET])
    if task.design.color_answers:
        second = _at(block["color"], quadrants[:, FIRST_TARGET])
    else:
        second = _at(block["class"], quadrants[:, SECOND_TARGET])
    return np.column_stack([first, second]).astype(np.int64)


def compared(task: Composites, columns: Columns) -> NDArray[np.int64]:
    """The two values of the indicators that the rule compares, int64 `(rows, 2)`."""
    block = task.parse(columns)
    quadrants = task.parts.find(block["kind"])
    if task.design.compared == "column":
        return quadrants[:, FIRST_TARGET:] % 2
    what = block["color" if task.design.compared == "color" else "class"]
    return np.column_stack([_at(what, quadrants[:, part]) for part in (0, 1)]).astype(np.int64)


def other_answer(task: Composites, columns: Columns) -> NDArray[np.str_]:
    """The name of the answer of the case that does not hold."""
    second = numbers(columns["outcome"])  # 1 if the first case holds
    return np.array(task.label_names).take(_at(answers(task, columns), second))


def _colors(task: Composites, columns: Columns) -> NDArray[np.str_]:
    """The colours of all pictures."""
    color = task.parse(columns)["color"]
    return np.array(list(COLORS)).take(color[color >= 0])


def _images(task: Composites, columns: Columns) -> NDArray[np.uint64]:
    """A code of the source images, whatever their places and colours."""
    block = task.parse(columns)
    owner = task.parts.sources_of(block["kind"]).astype(np.int64)
    sources = np.where(owner < 0, 0, (owner + 1) << 32 | block["source_index"])
    return codes(np.sort(sources, axis=1)[:, ::-1])


def _at(values: NDArray[Any], quadrants: NDArray[np.int64]) -> NDArray[Any]:
    """The value in one quadrant of each row."""
    return values[np.arange(len(values)), quadrants]
