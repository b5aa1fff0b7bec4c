"""Rows on a device are those of the streams and datasets."""

import dataclasses

import numpy as np
import pytest
import torch

from benchmarks.queue.rows import Composites, assemble, data_of, judged, split_rows
from benchmarks.queue.trainings import training
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import UsageError
from synthbench.streaming import stream
from synthbench.tasks.composites.task import Composites as Task
from synthbench.tasks.registry import task as make_task
from synthbench.training.batches import EpochBatches
from synthbench.training.train_fit import FIT_ROWS
from tests.benchmarks.queue.making import small
from tests.making import make

_CPU = torch.device("cpu")
#: All but `cifar`, whose images are not grey.
_GREY = [name for name in Task.variants if name != "cifar"]


@pytest.mark.parametrize("variant", _GREY)
def test_composites_are_assembled_as_the_stream_has_them_pixel_for_pixel(variant):
    task = make_task("composites", variant)
    data, recipe = Composites(task, _CPU), training("composites", "vit").recipe
    made = stream(task, batch_size=512)
    batch = data.batches(recipe, 0)
    for number in (0, 3, 20):  # 20 is the first of the second round
        numbers, rgb, targets = batch(number)
        images = assemble(data.pictures, numbers, rgb)
        assert images.dtype == torch.uint8
        expected = made[number]
        np.testing.assert_array_equal(images.permute(0, 2, 3, 1).numpy(), expected["image"])
        np.testing.assert_array_equal(targets.numpy(), expected["label"])
        inputs, lengths = data.inputs(numbers, rgb)
        assert torch.equal(inputs * 255, images.float()) and lengths is None


def test_a_batch_that_ends_in_the_next_round_has_the_streams_rows():
    data = Composites(make_task("composites"), _CPU)
    numbers, rgb, targets = data._batch(4_096, 2)  # rows 8,192 to 12,287; a round has 10,240
    expected = stream("composites", batch_size=4_096)[2]
    images = assemble(data.pictures, numbers, rgb).permute(0, 2, 3, 1).numpy()
    np.testing.assert_array_equal(images, expected["image"])
    np.testing.assert_array_equal(targets.numpy(), expected["label"])


def test_every_product_is_rounded_as_the_task_rounds_it():
    pictures = torch.arange(256, dtype=torch.uint8)[:, None, None].expand(256, 28, 28)
    color = torch.arange(256, dtype=torch.uint8)
    for value in range(256):
        images = assemble(
            pictures, torch.full((256, 4), value), color[:, None, None].expand(256, 4, 3)
        )
        assert torch.equal(images[:, 0, 0, 0].int(), (value * color.double() / 255).round().int())


def test_images_with_colours_of_their_own_are_refused():
    with pytest.raises(UsageError, match="'cifar' of composites: its images have colours"):
        Composites(make_task("composites", "cifar"), _CPU)


def test_splits_are_those_of_a_dataset(tmp_path):
    task = make_task("ctl")
    make(tmp_path / "ctl", "ctl", rows={"train": 100})
    (stored,) = DatasetDirectory.open(tmp_path / "ctl").batches(task.variant, "iid", ["id"])
    made = judged(task, split_rows(task, "iid"))
    assert [row["id"] for row in made] == stored["id"].to_pylist()


@pytest.mark.parametrize("balanced", [False, True])
def test_the_fit_is_shown_by_the_rows_that_synthbench_train_answers(balanced):
    recipe = dataclasses.replace(small("ctl", "ndr").recipe, balanced=balanced)
    data = data_of(make_task("ctl"), _CPU)
    whole = EpochBatches(data._train, 32, 0, one_length=True, balanced=balanced).sample(FIT_ROWS)
    sample = data.sample(recipe)
    for one, expected in zip(sample, (whole.inputs, whole.lengths, whole.targets), strict=True):
        assert torch.equal(one, expected.long())
    _, counts = sample[1].unique(return_counts=True)
    assert (counts.max() - counts.min() <= 1) == balanced


def test_tokens_of_a_batch_have_one_length_where_the_recipe_says_so():
    made = small("ctl", "ndr")
    assert made.recipe.one_length
    data = data_of(make_task("ctl", made.variant), _CPU)
    batches = data.batches(made.recipe, 0)
    for step in range(5):
        inputs, lengths, targets = batches(step)
        assert len(set(lengths.tolist())) == 1 and inputs.shape == (32, lengths[0])
        assert targets.max() < data.sizes["outputs"]
    assert torch.equal(batches(0)[0], data.batches(made.recipe, 0)(0)[0])
    others = data.batches(made.recipe, 1)
    assert any(not torch.equal(batches(step)[2], others(step)[2]) for step in range(5))
