"""The four parts of a composite: two indicators, a first and a second target.

A variant's design says what each part may show. `Parts` draws and places the parts, and finds them
again in a row's quadrants. Arrays of parts are `(rows, 4)`, the indicators first; -1 stands for a
part that shows nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws
from synthbench.tasks.composites.quadrants import KINDS
from synthbench.tasks.composites.rules import COLORS, Design
from synthbench.tasks.images import load
from synthbench.tasks.images.source_dirs import SourceDirs

FIRST_TARGET, SECOND_TARGET = 2, 3
#: The quadrants of the parts in layout `fixed`.
FIXED_QUADRANTS = (0, 3, 1, 2)
_COLOR_CODES = {name: code for code, name in enumerate(COLORS)}
_COLOR_VALUES = np.array(list(COLORS.values()), np.float64)


@dataclass(frozen=True)
class Parts:
    """The pools from which the parts of a variant's rows are drawn.

    Attributes:
        design: the variant's design.
        specs: the source of each part, `empty` for one that shows nothing.
        where: the source directories.
    """

    design: Design
    specs: tuple[str, ...]
    where: SourceDirs

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kind of each part."""
        return tuple(spec.partition(":")[0] for spec in self.specs)

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The different sources."""
        return tuple(spec for spec in dict.fromkeys(self.specs) if spec != "empty")

    @cached_property
    def _kind_codes(self) -> NDArray[np.uint8]:
        return np.array([KINDS.index(kind) for kind in self.kinds], np.uint8)

    @cached_property
    def _shown(self) -> tuple[tuple[int, str], ...]:
        """The parts that show something, each with its source."""
        return tuple(part for part in enumerate(self.specs) if part[1] != "empty")

    @cached_property
    def _compared_classes(self) -> NDArray[np.int64]:
        """The classes of the indicators if classes are compared, else empty.

        In torchvision's sets they begin at number 1: the digits 1 and 2 (to 4), or automobile and
        bird. In a class-folder tree they are the first classes.
        """
        count = {"class": 2, "group": 4}.get(self.design.compared, 0)
        return np.arange(count) + (self.kinds[0] != "folder")

    # Drawing. `group` is int64 `(n, 2)`, 0 or 1 for each indicator: the groups are two classes,
    # colours or columns, whichever are compared.

    def quadrants(self, draws: Draws, group: NDArray[np.int64]) -> NDArray[np.int64]:
        """The quadrant of each part."""
        if self.design.layout == "fixed":
            return np.tile(np.array(FIXED_QUADRANTS), (len(group), 1))
        if self.design.layout == "anywhere":
            return draws.permutations(len(group), 4)
        columns = group if self.design.compared == "column" else draws.integers(2, group.shape)
        upper, lower = columns.T
        return np.column_stack([1 - upper, 2 + 1 - lower, upper, 2 + lower])

    def classes(self, draws: Draws, group: NDArray[np.int64]) -> NDArray[np.int64]:
        """The class of each part: uniform unless it is compared."""
        classes = np.full((len(group), 4), -1)
        for part, spec in self._shown:
            classes[:, part] = draws.integers(len(load.class_names(spec, self.where)), len(group))
        if self.design.compared == "class":
            classes[:, :FIRST_TARGET] = self._compared_classes[group]
        if self.design.compared == "group":
            member = 2 * group + draws.integers(2, group.shape)
            classes[:, :FIRST_TARGET] = self._compared_classes[member]
        return classes

    def colors(self, draws: Draws, group: NDArray[np.int64]) -> NDArray[np.int64]:
        """The colour of each part: uniform over the possible colours unless it is compared."""
        of_indicators = _color_codes(self.design.indicator_colors)
        of_targets = _color_codes(self.design.target_colors)
        colors = np.full((len(group), 4), -1)
        for part, _ in self._shown:
            possible = of_indicators if part < FIRST_TARGET else of_targets
            colors[:, part] = possible[draws.integers(len(possible), len(group))]
        if self.design.compared == "color":
            colors[:, :FIRST_TARGET] = of_indicators[group]
        return colors

    def numbers(self, draws: Draws, classes: NDArray[np.int64], split: str) -> NDArray[np.int32]:
        """The number of each part's image in its source: uniform over its class in the split."""
        numbers = np.full(classes.shape, -1, np.int32)
        for part, spec in self._shown:
            needed: Iterable[int] = range(len(load.class_names(spec, self.where)))
            if part < FIRST_TARGET and len(self._compared_classes):
                needed = self._compared_classes.tolist()
            pool = load.load(spec, self.where).pool(split, needed)
            numbers[:, part] = pool.pick(classes[:, part], draws.floats(len(classes)))
        return numbers

    def in_quadrants(
        self,
        quadrants: NDArray[np.int64],
        classes: NDArray[np.int64],
        colors: NDArray[np.int64],
        numbers: NDArray[np.int32],
    ) -> dict[str, NDArray[Any]]:
        """The columns of `quadrants` but `rgb`, from the values drawn for the parts."""
        columns: dict[str, NDArray[Any]] = {
            "kind": np.tile(self._kind_codes, (len(quadrants), 1)),
            "class": classes.astype(np.int16),
            "color": colors.astype(np.int8),
            "source_index": numbers,
        }
        parts = np.argsort(quadrants, axis=1)  # the part in each quadrant
        return {name: np.take_along_axis(column, parts, axis=1) for name, column in columns.items()}

    # Finding the parts of a row.

    def sources_of(self, kind: NDArray[np.uint8]) -> NDArray[np.int8]:
        """The source of each quadrant, an index into `sources`; -1 where there is nothing."""
        of_parts = [self.sources.index(spec) if spec in self.sources else -1 for spec in self.specs]
        if self.design.layout == "fixed":
            by_place = np.array(of_parts, np.int8)[np.argsort(FIXED_QUADRANTS)]
            return np.tile(by_place, (len(kind), 1))
        by_kind = np.full(len(KINDS), -1, np.int8)
        by_kind[self._kind_codes] = of_parts
        return by_kind[kind]

    def find(self, kind: NDArray[np.uint8]) -> NDArray[np.int64]:
        """The quadrant of each part, int64 `(rows, 4)`, in rows that `fit`.

        If two parts cannot be told apart, the first is the one in the earlier quadrant.
        """
        if self.design.layout == "fixed":
            return np.tile(np.array(FIXED_QUADRANTS), (len(kind), 1))
        # Targets are found by their kind. In layout `rows` each has its half of the quadrants.
        halves = ((0, 1), (2, 3)) if self.design.layout == "rows" else (range(4), range(4))
        targets = [
            (kind[:, half] == self._kind_codes[part]).argmax(axis=1) + half[0]
            for part, half in zip((FIRST_TARGET, SECOND_TARGET), halves, strict=True)
        ]
        is_target = np.arange(4) == np.stack(targets)[:, :, None]
        indicators = np.argsort(is_target.any(axis=0), axis=1, kind="stable")[:, :FIRST_TARGET]
        return np.column_stack([indicators, *targets])

    def fit(self, kind: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """A mask of the quadrants' kinds that the variant has, bool `(rows,)`."""
        codes = self._kind_codes
        if self.design.layout == "fixed":
            fixed: NDArray[np.bool_] = (kind[:, FIXED_QUADRANTS] == codes).all(axis=1)
            return fixed
        fits: NDArray[np.bool_] = (np.sort(kind, axis=1) == np.sort(codes)).all(axis=1)
        if self.design.layout == "rows":
            fits &= (kind[:, :2] == codes[FIRST_TARGET]).sum(axis=1) == 1
        return fits


def draw_rgb(draws: Draws, color: NDArray[np.int8], noise: float) -> NDArray[np.uint8]:
    """Colours after noise, uint8 `(rows, 4, 3)`; 0 where there is nothing.

    Args:
        draws: the only randomness used.
        color: index of each quadrant's colour, -1 where there is nothing, int8 `(rows, 4)`.
        noise: standard deviation of the noise of each channel, on a scale from 0 to 1.
    """
    deviations = draws.normals((*color.shape, 3)) * (255.0 * noise)
    rgb = np.rint(np.clip(_COLOR_VALUES[color] + deviations, 0.0, 255.0)).astype(np.uint8)
    rgb[color < 0] = 0
    return rgb


def _color_codes(names: tuple[str, ...]) -> NDArray[np.int64]:
    return np.array([_COLOR_CODES[name] for name in names])
