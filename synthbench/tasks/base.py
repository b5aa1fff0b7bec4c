"""What a task says: parameters, splits, columns, and how rows are proposed, shown and solved.

A task knows nothing of files, shards or workers. An instance is a small value (variant,
parameters, seed) that pickles; whatever is costly is made where it is first needed.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.errors import check_whole_number, unknown_name
from synthbench.features import Feature
from synthbench.seeding import Draws
from synthbench.tasks.classes import read_class
from synthbench.tasks.origins import Origin
from synthbench.tasks.parameters import Parameters, parameter
from synthbench.tasks.scrutiny import Scrutiny

#: All that a task's module needs of this package, but for draws, features and errors.
__all__ = ["Block", "Breakdown", "Parameters", "Split", "Task", "parameter", "read_class"]

#: The largest part of a counted bucket that one evaluation split may take from train.
EVALUATION_SHARE = 0.1


class Block:
    """Rows as a struct of arrays: every column's first axis counts the rows.

    Example:
        >>> import numpy as np
        >>> from synthbench.tasks.base import Block
        >>> block = Block({"numbers": np.arange(6).reshape(3, 2)})
        >>> len(block), block.take(slice(1, None))["numbers"].tolist()
        (3, [[2, 3], [4, 5]])
    """

    def __init__(self, columns: Mapping[str, NDArray[Any]]) -> None:
        self.columns = dict(columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    def take(self, rows: NDArray[Any] | slice) -> Block:
        """The rows at these indices (or where a mask is true), in this order."""
        return Block({name: column[rows] for name, column in self.columns.items()})

    @staticmethod
    def concatenate(blocks: Sequence[Block]) -> Block:
        """The rows of all blocks, in order; the blocks have the same columns."""
        names = blocks[0].columns
        return Block({name: np.concatenate([block[name] for block in blocks]) for name in names})


@dataclasses.dataclass(frozen=True)
class Split:
    """A split before it is made.

    Attributes:
        name: `train`, `iid`, `validation`, `test`.
        rows: rows of the paper's dataset.
        buckets: what the split is balanced over.
        evaluation: whether it is drawn before train and kept out of it.
        share: the largest part of a bucket's distinct rows it may take where train wants them too.
    """

    name: str
    rows: int
    buckets: tuple[int, ...]
    evaluation: bool = True
    share: float = EVALUATION_SHARE


@dataclasses.dataclass(frozen=True)
class Breakdown:
    """One table of an evaluation report: the rows grouped by the values of a column.

    Attributes:
        column: the column; also the name in `report.by`.
        width: group integers in bands of this width (1..10, 11..20), 0 for each value alone.
    """

    column: str
    width: int = 0


class Task(abc.ABC):
    """A task with a variant, parameters and a seed chosen.

    Attributes:
        name: what everybody calls it, as in `synthbench generate NAME`.
        title: its name in prose.
        summary: one sentence: what a row asks.
        source: paper and sections.
        variants: each variant with a sentence on it; the first is the default.
        parameters_type: the class of its parameters.
        categories: names of Hugging Face task categories, for the card.
        bucket_name: what the buckets are values of, in words; the column of that name, if there
            is one.
        inputs: the columns a row is derived from; all others follow from these.
        separator: what stands between two tokens of `text`; if nothing does, each character is a
            token.
        breakdowns: tables of the evaluation report, beside the split's.
        metrics: metrics of one answer; the first is what `score` returns.
        binary_metrics: those of the metrics that are 0 or 1 for a row, so that an interval can be
            given.
        judged_by: the columns that `read_answer` and `measure` look at; none named means all.
        variant: the chosen variant.
        parameters: the chosen parameters.
        seed: the chosen seed.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    source: ClassVar[str]
    variants: ClassVar[Mapping[str, str]] = {"default": "The task as the paper describes it."}
    parameters_type: ClassVar[type[Parameters]]
    categories: ClassVar[tuple[str, ...]] = ("text-classification",)
    bucket_name: ClassVar[str]
    inputs: ClassVar[tuple[str, ...]] = ("text",)
    separator: ClassVar[str] = " "
    breakdowns: ClassVar[tuple[Breakdown, ...]] = ()
    metrics: ClassVar[tuple[str, ...]] = ("accuracy",)
    binary_metrics: ClassVar[tuple[str, ...]] = ("accuracy",)
    judged_by: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        variant: str | None = None,
        parameters: Mapping[str, Any] | Parameters | None = None,
        seed: int = 0,
    ) -> None:
        names = list(self.variants)
        self.variant = names[0] if variant is None else variant
        if self.variant not in self.variants:
            raise unknown_name(f"variant of {self.name}", self.variant, names)
        if isinstance(parameters, Parameters):
            parameters = parameters.to_dict()
        self.parameters: Any = self.parameters_type.make(parameters or {})
        check_whole_number("Seed", seed, least=0)
        self.seed = seed

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.variant, self.parameters.to_dict(), self.seed)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Task) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return type(self), self.variant, self.parameters, self.seed

    # What there is.

    @property
    @abc.abstractmethod
    def columns(self) -> dict[str, Feature]:
        """The columns beside `id`, in order, with their features."""

    @property
    @abc.abstractmethod
    def splits(self) -> tuple[Split, ...]:
        """The splits in the order in which readers see them."""

    def split(self, name: str) -> Split:
        """The split of this name.

        Raises:
            UsageError: there is none.
        """
        for split in self.splits:
            if split.name == name:
                return split
        raise unknown_name(f"split of {self.name}", name, [split.name for split in self.splits])

    def bucket_weights(self, split: Split) -> tuple[float, ...]:
        """In what proportion the split's buckets are filled; equally, unless overridden."""
        return (1.0,) * len(split.buckets)

    # How much at a time; a class attribute will do to override any of these.

    @property
    def block_rows(self) -> int:
        """Candidates of a block."""
        return 16_384

    @property
    def round_rows(self) -> int:
        """Accepted rows that are shuffled together, about."""
        return 65_536

    @property
    def group_rows(self) -> int:
        """Rows of a Parquet row group."""
        return 65_536

    @property
    def shard_rows(self) -> int:
        """Rows of a shard, unless asked for otherwise."""
        return 250_000

    @property
    def stream(self) -> dict[str, object]:
        """The coordinates that all random streams of this task share."""
        return {
            "task": self.name,
            "variant": self.variant,
            "parameters": self.parameters.changed(),
            "seed": self.seed,
        }

    @property
    def instruction(self) -> str:
        """What a row asks, in full, for somebody who sees only its `inputs`."""
        return self.summary

    @property
    def tokens(self) -> tuple[str, ...]:
        """All tokens that `text` can have, in a fixed order; none where rows are no text."""
        return ()

    @property
    def tables(self) -> dict[str, Any]:
        """What else the rows depend on and the manifest and card must show; JSON values."""
        return {}

    # How rows are made.

    @abc.abstractmethod
    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        """Draw `n` candidates and keep those that belong in the bucket.

        Args:
            draws: draws of this block; the only randomness used.
            n: number of candidates, at least 1.
            split: the split that is drawn.
            bucket: one of its buckets. Candidates may be drawn given anything that every row of
                the bucket has, as long as what is kept has the proposal's distribution.

        Returns:
            The rows of the bucket, at most `n`.
        """

    @abc.abstractmethod
    def content(self, block: Block) -> NDArray[np.uint8]:
        """What makes a row itself, as bytes: equal rows and only these have equal content.

        Returns:
            uint8 `(rows, width)`, padded with zero bytes on the right, not otherwise ending in
            one. A row's `id` is its fingerprint.
        """

    @abc.abstractmethod
    def render(self, block: Block) -> dict[str, pa.Array]:
        """The block's columns in Arrow, without `id`, in the order of `columns`."""

    def arrays(self, block: Block) -> dict[str, NDArray[Any]]:
        """The block's columns in NumPy, as `stream` gives them: text as objects of `str`."""
        return {
            name: column.to_numpy(zero_copy_only=False)
            for name, column in self.render(block).items()
        }

    def capacity(self, split: Split, bucket: int) -> int | None:
        """How many distinct rows the bucket has, None where they cannot be counted."""
        return None

    def listing(self, split: Split, bucket: int) -> Block:
        """Every row of a bucket that can be counted, in any fixed order."""
        raise TypeError(f"{self.name} counts no bucket, so it lists none")  # pragma: no cover

    # How rows are read again.

    @abc.abstractmethod
    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        """Enough of a block for `content`, from the `inputs` columns of a shard.

        Raises:
            ValueError: a row that is none of this task's.
        """

    @abc.abstractmethod
    def derive(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """All other columns from the row's `inputs`, by the plain reference solver."""

    @abc.abstractmethod
    def solve(self, question: Any) -> Any:
        """The answer to one row's input: a direct reading of the paper."""

    def buckets(self, columns: Mapping[str, pa.Array]) -> NDArray[np.int64]:
        """The bucket of each row of a shard, int64."""
        return np.asarray(columns[self.bucket_name].to_numpy(zero_copy_only=False), np.int64)

    def bucket_label(self, bucket: int) -> str:
        """The bucket as the manifest names it."""
        return str(bucket)

    # What rows are made of, for tasks made from images; `verify` asks only about whole rows.

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The datasets that rows are made from, whose terms hold for ours, too."""
        return ()

    def source_images(self, columns: Mapping[str, pa.Array]) -> NDArray[np.uint64]:
        """A code for each source image that rows of a shard use, uint64, in any order.

        No source image may be in two splits of a variant.
        """
        return np.zeros(0, np.uint64)

    @property
    def places(self) -> tuple[str, ...]:
        """The directories that parameters name, which a dataset may do to mislead its readers."""
        return ()

    def has_sources(self) -> bool:
        """Whether the source images lie here, so that `check_sources` can look at them."""
        return False

    def check_sources(self, columns: Mapping[str, pa.Array]) -> list[int]:
        """Indices of the rows of a shard whose pixels are not what their sources give.

        Raises:
            SynthbenchError: a source is missing or broken.
        """
        return []

    # How answers are judged.

    @abc.abstractmethod
    def read_answer(self, row: Mapping[str, Any], prediction: Any) -> Any:
        """The prediction as a value of the label's kind, None where it cannot be read."""

    def measure(self, row: Mapping[str, Any], answer: Any) -> dict[str, float]:
        """The metrics of one answer that could be read; `answer` None is the worst answer."""
        return {"accuracy": float(answer is not None and answer == row["label"])}

    def score(self, row: Mapping[str, Any], prediction: Any) -> float:
        """The first metric of one prediction; what cannot be read is wrong."""
        return self.measure(row, self.read_answer(row, prediction))[self.metrics[0]]

    def baseline(self) -> dict[str, float]:
        """What is reached without solving the task, by name; shown beside a report."""
        return {}

    def facts(self, row: Mapping[str, Any]) -> dict[str, int]:
        """What a model may find out on its way to the answer: classes, by name.

        Linear probes look for these in a model's states. Unless overridden: the label, and every
        other column of one whole number or truth value.
        """
        return {name: int(row[name]) for name in self.columns if isinstance(row[name], int)}

    # What may be wrong with rows as a whole.

    def scrutiny(self) -> Scrutiny:
        """What `audit` looks for in the rows beside what it looks for in those of every task."""
        return Scrutiny()

    # How a row is shown.

    @abc.abstractmethod
    def draw(self, row: Mapping[str, Any]) -> str:
        """One row as a person reads it, several lines of text."""

    def draw_sheet(self, rows: Sequence[Mapping[str, Any]], path: Path) -> None:
        """Write rows with images as one picture, for tasks that have images."""
        raise TypeError(f"{self.name} has no images")  # pragma: no cover
