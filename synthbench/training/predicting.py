"""A model's answers to the rows of the evaluation splits, and the reports on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import nn

from synthbench.errors import SynthbenchError
from synthbench.evaluation.evaluate import evaluate
from synthbench.tasks.base import Task
from synthbench.text.progress import progress_bar
from synthbench.training.backbones.looped import LoopedTransformer
from synthbench.training.batches import evaluation_batches, take
from synthbench.training.forms.form import Form
from synthbench.training.forms.rows import Batch, Rows
from synthbench.training.models.foreign import line_of_theirs, naming_theirs, theirs
from synthbench.training.models.moved import MOVED, moved
from synthbench.training.models.output import Output, Record
from synthbench.training.options import Setting

#: The most pairs of tokens in a batch. Attention maps should fit into a processor's cache, whereas
#: a GPU wants large batches.
_PAIRS_ON_CPU, _PAIRS_ON_GPU = 1 << 18, 1 << 21

#: The rows of an evaluation split for the model, and the columns that `evaluate` needs.
EvaluationSplit = tuple[Rows, pa.Table]


def report_splits(
    title: str,
    model: nn.Module,
    form: Form,
    task: Task,
    splits: Mapping[str, EvaluationSplit],
    setting: Setting,
) -> dict[str, Any]:
    """The report of `evaluate` on each split, as JSON values; `title` names the progress bar."""
    reports = {}
    total = sum(len(rows) for rows, _ in splits.values())
    with progress_bar(setting.progress, title, "rows", total) as bar:
        for name, (rows, judged) in splits.items():
            bar.update(0, now=name)
            answers = predict(model, rows, form, setting)
            report = evaluate(judged.to_pylist(), answers, task=task, split=name, progress=False)
            reports[name] = report.to_dict()
            bar.update(len(rows))
    return reports


def metrics_by_rounds(
    model: nn.Module,
    form: Form,
    task: Task,
    splits: Mapping[str, EvaluationSplit],
    rounds: Iterable[int],
    setting: Setting,
) -> dict[str, dict[str, dict[str, float]]]:
    """The metrics of a looped model in other numbers of rounds, by split. Empty for other models.

    Returns:
        Metrics by their name, of each split, under each number of rounds as text.
    """
    looped = next((part for part in model.modules() if isinstance(part, LoopedTransformer)), None)
    by_rounds: dict[str, dict[str, dict[str, float]]] = {}
    for count in () if looped is None else sorted(rounds):
        assert looped is not None
        usual, looped.test_rounds = looped.test_rounds, count
        title = f"evaluate {count} rounds"
        reports = report_splits(title, model, form, task, splits, setting)
        looped.test_rounds = usual
        by_rounds[str(count)] = {
            name: {metric: report[metric] for metric in task.metrics}
            for name, report in reports.items()
        }
    return by_rounds


@torch.no_grad()
def predict(model: nn.Module, rows: Rows, form: Form, setting: Setting) -> list[Any]:
    """The model's answer to each row, in order, as `evaluate` reads it."""

    def run(batch: Batch) -> Output:
        with setting.autocast():
            return apply(model, batch)

    answers: list[Any] = [None] * len(rows)
    for indices, batch in _batches(model, rows, setting):
        for index, answer in zip(indices, form.predict(run, batch), strict=True):
            answers[index] = answer
    return answers


def measure(model: nn.Module, rows: Rows, form: Form, setting: Setting) -> tuple[float, float]:
    """Mean loss and mean metric of a model on rows."""
    loss = metric = 0.0
    for indices, batch, output in forward(model, rows, setting):
        loss += form.loss(output.scores, batch).item() * len(indices)
        metric += form.measured(output.scores, batch).sum().item()
    return loss / len(rows), metric / len(rows)


def training_score(
    model: nn.Module, rows: Rows, form: Form, setting: Setting
) -> tuple[float, float]:
    """The mean metric of a model on training rows, and the share of them that it has learned."""
    _, metric = measure(model, rows, form, setting)
    return metric, form.learned(metric, rows.targets)


def apply(model: Callable[..., Output], batch: Batch, record: Record | None = None) -> Output:
    """The model's output for a batch. Only models of tokens are given positions."""
    if batch.positions is None:
        return model(batch.inputs, batch.lengths, record)
    return model(batch.inputs, batch.lengths, record, batch.positions)


@torch.no_grad()  # a layer may keep tensors for training
def read_longest(model: nn.Module, rows: Rows) -> None:
    """Have a model read the longest of some rows, to see that it can.

    Raises:
        ParameterError: the row is too long for the model.
        SynthbenchError: a score is not a finite number.
    """
    output = apply(model.eval(), _longest(model, rows, copies=1))
    if not output.scores.isfinite().all():
        raise SynthbenchError(
            f"{line_of_theirs(model)}the scores of a row are not finite before any training."
        )


@torch.no_grad()
def mixes_rows(model: nn.Module, rows: Rows, precision: float) -> bool:
    """True if a model's scores of a row depend on the rows beside it in a batch.

    `precision`: by how much scores may differ, as a share of the largest. Models that answer the
    same row differently each time are taken for random, not for mixing.
    """
    model.eval()
    # Of an odd number of rows a layer that reverses them would leave the middle one in its place.
    alone, alike = _longest(model, rows, copies=1), _longest(model, rows, copies=4)
    inputs = alike.inputs.flip(1)
    inputs[1] = alike.inputs[1]
    others = alike._replace(inputs=inputs)

    def differ(first: Batch, place: int) -> bool:
        scores, again = (apply(model, first).scores[place] for _ in range(2))
        within = apply(model, others).scores[1]
        near = (scores - within).abs() <= precision * float(scores.abs().max())
        same = bool(near.all()) or not within.isfinite().all()
        return torch.equal(scores, again) and not same

    if differ(alone, 0):
        return True
    # A weight that begins with 0 may hide the layers before it. Moved parameters may make more of
    # rounding errors, so both batches have one shape.
    with moved(list(model.parameters()), MOVED):
        try:
            return differ(alike, 1)
        except SynthbenchError:  # a layer may ask more of its parameters than moved parameters give
            return False


def learn_longest(model: nn.Module, rows: Rows, form: Form) -> None:
    """Have a model from elsewhere compute gradients on the longest of some rows.

    It is left as it was; PyTorch's random state is not.

    Raises:
        SynthbenchError: it cannot, none of its parameters gets a gradient, or one gets a sparse
            one.
    """
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    batch = _longest(model, rows, copies=2)  # statistics over a batch need two
    loss = form.loss(apply(model.train(), batch).scores, batch)
    with naming_theirs(model):
        loss.backward()  # type: ignore[no-untyped-call]
    part = theirs(model)
    parameters = () if part is None else part.parameters()
    learned = [parameter for parameter in parameters if parameter.requires_grad]
    if learned and all(parameter.grad is None for parameter in learned):
        raise SynthbenchError(
            f"{line_of_theirs(model)}no parameter of {type(part).__name__} gets a gradient, so it "
            "would learn nothing: look for detach(), no_grad() or item()."
        )
    for name, parameter in model.named_parameters():
        if parameter.grad is not None and parameter.grad.is_sparse:
            raise SynthbenchError(
                f"{line_of_theirs(model)}the gradient of {name} is sparse, which AdamW does not "
                "take: use nn.Embedding without sparse=True."
            )
    model.zero_grad(set_to_none=True)
    with torch.no_grad():
        for name, buffer in model.named_buffers():
            # A table that has grown keeps its new values.
            if name in buffers and buffer.shape == buffers[name].shape:
                buffer.copy_(buffers[name])


def _longest(model: nn.Module, rows: Rows, copies: int) -> Batch:
    """The longest of some rows, so often, where the model is."""
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    longest = 0 if rows.lengths is None else int(rows.lengths.argmax())
    return take(rows, np.array([longest] * copies)).to(device)


def halting_steps(
    model: nn.Module, splits: Mapping[str, Rows], setting: Setting
) -> dict[str, float]:
    """The mean number of steps before a column halts, for each split. Empty without halting."""
    means = {}
    for name, rows in splits.items():
        total, record = 0.0, Record()
        for _ in forward(model, rows, setting, record):
            if not record["halting"]:
                return {}
            steps = record["halting"][0].float()  # 0 for padding
            record.clear()  # the rest would fill the memory
            total += (steps.sum(dim=1) / (steps > 0).sum(dim=1)).sum().item()
        means[name] = total / len(rows)
    return means


@torch.no_grad()
def forward(
    model: nn.Module, rows: Rows, setting: Setting, record: Record | None = None
) -> Iterator[tuple[list[int], Batch, Output]]:
    """All rows once, in batches: their indices, the batch, and the model's output."""
    for indices, batch in _batches(model, rows, setting):
        with setting.autocast():
            output = apply(model, batch, record)
        yield indices, batch, output


def _batches(model: nn.Module, rows: Rows, setting: Setting) -> Iterator[tuple[list[int], Batch]]:
    """All rows once, in batches on the device, for a model in evaluation mode."""
    model.eval()
    pairs = _PAIRS_ON_CPU if setting.device.type == "cpu" else _PAIRS_ON_GPU
    for indices, batch in evaluation_batches(rows, pairs):
        yield indices.tolist(), batch.to(setting.device)
