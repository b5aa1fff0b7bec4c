"""Source images in several places: every source that a parameter names can be given again."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import synthbench
from synthbench.cli.main import _run, commands
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import MissingSourceError, UsageError
from synthbench.generation.generate import generate
from synthbench.tasks.images.source_dirs import (
    DEFAULT_DIRS,
    SourceDirs,
    chosen_source_dirs,
    use_source_dir,
)
from synthbench.tasks.registry import changed
from synthbench.verification.verify import verify
from tests.tasks.tiny_sources import write_sources

ROWS = {"train": 40, "validation": 16, "test": 16}


def verify_with(given, directory, workers=1):
    """Verify a dataset with source images from these directories."""
    with use_source_dir(given):
        return verify(directory, workers=workers, progress=False)


class Made:
    """A dataset of composites with class folders that lie elsewhere than its other source.

    Attributes:
        directory: the dataset.
        sets: the directory with MNIST, Fashion-MNIST and CIFAR-10.
        own: the directory with the class folders.
        folders: the class folders, which the dataset names by their absolute path.
    """

    def __init__(self, root):
        self.directory = root / "composites"
        self.sets, self.own = write_sources(root / "sets"), root / "own"
        self.own.mkdir()
        self.folders = (self.sets / "pictures").rename(self.own / "pictures")
        self.name = f"folder:{self.folders}"
        generate(
            synthbench.task("composites", source_dir=self.sets, target_source=self.name),
            out=self.directory,
            rows=ROWS,
            workers=1,
            progress=False,
        )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return Made(tmp_path_factory.mktemp("sources"))


@pytest.fixture(autouse=True)
def _no_sources_by_default(monkeypatch, tmp_path):
    monkeypatch.setenv("SYNTHBENCH_DATA", str(tmp_path / "no sources"))


def all_forms(made):
    """The forms in which all sources of the dataset can be given."""
    return [
        [made.own, made.sets],
        (str(made.sets), f"{made.name}={made.folders}"),
        {"mnist": made.sets, made.name: str(made.folders)},
    ]


@pytest.mark.parametrize("form", range(3))
def test_a_dataset_of_class_folders_elsewhere_is_verified_by_its_maker(made, form):
    verdict = verify_with(all_forms(made)[form], made.directory)
    assert verdict.ok, str(verdict)
    assert verdict.checked["rows made again"] == sum(ROWS.values())


def test_worker_processes_get_all_source_directories(made, tmp_path):
    options: dict[str, Any] = {"source_dir": {"mnist": made.sets, made.name: made.folders}}
    assert verify_with(options["source_dir"], made.directory, workers=2).ok
    manifest = generate(
        synthbench.task("composites", **options, target_source=made.name),
        out=tmp_path / "again",
        rows=ROWS,
        workers=2,
        progress=False,
    )
    assert manifest == DatasetDirectory.open(made.directory).manifest


def words(made):
    return [f"--source-dir={made.sets}", "--source-dir", f"{made.name}={made.folders}"]


def test_every_command_takes_several_source_directories(made, tmp_path, capsys):
    directory, out = str(made.directory), str(tmp_path / "out")
    predictions = tmp_path / "predictions.jsonl"
    with use_source_dir(made.own):
        rows = list(DatasetDirectory.open(directory).rows("main", "test"))
    predictions.write_text(
        "".join(json.dumps({"id": row["id"], "prediction": row["label"]}) + "\n" for row in rows)
    )
    for command in (
        ["verify", directory, "--workers=1"],
        ["audit", directory],
        ["evaluate", directory, str(predictions), "--split=test"],
        ["export", directory, "--to=jsonl", f"--out={out}"],
        ["push", directory, "someone/composites", "--dry-run"],
        ["preview", "composites", f"--set=target_source={made.name}", f"--out={out}.png"],
        ["generate", "composites", f"--set=target_source={made.name}", "--workers=1",
         *(f"--rows={name}={count}" for name, count in ROWS.items()), f"--out={directory}"],
    ):  # fmt: skip
        status = _run(commands, [*command, *words(made)])
        assert status == 0, (command, capsys.readouterr().err)


def failure(capsys, *command):
    """The lines that a command of wrong usage prints, all on standard error."""
    assert _run(commands, command) == 2
    printed = capsys.readouterr()
    assert not printed.out
    return printed.err.splitlines()


def test_class_folders_that_are_not_given_are_named_plainly(made, capsys):
    directory = str(made.directory)
    for command in (
        ["verify", directory],
        ["verify", directory, f"--source-dir={made.sets}"],
        ["audit", directory],
        ["export", directory, "--to=jsonl", "--out=none"],
        ["push", directory, "someone/composites", "--dry-run"],
    ):
        missing, remedy = failure(capsys, *command)
        assert missing.startswith(f"Error: Class folders '{made.folders}', which the dataset names")
        assert "--source-dir DIR" in remedy
        assert f"--source-dir {made.name}={made.folders} if they are there" in remedy


def test_the_maker_can_copy_the_remedy_for_class_folders_by_an_absolute_path(made, monkeypatch):
    monkeypatch.setenv("SYNTHBENCH_DATA", str(made.sets))
    with pytest.raises(MissingSourceError) as caught:
        verify(made.directory, workers=1, progress=False)
    (option,) = re.findall(r"--source-dir (\S+=\S+)", str(caught.value))
    assert verify_with([option], made.directory).ok


def test_another_source_that_is_not_given_is_named_plainly(made, capsys):
    """Class folders alone do not hide that MNIST is needed as well."""
    command = ["verify", str(made.directory), "--workers=1", f"--source-dir={made.own}"]
    missing, remedy = failure(capsys, *command)
    assert missing == f"Error: MNIST is missing: there is no {made.own / MNIST}."
    assert "--source-dir (it may be repeated)" in remedy
    missing, _ = failure(capsys, *command, f"--source-dir={made.own.parent}")
    places = f"{made.own / MNIST} and no {made.own.parent / MNIST}"
    assert missing == f"Error: MNIST is missing: there is no {places}."


MNIST = "MNIST/raw/train-images-idx3-ubyte"


def test_class_folders_that_were_moved_are_found_under_their_old_name(made, tmp_path):
    moved = shutil.copytree(made.folders, tmp_path / "moved")
    given = {made.name: moved, "mnist": made.sets}
    verdict = verify_with(given, made.directory)
    assert verdict.ok and verdict.made_again


def test_a_variant_that_cannot_be_made_gives_no_failures_of_its_tables(made, tmp_path):
    directory = shutil.copytree(made.directory, tmp_path / "spoilt")
    manifest = json.loads((directory / "manifest.json").read_text())
    manifest["parameters"]["noise"] = 7
    (directory / "manifest.json").write_text(json.dumps(manifest))
    verdict = verify_with([made.sets, made.own], directory)
    assert not any("tables." in failure for failure in verdict.failures)
    assert "Checked: nothing." in str(verdict) and not verdict.made_again


# What may be given.


def test_directories_are_searched_in_order_and_names_come_first(tmp_path):
    one, two, three = (tmp_path / name for name in ("one", "two", "a=b"))
    for directory in (one, two, three, tmp_path / "x=y"):
        directory.mkdir()
    assert DEFAULT_DIRS.roots() == [tmp_path / "no sources"]
    given = SourceDirs.of([one, str(two), str(three), f"cifar={tmp_path}/x=y"])
    assert given.roots() == [one, two, three]
    assert given.own("cifar") == tmp_path / "x=y"
    assert given.own("mnist") is None
    assert SourceDirs.of({"mnist": one}).roots() == [tmp_path / "no sources"]
    assert DEFAULT_DIRS.own("cifar") is None


def test_a_task_keeps_the_source_directories_that_it_was_made_with(tmp_path):
    with use_source_dir(tmp_path):
        chosen = chosen_source_dirs()
        made = synthbench.task("composites")
        for nothing in (None, (), {}):
            with use_source_dir(nothing):
                assert chosen_source_dirs() == chosen
    assert chosen_source_dirs() == DEFAULT_DIRS
    for task in (made, pickle.loads(pickle.dumps(made)), changed(made, parameters={"noise": 1})):
        assert task.source_dirs == SourceDirs.of(tmp_path)
    assert synthbench.task("composites").source_dirs == DEFAULT_DIRS


def test_a_relative_source_directory_stays_where_it_was_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        Path(name).mkdir()
    given = SourceDirs.of(["one", "mnist=two"])
    monkeypatch.chdir(os.sep)
    assert given.roots() == [tmp_path / "one"]
    assert given.own("mnist") == tmp_path / "two"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("mnits=/data", "Unknown source 'mnits'. Allowed: mnist, fashion, cifar, folder:PATH. "
                        "Did you mean 'mnist'?"),
        ({"folder:": "/data"}, "Unknown source 'folder:'"),
        (["mnist=/", "mnist=."], "mnist is given already, as '/'"),
        ("", "Source directory '': expected a path."),
        (["mnist="], "Source directory '': expected a path."),
    ],
)  # fmt: skip
def test_what_names_no_source_is_refused(given, said):
    with pytest.raises(UsageError) as error, use_source_dir(given):
        pass
    assert said in str(error.value)


def test_a_dataset_cannot_lead_out_of_several_source_directories(tmp_path):
    for name in ("one", "two", "secret"):
        (tmp_path / name).mkdir()
    (tmp_path / "two/pictures").mkdir()
    given = SourceDirs.of([tmp_path / "one", tmp_path / "two"])
    for place in ("pictures", str(tmp_path / "two/pictures")):
        given.check_folder(place)
    for place in ("../secret", "../two", str(tmp_path / "secret"), "two/../../secret"):
        with pytest.raises(UsageError, match="are not in"):
            given.check_folder(place)
