"""A task: its parameters, columns and splits, its rule on one row, and its rule on many rows.

A task knows nothing of files, shards or workers. An instance is a small value that can be pickled
(variant, parameters, seed). Anything costly is computed on first use.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from synthbench.checks import check_name, check_whole_number
from synthbench.errors import TaskError
from synthbench.seeding import Draws
from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.block import Block, Split
from synthbench.tasks.column import Column
from synthbench.tasks.features import LABEL, cast, list_of, value
from synthbench.tasks.judged import Judged
from synthbench.tasks.numeric import json_rows
from synthbench.tasks.parameters import Parameters
from synthbench.tasks.tokens import Vocabulary
from synthbench.text.lines import short

if TYPE_CHECKING:
    import pyarrow as pa

_CONTENT = "content"  # column of a block: its rows' content, if a task does not encode it itself


class Task(Judged, abc.ABC):
    """A task with a variant, parameters and a seed chosen.

    Attributes:
        name: as in `synthbench generate NAME`.
        title: its name in prose.
        summary: the question of a row, in one sentence.
        source: paper and sections.
        variants: each variant with one sentence about it. The first is the default.
        parameters_type: the class of its parameters.
        categories: Hugging Face task categories, for the card.
        bucket_name: the column that holds the bucket. With a single bucket, a noun for the rows.
        inputs: the columns from which all others follow. `solve` is given the first.
        scored_columns: the columns that `read_answer` and `measure` read. Empty: all.
        levels: named sets of parameters, the easiest first. Empty if the task lacks levels.
        variant, parameters, seed: the choices.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    source: ClassVar[str]
    variants: ClassVar[Mapping[str, str]] = {"default": "The task as the paper describes it."}
    parameters_type: ClassVar[type[Parameters]] = Parameters
    categories: ClassVar[tuple[str, ...]] = ("text-classification",)
    bucket_name: ClassVar[str] = "rows"
    inputs: ClassVar[tuple[str, ...]] = ("text",)
    scored_columns: ClassVar[tuple[str, ...]] = ()
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def __init__(
        self,
        variant: str | None = None,
        parameters: Mapping[str, Any] | Parameters | None = None,
        seed: int = 0,
    ) -> None:
        self.variant = next(iter(self.variants)) if variant is None else variant
        check_name(f"variant of {self.name}", self.variant, self.variants)
        self.parameters: Any = self.parameters_type.make({} if parameters is None else parameters)
        self.seed = check_whole_number("Seed", seed, least=0)
        self.check_parameters()

    def check_parameters(self) -> None:
        """Check the parameters together with the variant, when the task is made.

        Raises:
            ParameterError: this variant cannot have these parameters.
        """

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.variant, self.parameters.to_dict(), self.seed)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Task) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return type(self), self.variant, self.parameters, self.seed

    def __repr__(self) -> str:
        """The call of `synthbench.task` that makes this task."""
        names = [self.name, *([] if self.variant == next(iter(self.variants)) else [self.variant])]
        named = {**({"seed": self.seed} if self.seed else {}), **self.parameters.changed()}
        words = [*map(repr, names), *(f"{name}={value!r}" for name, value in named.items())]
        return f"synthbench.task({', '.join(words)})"

    # Every task defines these.

    @property
    @abc.abstractmethod
    def columns(self) -> dict[str, Column]:
        """The columns beside `id`, in order: see `synthbench.tasks.features`."""

    @property
    @abc.abstractmethod
    def splits(self) -> tuple[Split, ...]:
        """The splits, in the order in which they are listed."""

    @abc.abstractmethod
    def solve(self, question: Any) -> Any:
        """The answer to one row, by the rule as the paper states it: the reference solver.

        It shares no code with `propose` and `render`. A class is its name, or the number where
        classes are named 0, 1, 2 and so on (`synthbench.tasks.features.class_answer`). A sequence
        is its text or a list of its tokens. Any other answer is the value of the column.

        Args:
            question: the first of the row's `inputs`.

        Raises:
            ValueError: the question is not one of this task's.
        """

    @abc.abstractmethod
    def propose(
        self, draws: Draws, n: int, split: Split, bucket: int
    ) -> Block | dict[str, NDArray[Any]]:
        """Draw `n` candidates and keep those that belong in the bucket.

        Args:
            draws: draws of this block. The only randomness used.
            n: number of candidates, at least 1.
            split: the split that is drawn.
            bucket: one of its buckets. Candidates may be drawn conditioned on it, as long as the
                rows that are kept have the proposal's distribution.

        Returns:
            The rows of the bucket, at most `n`: arrays by name, whose first axis counts the rows.
            Every bucket has the same names. Rows of two axes may be wider in one bucket than in
            another. Narrower rows are padded with 0 on the right.
        """

    @abc.abstractmethod
    def render(self, block: Block) -> Mapping[str, Any]:
        """The block's columns by name, without `id`.

        Each is a NumPy array, an Arrow array or a list, with one value a row; `rendered` casts it
        to the type of its column. A class is its index or its name.
        """

    # The rest has defaults.

    def propose_blocks(
        self, blocks: Sequence[Draws], n: int, split: Split, bucket: int
    ) -> Sequence[Block | dict[str, NDArray[Any]]]:
        """Draw several blocks at once, if that is faster: each as `propose` draws it.

        Args:
            blocks: the draws of each block, at least one.
            n: number of candidates of each, at least 1.
            split: the split that is drawn.
            bucket: one of its buckets.

        Returns:
            A list: for each block the result of `propose`, whatever the others are.
        """
        return [self.propose(draws, n, split, bucket) for draws in blocks]

    def split(self, name: str) -> Split:
        """The split of this name.

        Raises:
            UsageError: an unknown split.
        """
        by_name = {split.name: split for split in self.splits}
        check_name(f"split of {self.name}", name, by_name)
        return by_name[name]

    @property
    def instruction(self) -> str:
        """The rule of a row, in full, for a reader who sees only its `inputs`."""
        return self.summary

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The tokens of `text`; None unless it is a `TextTask`."""
        return None

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms in which `synthbench.tokens` gives rows. None unless it is a `TextTask`."""
        return ()

    @property
    def tables(self) -> dict[str, Any]:
        """Anything else that the rows depend on: JSON values for the manifest and the card."""
        return {}

    @functools.cached_property
    def answer(self) -> Column:
        """The column `label`. For a task without it, lists of numbers."""
        return self.columns.get(LABEL, list_of(value("float32")))

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The names of the classes of `label`; None if it is not a class."""
        return self.answer.names

    @property
    def image_column(self) -> str | None:
        """The first column of images, or None."""
        return next((name for name, column in self.columns.items() if not column.plain), None)

    @property
    def plain_columns(self) -> list[str]:
        """The columns without images: text, numbers, and lists of these."""
        return [name for name, column in self.columns.items() if column.plain]

    def rendered(self, block: Block) -> dict[str, pa.Array]:
        """The columns of a block in order, of the types that `columns` declares.

        Raises:
            TaskError: `render` gives other columns, or a value that its column cannot have.
        """
        values = self._given(block)
        try:
            return cast(self.columns, values, len(block))
        except ValueError as error:
            raise TaskError(f"render of {self.name}: {error}.") from error

    def _given(self, block: Block) -> dict[str, Any]:
        values = self.render(block)
        if isinstance(values, Mapping):
            return dict(values)
        raise TaskError(f"render of {self.name} gave {short(values)}: expected columns by name.")

    # Buckets: what rows are balanced over.

    def buckets(self, columns: Mapping[str, pa.Array]) -> NDArray[np.int64]:
        """The bucket of each row of a shard, int64: the column `bucket_name`, or 0."""
        if self.bucket_name not in self.columns:
            return np.zeros(len(columns[self.inputs[0]]), np.int64)
        return numpy_array(columns[self.bucket_name]).astype(np.int64)

    def bucket_label(self, bucket: int) -> str:
        """The bucket as the manifest names it."""
        told = self.bucket_name in self.columns or type(self).buckets is not Task.buckets
        return str(bucket) if told else "all"

    def bucket_weights(self, split: Split) -> tuple[float, ...]:
        """The proportions in which the split's buckets are filled. Equal by default."""
        return (1.0,) * len(split.buckets)

    def capacity(self, split: Split, bucket: int) -> int | None:
        """The number of distinct rows in the bucket, None where they cannot be counted."""
        return None

    def enumerate_rows(self, split: Split, bucket: int) -> Block | dict[str, NDArray[Any]]:
        """Every row of a bucket whose `capacity` is known, in any fixed order. See `propose`."""
        raise TypeError(f"{self.name} has no enumerate_rows")  # pragma: no cover

    # Row identity, see `synthbench.tasks.row_ids`.

    def content(self, block: Block) -> NDArray[np.uint8]:
        """The bytes that identify a row: two rows have equal content if and only if they are equal.

        Returns:
            uint8 `(rows, width)`, padded with zero bytes on the right. No content ends in a zero
            byte itself. By default the row's inputs as JSON, a few microseconds a row.
        """
        if _CONTENT not in block.columns:
            block = self.parse(self.rendered(block))
        return block[_CONTENT]

    def problem(self, block: Block) -> NDArray[np.uint64] | None:
        """A hash, uint64 `(rows,)`, that rows share which pose one problem.

        They are held out together. None, the default: no two rows pose the same problem.
        """
        return None

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        """A block with what `content` and `problem` need, from the `inputs` columns of a shard.

        Raises:
            ValueError: a row that is not one of this task's.
        """
        return Block({_CONTENT: json_rows([columns[name] for name in self.inputs])})

    def recompute_columns(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """All columns but the inputs and images, from the row's `inputs`, by `solve`."""
        if LABEL not in self.columns:
            return {}
        return {LABEL: self.answer.from_solver(self.solve(row[self.inputs[0]]))}

    def arrays(self, block: Block) -> dict[str, NDArray[Any]]:
        """The block's columns in NumPy, as `stream` gives them: text as objects of `str`."""
        return {name: numpy_array(column) for name, column in self.rendered(block).items()}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Weaknesses of rows with these parameters, as sentences for `generate` and `audit`."""
        return ()

    @property
    def chance(self) -> float | None:
        """The accuracy of a uniform guess: of a class, or of a place of a sequence.

        None if answers cannot be counted, if several are right, or if there is a single answer.
        Override it if the metric is another accuracy.
        """
        chance = None if self.is_checked else self.answer.chance
        return None if chance == 1 else chance

    def baseline(self) -> dict[str, float]:
        """Scores that are possible without solving the task, by name. Shown beside a report."""
        return {}

    def probe_targets(self, row: Mapping[str, Any]) -> dict[str, int]:
        """The classes that linear probes predict. By default every whole number or boolean."""
        return {name: int(row[name]) for name in self.columns if isinstance(row[name], int)}

    def regions(self) -> Mapping[str, tuple[int, ...]]:
        """Parts that are in fixed places of every row: tokens or quadrants, counted from 0."""
        return {}

    @property
    def stream(self) -> dict[str, object]:
        """The coordinates that all random streams of this task share."""
        choices = {"parameters": self.parameters.changed(), "seed": self.seed}
        return {"task": self.name, "variant": self.variant, **choices}

    # How many rows are made at a time. Class attributes may override these.

    @property
    def drawn_by_workers(self) -> bool:
        """True if workers draw a dataset's blocks. False if sending takes as long as drawing."""
        return True

    @property
    def block_rows(self) -> int:
        """Candidates that one block draws."""
        return 16_384

    @property
    def round_rows(self) -> int:
        """About how many accepted rows are shuffled together."""
        return 65_536

    def stream_round_rows(self, split: Split) -> int:
        """The most rows of a round of a stream. The rows of a stream depend on it."""
        return self.round_rows

    @property
    def group_rows(self) -> int:
        """Rows of a Parquet row group."""
        return 65_536

    @property
    def shard_rows(self) -> int:
        """Rows of a shard by default; `generate` rounds them up to a multiple of 8,192."""
        return 131_072
