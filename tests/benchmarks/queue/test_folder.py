"""Results and states in files that can be carried."""

import hashlib

import pytest
import torch

from benchmarks.queue import folder as module
from benchmarks.queue.folder import PART, Folder
from benchmarks.queue.trainings import TRAININGS
from synthbench.errors import DatasetError
from synthbench.tasks.registry import task as make_task
from synthbench.training.forms import form_of
from synthbench.training.loop import parameter_groups
from synthbench.training.models import build

_CPU = torch.device("cpu")


def test_a_state_is_cut_into_parts_and_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PART", 1_000)
    folder, state = Folder(tmp_path / "new"), {"a": torch.arange(1_000.0), "b": [1, 2.5, None]}
    assert folder.load(_CPU) is None and folder.results() == {}
    folder.save({"name": "one", "step": 1}, state)
    folder.save({"name": "one", "step": 2}, state)
    files = sorted(folder.path.glob("state-*"))
    assert all(file.name.startswith("state-2-") for file in files) and len(files) > 4
    assert all(file.stat().st_size <= 1_000 for file in files)
    read = folder.load(_CPU)
    assert torch.equal(read["a"], state["a"]) and read["b"] == state["b"]
    files[1].write_bytes(files[1].read_bytes()[:-1])
    with pytest.raises(DatasetError, match=r"state-2-1 of one is missing or broken"):
        folder.load(_CPU)
    folder.forget()
    assert not list(folder.path.iterdir())


def test_a_process_that_ends_while_it_saves_leaves_the_last_state(tmp_path, monkeypatch):
    folder = Folder(tmp_path)
    folder.save({"name": "one", "step": 1}, {"a": 1})

    def ends(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(hashlib, "sha256", ends)
        folder.save({"name": "one", "step": 2}, {"a": 2})
    assert folder.under_way()["step"] == 1 and folder.load(_CPU) == {"a": 1}


def test_a_broken_file_is_named(tmp_path):
    (tmp_path / "results.json").write_text("{", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"results\.json is broken"):
        Folder(tmp_path).results()


@pytest.mark.parametrize("name", ["composites-main-resnet-0", "composites-main-vit-0"])
def test_the_largest_states_fit_into_four_files(name, tmp_path):
    """With the two others these are six files, together below 64 MiB."""
    (training,) = (one for one in TRAININGS if one.name == name)
    recipe = training.recipe
    model = build(recipe.model, form_of(make_task("composites")), {"classes": 10}, recipe.options)
    optimizer = torch.optim.AdamW(parameter_groups(model, recipe), fused=True)
    model(torch.rand(2, 3, 56, 56)).scores.sum().backward()
    optimizer.step()
    folder = Folder(tmp_path)
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    folder.save({"name": name, "step": 1}, state)
    sizes = [file.stat().st_size for file in tmp_path.glob("state-*")]
    assert len(sizes) <= 4 and max(sizes) <= PART < 16 * 2**20 and sum(sizes) < 63 * 2**20
