"""The composites' variants: what each is made of, and its rule in the paper's words.

The table `DESIGNS` lists the contents of a row's four quadrants. The reference solver answers one
row. It shares only names with the generator.

Source: Eureka (Hoffmann et al., ICML 2024), section 4, figures 1 and 7, and A.9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

#: The quadrants in the order in which rows list them.
QUADRANTS = ("top-left", "top-right", "bottom-left", "bottom-right")
TOP_LEFT, TOP_RIGHT, BOTTOM_LEFT, BOTTOM_RIGHT = range(4)

#: The ten colours of `color-or-fashion` in the order of its labels, with the values of CSS. Then
#: white, which leaves a picture as it is.
COLORS = {
    "brown": (165, 42, 42),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "orange": (255, 165, 0),
    "red": (255, 0, 0),
    "green": (0, 128, 0),
    "purple": (128, 0, 128),
    "gray": (128, 128, 128),
    "pink": (255, 192, 203),
    "turquoise": (64, 224, 208),
    "white": (255, 255, 255),
}
WHITE = ("white",)
RED_OR_BLUE = ("red", "blue")
TEN_COLORS = tuple(COLORS)[:10]


@dataclass(frozen=True)
class Design:
    """The design of a variant's rows.

    Attributes:
        indicators: the kind of source of both indicators, `empty` for no indicators.
        targets: the kinds of source of the first and the second target.
        layout: `fixed` (indicators at top-left and bottom-right, first target at top-right,
            second at bottom-left), `rows` (in each row an indicator and a target, the first
            target in the top row) or `anywhere`.
        compared: the compared values: the indicators' `class`, the `group` of two classes that
            each belongs to, their `color`, or, without indicators, the targets' `column`.
        indicator_colors: the possible colours of the indicators.
        target_colors: the possible colours of the targets.
        color_answers: whether the second question is the first target's colour.
        rule: the rule in words.
        instruction: the image's contents and the question, for a reader who sees only the image.
        outcomes: the rule's two cases in words.
    """

    indicators: str = "mnist"
    targets: tuple[str, str] = ("fashion", "fashion")
    layout: str = "fixed"
    compared: str = "class"
    indicator_colors: tuple[str, ...] = RED_OR_BLUE
    target_colors: tuple[str, ...] = WHITE
    color_answers: bool = False
    rule: str = "Same digit: what is at top-right? Else: what is at bottom-left?"
    instruction: str = (
        "The image has four quadrants. Those at top-left and bottom-right show a digit each. If "
        "the two digits are the same, the answer is what the quadrant at top-right shows; "
        "otherwise it is what the quadrant at bottom-left shows."
    )
    outcomes: tuple[str, str] = ("same digit", "different digits")


MAIN = Design()
DESIGNS = {
    "main": MAIN,
    "no-position": replace(
        MAIN,
        layout="rows",
        rule="Same digit: what is the upper target? Else: what is the lower one?",
        instruction=(
            "The image has four quadrants. In the upper row and in the lower row one quadrant "
            "shows a digit, and the other one a target. If the two digits are the same, the "
            "answer is what the upper target shows. Otherwise it is what the lower target shows."
        ),
    ),
    "cifar": Design(
        indicators="cifar",
        targets=("fashion", "mnist"),
        layout="anywhere",
        indicator_colors=WHITE,
        target_colors=RED_OR_BLUE,
        rule="Two automobiles or two birds: what is the piece of clothing? Else: which digit?",
        instruction=(
            "The image has four quadrants. Two of them show an automobile or a bird each, one "
            "shows a piece of clothing, and one a digit. If they show two automobiles or two "
            "birds, the answer is the piece of clothing. Otherwise, with an automobile and a "
            "bird, it is the digit."
        ),
        outcomes=("same class", "an automobile and a bird"),
    ),
    "top-if-above": Design(
        indicators="empty",
        layout="rows",
        compared="column",
        rule="One above the other: what is the upper one? Else: what is the lower one?",
        instruction=(
            "The image has four quadrants. One in the upper row and one in the lower row show a "
            "target each. The other two are empty. If one target is directly above the other, the "
            "answer is what the upper target shows. Otherwise it is what the lower target shows."
        ),
        outcomes=("same column", "different columns"),
    ),
    "same-color": Design(
        targets=("mnist", "mnist"),
        compared="color",
        target_colors=RED_OR_BLUE,
        rule="Top-left and bottom-right of the same colour: which digit is at top-right? "
        "Else: which is at bottom-left?",
        instruction=(
            "The image has four quadrants with a red or blue digit each. If the digits at top-"
            "left and bottom-right have the same colour, the answer is the digit at top-right; "
            "otherwise it is the digit at bottom-left."
        ),
        outcomes=("same colour", "different colours"),
    ),
    "color-or-fashion": Design(
        indicator_colors=TEN_COLORS,
        target_colors=TEN_COLORS,
        color_answers=True,
        rule="Same digit: what is at top-right? Else: in which colour?",
        instruction=(
            "The image has four quadrants. Those at top-left and bottom-right show a digit each. "
            "If the two digits are the same, the answer is what the quadrant at top-right shows; "
            "otherwise it is the colour of what that quadrant shows."
        ),
    ),
    "digit-grouping": replace(
        MAIN,
        compared="group",
        rule="Digits both in {1, 2} or both in {3, 4}: what is at top-right? "
        "Else: what is at bottom-left?",
        instruction=(
            "The image has four quadrants. Those at top-left and bottom-right show a digit from 1 "
            "to 4 each. If both digits are 1 or 2, or both are 3 or 4, the answer is what the "
            "quadrant at top-right shows. Otherwise it is what the quadrant at bottom-left shows."
        ),
        outcomes=("same group", "different groups"),
    ),
}


# The reference solver.

Quadrant = Mapping[str, Any]


class Decision(NamedTuple):
    """A row's answer.

    Attributes:
        outcome: whether the rule's first case holds.
        selected: the quadrant of the deciding target, 0 to 3.
        answer: the class, or the colour's index, that is the label.
    """

    outcome: bool
    selected: int
    answer: int


def decide(variant: str, kinds: Sequence[str], quadrants: Sequence[Quadrant]) -> Decision:
    """Answer one row.

    Args:
        variant: the variant's name.
        kinds: the kinds of the indicators, the first and the second target, by which they are
            told apart where they may be anywhere.
        quadrants: the row's four quadrants.

    Raises:
        ValueError: the row is not one of the variant's.
    """
    indicator_kind, first_kind, second_kind = kinds
    if variant in ("top-if-above", "no-position"):
        first = _only(quadrants, first_kind, (TOP_LEFT, TOP_RIGHT))
        second = _only(quadrants, second_kind, (BOTTOM_LEFT, BOTTOM_RIGHT))
    elif variant == "cifar":
        first = _only(quadrants, first_kind, range(4))
        second = _only(quadrants, second_kind, range(4))
    else:
        first, second = TOP_RIGHT, BOTTOM_LEFT

    quadrant, other = (quadrants[index] for index in range(4) if index not in (first, second))
    if variant == "top-if-above":
        outcome = second == first + 2
    elif quadrant["kind"] != indicator_kind or other["kind"] != indicator_kind:
        raise ValueError(f"an indicator is of kind {quadrant['kind']!r} or {other['kind']!r}")
    elif variant == "same-color":
        outcome = quadrant["color"] == other["color"]
    elif variant == "digit-grouping":
        digits = (1, 2, 3, 4) if indicator_kind == "mnist" else (0, 1, 2, 3)
        together = {quadrant["class"], other["class"]}
        outcome = together <= set(digits[:2]) or together <= set(digits[2:])
    else:
        outcome = quadrant["class"] == other["class"]

    if variant == "color-or-fashion" and not outcome:
        return Decision(outcome, first, TEN_COLORS.index(quadrants[first]["color"]))
    selected = first if outcome else second
    return Decision(outcome, selected, quadrants[selected]["class"])


def _only(quadrants: Sequence[Quadrant], kind: str, indices: Sequence[int]) -> int:
    """The only one of these quadrants that is of this kind."""
    of_kind = [index for index in indices if quadrants[index]["kind"] == kind]
    if len(of_kind) != 1:
        raise ValueError(f"{len(of_kind)} quadrants of kind {kind!r} where one was expected")
    return of_kind[0]
