"""Where `train` and `reproduce` write: only where nothing else lies, and nothing if refused."""

import shutil

import pytest

from synthbench.dataset.output import OutputDirectory
from synthbench.errors import SynthbenchError, UsageError
from synthbench.generation import generate
from synthbench.tasks.registry import task as make_task
from synthbench.training.reproduce import reproduce
from synthbench.training.train import train
from tests.making import Interrupted, interrupting
from tests.training.making import CTL, run

pytestmark = pytest.mark.usefixtures("study")

#: Files that bear the names of ours, as another program may write them.
FOREIGN = ("model.pt", "checkpoint.pt", "metrics.jsonl", "result.json")
SHORT = {"recipe": {"steps": 2}}
ONE_FUNCTION = make_task("ctl", **{**CTL["parameters"], "functions": 1})


def files(place):
    """All that lies in a directory: what each file holds, None for a directory."""
    return {
        str(entry.relative_to(place)): entry.read_bytes() if entry.is_file() else None
        for entry in sorted(place.rglob("*"))
    }


def check(out, data=None, models=("lstm",), **changes):
    """A short `reproduce` of one model."""
    options = {"profile": "tiny", "device": "cpu", "progress": False, "workers": 1, "seeds": 1}
    return reproduce("ctl", out=out, dataset=data, models=models, **{**options, **changes})


def short_run(out, data=None, **changes):
    return run(out, data, **{**SHORT, **changes})


both = pytest.mark.parametrize("command", [short_run, check], ids=["train", "reproduce"])


@both
@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("name", [*FOREIGN, "notes.txt", ".hidden", "data", "run.json", "lock"])
def test_a_directory_that_holds_something_else_is_refused_and_left_alone(
    name, overwrite, command, tmp_path, data
):
    place = tmp_path / "thesis"
    place.mkdir()
    (place / name).write_text('{"years": 3}')
    before = files(tmp_path)
    with pytest.raises(UsageError, match=r"thesis' holds other files \("):
        command(place, data, overwrite=overwrite)
    assert files(tmp_path) == before


@both
def test_another_directory_named_data_is_refused_too(command, tmp_path):
    (tmp_path / "thesis" / "data").mkdir(parents=True)
    (tmp_path / "thesis" / "data" / "measured.csv").write_text("1,2")
    before = files(tmp_path)
    with pytest.raises(UsageError, match="holds other files"):
        command(tmp_path / "thesis")
    assert files(tmp_path) == before


@both
@pytest.mark.parametrize("below", ["", "run", "data", "a/b"])
def test_nothing_is_written_into_a_dataset(below, command, tmp_path, data):
    mine = shutil.copytree(data, tmp_path / "mine")
    before = files(tmp_path)
    for where in (data, mine, None):
        with pytest.raises(UsageError, match=r"(is|lies inside) the dataset '.*mine'"):
            command(mine / below, where)
    assert files(tmp_path) == before


@both
def test_nothing_is_written_into_the_dataset_that_is_to_be_made(command, tmp_path):
    for out in ("made", "made/run"):
        with pytest.raises(UsageError, match=r"the dataset '.*made'"):
            command(tmp_path / out, tmp_path / "made")
    assert files(tmp_path) == {}


@both
@pytest.mark.parametrize("out", ["file", "file/run", "loop", "file/a/b"])
def test_a_place_that_cannot_be_a_directory_is_refused_before_a_dataset_is_made(
    out, command, tmp_path
):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "loop").symlink_to("loop")
    before = sorted(entry.name for entry in tmp_path.iterdir())
    with pytest.raises(UsageError, match=r"is a file|cannot be written"):
        command(tmp_path / out, tmp_path / "data")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == before
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "smal"}, "Did you mean 'small'"),
        ({"profile": "tinny"}, "Did you mean 'tiny'"),
        ({"study": "layer"}, r"Unknown study of ctl \(tiny\) 'layer'"),
        ({"study": "layers"}, "it is one of --profile paper"),
        ({"options": {"num_layer": 3}}, "Did you mean 'num_layers'"),
        ({"options": {"num_heads": 3}}, "num_heads"),
        ({"options": {"position": "learned", "max_length": 3, "num_layers": 1}}, "max_length"),
        ({"recipe": {"step": 3}}, "Did you mean 'steps'"),
        ({"recipe": {"steps": "many"}}, "steps='many': expected a whole number"),
        ({"recipe": {"batch_size": 0}}, "batch_size=0: allowed are .* from 1"),
        (
            {"recipe": {"batch_size": 201}, "stream": True, "task": ONE_FUNCTION},
            "asked for",
        ),
        ({"recipe": {"heat": "1,2"}}, "heat='1,2': expected three numbers"),
        ({"recipe": {"schedule": "cosin"}}, "Did you mean 'cosine'"),
        ({"recipe": {"learning_rate": "nan"}}, "learning_rate=nan"),
        ({"model": "lstm", "recipe": {"heat": "1,2,1"}}, "has no temperature"),
        ({"model": "lstm", "recipe": {"balance_gradients": "true"}}, "'lstm' has no attention"),
        ({"recipe": {"ponder": "1"}}, "does not halt"),
        ({"stream": True, "recipe": {"batch_size": 2**40}}, "allowed are 1 to 1,048,576"),
        ({"device": "gpu"}, "allowed are auto, cpu, cuda"),
        ({"precision": "bfloat"}, "Did you mean 'bfloat16'"),
        ({"seed": -1}, "Seed -1"),
        ({"workers": 0}, "Workers 0"),
        ({"rows": {"trian": 3}}, "Did you mean 'train'"),
        ({"rows": {"train": 0}}, "'train' is left out .* keep train, iid, validation"),
        ({"rows": {"train": -1}}, "Rows train=-1"),
        ({"rows": {"test": 10**9}}, "rows asked for"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_with_what_is_allowed_and_writes_nothing(
    changes, message, tmp_path
):
    with pytest.raises(UsageError, match=message):
        short_run(tmp_path / "run", **changes)
    assert files(tmp_path) == {}


def test_label_smoothing_without_classes_is_refused_before_a_dataset_is_made(tmp_path):
    with pytest.raises(UsageError, match=r"label_smoothing=0\.1: rows without classes"):
        train("identity", model="identity", out=tmp_path / "run", recipe={"label_smoothing": 0.1})
    assert files(tmp_path) == {}


def test_a_model_too_large_for_the_memory_leaves_nothing_behind(tmp_path):
    with pytest.raises(SynthbenchError, match="Too little memory"):
        short_run(tmp_path / "run", options={"d_ff": 10**13})
    assert files(tmp_path) == {}


def test_a_refused_overwrite_leaves_the_finished_run(tmp_path, data):
    short_run(tmp_path / "run", data)
    before = files(tmp_path)
    for changes in ({"options": {"num_heads": 3}}, {"recipe": {"batch_size": 0}}):
        with pytest.raises(UsageError):
            short_run(tmp_path / "run", data, overwrite=True, **changes)
    assert files(tmp_path) == before


def test_a_batch_of_more_rows_than_train_has_is_reduced_and_said_so(tmp_path, data, capsys):
    result = short_run(tmp_path / "run", data, recipe={"batch_size": 300, "steps": 2})
    assert result["recipe"]["batch_size"] == 200
    said = "small: batches of 200 rows instead of 300, because train has 200 rows."
    assert said in capsys.readouterr().err


def test_another_run_is_refused_before_its_dataset_is_made_and_replaced_only_if_asked(tmp_path):
    short_run(tmp_path / "run")
    before = files(tmp_path)
    for changes, message in (
        (
            {"recipe": {"steps": 3}},
            r"holds another run \(recipe steps: 2 there, 3 asked for\).*--overwrite",
        ),
        ({"model": "lstm"}, "recipe model: 'transformer-relative' there, 'lstm' asked for"),
    ):
        with pytest.raises(UsageError, match=message):
            short_run(tmp_path / "run", tmp_path / "elsewhere", **changes)
    assert files(tmp_path) == before
    assert short_run(tmp_path / "run", recipe={"steps": 3}, overwrite=True)["steps"] == 3


def test_a_file_that_is_only_named_like_a_manifest_does_not_keep_a_run_from_starting(tmp_path):
    (tmp_path / "manifest.json").write_text('{"name": "a page for browsers"}')
    assert short_run(tmp_path / "run")["steps"] == 2


def test_other_files_beside_a_run_do_not_keep_it_from_going_on(tmp_path, data):
    first = short_run(tmp_path / "run", data)
    (tmp_path / "run" / "notes.txt").write_text("worked")
    assert short_run(tmp_path / "run", data) == first
    assert short_run(tmp_path / "run", data, overwrite=True)["splits"] == first["splits"]
    assert (tmp_path / "run" / "notes.txt").read_text() == "worked"


@both
@pytest.mark.parametrize("where", [None, "run/rows", "beside"])
def test_a_command_interrupted_while_its_dataset_is_made_goes_on(
    where, command, tmp_path, monkeypatch
):
    place = None if where is None else tmp_path / where
    with monkeypatch.context() as patch:
        interrupting(patch, generate, "_make_split", 0)
        with pytest.raises(Interrupted):
            command(tmp_path / "run", place)
    left = files(tmp_path)
    assert any(".partial" in name for name in left)
    assert command(tmp_path / "run", place)


@both
@pytest.mark.parametrize("after", [False, True])
def test_a_command_interrupted_between_its_dataset_and_its_run_goes_on(
    after, command, tmp_path, monkeypatch
):
    with monkeypatch.context() as patch:
        interrupting(patch, OutputDirectory, "write_json", 0, after)
        with pytest.raises(Interrupted):
            command(tmp_path / "run")
    assert (tmp_path / "run" / "data" / "manifest.json").is_file()
    assert command(tmp_path / "run")


def test_an_interrupted_dataset_of_another_command_goes_with_overwrite(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        interrupting(patch, generate, "_make_split", 0)
        with pytest.raises(Interrupted):
            short_run(tmp_path / "run")
    with pytest.raises(UsageError, match=r"An interrupted run of another command.*--overwrite"):
        short_run(tmp_path / "run", rows={"train": 150})
    assert short_run(tmp_path / "run", rows={"train": 150}, overwrite=True)["steps"] == 2


def test_a_validation_goes_on_in_its_directory_with_other_models_and_other_files(tmp_path):
    out = tmp_path / "out"
    check(out)
    (out / "notes.txt").write_text("worked")
    comparison = check(out, models=["small"])
    assert [one["model"] for one in comparison["models"]] == ["small"]
    assert (out / "notes.txt").read_text() == "worked"


def test_a_validation_looks_at_the_places_of_all_runs_before_the_first_one(tmp_path):
    place = tmp_path / "out" / "forward" / "lstm" / "seed-1"
    check(tmp_path / "out")
    place.mkdir()
    (place / "model.pt").write_bytes(b"mine")
    before = files(tmp_path)
    with pytest.raises(UsageError, match=r"seed-1' holds other files \('model\.pt'\)"):
        check(tmp_path / "out", models=["small", "lstm"], seeds=2)
    assert files(tmp_path) == before
