"""A run has learned its training rows, or not."""

import pytest

from synthbench.training.train_fit import FITTED, NOT_FITTED, fit_of, state_of


@pytest.mark.parametrize("share, state", [(0.99, FITTED), (0.989, NOT_FITTED), (0.5, NOT_FITTED)])
def test_a_run_is_fitted_if_it_has_learned_its_training_rows(share, state):
    fit = fit_of("mse", 1000, (0.1, 1.0), (0.25, share))
    assert fit["state"] == state
    assert (fit["end"], fit["chosen"], fit["learned"]) == (0.1, 0.25, share)


def test_runs_are_fitted_together():
    def runs(*states):
        return [{"fit": {"state": state}} for state in states]

    assert state_of(runs(FITTED, FITTED)) == FITTED
    assert state_of(runs(FITTED, NOT_FITTED)) == NOT_FITTED
    assert state_of([{"fit": None}]) == ""
