"""What rules without a solution score, where the pages compare models with them."""

import numpy as np
import pytest

import synthbench
from synthbench.auditing.shortcuts import choose_shortcuts
from synthbench.auditing.variant import AuditedVariant, draw_samples
from synthbench.dataset.dataset import DatasetDirectory

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def counted():
    """The shares of right cells by size: 1 + (n - 1)/9 in each of n coloured cells, and all 0."""
    task = synthbench.task("grid-count", colored_limit=999)
    shares = {"rule": {}, "zero": {}}
    for split in ("train", "iid", "test"):
        rows = synthbench.load_dataset(task, split=split).with_format("arrow")[:]
        found = {}
        for label, size in zip(rows["label"].to_pylist(), rows["size"].to_pylist(), strict=True):
            colored = np.array(label) > 0
            guess = np.where(colored, np.rint(1 + (np.count_nonzero(colored) - 1) / 9), 0)
            found.setdefault(size, []).append([np.mean(guess == label), np.mean(~colored)])
        for size, pairs in found.items():
            name = f"train {size}" if split == "train" else f"{size}"
            shares["rule"][name], shares["zero"][name] = np.mean(pairs, axis=0)
    return shares


@pytest.mark.parametrize(
    ("rule", "size", "share"),
    [
        *(("rule", "6", 0.397), ("rule", "15", 0.340), ("rule", "20", 0.359)),
        *(("zero", "15", 0.268), ("zero", "20", 0.308)),
    ],
)
def test_cells_of_large_grids_are_right_without_counting(counted, rule, size, share):
    assert round(counted[rule][size], 3) == share


def test_the_rule_on_the_sizes_of_training_equally_weighted(counted):
    shares = [counted["rule"][f"train {size}"] for size in range(1, 7)]
    assert round(float(np.mean(shares)), 2) == 0.60


def test_a_linear_model_of_parity_knows_the_rows_that_it_was_fitted_on(tmp_path):
    synthbench.generate("parity", out=tmp_path, progress=False)
    subject = AuditedVariant.open(DatasetDirectory.open(tmp_path), "default")
    fit, score = draw_samples(subject)
    (linear,) = (one for one in choose_shortcuts(subject, fit)[0] if one.name == "1- to 3-grams")
    answer = linear.fit(fit.columns)

    shares = [
        np.mean(answer(rows.columns) == rows.columns["label"].to_numpy())
        for rows in (fit, score["train"], score["test"])
    ]
    assert len(fit) == 3_513
    # Sums in another order, on another processor, move single rows.
    assert shares == pytest.approx([0.962, 0.660, 0.630], abs=0.003)
