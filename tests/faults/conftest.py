import os

import pytest

from tests.faults.clusters import Cluster

#: Signals, process groups, mounts and terminals are those of POSIX systems.
collect_ignore_glob = [] if os.name == "posix" else ["test_*.py"]


@pytest.fixture
def cluster(tmp_path):
    """A scheduler without workers."""
    place = tmp_path / "cluster"
    place.mkdir()
    with Cluster(place) as cluster:
        cluster.scheduler()
        yield cluster
