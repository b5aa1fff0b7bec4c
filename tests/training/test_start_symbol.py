"""State-tracking for models that cannot tell how often a row has repeated its first element.

Causal attention without positions, or with rotary ones, is such a model, since rows have no start
symbol; see `tests/training/backbones/test_transformer.py`.
"""

import collections
import itertools

import pytest

import synthbench
from synthbench.training.runs import stored_runs
from synthbench.training.stored import comparisons


def bound(variant, lengths, split="iid"):
    """The most that such a model can have of the places of rows, mean over rows."""
    task = synthbench.task("state-tracking", variant=variant, train_lengths=lengths)
    starts, answers = [], collections.defaultdict(collections.Counter)
    rows = synthbench.load_dataset(task, split=split).with_format("arrow")[:]
    for text, label in zip(rows["text"].to_pylist(), rows["label"].to_pylist(), strict=True):
        elements, products = text.split(), label.split()
        _, repeated = next(itertools.groupby(elements))
        alike = len(list(repeated))
        starts.append((elements[0], products[:alike], len(elements)))
        answers[elements[0]].update(products[:alike])
    best = {first: found.most_common(1)[0][0] for first, found in answers.items()}
    wrong = [
        sum(product != best[first] for product in products) / places
        for first, products, places in starts
    ]
    return 1 - sum(wrong) / len(wrong)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "lengths", "iid", "train"),
    [("Z2", range(1, 33), 0.981, 0.984), ("S3", range(1, 33), 0.989, 0.989)],
)
def test_the_bounds_are_those_that_the_pages_name(variant, lengths, iid, train):
    assert round(bound(variant, lengths), 3) == iid
    assert round(bound(variant, lengths, "train"), 3) == train


def test_three_runs_of_deltanet_err_only_while_a_row_repeats_its_first_element():
    runs = [run for run in stored_runs() if run["study"] == "eigenvalues"]
    (stored,) = comparisons(runs)
    (line,) = [one for one in stored["models"] if one["model"] == "deltanet-signed"]
    expected = [1.0, *[bound("Z2", range(1, 33))] * 3, 1.0]
    assert line["measures"]["iid"]["values"] == pytest.approx(expected, abs=1e-9)
