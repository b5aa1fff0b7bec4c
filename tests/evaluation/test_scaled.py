"""The scaled accuracy: 0 for a uniform guess, 1 for all right, nothing without a chance level."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import synthbench
from synthbench import evaluate
from tests.support import ONE_EACH


@pytest.mark.parametrize(
    ("name", "variant"), [one for one in ONE_EACH if "label" in synthbench.task(*one).columns]
)
def test_right_answers_have_1_where_a_task_has_a_chance_level(name, variant):
    task = synthbench.task(name, variant)
    batch = next(synthbench.stream(task, split=task.splits[-1].name, batch_size=8))
    rows = [dict(zip(batch, row, strict=True)) for row in zip(*batch.values(), strict=True)]
    report = evaluate(rows, [row["label"] for row in rows], task)
    if task.chance is None:
        assert "scaled_accuracy" not in report.metrics
    else:
        assert 0 < task.chance < 1
        assert report.metrics["scaled_accuracy"] == report.to_dict()["scaled_accuracy"] == 1


def test_chance_levels_are_those_of_the_papers():
    chances = {
        ("parity", None): 1 / 11,
        ("listops", None): 1 / 10,
        ("modular-arithmetic", None): 1 / 97,
        ("chomsky", "parity-check"): 1 / 2,
        ("chomsky", "cycle-navigation"): 1 / 5,
        ("chomsky", "binary-addition"): 1 / 2,
        ("state-tracking", "Z60"): 1 / 60,
        ("countdown", None): None,
        ("maze", None): None,
        ("grid-count", None): None,
        ("identity", None): None,
    }
    for (name, variant), chance in chances.items():
        assert synthbench.task(name, variant).chance == chance


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.data())
def test_it_is_linear_in_the_accuracy(labels, data):
    guesses = [data.draw(st.integers(0, 9)) for _ in labels]
    report = evaluate([{"label": label} for label in labels], guesses, "listops")
    assert report.metrics["scaled_accuracy"] == pytest.approx((report.accuracy - 0.1) / 0.9)


def test_uniform_guesses_have_about_0_at_each_place_of_a_sequence():
    task = synthbench.task("state-tracking", "S3", train_lengths=[5])
    batch = next(synthbench.stream(task, batch_size=1_000))
    rows = [
        {"id": row, "label": label} for row, label in zip(batch["id"], batch["label"], strict=True)
    ]
    tokens = np.random.default_rng(1).choice(task.answer.vocabulary.tokens, (len(rows), 5))
    report = evaluate(rows, tokens.tolist(), task)
    assert abs(report.metrics["scaled_accuracy"]) < 0.03
    assert all(
        abs(score.metrics["scaled_accuracy"]) < 0.06 for score in report.by["place"].values()
    )
