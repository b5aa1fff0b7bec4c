"""Small source images for every test of composites."""

import pytest

from tests.tasks.composites.making import source_dir
from tests.tasks.tiny_sources import write_sources


@pytest.fixture(scope="module", autouse=True)
def sources(tmp_path_factory):
    """Small sources for every test here that does not ask for the real ones."""
    root = write_sources(tmp_path_factory.mktemp("sources"))
    with source_dir(root):
        yield root
