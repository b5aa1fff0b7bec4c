"""Journeys through the command line, in this process and in processes of their own."""

import ast
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import synthbench
from synthbench.cli.main import commands, main
from synthbench.generation import generate as generation
from synthbench.tasks.registry import list_tasks
from tests.faults.program import Program, run_here, whole
from tests.making import CTL_WORDS
from tests.making import files as checksums
from tests.support import environment, run_program, stored_rows, terminal
from tests.tasks.tiny_sources import write_sources

posix = pytest.mark.skipif(
    os.name != "posix", reason="signals, terminals and pipes as POSIX has them"
)


@pytest.fixture
def program(tmp_path, monkeypatch, capfd):
    """The command line in this process, in an empty directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SYNTHBENCH_DEBUG", raising=False)
    monkeypatch.setenv("SYNTHBENCH_DATA", str(tmp_path / "no sources"))

    def run(line="", *words):
        with pytest.raises(SystemExit) as ended:
            main([*line.split(), *words])
        assert isinstance(ended.value.code, int)
        return ended.value.code, *capfd.readouterr()

    return run


def manifest(directory):
    return synthbench.DatasetDirectory.open(directory).manifest


def files(directory):
    """What is in a directory, hidden things too, with the time each was changed."""
    return sorted((file, file.stat().st_mtime_ns) for file in directory.rglob("*"))


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
    assert " rows in " in made
    assert f'load_dataset("{tmp_path / "parity"}")' in made

    before = files(tmp_path)
    status, again, _ = program(generate)
    assert status == 0
    assert "already there, made by the same command; nothing was changed." in again
    assert files(tmp_path) == before

    status, verdict, _ = program("verify parity --workers 1")
    assert status == 0
    assert "parity at parity is what its manifest says." in verdict

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
    monkeypatch.setattr(generation, "list_tasks", lambda: ["parity", "composites", "identity"])
    status, _, errors = program("generate all --preset small --out made --workers 1")
    assert status == 1
    assert errors.startswith("Error: Not all tasks could be made. composites: MNIST is missing")
    assert len(errors.splitlines()) <= 2
    assert {path.name for path in (tmp_path / "made").iterdir()} == {"parity", "identity"}


@pytest.mark.parametrize("option", ["--variant=all", "--rows=train=5", "--set=p=1"])
def test_what_belongs_to_one_task_is_refused_for_all(program, option):
    status, _, errors = program(f"generate all {option}")
    assert status == 2
    assert "'all' makes every task as it is" in errors


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


# Errors.


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ("lst", 2, r"Unknown command 'lst'; allowed: .*\. Did you mean 'list'\?"),
        ("info listop", 2, r"Unknown task 'listop'; .* Did you mean 'listops'\?"),
        ("preview ctl --variant foward", 2, r"Unknown variant of ctl .* mean 'forward'\?"),
        ("preview ctl --split tset", 2, r"Unknown split of ctl 'tset'; .* mean 'test'\?"),
        ("generate partiy", 2, r"Unknown task 'partiy'; .* Did you mean 'parity'\?"),
        ("generate ctl --variant foward", 2, r"Unknown variant of ctl .* mean 'forward'\?"),
        ("generate ctl --rows trian=5", 2, r"Unknown split of ctl 'trian'; .* mean 'train'\?"),
        ("generate ctl --set symbol=5", 2, r"Unknown parameter 'symbol'; .* mean 'symbols'\?"),
        ("generate ctl --preset smal", 2, r"Unknown preset 'smal'; .* Did you mean 'small'\?"),
        ("generate ctl --engine daks", 2, r"Unknown engine 'daks'; .* Did you mean 'dask'\?"),
        ("generate ctl --sed 5", 2, r"No such option.*--seed"),
        ("generate ctl --seed x", 2, r"Invalid value for '--seed': 'x' is not a valid integer\."),
        ("generate ctl --seed -1", 2, r"Seed -1: allowed are whole numbers from 0\."),
        ("generate ctl --rows train", 2, r"--rows 'train': expected SPLIT=N\."),
        ("generate ctl --rows =5", 2, r"--rows '=5': expected SPLIT=N\."),
        ("generate ctl --rows train=", 2, r"Rows train='': allowed are whole numbers from 1\."),
        ("generate ctl --rows train=1.5", 2, r"Rows train='1.5': allowed are whole numbers"),
        ("generate ctl --rows train=0", 2, r"Rows train=0: allowed are whole numbers from 1\."),
        ("generate ctl --rows iid=5 --rows iid=6", 2, r"'iid=6': iid is given already, as '5'\."),
        ("generate ctl --set symbols=0", 2, r"Parameter symbols=0: allowed are 2 to 1024\."),
        ("generate ctl --set symbols=many", 2, r"Parameter symbols='many': expected a whole"),
        ("generate parity --rows train=15000", 2, r"15,000 rows asked for, but only .* exist"),
        ("generate parity --shard-rows 0", 2, r"Shard rows 0: allowed are whole numbers from 1\."),
        ("generate parity --workers 0", 2, r"Workers 0: allowed are whole numbers from 1 to 256\."),
        ("generate parity --workers 100000", 2, r"Workers 100000: allowed .* 1 to 256\."),
        ("generate all --workers 257", 2, r"Workers 257: allowed .* 1 to 256\."),
        ("generate parity --engine dask --workers 257", 2, r"Workers 257: allowed .* 1 to 256\."),
        ("verify nowhere --workers 257", 2, r"Workers 257: allowed .* 1 to 256\."),
        ("validate parity --workers 257", 2, r"Workers 257: allowed .* 1 to 256\."),
        (
            "train parity --model softmax --workers 257",
            2,
            r"Workers 257: allowed .* 1 to 256\.",
        ),
        ("generate parity --scheduler a:1", 2, r"A scheduler address goes with engine 'dask'"),
        ("generate parity --out note.txt", 2, r"Output '.*note.txt' is a file; name a directory"),
        ("generate parity --out taken", 2, r"Output '.*taken' holds something else"),
        ("generate", 2, r"Missing argument 'TASK'\."),
        ("generate parity ctl", 2, r"Got unexpected extra argument"),
        ("preview ctl -n 0", 2, r"Invalid value for '-n': 0 is not in the range"),
        ("verify", 2, r"Missing argument 'DIR'\."),
        ("verify nowhere", 2, r"No dataset at 'nowhere': there is no such directory\."),
        ("verify note.txt", 1, r"No dataset at 'note.txt': it is a file\."),
        ("preview parity --out a.png", 2, r"Output 'a.png': parity has no images to draw"),
        ("train parity", 2, r"Missing option '--model'; allowed for parity: softmax, heat, norm"),
        ("train parity --model nrmsoftmax", 2, r"Unknown model for parity .* 'normsoftmax'\?"),
        ("verify taken", 1, r"No dataset at 'taken': it has no manifest.json\."),
        ("evaluate nowhere answers.jsonl", 2, r"No dataset at 'nowhere'"),
        ("audit nowhere", 2, r"No dataset at 'nowhere'"),
        ("export nowhere --to jsonl --out exported", 2, r"No dataset at 'nowhere'"),
        ("push nowhere USER/nowhere --dry-run", 2, r"No dataset at 'nowhere'"),
        ("preview parity --source-dir nowhere", 2, r"Source directory 'nowhere': there is no"),
        ("generate parity --source-dir nowhere", 2, r"Source directory 'nowhere': there is no"),
        ("figures nowhere", 2, r"No run at 'nowhere'"),
        ("preview composites", 2, r"MNIST is missing: there is no .*train-images"),
    ],
)
def test_an_error_is_a_line_or_two_that_say_what_was_got_and_what_is_allowed(
    program, tmp_path, words, status, message
):
    (tmp_path / "note.txt").write_text("something")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "note.txt").write_text("something")
    got, printed, errors = program(words)
    assert (got, printed) == (status, "")
    assert re.match(f"Error: .*{message}", errors), errors
    assert 1 <= len(errors.splitlines()) <= 2
    assert errors.endswith("\n")


@pytest.mark.parametrize(
    ("words", "expected_status", "message"),
    [
        ("evaluate parity none.jsonl", 2, r"none.jsonl is missing\."),
        ("evaluate parity none.parquet", 2, r"none.parquet is missing\."),
        ("evaluate parity a.jsonl --split tset", 2, r"Unknown split in .*Did you mean 'test'"),
        ("evaluate parity a.jsonl --variant defalt", 2, r"Unknown variant in .*mean 'default'\?"),
        ("evaluate parity a.jsonl", 1, r"a.jsonl, line 1: "),
        ("evaluate parity a.txt", 2, r"allowed are files .jsonl, .json, .csv, .tsv"),
        ("evaluate parity none.csv.gz", 2, r"none.csv.gz is missing\."),
    ],
)
def test_predictions_that_cannot_be_read_are_named(
    program, tmp_path, words, expected_status, message
):
    program("generate parity --preset small --workers 1 --quiet")
    (tmp_path / "a.jsonl").write_text("not JSON\n")
    status, printed, errors = program(words)
    assert (status, printed) == (expected_status, "")
    assert re.match(f"Error: .*{message}", errors), errors
    assert len(errors.splitlines()) <= 2


def test_most_answers_unreadable_is_a_warning_that_says_what_would_mend_it(program, tmp_path):
    program("generate parity --preset small --workers 1 --quiet")
    rows = stored_rows(tmp_path / "parity", "default", "test").to_pylist()
    lines = [json.dumps({"id": row["id"], "response": f"It is {row['label']}."}) for row in rows]
    (tmp_path / "responses.jsonl").write_text("\n".join(lines))
    status, printed, errors = program("evaluate parity responses.jsonl")
    assert status == 0
    assert re.fullmatch(
        r"Warning: (\d+) of \1 predictions cannot be read, such as 'It is \d+\.' for id '\w+'\. "
        r"With --read text \(read='text'\) answers are found in running text\.\n",
        errors,
    )
    status, printed, errors = program("evaluate parity responses.jsonl --read text --json")
    assert (status, errors) == (0, "")
    report = json.loads(printed)
    assert report["accuracy"] == 1.0
    assert report["readings"] == {"text": len(rows)}
    assert program("evaluate parity responses.jsonl --read texts")[0] == 2


@pytest.fixture
def send(program, monkeypatch):
    """Evaluate what comes on standard input against a small dataset of parity."""
    synthbench.generate("parity", out="parity", preset="small", workers=1)

    def evaluate(sent):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(sent)))
        return program("evaluate parity - --json")

    return evaluate


def test_predictions_are_read_from_standard_input(send, tmp_path):
    rows = stored_rows(tmp_path / "parity", "default", "test").to_pylist()
    entries = [{"id": row["id"], "prediction": row["label"]} for row in rows]
    lines = "".join(f"{json.dumps(entry)}\n" for entry in entries).encode()
    table = [["id", "prediction"], *([row["id"], str(row["label"])] for row in rows)]
    comma, tab = ("".join(f"{mark.join(line)}\n" for line in table).encode() for mark in ",\t")
    packed = gzip.compress(lines)
    for sent in (b"\xef\xbb\xbf\n" + lines, json.dumps(entries).encode(), comma, tab, packed):
        status, printed, errors = send(sent)
        assert status == 0, errors
        assert json.loads(printed)["accuracy"] == 1.0
    done = subprocess.run(
        [sys.executable, "-m", "synthbench", "evaluate", "parity", "-", "--json"],
        cwd=tmp_path,
        env=environment(),
        input=packed,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["accuracy"] == 1.0


def test_what_is_wrong_with_standard_input_is_told(send):
    for sent, message in (
        (b"", "Standard input is empty: it holds no predictions."),
        (b"\x1f\x8b", "Standard input cannot be read: "),
        (b'{"id": "a"}', "Standard input, line 1: no 'prediction'; expected"),
        (b"id,answer\na,3\n", "Standard input: no 'prediction'; expected"),
    ):
        status, printed, errors = send(sent)
        assert (status, printed) == (1, "")
        assert errors.startswith(f"Error: {message}")


def test_nothing_is_left_behind_by_what_was_refused(program, tmp_path):
    for words in ("--rows train=0", "--workers 0", "--engine daks", "--set n_values=1"):
        assert program(f"generate parity {words}")[0] == 2
    assert list(tmp_path.iterdir()) == []


def test_the_traceback_is_there_for_those_who_ask(program, monkeypatch):
    assert "Traceback" not in program("info nothing")[2]
    monkeypatch.setenv("SYNTHBENCH_DEBUG", "1")
    status, _, errors = program("info nothing")
    assert status == 2
    assert errors.startswith("Traceback")
    assert errors.splitlines()[-1].startswith("Error: Unknown task 'nothing'")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ZeroDivisionError("division by zero\nand more"), "Unexpected ZeroDivisionError: division"),
        (PermissionError(13, "Permission denied", "/there"), "Permission denied: /there"),
        (MemoryError(), "Out of memory; what is finished is kept."),
    ],
)
def test_what_nobody_expected_is_two_lines_too(program, monkeypatch, error, message):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("synthbench.generation.generate.run_all", fail)
    status, printed, errors = program("generate parity")
    assert (status, printed) == (1, "")
    assert errors.startswith(f"Error: {message}")
    assert len(errors.splitlines()) <= 2


# Interruptions; `tests.faults` has more of them.


@posix
def test_control_c_ends_all_processes_in_a_line_and_the_same_command_goes_on(tmp_path):
    words = ["generate", *CTL_WORDS, "--shard-rows=100", "--workers=2", "--quiet"]
    running = Program(words, tmp_path)
    running.wait_for(tmp_path / ".ctl.partial" / "progress.json")
    running.send(signal.SIGINT, "group")  # as a terminal does it: to all processes at once
    status, printed, errors = running.end()
    assert (status, printed) == (130, "")
    assert errors.strip() == "Interrupted; the same command goes on from here."
    assert {path.name for path in tmp_path.iterdir()} == {".ctl.partial"}
    assert run_here(*words, cwd=tmp_path) == (0, "", "")
    assert checksums(tmp_path / "ctl") == whole((*words, "--workers=1"))
