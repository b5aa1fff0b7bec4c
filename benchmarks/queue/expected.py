"""What a training costs, counted on tensors without values, and how long a GPU should take for it.

Rates are those of vendors' data sheets. What is reached of them is assumed, and not measured: 35%
of the matrix rate and 80% of the memory's; a compiled step in bfloat16 moves a third of the bytes
of one in float32 that is not compiled, in a third of the kernels. Starting a kernel takes 5 µs, and
drawing a row 3 µs (measured on one core of an AMD EPYC).
"""

import dataclasses

import torch
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.floor import OPTIMIZER_BYTES, Kernels
from benchmarks.queue.rows import Tokens, split_rows
from synthbench.training.forms import form_of
from synthbench.training.models import build

#: Operations a second of dense bfloat16 matrix products, and bytes of memory a second.
GPUS = {
    "H200": (989e12, 4.8e12),
    "H100": (989e12, 3.35e12),
    "A100": (312e12, 2.04e12),
    "L40S": (362e12, 0.864e12),
    "RTX4090": (165e12, 1.01e12),
}
_MATRIX, _MEMORY, _COMPILED = 0.35, 0.8, 1 / 3
_KERNEL_SECONDS, _ROW_SECONDS = 5e-6, 3e-6


@dataclasses.dataclass(frozen=True)
class Cost:
    """What one step costs.

    Attributes:
        rows: of a batch.
        parameters: of the model.
        operations: floating-point operations of matrix products and convolutions.
        bytes: read and written by a step in float32 that is not compiled.
        kernels: that such a step starts.
    """

    rows: int
    parameters: int
    operations: int
    bytes: int
    kernels: int

    def seconds(self, gpu):
        """How long a step should take on one of `GPUS`."""
        matrix, memory = GPUS[gpu]
        computed = self.operations / (_MATRIX * matrix)
        moved = _COMPILED * self.bytes / (_MEMORY * memory)
        started = _COMPILED * self.kernels * _KERNEL_SECONDS + self.rows * _ROW_SECONDS
        return max(computed + moved, started)

    @property
    def state_bytes(self):
        """The state of an unfinished training: parameters and two moments in float32."""
        return 3 * 4 * self.parameters


def cost_of(recipe, task):
    """What a step of a recipe costs."""
    there = torch.device("meta")
    form, sizes, batch = _batch(recipe, task)
    model = build(recipe.model, form, sizes, recipe.options).to(there).train()
    targets = torch.empty(recipe.batch_size, dtype=torch.int64, device=there)
    with FlopCounterMode(display=False) as operations, Kernels() as kernels:
        scores = model(*(part.to(there) for part in batch)).scores
        functional.cross_entropy(scores, targets).backward()
    parameters = sum(one.numel() for one in model.parameters())
    moved = kernels.bytes + parameters * OPTIMIZER_BYTES
    total = operations.get_total_flops()
    return Cost(recipe.batch_size, parameters, total, moved, kernels.started + 1)


def _batch(recipe, task):
    """The form and sizes of a model, and a batch of the usual shape."""
    if task.image_column is not None:
        sizes = {"classes": len(task.labels)}
        return form_of(task), sizes, [torch.empty(recipe.batch_size, 3, 56, 56)]
    data = Tokens(task, torch.device("cpu"))
    _, lengths, _ = data.table(split_rows(task, "iid"))
    width = round(lengths.float().mean().item()) if recipe.one_length else int(lengths.max())
    full = torch.full((recipe.batch_size,), width)
    return data.form, data.sizes, [torch.ones(recipe.batch_size, width, dtype=torch.int64), full]
