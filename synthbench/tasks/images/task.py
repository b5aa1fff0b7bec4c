"""A task whose rows are made from source images, and who made these and under which terms."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.base import Parameters, Task
from synthbench.tasks.images.source_dirs import chosen_source_dirs


@dataclasses.dataclass(frozen=True)
class Origin:
    """A dataset that is part of ours.

    Attributes:
        title: its name.
        license: its licence, as the Hugging Face Hub names it.
        terms: its licence in words.
        url: where it is published. Empty if nowhere.
        citation: its BibTeX entry. Empty if unknown.
    """

    title: str
    license: str
    terms: str
    url: str = ""
    citation: str = ""


ORIGINS = {
    "mnist": Origin(
        title="MNIST",
        license="cc-by-sa-3.0",
        terms="Creative Commons Attribution-ShareAlike 3.0, (c) Yann LeCun and Corinna Cortes",
        url="http://yann.lecun.com/exdb/mnist",
        citation="""\
@misc{lecun2010mnist,
  title  = {{MNIST} Handwritten Digit Database},
  author = {LeCun, Yann and Cortes, Corinna and Burges, Christopher J. C.},
  year   = {2010},
  url    = {http://yann.lecun.com/exdb/mnist}
}""",
    ),
    "fashion": Origin(
        title="Fashion-MNIST",
        license="mit",
        terms="MIT, (c) Zalando SE",
        url="https://github.com/zalandoresearch/fashion-mnist",
        citation="""\
@misc{xiao2017fashion,
  title  = {{Fashion-MNIST}: a Novel Image Dataset for Benchmarking Machine Learning Algorithms},
  author = {Xiao, Han and Rasul, Kashif and Vollgraf, Roland},
  year   = {2017},
  url    = {https://arxiv.org/abs/1708.07747}
}""",
    ),
    "cifar": Origin(
        title="CIFAR-10",
        license="unknown",
        terms="none is stated",
        url="https://www.cs.toronto.edu/~kriz/cifar.html",
        citation="""\
@techreport{krizhevsky2009learning,
  title       = {Learning Multiple Layers of Features from Tiny Images},
  author      = {Krizhevsky, Alex},
  institution = {University of Toronto},
  year        = {2009}
}""",
    ),
}

#: Images that the user supplies.
OWN_PICTURES = Origin(
    title="class folders", license="other", terms="that of the pictures in them. Ask their owner"
)


class ImageTask(Task):
    """A task whose rows have images, made from datasets of images.

    Its `inputs` say which images a row is made from. The pixels follow from them.

    Attributes:
        source_dirs: where its source images are. A task keeps them in other processes, too.
    """

    categories: ClassVar[tuple[str, ...]] = ("image-classification",)

    def __init__(
        self,
        variant: str | None = None,
        parameters: Mapping[str, Any] | Parameters | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(variant, parameters, seed)
        self.source_dirs = chosen_source_dirs()

    def __reduce__(self) -> tuple[Any, ...]:
        return *super().__reduce__(), {"source_dirs": self.source_dirs}

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The datasets that rows are made from. Their terms apply to the rows, too."""
        return ()

    @property
    def source_directories(self) -> tuple[str, ...]:
        """The directories that parameters name. A dataset's readers check these first."""
        return ()

    def has_sources(self) -> bool:
        """True if the source images are here, so that rows can be made, or are not needed."""
        return True

    def source_images(self, columns: Mapping[str, pa.Array]) -> NDArray[np.uint64]:
        """A code for each source image that rows of a shard use, uint64, in any order.

        No source image may be in two splits of a variant.
        """
        return np.zeros(0, np.uint64)
