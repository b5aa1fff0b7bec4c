"""At the end of a test run: how many faults were injected and survived."""

from __future__ import annotations

import os

import pytest

from tests.faults.survived import table

#: Signals, process groups, mounts and terminals are those of POSIX systems.
collect_ignore_glob = [] if os.name == "posix" else ["test_*.py"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if counted := table():
        terminalreporter.section("faults injected and survived")
        terminalreporter.write_line(counted)
