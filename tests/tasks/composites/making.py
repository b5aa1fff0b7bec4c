"""Rows of composites for the tests, from small sources or from quadrants named by hand."""

import contextlib
import itertools
import os
from pathlib import Path

import numpy as np
import pytest

from synthbench.tasks.composites.rules import COLORS
from synthbench.tasks.composites.task import Composites
from synthbench.tasks.images import load

VARIANTS = list(Composites.variants)
ONE_FOLDER = [
    *[(variant, {"target_source": "folder:pictures"}) for variant in VARIANTS],
    *[(v, {"indicator_source": "folder:pictures"}) for v in VARIANTS if v != "top-if-above"],
    ("cifar", {"indicator_source": "folder:split"}),
    ("cifar", {"digit_source": "folder:pictures"}),
]
TWO_FOLDERS = [
    (variant, {"indicator_source": "folder:pictures", "target_source": "folder:split"})
    for variant in ("main", "same-color", "color-or-fashion", "digit-grouping")
]
ALL = [*[(variant, {}) for variant in VARIANTS], *ONE_FOLDER, *TWO_FOLDERS]
REAL = os.environ.get("SYNTHBENCH_DATA")
needs_real = pytest.mark.skipif(
    not REAL or not Path(REAL, "cifar10-jpeg").is_dir(),
    reason="SYNTHBENCH_DATA does not name a directory with the real MNIST, Fashion-MNIST and "
    "cifar10-jpeg",
)


@contextlib.contextmanager
def source_dir(path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SYNTHBENCH_DATA", str(path))
        yield


def quadrant(kind, name, color, index=0):
    """A quadrant as a row lists it, its class by name."""
    if kind == "empty":
        return dict.fromkeys(["kind", "class", "color", "rgb", "source_index"]) | {"kind": kind}
    label = load.CLASSES[kind].index(name)
    return {
        "kind": kind,
        "class": label,
        "color": color,
        "rgb": list(COLORS[color]),
        "source_index": index,
    }


def digit(name, color="red"):
    return quadrant("mnist", str(name), color)


def fashion(name, color="white"):
    return quadrant("fashion", name, color)


def cifar(name):
    return quadrant("cifar", name, "white")


NOTHING = quadrant("empty", "", "")

# The schematics of the paper's figures 1(a), 7(b) and 15: variant, quadrants, outcome, deciding
# quadrant, label.
WORKED = [
    ("main", [digit(1), fashion("Bag"), fashion("Dress"), digit(1, "blue")], True, 1, "Bag"),
    ("main", [digit(2), fashion("Bag"), fashion("Dress"), digit(1)], False, 2, "Dress"),
    ("no-position", [fashion("Coat"), digit(2), digit(2), fashion("Bag")], True, 0, "Coat"),
    ("no-position", [digit(1), fashion("Coat"), digit(2), fashion("Bag")], False, 3, "Bag"),
    (
        "cifar",
        [cifar("bird"), digit(9), cifar("bird"), fashion("Shirt", "blue")],
        True,
        3,
        "Shirt or 6",
    ),
    (
        "cifar",
        [digit(9), cifar("automobile"), fashion("Shirt", "red"), cifar("bird")],
        False,
        0,
        "Ankle boot or 9",
    ),
    ("top-if-above", [NOTHING, fashion("Bag"), NOTHING, fashion("Coat")], True, 1, "Bag"),
    ("top-if-above", [NOTHING, fashion("Bag"), fashion("Coat"), NOTHING], False, 2, "Coat"),
    ("same-color", [digit(7), digit(3, "blue"), digit(0), digit(4)], True, 1, 3),
    ("same-color", [digit(7), digit(3), digit(0), digit(7, "blue")], False, 2, 0),
    (
        "color-or-fashion",
        [digit(1, "pink"), fashion("Trouser", "gray"), fashion("Bag", "red"), digit(1, "blue")],
        True,
        1,
        "Trouser or blue",
    ),
    (
        "color-or-fashion",
        [digit(2, "green"), fashion("Coat", "pink"), fashion("Bag", "red"), digit(1, "gray")],
        False,
        1,
        "Bag or pink",
    ),
    ("digit-grouping", [digit(1), fashion("Bag"), fashion("Coat"), digit(2)], True, 1, "Bag"),
    ("digit-grouping", [digit(4), fashion("Bag"), fashion("Coat"), digit(3)], True, 1, "Bag"),
    ("digit-grouping", [digit(2), fashion("Bag"), fashion("Coat"), digit(3)], False, 2, "Coat"),
]


def pixels_by_hand(task, row):
    """The image of one row, pixel by pixel."""
    image = np.zeros((56, 56, 3), int)
    for place, part in enumerate(row["quadrants"]):
        if part["kind"] == "empty":
            continue
        spec = part["kind"]
        if spec == "folder":
            spec = task.parts.specs[0 if place in (0, 3) else 2]
            if task.design.layout != "fixed":
                spec = next(spec for spec in task.parts.specs if spec.startswith("folder"))
        source = load.load(spec).pixels[part["source_index"]]
        for line, column, channel in itertools.product(range(28), range(28), range(3)):
            grey = source[line, column] if source.ndim == 2 else source[line, column, channel]
            # Rounded to the nearest; 255 is odd, so that there are no ties.
            value = (int(grey) * part["rgb"][channel] + 127) // 255
            image[28 * (place // 2) + line, 28 * (place % 2) + column, channel] = value
    return image
