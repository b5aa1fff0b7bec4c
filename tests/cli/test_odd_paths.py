"""Every command works on paths that are not UTF-8, and in the C locale; names may be too long."""

import json
import os
import shutil
import sys

import pyarrow.parquet as pq
import pytest

import synthbench
from synthbench.cli.main import main
from synthbench.errors import UsageError
from synthbench.sharing.export import export
from tests.support import run_program, start, stored_rows
from tests.tasks.tiny_sources import write_sources

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere the file system refuses names that are not UTF-8"
)

C_LOCALE = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
#: Bytes of a name, and the environment in which commands are given it. Python has surrogates for
#: the bytes that its locale cannot decode; pyarrow encodes no surrogates.
ODD_NAMES = {
    "not UTF-8": (b"na\xffme", {}),
    "C locale": ("nä€me".encode(), C_LOCALE),
}
FORMATS = ("jsonl", "tsv", "lm-eval", "torch")
#: Bytes of a name, at most, on the file systems of Linux.
LONGEST_NAME = 255
#: Runs commands in one process. A word that holds NAME is a path.
RUN_COMMANDS = """
import json, os, sys
from synthbench.cli.main import main
for words in json.loads(sys.argv[2]):
    try:
        main([word.replace("NAME", sys.argv[1]) for word in words])
    except SystemExit as ended:
        print("status", ended.code, "of", words[0], flush=True)
"""


def run_commands(lines, name, cwd, **changes):
    """Run commands on paths that hold a name, in one process.

    Returns:
        The lines that were printed on both streams.
    """
    words = json.dumps([line.split() for line in lines])
    done = start("-c", RUN_COMMANDS, os.fsdecode(name), words, cwd=cwd, **changes)
    return (done.stdout + done.stderr).splitlines()


def path_of(directory, name):
    return directory / os.fsdecode(name)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A dataset at a plain path, and right answers to its test split beside it in two files."""
    directory = tmp_path_factory.mktemp("good") / "parity"
    rows = {"train": 300, "test": 50}
    synthbench.generate("parity", out=directory, rows=rows, workers=1)
    answers = stored_rows(directory, "default", "test").select(["id", "label"])
    answers = answers.rename_columns(["id", "prediction"])
    pq.write_table(answers, directory.parent / "answers.parquet")
    lines = map(json.dumps, answers.to_pylist())
    (directory.parent / "answers.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return directory


@pytest.mark.slow
@pytest.mark.parametrize("kind", ODD_NAMES)
def test_every_command_works_on_a_path_of_any_bytes(kind, good, tmp_path):
    name, locale = ODD_NAMES[kind]
    write_sources(tmp_path / "sources").rename(path_of(tmp_path, b"sources-" + name))
    shutil.copytree(good, path_of(tmp_path, b"copy-" + name))
    for file in ("answers.jsonl", "answers.parquet"):
        shutil.copy(good.parent / file, path_of(tmp_path, name + b"-" + file.encode()))
    sizes = "--rows train=300 --rows test=50"
    train = "train parity --model softmax --recipe steps=2 --recipe batch_size=50 --quiet"
    lines = [
        f"generate parity --out made-NAME {sizes} --workers 2",
        f"generate parity --out made-NAME {sizes}",
        f"generate parity --out made-NAME {sizes} --seed 1 --overwrite",
        "verify made-NAME",
        "verify copy-NAME --workers 2",
        "evaluate copy-NAME NAME-answers.jsonl --split test",
        "evaluate copy-NAME NAME-answers.parquet --split test",
        "audit copy-NAME --out audited-NAME",
        *[f"export copy-NAME --to {to} --out {to}-NAME" for to in FORMATS],
        "export copy-NAME --to croissant --out copy-NAME/croissant.json",
        "push copy-NAME me/parity --dry-run",
        "preview composites --source-dir sources-NAME --out sheet-NAME.png",
    ]
    made = ["audited", "copy", "made", "sources", *FORMATS]
    if not locale:  # PyTorch takes seconds to import
        lines += [
            f"{train} --dataset copy-NAME --out run-NAME",
            f"{train} {sizes} --out whole-NAME",
            "figures run-NAME --figure curves",
        ]
        made += ["run", "whole"]
    printed = run_commands(lines, name, tmp_path, **locale)
    ended = [line.removeprefix("status ") for line in printed if line.startswith("status ")]
    assert ended == [f"0 of {line.split()[0]}" for line in lines], "\n".join(printed)
    assert sum("matches its manifest" in line for line in printed) == 2
    scores = ["test", "50", "1.0000", "0.9287", "to", "1.0000", "1.0000"]
    assert [line.split() for line in printed].count(scores) == 2
    assert {os.fsencode(path.name) for path in tmp_path.iterdir()} == {
        *(part.encode() + b"-" + name for part in made),
        b"sheet-" + name + b".png",
        name + b"-answers.jsonl",
        name + b"-answers.parquet",
    }


def test_a_foreign_file_whose_name_is_not_utf_8_is_a_finding(good, tmp_path):
    copy = shutil.copytree(good, tmp_path / "copy")
    path_of(copy / "data" / "default", b"na\xff.parquet").touch()
    found = synthbench.verify(copy, workers=1)
    expected = [r"data/default/na\udcff.parquet: not in the manifest"]
    assert [str(one) for one in found.failures] == expected


@pytest.mark.parametrize(
    ("name", "locale", "expected"),
    [
        (b"na\xffme", {}, "datasets.load_dataset cannot open a path that is not UTF-8"),
        ("nä".encode(), C_LOCALE, 'load_dataset("DIRECTORY/nä")'),
    ],
)
def test_generate_says_how_datasets_can_open_the_path(name, locale, expected, tmp_path):
    rows = "--rows train=20 --rows test=20"
    printed = run_commands([f"generate parity --out NAME {rows}"], name, tmp_path, **locale)
    assert printed[-1] == "status 0 of generate"
    assert expected.replace("DIRECTORY", str(tmp_path)) in printed[-2]


def test_a_dataset_with_the_longest_name_of_the_file_system_is_read(good, tmp_path):
    copy = shutil.copytree(good, tmp_path / ("n" * LONGEST_NAME))
    assert synthbench.verify(copy, workers=1).ok
    assert synthbench.generate("parity", out=copy, rows={"train": 300, "test": 50}) is not None


#: Commands that find NAME itself too long, and those that need a longer name beside it.
OF_NAME = [
    "generate parity --rows train=20 --out NAME",
    "verify NAME",
    "audit NAME",
    "audit GOOD --out NAME",
    "evaluate NAME GOOD/../answers.jsonl",
    "export NAME --to jsonl --out exported",
    "export GOOD --to jsonl --out NAME",
    "push NAME me/parity --dry-run",
    "train parity --model softmax --out NAME",
    "train parity --model softmax --dataset NAME --out run",
    "figures NAME",
]
BESIDE_NAME = [line for line in OF_NAME if line.startswith(("generate", "export GOOD"))]


@pytest.mark.parametrize(
    ("line", "length"),
    [
        *[
            pytest.param(line, length, marks=[pytest.mark.torch] * line.startswith("train"))
            for line in OF_NAME
            for length in (LONGEST_NAME + 1, 5_000)
        ],
        *[(line, LONGEST_NAME - 3) for line in BESIDE_NAME],
    ],
)
def test_a_name_that_is_too_long_is_wrong_usage(line, length, good, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = [word.replace("NAME", "n" * length).replace("GOOD", str(good)) for word in line.split()]
    with pytest.raises(SystemExit) as ended:
        main(words)
    error = capsys.readouterr().err
    assert ended.value.code == 2, error
    assert "too long" in error
    assert ".partial" not in error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_characters_that_no_path_can_have_are_wrong_usage(name, good):
    for use in (
        lambda: synthbench.generate("parity", out=name),
        lambda: synthbench.verify(name),
        lambda: synthbench.audit(name),
        lambda: synthbench.evaluate(name, {}),
        lambda: export(good, "jsonl", name),
        lambda: synthbench.DatasetDirectory.open(name),
    ):
        with pytest.raises(UsageError, match="cannot be a path"):
            use()


def test_what_the_encoding_of_the_terminal_lacks_is_escaped(tmp_path):
    shown = run_program("preview", "listops", "-n", "1", cwd=tmp_path, PYTHONIOENCODING="cp1252")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert r"\u2514\u2500 " in shown.stdout
