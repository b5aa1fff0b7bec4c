"""Composites: parameters that cannot be, and how answers are scored."""

import numpy as np
import pytest

from synthbench.errors import DatasetError, ParameterError, UsageError
from synthbench.tasks.composites.quadrants import to_arrow
from synthbench.tasks.composites.rules import TEN_COLORS, decide
from synthbench.tasks.composites.task import Composites
from synthbench.tasks.images import load
from tests.tasks.blocks import propose, propose_all
from tests.tasks.composites.making import VARIANTS

# Parameters.


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"p_first": 0.0}, r"p_first=0\.0: allowed are numbers between 0 and 1"),
        ({"p_first": 1}, r"p_first=1\.0"),
        ({"p_first": "nan"}, "p_first=nan"),
        ({"p_first": "half"}, "p_first='half': expected a number"),
        ({"noise": -0.1}, r"noise=-0\.1: allowed are 0 to 1"),
        ({"noise": "inf"}, "noise=inf"),
        ({"target_source": "mnist"}, "target_source='mnist': allowed are torchvision and folder"),
        ({"indicator_source": "folder:"}, "indicator_source='folder:': allowed"),
        ({"digit_source": "folder:x"}, "digit_source='folder:x': variant main has no such images"),
        ({"colour": "red"}, "Unknown parameter 'colour'"),
    ],
)
def test_impossible_parameters_are_refused(parameters, said):
    with pytest.raises((ParameterError, UsageError), match=said):
        Composites(parameters=parameters)


def test_sources_that_a_variant_does_not_use_or_could_not_tell_apart_are_refused():
    with pytest.raises(ParameterError, match="variant top-if-above has no such images"):
        Composites("top-if-above", {"indicator_source": "folder:pictures"})
    both = {"indicator_source": "folder:pictures", "target_source": "folder:split"}
    with pytest.raises(ParameterError, match="indicator_source and target_source: only one"):
        Composites("no-position", both)
    with pytest.raises(ParameterError, match="target_source and digit_source: only one"):
        Composites("cifar", {"target_source": "folder:a", "digit_source": "folder:b"})


def test_a_tree_with_too_few_classes_is_refused():
    task = Composites("digit-grouping", {"indicator_source": "folder:split"})
    with pytest.raises(DatasetError, match="class number 2 is needed, counted from 0"):
        propose_all(task)


# Answers.


def test_labels_have_the_names_of_the_targets():
    assert Composites().label_names == load.CLASSES["fashion"]
    assert Composites("same-color").label_names == load.CLASSES["mnist"]
    assert Composites("cifar").label_names[9] == "Ankle boot or 9"
    assert Composites("color-or-fashion").label_names[:2] == (
        "T-shirt/top or brown",
        "Trouser or blue",
    )
    names = ("car", "dove", "train", "wren")
    assert Composites("main", {"target_source": "folder:pictures"}).label_names == names
    uneven = Composites("cifar", {"target_source": "folder:pictures"})
    assert uneven.label_names[3:5] == ("wren or 3", "4")
    buckets = uneven.splits[0].buckets
    assert buckets == (0, 10, 1, 11, 2, 12, 3, 13, *range(14, 20))
    weights = dict(zip(buckets, uneven.bucket_weights(uneven.splits[0]), strict=True))
    assert weights == dict.fromkeys(range(4), 0.125) | dict.fromkeys(range(10, 20), 0.05)
    assert uneven.bucket_label(3) == "true wren" and uneven.bucket_label(14) == "false 4"


@pytest.mark.parametrize(("variant", "p_first"), [*((v, 0.65) for v in VARIANTS), ("main", 0.2)])
def test_the_baseline_is_what_always_taking_the_likelier_target_gets(variant, p_first):
    task = Composites(variant, {"p_first": p_first})
    split = task.splits[0]
    reached = 0.0
    for bucket, weight in zip(split.buckets, task.bucket_weights(split), strict=True):
        block = propose(task, n=100, bucket=bucket)
        answers = [likelier_answer(task, row, p_first > 0.5) for row in to_arrow(block).to_pylist()]
        reached += weight * np.mean(np.array(answers) == block["label"])
    (baseline,) = task.baseline().values()
    assert abs(reached - baseline) < 0.02


def test_the_baseline_is_the_prior_and_chance_for_the_rest():
    for p_first, expected in ((0.5, 0.55), (0.65, 0.685), (0.2, 0.82)):
        baseline = Composites(parameters={"p_first": p_first}).baseline()
        assert baseline == {"solving only task 2": pytest.approx(expected)}


def likelier_answer(task, quadrants, first):
    """The answer of one who classifies well but never compares."""
    outcome, _, answer = decide(task.variant, task.parts.kinds[1:], quadrants)
    if outcome == first:
        return answer
    if task.variant == "color-or-fashion":
        shown = quadrants[1]
        return shown["class"] if first else TEN_COLORS.index(shown["color"])
    kinds = task.parts.kinds
    if task.variant == "cifar":
        wanted = kinds[2] if first else kinds[3]
        return next(part["class"] for part in quadrants if part["kind"] == wanted)
    if task.design.layout == "rows":
        rows = quadrants[:2] if first else quadrants[2:]
        return next(part["class"] for part in rows if part["kind"] == "fashion")
    return quadrants[1 if first else 2]["class"]
