"""Every planted fault is found, and no generator without a fault is blamed."""

import random

import pytest

import synthbench
from tests.probing.planted import FAULTY, IN_ROWS, SOUND, load, write

DRAWS = range(2)


def found_in(probe):
    return [verdict.question for verdict in probe.found]


def test_enough_are_planted():
    assert len(FAULTY) >= 30
    assert len(SOUND) >= 15


@pytest.mark.parametrize("name", IN_ROWS)
def test_a_fault_of_rows_is_found(tmp_path, name):
    question, body = FAULTY[name]
    for number in DRAWS:
        path = tmp_path / f"planted{number}.py"
        write(path, body, random.Random(f"{name} {number}"))
        found = synthbench.probe(load(path))
        assert question in found_in(found)
        verdict = next(one for one in found.found if one.question == question)
        assert len(verdict.examples) >= 1
        assert verdict.again.startswith("synthbench.probe(source, only=")


@pytest.mark.parametrize("name", SOUND)
def test_sound_rows_are_not_blamed(tmp_path, name):
    for number in DRAWS:
        path = tmp_path / f"planted{number}.py"
        write(path, SOUND[name], random.Random(f"{name} {number}"))
        assert found_in(synthbench.probe(load(path))) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FAULTY if name not in IN_ROWS])
def test_a_fault_of_a_generator_is_found(tmp_path, name):
    question, body = FAULTY[name]
    origin = write(tmp_path / "planted.py", body, random.Random(name))
    assert question in found_in(synthbench.probe(origin))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["endless", "numpy", "list", "dates", "with replacement"])
def test_a_sound_generator_is_not_blamed(tmp_path, name):
    origin = write(tmp_path / "planted.py", SOUND[name], random.Random(name))
    assert found_in(synthbench.probe(origin)) == []


@pytest.mark.slow
def test_rows_limits_the_rows_of_a_generator_that_never_ends(tmp_path):
    path = tmp_path / "endless.py"
    path.write_text(
        "import itertools, random\n"
        "def rows(seed, split):\n"
        "    draws = random.Random(f'{seed} {split}')\n"
        "    for _ in itertools.count():\n"
        "        n = draws.randrange(10**9)\n"
        "        yield {'question': str(n), 'answer': str(n % 7)}\n"
    )
    probe = synthbench.probe(f"{path}:rows", rows=37, only="same rows")
    assert "37 rows of train, 37 rows of test" in probe.taken
    assert probe.verdicts[0].again.endswith("--rows 37 --only 'same rows'")
