"""What a training step costs at least: `python -m benchmarks floor ctl [listops ...]`.

Counted on tensors without values, so it needs no GPU: floating-point operations of matrix products
and convolutions, forward and backward; and what PyTorch does where nothing is compiled, which is
how many kernels it starts and how many bytes they read and write in float32 (bfloat16 saves up to
half). The optimizer is counted as one kernel; clipping and metrics are not. With `--tflops` and
`--terabytes`, what a GPU does in a second: the steps a second that it cannot exceed, by operations,
and by bytes if nothing is compiled and nothing stays in its caches. The last column is measured
here: the batches a second of a stream, which training cannot outrun.

LSTMs are left out: packed rows need their lengths on the CPU.
"""

import argparse
import functools
import time

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.recipes import recipes_of
from synthbench.engine.engine import usable_cores
from synthbench.streaming.rounds import Rounds
from synthbench.tasks.registry import list_tasks
from synthbench.tasks.registry import task as make_task
from synthbench.text.tables import Table, render
from synthbench.training.batches import StreamBatches
from synthbench.training.forms import form_of
from synthbench.training.forms.rows import Batch
from synthbench.training.layers.attention import balance_gradients
from synthbench.training.models import build
from synthbench.training.recipes import find_study

#: Models whose operations cannot be counted without values.
_LEFT_OUT = ("lstm", "bilstm")
#: Operations that look like others but compute nothing.
_FREE = (
    torch.ops.aten.detach.default,
    torch.ops.aten._unsafe_view.default,
    torch.ops.aten.empty_like.default,
)
#: A fused AdamW reads parameter, gradient and two moments, and writes all but the gradient.
OPTIMIZER_BYTES = 7 * 4


class Kernels(TorchDispatchMode):
    """Counts the operations that compute something, and the bytes that they read and write."""

    def __init__(self):
        super().__init__()
        self.started = 0
        self.bytes = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if not func.is_view and func not in _FREE:
            self.started += 1
            self.bytes += sum(
                tensor.numel() * tensor.element_size()
                for tensor in tree_leaves((args, kwargs, result))
                if isinstance(tensor, Tensor)
            )
        return result


def main(words):
    """Count the models of the tasks named."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks floor",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("tasks", nargs="+", choices=list_tasks())
    parser.add_argument("--model", action="append", help="default: all of the study")
    parser.add_argument("--profile", default="paper", choices=["cpu", "paper"])
    parser.add_argument("--tflops", type=float, help="operations a second, in 10^12")
    parser.add_argument("--terabytes", type=float, help="bytes of memory a second, in 10^12")
    parser.add_argument("--workers", type=int, default=usable_cores(), help="that make the stream")
    arguments = parser.parse_args(words)
    studies = {name: find_study(name, arguments.profile) for name in arguments.tasks}
    streamed = functools.cache(lambda name, rows: _stream(studies[name], arguments.workers, rows))
    lines = []
    for study, recipe in recipes_of(studies.values(), arguments.model, _LEFT_OUT):
        batch, rate = streamed(study.task, recipe.batch_size)
        lines.append((study.task, *_line(study, recipe, batch, arguments), f"{rate:,.0f}"))
    head = (
        "task", "model", "rows", "width", "parameters", "TFLOP", "kernels", "GB",
        "steps/s by operations", "by bytes", "batches/s of a stream",
    )  # fmt: skip
    print(render(Table(head, lines, right=range(2, len(head)))))


def _task(study):
    return make_task(study.task, study.variants[0], **study.parameters)


def _stream(study, workers, batch_size, seconds=4.0):
    """A stream's first batch, and how many a second are ready to be trained on after it."""
    task = _task(study)
    source = Rounds(task, "train")
    cpu = torch.device("cpu")
    with source.tables(workers) as table:
        batches = StreamBatches(source, table, batch_size, form_of(task), cpu, rows=1)
        first, begin = batches.batch(0), -(-source.size // batch_size)
        step = begin
        started = time.perf_counter()
        while time.perf_counter() - started < seconds:
            batches.batch(step)
            step += 1
        return first, (step - begin) / (time.perf_counter() - started)


def _line(study, recipe, batch, arguments):
    parameters, operations, kernels = _count(study, recipe, batch)
    moved = kernels.bytes + parameters * OPTIMIZER_BYTES
    return (
        recipe.name,
        str(recipe.batch_size),
        str(batch.inputs.shape[1]) if batch.lengths is not None else "-",
        f"{parameters:,}",
        f"{operations / 1e12:.3g}",
        f"{kernels.started + 1:,}",
        f"{moved / 1e9:.3g}",
        f"{arguments.tflops * 1e12 / operations:.3g}" if arguments.tflops else "-",
        f"{arguments.terabytes * 1e12 / moved:.3g}" if arguments.terabytes else "-",
    )


def _count(study, recipe, batch):
    """Parameters of a model, operations of a step, and its kernels."""
    there, task = torch.device("meta"), _task(study)
    recipe, form = recipe.for_variant(task.variant), form_of(task)
    sizes = form.sizes(batch)
    model = build(recipe.model, form, sizes, recipe.options).to(there).train()
    batch = Batch(*(None if part is None else part.to(there) for part in batch))
    with FlopCounterMode(display=False) as operations, Kernels() as kernels:
        output = model(batch.inputs, batch.lengths)
        loss = form.loss(output.scores, batch)
        if recipe.ponder and output.ponder is not None:
            loss = loss + recipe.ponder * output.ponder.mean()
        loss.backward()
        if recipe.balance_gradients:
            balance_gradients(model)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return parameters, operations.get_total_flops(), kernels
