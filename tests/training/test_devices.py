"""Models on a pretended GPU: answer, loss and metric come about there, and nothing is waited for.

PyTorch's fake tensors have a shape, a type and a device, but no values. An operation on tensors
of two devices is an error, and so is whatever asks for a value, as a real GPU would have to be
waited for. They have no backward pass without a real GPU.
"""

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode

from synthbench.tasks.registry import task as make_task
from synthbench.training.forms import form_of
from synthbench.training.forms.rows import Batch
from synthbench.training.models import build
from synthbench.training.models.output import Record
from synthbench.training.recipes import STUDIES
from tests.training.test_golden import WITH_RECIPES
from tests.training.test_recipes import SIZES

GPU = torch.device("cuda", 0)
ROWS, LENGTH = 2, 5
#: Not tried: packed rows ask for their lengths on the CPU, at every step.
WAITING = ("lstm", "bilstm")


def shortest(model):
    """The recipe of a model with the fewest steps; one for a CPU, if there is any."""
    found = [(study, one) for study in STUDIES for one in study.recipes if one.model == model]
    return min(found, key=lambda pair: (pair[0].profile, pair[1].steps))


def move(model):
    """Put a model's parameters and buffers on the GPU, and nothing else of it."""
    for module in model.modules():
        for kept in (module._parameters, module._buffers):
            for name, there in kept.items():
                if there is not None:
                    placed = torch.empty(there.shape, dtype=there.dtype, device=GPU)
                    kept[name] = nn.Parameter(placed) if kept is module._parameters else placed


def batch_of(form):
    """Any batch as a task's rows give it."""
    with GPU:
        lengths = torch.full((ROWS,), LENGTH)
        classes = torch.zeros(ROWS, dtype=torch.int64)
        columns = torch.zeros(ROWS, LENGTH, dtype=torch.int64)
        match form.reads:
            case "tokens":
                per_row = form.tokens.name == "sequence-classification"
                return Batch(columns, lengths, classes if per_row else columns)
            case "grids":
                return Batch(columns, lengths, columns.float())
            case "images":
                return Batch(torch.zeros(ROWS, 3, 56, 56), None, classes)
            case "vectors":
                return Batch(torch.zeros(ROWS, 5), None, torch.zeros(ROWS, 5))
            case _:
                return Batch(torch.zeros(ROWS, LENGTH, 2), None, torch.empty(0))


def assert_there(*tensors):
    assert {tensor.device for tensor in tensors if tensor is not None} == {GPU}


@pytest.mark.slow
@pytest.mark.parametrize("name", [one for one in WITH_RECIPES if one not in WAITING])
@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
def test_a_model_computes_where_it_is_and_waits_for_no_value(name, training):
    study, recipe = shortest(name)
    task = make_task(study.task, study.variants[0], **study.parameters)
    form = form_of(task)
    model = build(name, form, SIZES[form.reads], recipe.options).train(training)
    with FakeTensorMode():
        move(model)
        batch = batch_of(form)
        record = None if training else Record()
        output = model(batch.inputs, batch.lengths, record)
        assert_there(output.scores, output.ponder)
        if recipe.steps:
            assert_there(form.loss(output.scores, batch))
            assert_there(form.measured(output.scores, batch))


def test_the_pretended_gpu_refuses_what_a_real_one_would():
    model = nn.Linear(3, 3)
    with FakeTensorMode():
        move(model)
        with pytest.raises(RuntimeError, match="device"):
            model(torch.zeros(2, 3))
        with pytest.raises(DataDependentOutputException):
            model(torch.zeros(2, 3, device=GPU)).sum().item()
