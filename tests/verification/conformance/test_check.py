"""`synthbench check-task` finds no fault with sound tasks and says what is wrong with others."""

import random
import re

import numpy as np
import pytest

import synthbench
from synthbench.cli.main import _run, commands
from synthbench.errors import MissingSourceError
from synthbench.tasks import registry
from synthbench.tasks.composites.task import Composites
from synthbench.tasks.registry import register
from synthbench.verification.conformance.check import CHECKS, check_task
from tests.support import run_program
from tests.tasks.tiny_sources import write_sources
from tests.toy_task import Numbers
from tests.verification.conformance.broken import BROKEN


@pytest.fixture(autouse=True)
def _fresh_registry(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})


@pytest.mark.parametrize(
    ("broken", "statement", "sentence"), BROKEN, ids=[task.name for task, _, _ in BROKEN]
)
def test_a_mistake_gets_its_sentence(broken, statement, sentence):
    register(broken)
    first = next(one for one in check_task(broken.name) if one.problems)
    assert first.statement.startswith(statement), str(first)
    assert re.search(sentence, " ".join(first.problems)), str(first)


def test_what_a_task_raises_is_an_answer_that_names_its_method():
    class Raising(Numbers):
        name = "raising"

        def propose(self, *_):  # type: ignore[override]
            raise KeyError("digits")

    register(Raising)
    texts = [text for one in check_task("raising") for text in one.problems]
    assert any("KeyError: 'digits', raised in method propose of class" in text for text in texts)
    assert texts[-1] == "Not tried: fix the problems above first."


def test_the_command_prints_a_line_a_check_exits_with_1_if_one_fails_and_draws_no_global_numbers(
    capsys,
):
    import rich.style  # noqa: F401 - draws a number when it is imported

    before = random.getstate(), np.random.get_state()[1].tobytes()  # type: ignore[union-attr]
    assert _run(commands, ["check-task", "parity"]) == 0
    after = random.getstate(), np.random.get_state()[1].tobytes()  # type: ignore[union-attr]
    assert before == after
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "parity, variant default:"
    assert "Same rows from another process: yes" in lines
    assert lines[-1] == "parity passes all 27 checks."

    broken = next(task for task, statement, _ in BROKEN if statement.startswith("Columns"))
    register(broken)
    assert _run(commands, ["check-task", broken.name]) == 1
    assert re.search(r"fails \d+ of \d+ checks\.\n$", capsys.readouterr().out)


def test_docstrings_that_python_strips_are_not_missed(tmp_path):
    done = run_program("check-task", "parity", cwd=tmp_path, PYTHONOPTIMIZE="2")
    assert (done.returncode, done.stderr) == (0, "")


def test_an_unknown_task_is_refused_with_the_nearest_name(capsys):
    assert _run(commands, ["check-task", "parety"]) == 2
    assert "Did you mean 'parity'?" in capsys.readouterr().err


def test_missing_source_images_are_no_fault_of_the_task(monkeypatch, tmp_path):
    monkeypatch.setenv("SYNTHBENCH_DATA", str(tmp_path))
    with pytest.raises(MissingSourceError):
        list(check_task("composites"))


@pytest.mark.slow
def test_a_task_of_images_is_checked_on_the_sources_that_are_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("SYNTHBENCH_DATA", str(tmp_path))
    sources = write_sources(tmp_path / "sources")
    monkeypatch.setattr(Composites, "variants", {"main": Composites.variants["main"]})
    assert _run(commands, ["check-task", "composites", "--source-dir", str(sources)]) == 0
    assert "composites passes all 27 checks." in capsys.readouterr().out
    task = synthbench.task("composites", source_dir=sources)
    assert [one for one in check_task(task) if one.problems] == []


@pytest.mark.slow
def test_a_task_is_checked_with_its_parameters_and_seed():
    found = list(check_task(synthbench.task("ctl", "backward", seed=3, level="easy")))
    assert {one.variant for one in found} == {"backward"}
    assert len(found) == CHECKS
    assert [one for one in found if one.problems] == []
