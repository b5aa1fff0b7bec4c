"""The search for the rows of all tasks, made once in a process."""

import pytest

from synthbench.decontamination.search import search_for, text_tasks


@pytest.fixture(scope="session")
def search():
    return search_for(tuple(text_tasks()), None)
