"""Sources of images, and which split may use which of them.

The images of a source are numbered: first the training set, then the test set, each in the order
of its files. No image is in two splits, whatever the seed: of each class's training images every
tenth, from the first on, is for validation. A class-folder tree either has `train` and `test` at
its top, or is a single tree. Then of each class's images every tenth, from the first on, is for
validation, and every tenth, from the second on, for test.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import DatasetError

#: One in this many training images of a class is for validation.
HELD_OUT = 10


class Pool(NamedTuple):
    """The images that one split may use, class by class.

    Attributes:
        numbers: image numbers, int32, the first class's first.
        start: where each class begins in `numbers`, int64 `(classes,)`.
        size: how many images each class has, int64 `(classes,)`.
    """

    numbers: NDArray[np.int32]
    start: NDArray[np.int64]
    size: NDArray[np.int64]

    def pick(
        self, classes: NDArray[np.integer[Any]], uniform: NDArray[np.float64]
    ) -> NDArray[np.int32]:
        """A random image of each of the classes. All images of a class are equally likely.

        Args:
            classes: class numbers, each of a class that has images.
            uniform: uniform numbers in `[0, 1)`, of the same shape.
        """
        rank = (uniform * self.size.take(classes)).astype(np.int64)
        return self.numbers.take(self.start.take(classes) + rank)


@dataclass(frozen=True, eq=False)
class Source:
    """The images of one source, in order. Pixels are read when they are first needed.

    Attributes:
        title: its name in errors.
        classes: names of the classes, in the order of their labels.
        labels: the class of each image, int16 `(images,)`.
        training: size of the training set, whose images come first; None for a single tree.
        read: reads the pixels.
    """

    title: str
    classes: tuple[str, ...]
    labels: NDArray[np.int16]
    training: int | None
    read: Callable[[], NDArray[np.uint8]]

    @cached_property
    def pixels(self) -> NDArray[np.uint8]:
        """All images, uint8 `(images, 28, 28)` if grey, else `(images, 28, 28, 3)`.

        Raises:
            DatasetError: a file is broken, or there are more or fewer images than labels.
        """
        pixels = self.read()
        if len(pixels) != len(self.labels):
            raise DatasetError(
                f"{self.title}: {len(pixels):,} images, but {len(self.labels):,} labels."
            )
        return pixels

    def describe(self) -> dict[str, Any]:
        """Its entry in the manifest. The checksum is over labels and decoded, scaled pixels."""
        checksum = hashlib.sha256(np.array(self.pixels.shape, "<i8").tobytes())
        checksum.update(self.labels.astype("<i2").data)
        checksum.update(np.ascontiguousarray(self.pixels).data)
        return {
            "images": len(self.labels),
            "training_images": self.training,
            "classes": list(self.classes),
            "sha256": checksum.hexdigest(),
        }

    def pool(self, split: str, classes: Iterable[int]) -> Pool:
        """The images that a split may use.

        Args:
            split: `train`, `validation` or `test`.
            classes: the classes that must have images.

        Raises:
            DatasetError: a class lacks images.
        """
        pool = self._pools[split]
        for number in classes:
            if number >= len(self.classes):
                raise DatasetError(
                    f"{self.title}: class number {number} is needed, counted from 0, but there "
                    f"are only {', '.join(self.classes)}."
                )
            if not pool.size[number]:
                raise DatasetError(
                    f"{self.title}: class {self.classes[number]} has no image for {split}; "
                    f"every {HELD_OUT}th of its training images is for validation."
                )
        return pool

    @cached_property
    def _pools(self) -> dict[str, Pool]:
        classes = len(self.classes)
        training = len(self.labels) if self.training is None else self.training
        test = np.arange(len(self.labels)) >= training
        # The place of each image among the images of its class in the training or test set.
        group = self.labels + classes * test.astype(np.int64)
        order = np.argsort(group, kind="stable").astype(np.int32)
        count = np.bincount(group, minlength=2 * classes)
        index = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
        tested = test[order] if self.training is not None else index % HELD_OUT == 1
        validated = ~tested & (index % HELD_OUT == 0)
        return {
            "train": self._pool(order[~tested & ~validated]),
            "validation": self._pool(order[validated]),
            "test": self._pool(order[tested]),
        }

    def _pool(self, numbers: NDArray[np.int32]) -> Pool:
        size = np.bincount(self.labels[numbers], minlength=len(self.classes))
        return Pool(numbers, np.cumsum(size) - size, size)
