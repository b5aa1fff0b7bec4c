"""Which rows come at which step, and how they are padded."""

from collections import Counter

import numpy as np
import pytest
import torch

import synthbench
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import DatasetError, ParameterError
from synthbench.streaming.rounds import Rounds
from synthbench.tasks.registry import task as make_task
from synthbench.training.batches import (
    EpochBatches,
    StreamBatches,
    evaluation_batches,
    read_split,
    take,
)
from synthbench.training.forms import form_of
from synthbench.training.forms.rows import Rows
from tests.training.making import make_ctl

CPU = torch.device("cpu")


def numbered(count, longest=9):
    """Rows that say their own number in their target; lengths from 1 to `longest`, all mixed."""
    lengths = torch.arange(count) * 7 % longest + 1
    inputs = (torch.arange(longest) < lengths[:, None]).to(torch.uint8)
    return Rows(inputs, lengths, torch.arange(count))


def seen(batches, steps):
    return [row for step in steps for row in batches.batch(step).targets.tolist()]


def test_every_row_comes_once_in_an_epoch_and_in_another_order_in_the_next():
    batches = EpochBatches(numbered(80), 10, seed=3)
    first, second = seen(batches, range(8)), seen(batches, range(8, 16))
    assert sorted(first) == sorted(second) == list(range(80))
    assert first != second


def test_epochs_that_batches_do_not_divide_follow_one_another_without_a_seam():
    batches = EpochBatches(numbered(25), 10, seed=0)
    assert Counter(seen(batches, range(5))) == dict.fromkeys(range(25), 2)


def test_balanced_epochs_repeat_rows_of_rarer_lengths():
    lengths = torch.tensor([1, 2, 2, 2, 3, 3])
    rows = Rows(torch.ones(6, 3, dtype=torch.uint8), lengths, torch.arange(6))
    batches = EpochBatches(rows, 3, seed=0, balanced=True)
    assert batches.rows == 9
    counts = Counter(seen(batches, range(3)))
    assert counts == {0: 3, 1: 1, 2: 1, 3: 1, 4: 2, 5: 1}
    assert sorted(seen(EpochBatches(rows, 6, seed=0), range(1))) == list(range(6))


@pytest.mark.parametrize("one_length", [False, True])
def test_a_batch_depends_on_seed_and_step_and_not_on_what_was_asked_before(one_length):
    def made(seed=1):
        return EpochBatches(numbered(80), 10, seed, one_length=one_length)

    walked = made()
    in_order = [walked.batch(step).targets.tolist() for step in range(20)]
    assert [made().batch(step).targets.tolist() for step in (19, 7)] == [in_order[19], in_order[7]]
    assert made(seed=2).batch(7).targets.tolist() != in_order[7]


def test_a_balanced_stream_has_all_lengths_equally_often_in_every_batch():
    depths = {"train_depths": (1,), "validation_depths": (2,), "test_depths": (2,)}
    task = synthbench.task("listops", **depths)
    rounds, form = Rounds(task, "train"), form_of(task)
    with rounds.tables(1) as table:
        given = (rounds, table, 4000, form, torch.device("cpu"), 4000)
        plain, even = StreamBatches(*given), StreamBatches(*given, balanced=True)
        counts = [np.unique(one.batch(0).lengths, return_counts=True)[1] for one in (plain, even)]
        expected = 4000 / len(counts[1])
        assert np.all(abs(counts[1] - expected) < 5 * expected**0.5)
        assert np.any(abs(counts[0] - expected) > 5 * expected**0.5)
        assert torch.equal(even.batch(3).inputs, even.batch(3).inputs)
        other = StreamBatches(*given, balanced=True, seed=1)
        assert not torch.equal(even.batch(3).lengths, other.batch(3).lengths)


@pytest.mark.parametrize(("balanced", "share"), [(False, 0.75), (True, 0.5)])
def test_all_rows_of_a_batch_may_have_one_length(balanced, share):
    lengths = torch.tensor([2] * 15 + [5] * 5)
    rows = Rows(torch.ones(20, 5, dtype=torch.uint8), lengths, torch.arange(20))
    batches = EpochBatches(rows, 8, seed=0, one_length=True, balanced=balanced)
    made = [batches.batch(step) for step in range(2_000)]
    assert all(one.inputs.shape == (8, int(one.lengths[0])) for one in made)
    assert all(len(set(one.lengths.tolist())) == 1 for one in made)
    short = sum(int(one.lengths[0]) == 2 for one in made) / len(made)
    assert short == pytest.approx(share, abs=0.05)
    # Within a length every row comes equally often.
    counts = Counter(row for one in made for row in one.targets.tolist())
    for group in (range(15), range(15, 20)):
        mean = sum(counts[row] for row in group) / len(group)
        assert all(abs(counts[row] - mean) < 5 * mean**0.5 for row in group)


def test_a_batch_of_one_length_is_refused_where_rows_have_none():
    rows = Rows(torch.ones(4, 3), None, torch.ones(4, 3))
    with pytest.raises(ParameterError, match="one_length=true: these rows have no length"):
        EpochBatches(rows, 2, seed=0, one_length=True)


def test_a_stream_too_gives_batches_of_one_length():
    task = make_task("grid-count", train_sizes="1..3", iid_sizes=3)
    form = form_of(task)
    drawn = {"seed": 3, "one_length": True, "balanced": True}
    source = Rounds(task, "train")

    def made():
        return StreamBatches(source, source.table, 50, form, CPU, 100_000, **drawn)

    batches = made()
    seen = [batches.batch(step) for step in range(300)]
    assert torch.equal(made().batch(299).inputs, seen[299].inputs)
    assert all(one.inputs.shape == (50, int(one.lengths[0])) for one in seen)
    cells = Counter(int(one.lengths[0]) for one in seen)
    assert set(cells) == {1, 4, 9}
    assert all(count == pytest.approx(100, abs=40) for count in cells.values())


def test_a_batch_is_as_wide_as_its_longest_row_or_as_the_whole_split():
    rows = numbered(20)
    narrow = take(rows, np.array([0, 9]))  # both of length 1
    assert narrow.inputs.shape == (2, 1)
    fixed = EpochBatches(rows, 2, seed=0, fixed_width=True)
    assert {fixed.batch(step).inputs.shape for step in range(10)} == {(2, 9)}


def test_one_batch_of_all_rows_is_always_the_same():
    batches = EpochBatches(numbered(12), 12, seed=0)
    assert batches.batch(0) is batches.batch(5)
    assert batches.batch(0).targets.tolist() == list(range(12))


def test_models_get_wide_integers_and_pixels_from_0_to_1():
    batch = take(numbered(3), np.array([2, 0]))
    assert batch.inputs.dtype == torch.int64
    pixels = Rows(torch.tensor([0, 51, 255], dtype=torch.uint8).reshape(1, 3, 1, 1), None, None)
    image = take(pixels, np.array([0]))
    assert image.inputs.flatten().tolist() == pytest.approx([0.0, 0.2, 1.0])
    assert image.lengths is None


def test_evaluation_takes_every_row_once_and_bounds_what_a_batch_holds():
    pairs = 1 << 21
    lengths = torch.tensor([300, 1, 300, 2, 300])
    rows = Rows(torch.zeros(5, 300, dtype=torch.uint8), lengths, torch.arange(5))
    made = list(evaluation_batches(rows, pairs))
    assert sorted(np.concatenate([indices for indices, _ in made]).tolist()) == list(range(5))
    many = numbered(3000)
    assert max(len(indices) for indices, _ in evaluation_batches(many, pairs)) <= 512
    long = Rows(torch.zeros(9, 3000, dtype=torch.uint8), torch.full((9,), 3000), torch.arange(9))
    assert [len(indices) for indices, _ in evaluation_batches(long, pairs)] == [1] * 9
    points = Rows(torch.zeros(300, 100, 2), None, None)
    assert [len(indices) for indices, _ in evaluation_batches(points, pairs)] == [209, 91]


def test_a_split_is_read_whole_and_in_order(tmp_path):
    dataset = DatasetDirectory.open(make_ctl(tmp_path / "ctl"))
    form = form_of(dataset.manifest.make_task("forward"))
    rows, _ = read_split(dataset, "forward", "train", form)
    labels = [row["label"] for row in dataset.rows("forward", "train", ["label"])]
    assert rows.targets.tolist() == labels


def test_rows_of_another_task_are_an_error_that_names_the_split(tmp_path):
    dataset = DatasetDirectory.open(make_ctl(tmp_path / "ctl"))
    with pytest.raises(DatasetError, match=r"split 'test'.*is not a token. Allowed are"):
        read_split(dataset, "forward", "test", form_of(make_task("parity")))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_stream_gives_the_batches_of_stream_from_any_step_on(workers):
    task = make_task("ctl")
    source = Rounds(task, "train")
    with source.tables(workers) as table:
        batches = StreamBatches(source, table, 8_000, form_of(task), CPU, 53_704)
        given = synthbench.stream("ctl", batch_size=8_000)
        for step in range(10):  # batch 8 has the last rows of one round and the first of the next
            wanted = next(given)
            if step in (0, 3, 8, 9):
                batch = batches.batch(step)
                assert batch.targets.tolist() == wanted["label"].tolist()
                assert batch.lengths.tolist() == [len(one.split()) for one in wanted["text"]]


def test_a_sample_has_each_length_as_often_as_it_is_trained_on():
    lengths = torch.tensor([1] * 4 + [2] * 36)
    rows = Rows(torch.ones(40, 2, dtype=torch.uint8), lengths, torch.arange(40))
    for one_length in (False, True):
        for balanced, counts in ((True, {1: 9, 2: 9}), (False, {1: 2, 2: 18})):
            batches = EpochBatches(rows, 4, 0, one_length=one_length, balanced=balanced)
            assert Counter(batches.sample(20).lengths.tolist()) == counts


def test_a_sample_of_a_stream_is_balanced_like_its_batches():
    task = make_task("grid-count")
    source = Rounds(task, "train")
    for balanced in (True, False):
        batches = StreamBatches(
            *(source, source.table, 10, form_of(task), CPU, 100),
            one_length=True,
            balanced=balanced,
        )
        counts = Counter(batches.sample(600).lengths.tolist())
        even = set(counts) == {1, 4, 9, 16, 25, 36} and max(counts.values()) <= 101
        assert even == balanced, counts
