"""Turns by weight: exact, even, and the same whatever is read of them."""

import itertools
import random

import numpy as np
import pytest

import synthbench
from synthbench.errors import UsageError
from synthbench.tasks.mixture import Mixture


def mixtures():
    for seed in range(50):
        draws = random.Random(seed)
        weights = {f"task{n}": draws.randint(1, 30) for n in range(draws.randint(1, 13))}
        yield Mixture.of(weights)


def test_at_every_row_each_part_has_its_share_to_within_about_a_row():
    for mixture in mixtures():
        total, taken = sum(mixture.weights), [0] * len(mixture.parts)
        for row, part in enumerate(mixture.turns, start=1):
            taken[part] += 1
            for have, weight in zip(taken, mixture.weights, strict=True):
                assert abs(have - row * weight / total) < 1.5
        assert tuple(taken) == mixture.weights


def test_counts_are_those_of_the_turns():
    for mixture in mixtures():
        turns = list(itertools.islice(itertools.cycle(mixture.turns), 100))
        parts, own = mixture.places(np.arange(len(turns)))
        assert parts.tolist() == turns
        assert own.tolist() == [turns[:row].count(part) for row, part in enumerate(turns)]
        for rows in (0, 1, 7, 100):
            assert mixture.counts(rows) == [
                turns[:rows].count(part) for part in range(len(mixture.parts))
            ]


def test_rows_keep_their_order_and_end_with_the_first_part_that_ends():
    mixture = Mixture.of({"listops": 2, "parity": 1})
    assert list(mixture.interleave(["abcde", "xyz"])) == list("axbcydez")
    assert mixture.whole_rows([5, 3]) == 6
    assert mixture.whole_rows([1, 3]) == 0


def test_weights_are_lowest_terms_and_a_list_shares_equally():
    task = synthbench.task("ctl", "backward")
    assert Mixture.of({"listops": 4, task: 2}).weights == (2, 1)
    assert Mixture.of(["listops", task]).weights == (1, 1)
    assert Mixture.of(task) == Mixture((task,), (1,))


def test_what_is_no_mixture_is_refused():
    for given, said in (
        ([], "No task is given."),
        ({}, "No task is given."),
        (["parity", "parity"], "each may be there once. For more of its rows give weights"),
        ({"parity": 0}, "Weight of parity 0: allowed are whole numbers from 1 to 10000."),
        ({"parity": 0.5}, "Weight of parity 0.5: allowed are whole numbers from 1"),
        ({10**5000: 1}, "is none of these."),
        ([bytearray(b"7"), "parity"], "expected tasks, their names or dataset directories;"),
    ):
        with pytest.raises(UsageError, match=said.replace(".", r"\.")):
            Mixture.of(given)
