"""What is true of every way out: whole or not there, nothing replaced unasked, errors that help."""

import json
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

import synthbench
from synthbench.cli.main import _run, commands
from synthbench.errors import DatasetError, SynthbenchError, UsageError
from synthbench.sharing import export as exporting
from synthbench.sharing.export import FORMATS, MARKER, export
from synthbench.tasks.base import TextTask
from synthbench.tasks.registry import list_tasks, task_class
from synthbench.tasks.registry import task as make_task
from tests.making import files, names
from tests.support import is_free_text

Tiny = Callable[[str], Path]

#: Which formats take the rows of which tasks.
TEXTS = {name for name in list_tasks() if issubclass(task_class(name), TextTask)}
#: Tasks whose labels are free text, which cannot be tensors.
FREE = set(filter(is_free_text, TEXTS))
ALLOWED = {
    name: [
        form
        for form in FORMATS
        if (
            (name in TEXTS or form in ("jsonl", "torch", "croissant"))
            and not (name in FREE and form == "torch")
        )
        or (form in ("chat", "openai-batch") and name == "composites")
    ]
    for name in list_tasks()
}
ALLOWED["composites"].remove("croissant")
#: What formats must be given.
NEEDED = {"openai-batch": {"model": "tiny"}}
IN_DIRECTORIES = [name for name, form in FORMATS.items() if not form.is_file]


@pytest.mark.torch
@pytest.mark.parametrize("name", list_tasks())
def test_every_task_goes_out_in_every_form_that_can_hold_it(name, tiny, tmp_path):
    directory = tmp_path / name
    shutil.copytree(tiny(name), directory)
    for to, form in FORMATS.items():
        out = directory / "about.json" if form.is_file else tmp_path / f"out-{to}"
        if to in ALLOWED[name]:
            sizes = export(directory, to, out, **NEEDED.get(to, {}))
            written = [out] if form.is_file else [out / file for file in sizes]
            assert [file.stat().st_size for file in written] == list(sizes.values())
        else:
            with pytest.raises(UsageError) as error:
                export(directory, to, out, **NEEDED.get(to, {}))
            assert f"Task {name!r} cannot be exported to {to}: its " in str(error.value)
            assert str(error.value).endswith(f"Formats for this task: {', '.join(ALLOWED[name])}.")
            assert not out.exists()
    made = [f"out-{to}" for to in ALLOWED[name] if to in IN_DIRECTORIES]
    assert names(tmp_path) == sorted([name, *made])


@pytest.mark.parametrize("to", IN_DIRECTORIES)
def test_the_same_export_has_the_same_bytes(to, tiny, tmp_path):
    export(tiny("ctl"), to, tmp_path / "a", **NEEDED.get(to, {}))
    export(str(tiny("ctl")), to, str(tmp_path / "deep/er/b"), **NEEDED.get(to, {}))
    assert files(tmp_path / "a") == files(tmp_path / "deep/er/b")


def test_an_export_tells_what_it_was_made_from(tiny, tmp_path):
    export(tiny("ctl"), "tsv", tmp_path / "out", variants=["backward"], splits=["test", "iid"])
    told = json.loads((tmp_path / "out" / MARKER).read_text("utf-8"))
    manifest = synthbench.DatasetDirectory.open(tiny("ctl")).manifest
    assert told["variants"] == {
        "backward": {
            name: {"rows": 40, "digest": manifest.variants["backward"][name].digest}
            for name in ("iid", "test")
        }
    }
    assert (told["format"], told["task"], told["seed"]) == ("tsv", "ctl", 0)
    assert told["parameters"] == manifest.parameters


def test_variants_and_splits_are_all_unless_some_are_named(tiny, tmp_path):
    def made(**chosen):
        sizes = export(tiny("ctl"), "jsonl", tmp_path / "out", overwrite=True, **chosen)
        return sorted(set(sizes) - {MARKER})

    splits = ["iid", "test", "train", "validation"]
    assert made() == [f"{one}/{name}.jsonl" for one in ("backward", "forward") for name in splits]
    assert made(variants=["forward"], splits=["test", "test"]) == ["forward/test.jsonl"]


# Nothing lost, nothing half done.


def test_nothing_is_replaced_that_is_no_export_or_without_being_asked(tiny, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    export(tiny("parity"), "jsonl", out)  # an empty directory is no loss
    before = files(out)
    with pytest.raises(UsageError, match=r"earlier export. Replace it with --overwrite"):
        export(tiny("parity"), "tsv", out)
    assert files(out) == before
    export(tiny("parity"), "tsv", out, overwrite=True)
    assert sorted(files(out)) == ["default/basic_test.tsv", "default/basic_train.tsv", MARKER]

    (out / MARKER).unlink()
    (tmp_path / "file").write_text("mine")
    for place, text in ((out, "holds other files \\("), (tmp_path / "file", "is a file")):
        with pytest.raises(UsageError, match=text):
            export(tiny("parity"), "jsonl", place, overwrite=True)
    assert (tmp_path / "file").read_text() == "mine"
    assert names(tmp_path) == ["file", "out"]


def test_a_link_stays_and_what_it_names_is_replaced(tiny, tmp_path):
    (tmp_path / "link").symlink_to("out")
    export(tiny("parity"), "jsonl", tmp_path / "link")
    export(tiny("parity"), "tsv", tmp_path / "link", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert sorted(files(tmp_path / "out")) == [
        *("default/basic_test.tsv", "default/basic_train.tsv", MARKER)
    ]
    assert names(tmp_path) == ["link", "out"]


@pytest.mark.parametrize("to", ["jsonl", "croissant"])
@pytest.mark.parametrize("name", ["loop", "loop/out"])
def test_links_in_a_loop_are_no_output(to, name, tiny, tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageError, match="cannot be used: its links lead in a circle"):
        export(tiny("parity"), to, tmp_path / name)
    assert names(tmp_path) == ["loop"]


def test_the_working_directory_is_not_replaced(tiny, tmp_path, monkeypatch):
    dataset, home = tiny("parity").resolve(), tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    for place in (".", home, "../home"):
        with pytest.raises(UsageError, match="is the working directory"):
            export(dataset, "jsonl", place)
    assert names(tmp_path) == ["home"]
    assert names(home) == []


@pytest.mark.parametrize("to", IN_DIRECTORIES)
def test_what_fails_midway_leaves_everything_as_it_was(to, tiny, tmp_path, monkeypatch):
    out = tmp_path / "out"
    export(tiny("ctl"), "jsonl", out)
    before = files(out)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exporting, "write_json", full)
    with pytest.raises(SynthbenchError, match="cannot be written: No space left on device"):
        export(tiny("ctl"), to, out, overwrite=True, **NEEDED.get(to, {}))
    assert files(out) == before
    assert names(tmp_path) == ["out"]


def test_what_cannot_be_put_in_place_leaves_the_old_there(tiny, tmp_path, monkeypatch):
    out = tmp_path / "out"
    export(tiny("parity"), "jsonl", out)
    before, rename = files(out), Path.rename

    def refused(path, target):
        if path.name == "new":
            raise PermissionError(13, "Permission denied")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(SynthbenchError, match="Permission denied"):
        export(tiny("parity"), "tsv", out, overwrite=True)
    assert files(out) == before
    assert names(tmp_path) == ["out"]


def test_a_damaged_dataset_is_not_exported(tiny, tmp_path):
    directory = tmp_path / "parity"
    shutil.copytree(tiny("parity"), directory)
    shard = directory / "data/default/test-00001-of-00002.parquet"
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-1])
    with pytest.raises(DatasetError, match="missing or has another size"):
        export(directory, "jsonl", tmp_path / "out")
    # Of the right size, but not to be read.
    shard.write_bytes(whole[:4] + bytes(len(whole) - 8) + whole[-4:])
    with pytest.raises(DatasetError, match="cannot be read"):
        export(directory, "jsonl", tmp_path / "out")
    # With fewer rows than the manifest says.
    shard.write_bytes(whole)
    manifest = json.loads((directory / "manifest.json").read_text("utf-8"))
    manifest["variants"]["default"]["splits"]["test"]["rows"] = 41
    (directory / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    for to in ("jsonl", "tsv"):
        with pytest.raises(
            DatasetError, match="default/test has 40 rows where its manifest says 41"
        ):
            export(directory, to, tmp_path / "out")
    assert names(tmp_path) == ["parity"]


@pytest.mark.parametrize("to", ["jsonl", "tsv", "torch"])
def test_memory_does_not_grow_with_the_rows(to, tmp_path, monkeypatch):
    monkeypatch.setattr("synthbench.sharing.parts.BATCH_ROWS", 256)
    monkeypatch.setattr("synthbench.sharing.tensors.BATCH_ROWS", 256)

    def peak(rows):
        directory = tmp_path / str(rows)
        sizes = {"train": rows, "test": 10}
        synthbench.generate("parity", out=directory, rows=sizes, workers=1, progress=False)
        peaks = []
        for attempt in range(3):
            tracemalloc.start()
            export(directory, to, tmp_path / f"out-{rows}-{attempt}", splits=["train"])
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        return min(peaks)  # the others may hold what the process does besides, such as tidying up

    peak(500)  # whatever is imported or cached
    assert peak(4_000) < 1.2 * peak(1_000) + 20_000


# Errors.


def test_what_is_asked_for_wrongly_is_named_before_any_work(tiny, tmp_path):
    ctl, out = tiny("ctl"), tmp_path / "out"
    for wrong, text in (
        ({"to": "json"}, "Unknown format 'json'. Allowed: jsonl, chat, openai-batch, tsv, lm-eval, "
                         "verl, skyrl, nemo-gym, torch, croissant. Did you mean 'jsonl'?"),
        ({"variants": ["forwards"]}, "Did you mean 'forward'?"),
        ({"splits": ["tests"]}, "Did you mean 'test'?"),
        ({"out": ctl / "data/out"}, "lies in the dataset itself"),
        ({"out": ctl}, "lies in the dataset itself"),
        ({"to": "croissant"}, "croissant.json', in the"),
        ({"to": "croissant", "out": ctl / "data/about.json"}, "croissant.json', in the"),
        ({"to": "croissant", "out": ctl / "about.txt"}, "croissant.json', in the"),
        ({"to": "croissant", "out": ctl / "manifest.json"}, "has other content"),
        ({"shots": 2}, "'jsonl' does not take 'shots'. Formats that do: chat, openai-batch, lm-ev"),
        ({"to": "chat", "model": "m"}, "does not take 'model'. Formats that do: openai-batch."),
        ({"to": "openai-batch"}, "needs the name of the model: model=NAME, --model NAME."),
        ({"to": "openai-batch", "model": "m", "request": {"messages": []}},
         "Request field 'messages' is set by export. Leave it out."),
        ({"to": "openai-batch", "model": "m", "request": {"temperature": float("nan")}},
         "Request field 'temperature' is nan: allowed are texts, finite numbers, True"),
        ({"to": "openai-batch", "model": "m\udcff"}, "Model 'm\\udcff': expected text that UTF-8"),
        ({"to": "chat", "system": "\udcff"}, "System message '\\udcff': expected text that UTF-8"),
        *(({"to": to, "splits": ["test"], "shots": 41},
           "Shots 41: train has 40 rows. Allowed are whole numbers from 0 to 40.")
          for to in ("chat", "lm-eval", "nemo-gym")),
        ({"to": "chat", "shots": 2}, "worked examples are rows of train, which would be their own"),
        ({"to": "chat", "splits": ["test"], "offset": 40}, "Offset 40: split 'test' has 40 rows."),
        ({"to": "chat", "limit": 0}, "Limit 0: allowed are whole numbers from 1"),
    ):  # fmt: skip
        with pytest.raises(UsageError) as error:
            export(**{"dataset": ctl, "to": "jsonl", "out": out, "overwrite": True, **wrong})  # type: ignore[arg-type]
        assert text in str(error.value), wrong
    with pytest.raises(DatasetError, match="No dataset at"):
        export(tmp_path, "jsonl", out)
    assert names(tmp_path) == []


def test_the_command_shows_what_was_written(tiny, tmp_path, capsys):
    words = ["export", str(tiny("parity")), "--to", "tsv", "--out", str(tmp_path / "out")]
    assert _run(commands, words) == 0
    shown = capsys.readouterr()
    assert "default/basic_test.tsv" in shown.out
    assert shown.out.endswith(f"as tsv: {tmp_path / 'out'}\n")
    assert _run(commands, words) == 2
    assert "Replace it with --overwrite" in capsys.readouterr().err
    assert _run(commands, [*words, "--overwrite", "--quiet", "--split", "test"]) == 0
    assert capsys.readouterr().out == ""
    assert sorted(files(tmp_path / "out")) == ["default/basic_test.tsv", MARKER]


def test_a_task_of_another_package_says_its_tokens_or_gets_no_tensors(tmp_path):
    from synthbench.sharing import tensors
    from tests.toy_task import Numbers

    assert tensors.unsupported_reason(Numbers()) == "it does not list the tokens of its texts"
    assert tensors.unsupported_reason(make_task("parity")) is None
