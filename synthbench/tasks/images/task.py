"""A task whose rows are made from source images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.base import Task
from synthbench.tasks.images.licences import Origin


class ImageTask(Task):
    """A task whose rows have images, made from datasets of images.

    Its `inputs` say which images a row is made from; the pixels follow from them.
    """

    categories: ClassVar[tuple[str, ...]] = ("image-classification",)

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The datasets that rows are made from; their terms apply to the rows, too."""
        return ()

    @property
    def source_directories(self) -> tuple[str, ...]:
        """The directories that parameters name; a dataset's readers check these first."""
        return ()

    def has_sources(self) -> bool:
        """Whether the source images are here, so that rows can be made; True if none are needed."""
        return True

    def source_images(self, columns: Mapping[str, pa.Array]) -> NDArray[np.uint64]:
        """A code for each source image that rows of a shard use, uint64, in any order.

        No source image may be in two splits of a variant.
        """
        return np.zeros(0, np.uint64)
