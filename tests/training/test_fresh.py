"""The model of a run is built once, and training begins with the random state behind it."""

import contextlib
from pathlib import Path

import pytest
import torch

from synthbench.errors import UsageError
from synthbench.streaming.rounds import Rounds
from synthbench.tasks.registry import task as make_task
from synthbench.training import fresh
from synthbench.training.forms import form_of
from synthbench.training.fresh import FreshModel
from synthbench.training.options import Setting
from synthbench.training.recipes.base import Recipe
from synthbench.training.reproduce import reproduce
from tests.training.making import parameters, run

pytestmark = pytest.mark.usefixtures("study")

OWN = Path(__file__).with_name("own.py")
SHORT = {"recipe": {"steps": 2}}


@pytest.fixture
def built(monkeypatch):
    """The models that were built, by name."""
    names, build = [], fresh.build

    def counted(name, *arguments):
        names.append(name)
        return build(name, *arguments)

    monkeypatch.setattr(fresh, "build", counted)
    return names


@pytest.mark.parametrize(
    "model", [{}, {"model": f"{OWN}:Make"}, {"model": None, "layer": f"{OWN}:Layer"}]
)
@pytest.mark.parametrize("is_there", [True, False])
def test_train_builds_one_model(is_there, model, built, tmp_path, data):
    for _ in range(2):  # a finished run is only read
        run(tmp_path / "run", data if is_there else None, **SHORT, **model)
        assert len(built) == 1


def test_a_model_is_drawn_on_the_cpu_and_tried_where_it_is_trained(monkeypatch):
    task = make_task("ctl")
    form = form_of(task)
    rows = form.encode(task.rendered(Rounds(task, "train").rows(0).block.take(slice(4))))
    device, seen = torch.device("cuda"), []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(fresh.nn.Module, "to", lambda model, to: seen.append(to) or model)
    monkeypatch.setattr(fresh, "isolated", lambda seed, setting: contextlib.nullcontext())
    monkeypatch.setattr(fresh, "read_longest", lambda model, rows: seen.append("tried"))
    recipe = Recipe("lstm", "lstm", steps=1, options={})
    FreshModel(recipe, form, 0, Setting("cuda", threads=1)).build(rows)
    assert seen == [device, "tried", torch.device("cpu")]


def test_trying_a_layer_leaves_its_statistics_as_they_were(tmp_path, data):
    run(tmp_path / "run", data, model=None, layer=f"{OWN}:Normalised", recipe={"steps": 0})
    batches = [one for name, one in parameters(tmp_path / "run").items() if "tracked" in name]
    assert batches and all(one == 0 for one in batches)


@pytest.mark.slow
def test_reproduce_builds_a_model_for_each_run(built, tmp_path, data):
    chosen = {"profile": "tiny", "device": "cpu", "progress": False, "workers": 1}
    reproduce("ctl", out=tmp_path / "out", dataset=data, layers=[f"{OWN}:Layer"], **chosen)
    assert built == [f"layer {OWN}:Layer"] * 2  # seeds
    reproduce("ctl", out=tmp_path / "two", dataset=data, seeds=1, **chosen)
    assert built[2:] == ["transformer-relative", "lstm"]


def test_a_model_that_is_built_late_is_the_same(tmp_path, data, monkeypatch):
    run(tmp_path / "early", data, **SHORT)
    take = FreshModel.take

    def late(model, rows):
        model.forget()
        return take(model, rows)

    monkeypatch.setattr(FreshModel, "take", late)
    run(tmp_path / "late", data, **SHORT)
    early, late = (parameters(tmp_path / one) for one in ("early", "late"))
    assert all(torch.equal(early[name], late[name]) for name in early)


def test_only_the_model_of_the_first_seed_is_built_before_the_runs(built, tmp_path, data):
    chosen = {"profile": "tiny", "device": "cpu", "progress": False, "workers": 1, "seeds": 3}
    with pytest.raises(UsageError, match="num_layer"):
        reproduce(
            "ctl",
            **{"out": tmp_path / "out", "dataset": data, "layers": [f"{OWN}:Layer"]},
            options={"num_layer": 1},
            **chosen,
        )
    assert len(built) == 1
    assert not (tmp_path / "out").exists()
