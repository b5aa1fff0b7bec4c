"""Whether a run has learned its training rows, and what a longer one says of it."""

import pytest

from synthbench.training.train_fit import (
    FITTED,
    NOT_FITTED,
    fit_of,
    learned_share,
    rises,
    state_of,
)


@pytest.mark.parametrize("share, state", [(0.99, FITTED), (0.989, NOT_FITTED), (0.5, NOT_FITTED)])
def test_a_run_is_fitted_if_it_has_learned_its_training_rows(share, state):
    fit = fit_of("mse", 1000, (0.1, 1.0), (0.25, share))
    assert fit["state"] == state
    assert (fit["end"], fit["chosen"], fit["learned"]) == (0.1, 0.25, share)


def test_runs_are_fitted_together_and_the_words_of_older_files_are_read():
    def runs(*states):
        return [{"fit": {"state": state}} for state in states]

    assert state_of(runs(FITTED, FITTED)) == FITTED
    for old in ("stopped improving", "not trained to the end"):
        assert state_of(runs(FITTED, old)) == NOT_FITTED
    assert state_of([{"fit": None}]) == ""


def test_the_share_is_known_from_older_files_unless_they_have_an_error():
    assert learned_share({"metric": "mse", "chosen": 0.1, "learned": 0.5}) == 0.5
    assert learned_share({"metric": "accuracy", "chosen": 0.75}) == 0.75
    assert learned_share({"metric": "mse", "chosen": 0.1}) is None
    assert learned_share(None) is None


def test_twice_the_steps_show_an_unfinished_run_only_by_more_than_a_hundredth():
    def unfinished(single, doubled, other_rows=False):
        return rises({"single": single, "doubled": doubled, "other_rows": other_rows})

    assert unfinished(0.329, 0.364)
    assert not unfinished(0.5, 0.505)
    assert not unfinished(0.98, 0.99), "as far as the limit, whatever floats make of it"
    assert not unfinished(0.5, 0.4)
    assert not unfinished(0.911, 0.999, other_rows=True), "the rows may make the difference"
