"""Batches of a stream, for tests."""

import itertools


def first(batches, count):
    """The first batches; a stream's workers end with it."""
    with batches:
        return list(itertools.islice(batches, count))


def ids_of(batches):
    return [one for batch in batches for one in batch["id"].tolist()]
