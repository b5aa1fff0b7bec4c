"""Journeys through the command line, in this process and in processes of their own."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import synthbench
from synthbench.cli.main import commands
from synthbench.tasks import registry
from synthbench.tasks.registry import list_tasks
from tests.making import stamps
from tests.support import environment, run_program, run_python, stored_rows, terminal
from tests.tasks.tiny_sources import write_sources

posix = pytest.mark.skipif(
    os.name != "posix", reason="signals, terminals and pipes as POSIX has them"
)


def manifest(directory):
    return synthbench.DatasetDirectory.open(directory).manifest


# Journeys.


def test_a_journey_from_the_list_to_a_score(program, tmp_path):
    status, listed, _ = program("list")
    assert status == 0
    assert [name for name in list_tasks() if f"\n{name} " in listed] == list_tasks()

    status, described, _ = program("info parity")
    assert status == 0
    assert "n_values" in described

    status, shown, _ = program("preview parity -n 3 --seed 1 --split test")
    assert status == 0
    assert shown.count("the answer is") == 3

    generate = "generate parity --preset small --seed 1 --workers 1"
    status, made, _ = program(generate)
    assert status == 0
    assert re.search(r"[\d,]+ rows in [\d.]+ s, [\d,]+ a second: ", made)
    assert f'load_dataset("{tmp_path / "parity"}")' in made

    before = stamps(tmp_path)
    status, again, _ = program(generate)
    assert status == 0
    assert "already exists, made by the same command. Nothing was changed." in again
    assert stamps(tmp_path) == before

    status, verdict, _ = program("verify parity --workers 1")
    assert status == 0
    assert "parity (./parity) matches its manifest." in verdict

    rows = stored_rows(tmp_path / "parity", "default", "test").to_pylist()
    answers = [{"id": row["id"], "prediction": row["c"]} for row in rows]
    right = sum(row["c"] == row["label"] for row in rows)
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)))
    status, printed, errors = program("evaluate parity answers.jsonl --json")
    assert (status, errors) == (0, "")
    report = json.loads(printed)
    assert report["accuracy"] == right / len(rows)
    assert report["splits"]["test"]["rows"] == len(rows)
    status, printed, _ = program("evaluate parity answers.jsonl --split test")
    assert status == 0
    assert f"{right / len(rows):.4f}" in printed


def test_the_version_is_that_of_the_package(program):
    assert program("--version") == (0, f"synthbench, version {synthbench.__version__}\n", "")


def test_without_a_command_the_help_is_shown_as_wrong_usage(program):
    status, printed, errors = program("")
    assert (status, printed) == (2, "")
    assert errors.startswith("Usage: synthbench [OPTIONS]")
    for name in commands.commands:
        assert f"  {name} " in errors


# All tasks at once.


@pytest.mark.slow
def test_all_tasks_are_made_each_in_its_folder(program, tmp_path):
    sources = write_sources(tmp_path / "sources")
    status, printed, errors = program(
        "generate all --preset small --out made --workers 2 --source-dir", str(sources)
    )
    assert (status, errors) == (0, "")
    assert {path.name for path in (tmp_path / "made").iterdir()} == set(list_tasks())
    for name in list_tasks():
        there = manifest(tmp_path / "made" / name)
        assert there.task == name
        assert all(split.rows >= 100 for split in next(iter(there.variants.values())).values())
        assert f'load_dataset("{tmp_path / "made" / name}")' in printed
    status, printed, _ = program(
        "preview", "composites", "--source-dir", str(sources), "--out", "sheet.png"
    )
    assert (status, printed) == (0, "5 rows of composites main drawn in sheet.png\n")
    assert (tmp_path / "sheet.png").read_bytes().startswith(b"\x89PNG")


def test_a_task_that_cannot_be_made_does_not_keep_the_others_from_being_made(
    program, tmp_path, monkeypatch
):
    names = ["parity", "composites", "nonsense", "identity"]
    monkeypatch.setattr(registry, "list_tasks", lambda: names)
    status, _, errors = program("generate all --preset small --out made --workers 1")
    assert status == 1
    assert errors.startswith("Error: Not all tasks could be made. composites: MNIST is missing")
    assert "nonsense: Unknown task 'nonsense'" in errors
    assert len(errors.splitlines()) <= 2
    assert {path.name for path in (tmp_path / "made").iterdir()} == {"parity", "identity"}


def test_all_tasks_at_once_take_no_options_of_one_task(program, tmp_path):
    for option in ("--variant=all", "--level=easy", "--rows=train=5", "--set=n=1"):
        status, _, errors = program("generate all --out made", option)
        told = f"{option.partition('=')[0]} needs one task."
        assert (status, told in errors) == (2, True)
    assert not (tmp_path / "made").exists()


# What goes where.


def test_quiet_prints_nothing(program):
    line = "generate parity --preset small --workers 2 --quiet"
    assert program(line) == (0, "", "")
    assert program(line) == (0, "", "")
    status, printed, errors = program("generate parity --quiet --rows train=0")
    assert (status, printed) == (2, "")
    assert errors


@posix
@pytest.mark.parametrize("quiet", [False, True])
def test_the_bar_is_on_standard_error_on_a_terminal_and_not_with_quiet(tmp_path, quiet):
    words = ["generate", "parity", "--preset", "small", "--workers", "1"]
    with terminal() as (its, read):
        process = subprocess.Popen(
            [sys.executable, "-m", "synthbench", *words, *(["--quiet"] if quiet else [])],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=its,
            text=True,
        )
        printed, _ = process.communicate(timeout=300)
        shown = read()
    assert process.returncode == 0
    assert (" rows in " in printed) != quiet
    assert (b"parity" in shown) != quiet
    assert b" rows in " not in shown
    if quiet:
        assert (printed, shown) == ("", b"")


@posix
def test_control_characters_of_names_never_reach_the_terminal(program, tmp_path):
    name, shown = "a\x1b[31m\x07\x9b\nb", r"a\x1b[31m\x07\x9b\nb"
    sources = str(write_sources(tmp_path / "sources"))
    printed = [
        program("generate parity --preset small --workers 1 --out", name),
        program("generate parity --preset small --workers 1 --out", name),  # it is there already
        program("verify --workers 1", name),
        program("export --to jsonl --out exported", name),
        program("preview composites -n 1 --source-dir", sources, "--out", f"{name}.png"),
    ]
    for status, out, errors in printed:
        assert (status, errors) == (0, "")
        assert all(line.isprintable() for line in out.split("\n"))
        assert shown in out
    (loading,) = re.findall(r"load_dataset\((.*)\)$", printed[0][1], re.MULTILINE)
    assert Path(ast.literal_eval(loading)) == tmp_path / name
    for words in (["missing", f"--{name}"], ["list", f"--{name}"], ["info", name]):
        status, out, errors = program("", *words)
        assert (status, out) == (2, "")
        assert all(line.isprintable() for line in errors.split("\n"))


def test_the_package_runs_as_the_program(program, tmp_path):
    for line in ("info parity", "no-such-command"):
        done = run_program(*line.split(), cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == program(line)


@posix
@pytest.mark.parametrize("words", [["list"], ["preview", "ctl", "-n", "1000"]])
def test_a_reader_that_goes_away_is_nothing_to_complain_about(tmp_path, words):
    process = subprocess.Popen(
        [sys.executable, "-m", "synthbench", *words],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (0, b"")


@posix
def test_output_that_has_no_place_is_an_error_without_a_traceback(tmp_path):
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full here")
    with full.open("w") as out:
        done = subprocess.run(
            [sys.executable, "-m", "synthbench", "list"],
            cwd=tmp_path,
            env=environment(),
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, "Error: No space left on the device.\n")


def test_a_command_works_in_a_process_of_its_own_that_has_not_imported_pandas():
    code = "import sys\nfrom synthbench.cli.main import main\ntry: main(['list'])\n"
    code += "except SystemExit as ended: print(ended.code, 'pandas' in sys.modules)"
    assert run_python(code).splitlines()[-1] == "0 False"
