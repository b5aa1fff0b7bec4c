"""Whether a model fits the rows that it is to be trained on, found out before any work."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
import torch

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import ParameterError
from synthbench.sampling.preview import sample_rows
from synthbench.streaming.rounds import Rounds
from synthbench.tasks.base import Task
from synthbench.tasks.features import arrow_schema
from synthbench.training.batches import check_batch_size, take
from synthbench.training.data import DataRequest
from synthbench.training.encoding import Encoding, Rows
from synthbench.training.models import build
from synthbench.training.recipes.base import Recipe
from synthbench.training.setting import Setting, isolated, memory_errors

#: Rows of a dataset that a model is tried on before the others are read.
_TRIED = 64


@dataclasses.dataclass(frozen=True)
class Trial:
    """What a model is tried on.

    Attributes:
        task: the task with its variant, parameters and seed.
        rows: some of its rows; those of the hardest split, one of each bucket, if none are made.
        sizes: rows of each split.
    """

    task: Task
    rows: Rows
    sizes: Mapping[str, int]

    @classmethod
    def of(cls, request: DataRequest, variant: str, there: DatasetDirectory | None) -> Trial:
        """A few rows of the dataset that is there, or of the one that is to be made.

        Raises:
            UsageError: impossible parameters or rows.
            DatasetError: rows that cannot be read.
            SynthbenchError: source images are missing.
        """
        task, sizes = request.plan(variant, there)
        hardest = [split for split in task.splits if split.evaluation][-1]
        if there is None:
            sampled = sample_rows(task, hardest.name, len(hardest.buckets))
        else:
            sampled = list(itertools.islice(there.rows(variant, hardest.name), _TRIED))
        names = {name: task.columns[name] for name in Encoding.of(task).columns}
        table = pa.Table.from_pylist(sampled, schema=arrow_schema(names)).combine_chunks()
        columns = {name: table[name].chunk(0) for name in names}
        return cls(task, Encoding.of(task).encode(columns), sizes)

    def check(self, recipe: Recipe, stream: bool) -> None:
        """`check_fit` for these rows."""
        check_fit(recipe, self.task, [self.rows], self.sizes, stream)


def check_fit(
    recipe: Recipe, task: Task, splits: Iterable[Rows], sizes: Mapping[str, int], stream: bool
) -> None:
    """Make sure that a recipe's model can be built and reads rows; nothing of it is kept.

    Args:
        recipe: the model and how it is trained.
        task: whose rows.
        splits: rows of each split; the longest row of each is read.
        sizes: rows of each split.
        stream: whether the run trains on fresh rows.

    Raises:
        UsageError: a model that reads other rows, or an impossible batch size.
        ParameterError: an option that the model does not have, a value that it refuses, or rows
            that are too long for it.
        SynthbenchError: too little memory.
    """
    if recipe.steps and stream:
        Rounds(task, "train", recipe.batch_size)
    elif recipe.steps:
        check_batch_size(recipe.batch_size, sizes["train"])
    # One thread: workers that `validate` forks after this would lack PyTorch's other threads.
    encoding, setting = Encoding.of(task), Setting(torch.device("cpu"), threads=1)
    with memory_errors(recipe, setting), isolated(0, setting), torch.inference_mode():
        for rows in splits:
            model = build(recipe.model, encoding.form, encoding.sizes(rows), recipe.options).eval()
            if recipe.heat is not None and not hasattr(model, "set_temperature"):
                raise ParameterError(f"Recipe heat: model {recipe.model!r} has no temperature.")
            longest = 0 if rows.lengths is None else int(rows.lengths.argmax())
            batch = take(rows, np.array([longest]))
            model(batch.inputs, batch.lengths)
