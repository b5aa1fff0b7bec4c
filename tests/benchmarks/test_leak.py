"""The published split of Grokking, and which of its rows are exchanged rows of train."""

import pytest


@pytest.mark.torch
def test_half_of_all_equations_are_train_and_exchanged_rows_are_found():
    from benchmarks.leak import published_split

    rows, train, exchanged = published_split(seed=3)
    assert len(rows) == 97 * 97
    assert train.sum() == len(rows) // 2
    assert 0.45 < exchanged[~train].mean() < 0.55
    is_train = dict(zip(map(tuple, rows.inputs[:, [0, 2]].tolist()), train, strict=True))
    for (a, b), found in zip(is_train, exchanged, strict=True):
        assert found == is_train[b, a]
