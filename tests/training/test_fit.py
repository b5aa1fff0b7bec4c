"""Whether a run has learned its training rows, and what its losses say."""

import pytest

from synthbench.training.fit import FITTED, PLATEAU, UNFINISHED, fit_of, state_of, still_falls

FLAT = [1.0] + [0.7, 0.71] * 30
FALLING = [1 - 0.015 * part for part in range(60)]


def test_a_loss_that_falls_to_the_end_still_falls_and_one_on_a_plateau_does_not():
    assert still_falls(FALLING)
    assert not still_falls(FLAT)
    assert not still_falls([1 - 0.03 * part for part in range(30)] + [0.1] * 30)
    assert not still_falls([2.0, 0.1] * 30 + [1.9, 0.1]), "noise alone is no fall"


def test_too_few_losses_cannot_show_a_plateau():
    assert still_falls([0.7] * 15)
    assert not still_falls([0.7] * 16)


@pytest.mark.parametrize(
    "learned, losses, state",
    [
        (0.99, FALLING, FITTED),
        (0.99, FLAT, FITTED),
        (0.989, FALLING, UNFINISHED),
        (0.5, FLAT, PLATEAU),
    ],
)
def test_a_run_is_fitted_unfinished_or_on_a_plateau(learned, losses, state):
    fit = fit_of("accuracy", 1000, (1.0, 1.0), (learned, learned), losses)
    assert fit["state"] == state
    assert (fit["end"], fit["chosen"]) == (1.0, learned)


def test_one_unfinished_run_makes_all_of_them_unfinished():
    runs = [{"fit": {"state": state}} for state in (FITTED, PLATEAU, FITTED)]
    assert state_of(runs) == PLATEAU
    assert state_of([*runs, {"fit": {"state": UNFINISHED}}]) == UNFINISHED
    assert state_of([{"fit": None}]) == ""
