"""What `audit` looks for in composites: labels that follow from a part of the four pictures.

A shortcut here is told what the pictures show, as if it classified them without fault. A model that
sees the pixels of the same pictures can at best do as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.audit_spec import AuditSpec, Columns, Levels, by_key, codes, numbers
from synthbench.tasks.base import Block
from synthbench.tasks.composites.parts import FIRST_TARGET, SECOND_TARGET
from synthbench.tasks.composites.rules import COLORS, QUADRANTS
from synthbench.tasks.composites.task import Composites


def audit_spec(task: Composites) -> AuditSpec:
    """Shortcuts through some of the four pictures, and rows made from the same images."""
    seen = _Seen(task)
    both = "Both answers that the rule may ask for"
    return AuditSpec(
        shortcuts=(
            by_key(
                "first answer alone",
                "The answer of the rule's first case, as if it always held.",
                lambda columns: seen.answers(columns)[:, 0],
            ),
            by_key(
                "second answer alone",
                "The answer of the rule's second case, as if it always held.",
                lambda columns: seen.answers(columns)[:, 1],
            ),
            by_key(
                "both answers, no indicator",
                f"{both}, and nothing that says which.",
                seen.answers,
            ),
            *(
                by_key(
                    f"both answers and the {name} indicator",
                    f"{both}, and one of the two things that are compared.",
                    lambda columns, part=part: np.column_stack(  # type: ignore[misc]
                        [seen.answers(columns), seen.compared(columns)[:, part]]
                    ),
                )
                for part, name in enumerate(("first", "second"))
            ),
            by_key("indicators alone", "What is compared, and no target.", seen.compared),
        ),
        near_duplicate_keys={"the same images in other places or colours": seen.images},
        distributions={
            "deciding quadrant": lambda columns: np.array(QUADRANTS)[numbers(columns["selected"])],
            "both cases have the same answer": lambda columns: np.array(["no", "yes"])[
                (seen.answers(columns)[:, 0] == seen.answers(columns)[:, 1]).astype(np.int64)
            ],
            "answer of the case that does not hold": seen.other_answer,
            "colours": seen.colors,
        },
        levels=Levels(
            "rule's case",
            lambda columns: 1 - numbers(columns["outcome"]),
            lambda level: task.design.outcomes[level],
            hard=False,
        ),
    )


class _Seen:
    """What the pictures of a task's rows show."""

    def __init__(self, task: Composites) -> None:
        self._task = task

    def _parts(self, columns: Columns) -> tuple[Block, NDArray[np.int64]]:
        """The quadrants, and where each part lies, int64 `(rows, 4)`."""
        block = self._task.parse(columns)
        return block, self._task.parts.find(block["kind"])

    def answers(self, columns: Columns) -> NDArray[np.int64]:
        """The answers of the rule's two cases, int64 `(rows, 2)`."""
        block, places = self._parts(columns)
        if self._task.design.color_answers:
            answers = [_at(block["class"], places[:, FIRST_TARGET])]
            answers.append(_at(block["color"], places[:, FIRST_TARGET]))
        else:
            targets = (FIRST_TARGET, SECOND_TARGET)
            answers = [_at(block["class"], places[:, part]) for part in targets]
        return np.column_stack(answers).astype(np.int64)

    def compared(self, columns: Columns) -> NDArray[np.int64]:
        """What the rule compares of the two indicators, int64 `(rows, 2)`."""
        block, places = self._parts(columns)
        compared = self._task.design.compared
        if compared == "column":
            return places[:, FIRST_TARGET:] % 2
        what = block["color" if compared == "color" else "class"]
        indicators = [_at(what, places[:, part]) for part in range(FIRST_TARGET)]
        return np.column_stack(indicators).astype(np.int64)

    def other_answer(self, columns: Columns) -> NDArray[np.str_]:
        """The name of the answer that would be right in the other case."""
        second = numbers(columns["outcome"])  # the first case holds, so the second does not
        other = self.answers(columns)[np.arange(len(second)), second]
        return np.array(self._task.label_names)[other]

    def colors(self, columns: Columns) -> NDArray[np.str_]:
        """The colours of all pictures."""
        codes = self._task.parse(columns)["color"]
        colors: NDArray[np.str_] = np.array(list(COLORS))[codes[codes >= 0]]
        return colors

    def images(self, columns: Columns) -> NDArray[np.uint64]:
        """A code of the source images, whatever their places and colours."""
        block = self._task.parse(columns)
        owner = self._task.parts.sources_of(block["kind"]).astype(np.int64)
        images = np.where(owner < 0, 0, (owner + 1) << 32 | block["source_index"])
        return codes(np.sort(images, axis=1)[:, ::-1])


def _at(values: NDArray[Any], places: NDArray[np.int64]) -> NDArray[Any]:
    """The value in one quadrant of every row."""
    return values[np.arange(len(values)), places]
