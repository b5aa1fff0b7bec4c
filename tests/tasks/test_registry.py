"""Which tasks there are, and that one from outside the package is a task like any other."""

from __future__ import annotations

import importlib.metadata
import json
from typing import ClassVar

import datasets
import pytest

import synthbench
from synthbench.cli.main import _run, commands
from synthbench.errors import SynthbenchError, TaskError, UsageError
from synthbench.tasks import describe, plug_ins, registry
from synthbench.tasks.base import Breakdown, Split, Task
from synthbench.tasks.features import image, list_of, struct, value
from synthbench.tasks.registry import list_tasks, register, task_class
from synthbench.tasks.registry import task as make_task
from tests.conftest import know_numbers
from tests.making import make
from tests.support import stored_rows
from tests.toy_task import Numbers

OURS = list(registry._OWN)


@pytest.fixture(autouse=True)
def _fresh_registry(monkeypatch):
    """No test sees a task that another one registered."""
    monkeypatch.setattr(registry, "_registered", {})
    plug_ins._found.cache_clear()
    yield
    plug_ins._found.cache_clear()


def install(monkeypatch, **points):
    """Pretend that a package with these entry points is installed."""
    found = [
        importlib.metadata.EntryPoint(name, place, plug_ins.ENTRY_POINTS)
        for name, place in points.items()
    ]

    def entry_points(group):
        return importlib.metadata.EntryPoints(found).select(group=group)

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)


# Names.


def test_all_our_tasks_are_there_by_their_names():
    assert list_tasks() == OURS
    assert [task_class(name).name for name in OURS] == OURS


def test_a_task_that_does_not_exist_is_refused_with_the_nearest_name():
    with pytest.raises(UsageError, match=r"Unknown task 'list-ops'.*Did you mean 'listops'\?"):
        make_task("list-ops")
    with pytest.raises(UsageError, match=rf"Allowed: listops, arithmetic, ctl, .*{OURS[-1]}\.$"):
        make_task("zzz")


def test_a_task_is_made_with_its_first_variant_its_defaults_and_seed_0():
    task = make_task("ctl")
    assert (task.variant, task.seed, task.parameters.changed()) == ("forward", 0, {})


# Registering.


def test_a_registered_task_is_found_by_its_name_and_stands_behind_ours():
    assert register(Numbers) is register(Numbers) is Numbers
    assert list_tasks() == [*OURS, "numbers"]
    assert task_class("numbers") is Numbers
    assert describe.describe_tasks().rows[-1][:2] == (
        "numbers",
        "Which number is it?",
    )


@pytest.mark.parametrize("taken", ["parity", "numbers"])
def test_a_name_that_is_taken_is_refused(taken):
    register(Numbers)
    other = type("Other", (Numbers,), {"name": taken})
    with pytest.raises(UsageError, match=f"A task named '{taken}' exists already"):
        register(other)
    assert task_class("numbers") is Numbers


def test_what_is_no_task_is_not_registered():
    for wrong in (int, Numbers(), "numbers"):
        with pytest.raises(UsageError, match=r"expected a subclass of synthbench\.Task"):
            register(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"group_by": (Breakdown("buckt"),)},
            r"column in Wrong\.group_by 'buckt'. Allowed: text, label, bucket\. .*'bucket'\?",
        ),
        ({"bucket_name": "buckt"}, r"in Wrong\.bucket_name 'buckt'. .*'bucket'\? .* buckets\.$"),
        ({"inputs": ("txt",)}, r"column in Wrong\.inputs 'txt'. .* Did you mean 'text'\?"),
        (
            {"scored_columns": ("lable",)},
            r"column in Wrong\.scored_columns 'lable'. .* mean 'label'\?",
        ),
        ({"enumerate_rows": Task.enumerate_rows}, r"incomplete task: it lacks enumerate_rows\.$"),
    ],
)
def test_a_task_that_names_what_does_not_exist_is_refused(wrong, message):
    other = type("Wrong", (Numbers,), {"name": "wrong", **wrong})
    with pytest.raises(UsageError, match=message):
        register(other)
    assert "wrong" not in list_tasks()


def test_the_columns_of_every_variant_are_looked_at():
    class Wrong(Numbers):
        name = "wrong"
        variants: ClassVar = {"long": "With its bucket.", "short": "Without."}
        bucket_name = "label"

        @property
        def columns(self):
            every = super().columns
            return every if self.variant == "long" else {"text": every["text"]}

    with pytest.raises(UsageError, match=r"column in Wrong.bucket_name 'label'. Allowed: text\."):
        register(Wrong)


def test_a_list_where_a_column_is_expected_is_refused_with_the_right_form():
    class Wrong(Numbers):
        name = "wrong"

        @property
        def columns(self):
            return {**super().columns, "parts": [value("int8")]}

    with pytest.raises(UsageError, match=r"Column 'parts' of Wrong is \[.*list_of\(\.\.\.\)"):
        register(Wrong)


@pytest.mark.parametrize(
    ("name", "column", "message"),
    [
        ("label", value("bool"), r"is bool, .*: declare class_label\(\['false', 'true'\]\)\.$"),
        ("parts", list_of(image()), r"is List\(Image\): an image is a column of its own\.$"),
        (
            "parts",
            struct({"a": list_of(image())}),
            r"is {a: List\(Image\)}: an image is a column of its own",
        ),
    ],
)
def test_a_column_that_nothing_could_read_is_refused(name, column, message):
    columns = {**Numbers().columns, name: column}
    wrong = type("Wrong", (Numbers,), {"name": "wrong", "columns": columns})
    with pytest.raises(TaskError, match=f"Column '{name}' of wrong {message}"):
        register(wrong)


def test_a_label_may_be_a_boolean_where_the_task_reads_answers_itself():
    class Reading(Numbers):
        name = "reading"

        @property
        def columns(self):
            return {**super().columns, "label": value("bool"), "is_even": value("bool")}

        def read_answer(self, row, prediction):
            return prediction == "yes"

    assert register(Reading) is Reading


def test_one_bucket_needs_no_column():
    class Whole(Numbers):
        name = "whole"
        bucket_name = "all of it"

        @property
        def splits(self):
            return (Split("test", 10),)

    assert register(Whole) is Whole
    assert Whole().buckets({"text": ["0:1", "0:2"]}).tolist() == [0, 0]
    assert Whole().bucket_label(0) == "all"


def test_buckets_may_have_any_name_where_a_method_tells_them():
    class Told(Numbers):
        name = "told"
        bucket_name = "which bucket"

        def buckets(self, columns):
            return columns["bucket"].to_numpy()

    assert register(Told) is Told


@pytest.mark.parametrize("name", OURS)
def test_our_tasks_would_be_registered_too(name):
    other = type("Other", (task_class(name),), {"name": f"other-{name}"})
    assert register(other) is other


# Entry points.


def test_an_installed_packages_task_is_found_by_its_entry_point(monkeypatch):
    install(monkeypatch, numbers="tests.toy_task:Numbers")
    assert list_tasks() == [*OURS, "numbers"]
    assert task_class("numbers") is Numbers
    assert list_tasks() == [*OURS, "numbers"]
    with pytest.raises(UsageError, match="Did you mean 'numbers'"):
        task_class("numbrs")


def test_an_entry_point_cannot_take_the_place_of_one_of_our_tasks(monkeypatch):
    install(monkeypatch, parity="tests.toy_task:Numbers")
    assert list_tasks() == OURS
    assert task_class("parity").name == "parity"


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("tests.no_such_module:Numbers", "No module named 'tests.no_such_module'"),
        ("tests.toy_task:Subtraction", "has no attribute 'Subtraction'"),
        ("tests.toy_task:NumbersParameters", "has the name None"),
        ("tests.cannot_be_imported:Numbers", "NameError: name 'Numbrs' is not defined"),
        ("tests.toy_task:Numbers", "has the name 'numbers': expected a task of the same name"),
    ],
)
def test_an_entry_point_that_leads_nowhere_is_named_with_the_reason(monkeypatch, place, reason):
    install(monkeypatch, broken=place)
    with pytest.raises(SynthbenchError, match=f"'broken' .*{place}.*{reason}"):
        make_task("broken")
    assert make_task("parity").name == "parity"


def test_a_broken_package_is_named_and_the_other_tasks_are_listed(monkeypatch, capsys):
    install(monkeypatch, broken="tests.no_such_module:Numbers", numbers="tests.toy_task:Numbers")
    names, faults = zip(*(row[:2] for row in describe.describe_tasks().rows), strict=True)
    assert names == (*OURS, "broken", "numbers")
    assert "cannot be loaded: ModuleNotFoundError: No module named 'tests.no_such" in faults[-2]
    assert _run(commands, ["list", "--json"]) == 0
    facts = {one["task"]: one for one in json.loads(capsys.readouterr().out)}
    assert facts["broken"] == {"task": "broken", "fault": faults[-2]}
    assert facts["numbers"]["title"] == "Numbers"


# A task of another package, all the way: as the guide "Add a task" has it.


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A dataset of the toy task."""
    out = tmp_path_factory.mktemp("outside") / "numbers"
    with pytest.MonkeyPatch.context() as patched:
        know_numbers(patched)
        make(out, seed=3, workers=2)
    return out


@pytest.mark.usefixtures("numbers")
def test_a_task_from_outside_is_loaded_by_datasets_with_its_features(made, tmp_path):
    loaded = datasets.load_dataset(str(made), cache_dir=str(tmp_path / "cache"))
    types = {"id": "string", "text": "string", "label": "int32", "bucket": "int8"}
    expected = {name: datasets.Value(dtype) for name, dtype in types.items()}
    assert loaded["test"].features == datasets.Features(expected)
    for split in ("train", "iid", "test"):
        assert list(loaded[split]) == stored_rows(made, "default", split).to_pylist()
    assert Numbers.summary in (made / "README.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("numbers")
def test_a_task_from_outside_is_verified_row_by_row_and_evaluated_with_its_breakdowns(made):
    verdict = synthbench.verify(made, workers=2, progress=False)
    assert verdict.ok, verdict
    assert verdict.checked["rows"] == 660
    rows = stored_rows(made, "default", "iid").to_pylist()
    answers = {row["id"]: str(row["label"]) for row in rows}
    answers |= {row["id"]: "no idea" for row in rows if row["bucket"] == 1}
    report = synthbench.evaluate(made, answers, split="iid")
    assert report.accuracy == 60 / 90
    assert report.by["bucket"][1].accuracy == 0
    assert report.by["bucket"][2].accuracy == 1
    assert len(report.unparsed) == 30
    assert synthbench.score("numbers", rows[0], rows[0]["label"]) == 1
    assert synthbench.solve("numbers", "2:17") == 17
