"""Rows of a training on its device: fresh composites, or the tokens of a train split.

Both are tuples of tensors whose first axis counts rows, the targets last. `inputs` makes what a
model reads from the others; it is part of the compiled step. No batch waits for the device.

Composites are those of `stream("composites")`. What they show is drawn on the CPU, which takes 3 µs
a row; pixels are assembled on the device, where the source images are.
"""

import functools

import numpy as np
import torch

from synthbench.engine.engine import Engine
from synthbench.errors import UsageError
from synthbench.sampling.blocks import KeyedRows
from synthbench.sampling.plan import plan_rows
from synthbench.sampling.splits import SplitSampler
from synthbench.streaming.rounds import Rounds
from synthbench.tasks.images import load
from synthbench.tasks.images.file_formats import SIZE
from synthbench.tasks.row_ids import rows_table
from synthbench.training.batches import EpochBatches
from synthbench.training.forms import form_of
from synthbench.training.train_fit import FIT_ROWS


def data_of(task, device):
    """The rows of a task for models, on a device."""
    return (Tokens if task.image_column is None else Composites)(task, device)


def split_rows(task, split):
    """All rows of a split of the dataset that `generate` makes."""
    sampler = SplitSampler(task, task.split(split), plan_rows(task, "paper", None), Engine(None, 1))
    return KeyedRows.concatenate([made.rows() for made in sampler.rounds()])


def judged(task, rows):
    """What `evaluate` needs to know of rows, as dicts."""
    columns = ["id", *(task.scored_columns or task.columns), *(one.column for one in task.group_by)]
    table = rows_table(task, rows.block, rows.fingerprints)
    return table.select(list(dict.fromkeys(columns))).to_pylist()


class Composites:
    """Composites of grey images, as `(numbers, rgb, targets)`.

    `pictures`, uint8 `(images, 28, 28)`, are all source images and a black one, on the device.
    `numbers` int32 `(rows, 4)` are the quadrants' source images among all of them; `rgb` uint8
    `(rows, 4, 3)`; `targets` int64 `(rows,)`.
    """

    dynamic = False  # whether the shapes of batches differ

    def __init__(self, task, device):
        self._task, self._device, self.form = task, device, form_of(task)
        self.epoch = task.split("train").rows
        self.sizes = {"classes": len(task.labels)}
        sources = [load.load(spec, task.source_dirs) for spec in task.parts.sources]
        if any(source.pixels.ndim != 3 for source in sources):
            raise UsageError(
                f"Variant {task.variant!r} of composites: its images have colours of their own; "
                "allowed are variants of grey images."
            )
        black = np.zeros((1, SIZE, SIZE), np.uint8)
        pixels = np.concatenate([*(source.pixels for source in sources), black])
        self.pictures = torch.from_numpy(pixels).to(device)
        self._firsts = np.cumsum([0, *(len(source.labels) for source in sources)])
        self._rounds = Rounds(task, "train")
        self._round = functools.lru_cache(maxsize=2)(self._drawn_round)

    def batches(self, recipe, seed):
        """A function from a step to its batch. Every seed is trained on the same rows."""
        return functools.partial(self._batch, recipe.batch_size)

    def _batch(self, size, step):
        parts = [
            [column[rows] for column in self._round(number)]
            for number, rows in self._rounds.slices(step * size, size)
        ]
        return tuple(
            columns[0] if len(columns) == 1 else torch.cat(columns)
            for columns in zip(*parts, strict=True)
        )

    def _drawn_round(self, number):
        return self.table(self._rounds.rows(number))

    def table(self, rows):
        """Rows as tensors."""
        block = rows.block
        owner = self._task.parts.sources_of(block["kind"])
        number = np.where(owner < 0, self._firsts[-1], self._firsts[owner] + block["source_index"])
        columns = (number.astype(np.int32), block["rgb"], block["label"].astype(np.int64))
        return tuple(_placed(torch.from_numpy(column), self._device) for column in columns)

    def sample(self, recipe):
        """Rows that are trained on."""
        return self.table(self._rounds.rows(0).take(slice(FIT_ROWS)))

    def inputs(self, numbers, rgb):
        """The images, float32 in 0..1, and no lengths."""
        return assemble(self.pictures, numbers, rgb).float() / 255, None


def assemble(pictures, numbers, rgb):
    """Composites, uint8 `(rows, 3, 56, 56)`; the arithmetic is that of `quadrants.to_pixels`.

    Args:
        pictures: all source images, uint8 `(images, 28, 28)`.
        numbers: the image in each quadrant, int32 `(rows, 4)`.
        rgb: the colour of each quadrant, uint8 `(rows, 4, 3)`.
    """
    rows = len(numbers)
    chosen = pictures[numbers.long()].int().view(rows, 1, 2, 2, SIZE, SIZE)
    factor = rgb.int().view(rows, 2, 2, 3).permute(0, 3, 1, 2)[..., None, None]
    product = chosen * factor + 128
    product = (product + (product >> 8)) >> 8  # product / 255, rounded
    whole = product.permute(0, 1, 2, 4, 3, 5).reshape(rows, 3, 2 * SIZE, 2 * SIZE)
    return whole.to(torch.uint8)


class Tokens:
    """Rows of a text task, as `(inputs, lengths, targets)`, the dataset's train split in memory."""

    dynamic = True

    def __init__(self, task, device):
        self._task, self._device, self.form = task, device, form_of(task)
        self.epoch = task.split("train").rows
        self.sizes = self.form.sizes(None)

    @functools.cached_property
    def _train(self):
        return self._encoded(split_rows(self._task, "train"))

    def _encoded(self, rows):
        return self.form.encode_table(rows_table(self._task, rows.block, rows.fingerprints))

    def batches(self, recipe, seed):
        """A function from a step to its batch; the seed determines the order of rows."""
        made = self._epochs(recipe, seed)
        return lambda step: tuple(_placed(part, self._device) for part in made.batch(step)[:3])

    def _epochs(self, recipe, seed):
        return EpochBatches(
            self._train,
            recipe.batch_size,
            seed=seed,
            one_length=recipe.one_length,
            balanced=recipe.balanced,
        )

    def table(self, rows):
        """Rows as tensors."""
        return self._placed(self._encoded(rows))

    def sample(self, recipe):
        """Rows that are trained on, as often as they are."""
        return self._placed(self._epochs(recipe, 0).sample(FIT_ROWS))

    def _placed(self, encoded):
        columns = (encoded.inputs.long(), encoded.lengths, encoded.targets)
        return tuple(_placed(column, self._device) for column in columns)

    def inputs(self, inputs, lengths):
        """What a model reads."""
        return inputs, lengths


def _placed(tensor, device):
    """A tensor of the CPU on a device, copied without waiting for the copy."""
    if device.type == "cuda":
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)
