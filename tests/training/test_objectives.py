"""Losses against their formulas; the quick metrics against the task's own."""

import numpy as np
import pytest
import torch

from synthbench.tasks.registry import task as make_task
from synthbench.training.batches import take
from synthbench.training.forms import form_of
from tests.support import draw_splits, plain_rows


def drawn(name, rows=40):
    """A task, its rows as dicts, and the batch of all of them."""
    task = make_task(name)
    columns = task.rendered(list(draw_splits(task, rows).values())[-1].block)
    form = form_of(task)
    encoded = form.encode(columns)
    batch = take(encoded, np.arange(len(encoded)))
    return task, plain_rows(columns), batch, form


def scores_for(name, batch, classes=8):
    """Scores that are right for some rows, or nearly right everywhere."""
    generator = torch.Generator().manual_seed(1)

    def noise(*shape):
        return torch.randn(*shape, generator=generator)

    if name == "ctl":
        right = torch.nn.functional.one_hot(batch.targets, classes).float()
        return right + noise(*right.shape)
    if name == "grid-count":
        colors = torch.nn.functional.one_hot(batch.inputs, 10).float()
        return colors * batch.targets[..., None] + 0.4 * noise(*colors.shape)
    return batch.targets + 0.1 * noise(*batch.targets.shape)


@pytest.mark.parametrize("name", ["ctl", "grid-count", "identity"])
def test_the_quick_metric_of_every_row_is_the_tasks_own(name):
    task, rows, batch, objective = drawn(name)
    scores = scores_for(name, batch)
    measured = objective.measured(scores, batch)
    answers = objective.answers(scores, batch)
    for row, answer, quick in zip(rows, answers, measured.tolist(), strict=True):
        own = task.measure(row, task.read_answer(row, answer))
        assert own[objective.metric] == pytest.approx(quick, rel=1e-5)
    assert len(set(measured.tolist())) > 1


@pytest.mark.parametrize("name", ["ctl", "grid-count", "identity"])
def test_perfect_scores_have_the_best_metric_and_random_ones_a_larger_loss(name):
    _, _, batch, objective = drawn(name)
    if name == "ctl":
        perfect = 50.0 * torch.nn.functional.one_hot(batch.targets, 8)
    elif name == "grid-count":
        perfect = torch.nn.functional.one_hot(batch.inputs, 10) * batch.targets[..., None]
    else:
        perfect = batch.targets
    best = 1.0 if objective.larger_is_better else 0.0
    assert objective.measured(perfect, batch).tolist() == [best] * len(batch.inputs)
    assert objective.loss(perfect, batch) < 1e-6 < objective.loss(scores_for(name, batch), batch)


def test_cells_behind_a_grid_count_for_nothing():
    _, _, batch, objective = drawn("grid-count")
    scores = scores_for("grid-count", batch)
    places = torch.arange(batch.inputs.shape[1])
    disturbed = torch.where((places < batch.lengths[:, None])[..., None], scores, 1e6)
    assert not torch.equal(disturbed, scores)
    assert objective.loss(disturbed, batch) == objective.loss(scores, batch)
    assert torch.equal(objective.measured(disturbed, batch), objective.measured(scores, batch))


def test_the_loss_of_counts_is_the_mean_over_real_cells_and_ten_dimensions():
    _, _, batch, objective = drawn("grid-count")
    scores = scores_for("grid-count", batch)
    total, cells = 0.0, 0
    for row in range(len(batch.inputs)):
        for cell in range(int(batch.lengths[row])):
            wanted = [0.0] * 10
            wanted[int(batch.inputs[row, cell])] = float(batch.targets[row, cell])
            errors = np.square(scores[row, cell].numpy() - np.array(wanted))
            total, cells = total + errors.mean(), cells + 1
    assert objective.loss(scores, batch).item() == pytest.approx(total / cells, rel=1e-5)


def test_smoothed_labels_spread_their_share_over_all_classes():
    _, _, batch, objective = drawn("ctl")
    scores = scores_for("ctl", batch)
    log = scores.log_softmax(-1)
    target = 0.9 * torch.nn.functional.one_hot(batch.targets, 8) + 0.1 / 8
    expected = -(target * log).sum(-1).mean()
    torch.testing.assert_close(objective.loss(scores, batch, 0.1), expected)
    assert objective.loss(scores, batch, 0.0) == objective.loss(scores, batch)


def test_points_are_answered_with_where_they_were_moved():
    task, rows, batch, objective = drawn("clusters", rows=3)
    answers = objective.answers(batch.inputs, batch)
    for row, answer in zip(rows, answers, strict=True):
        assert task.measure(row, task.read_answer(row, answer))["separated"] == 1.0
