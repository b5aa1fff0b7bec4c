"""The same run again: the same numbers, interrupted or not; another in its place is refused."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest
import torch

import synthbench
from synthbench.cli.main import _run, commands
from synthbench.errors import DatasetError, SynthbenchError, UsageError
from synthbench.training import loop
from synthbench.training.batches import EpochBatches
from synthbench.training.directory import RunDirectory
from synthbench.training.run import Run
from synthbench.training.train import train
from tests.making import Interrupted, interrupting
from tests.support import environment
from tests.training.making import parameters, run, without_times

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("study")]


def same(first, second):
    """Whether two finished runs ended with the same numbers, bit for bit."""
    one, other = parameters(first), parameters(second)
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)
    curves = [without_times(RunDirectory(path).metrics()) for path in (first, second)]
    assert curves[0] == curves[1]
    results = [RunDirectory(path).result for path in (first, second)]
    assert results[0]["splits"] == results[1]["splits"]
    assert results[0]["best_step"] == results[1]["best_step"]
    return True


# The same numbers.


def test_two_runs_of_one_seed_are_equal_and_those_of_two_seeds_are_not(tmp_path, data, whole):
    run(tmp_path / "again", data)
    assert same(whole[0], tmp_path / "again")
    run(tmp_path / "other", data, seed=1)
    one, other = parameters(whole[0]), parameters(tmp_path / "other")
    assert not torch.equal(one["backbone.embedding.weight"], other["backbone.embedding.weight"])


def test_the_global_random_state_neither_matters_nor_moves(tmp_path, data, whole):
    torch.manual_seed(99)
    before = torch.get_rng_state()
    run(tmp_path / "run", data)
    assert torch.equal(torch.get_rng_state(), before)
    assert not torch.are_deterministic_algorithms_enabled()
    assert same(whole[0], tmp_path / "run")


def test_a_finished_run_is_only_read(tmp_path, data, monkeypatch):
    first = run(tmp_path / "run", data, recipe={"steps": 10})
    monkeypatch.setattr(Run, "_finish", None)
    assert run(tmp_path / "run", data, recipe={"steps": 10}) == first


# Interruption.


def test_kept_checkpoints_change_no_number_and_go_with_the_run(tmp_path, data, whole):
    kept = tmp_path / "kept"
    run(kept, data, keep_checkpoints=4)
    assert same(kept, whole[0])
    assert RunDirectory(kept).kept == [10, 20, 30, 40]
    last = torch.load(kept / "step-40.pt", weights_only=True)
    assert last.keys() == parameters(kept).keys()
    run(kept, data, overwrite=True, keep_checkpoints=1)
    assert RunDirectory(kept).kept == [40]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    ("owner", "name", "at"),
    [
        (EpochBatches, "batch", 3),
        (loop, "measure", 3),
        (RunDirectory, "note", 2),
        (RunDirectory, "note", 20),
        (RunDirectory, "save", 1),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_control_c_at_an_early_step_is_saved_and_the_next_run_ends_the_same(
    owner, name, at, after, tmp_path, data, whole, monkeypatch
):
    path = tmp_path / "run"
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt) as caught:
        patch.setattr("tests.making.Interrupted", KeyboardInterrupt)
        interrupting(patch, owner, name, at, after)
        run(path, data)
    step = RunDirectory(path).load(torch.device("cpu"))["step"]
    assert step >= 3
    assert caught.value.__notes__ == [f"Step {step:,} of 40 of small is saved"]
    with monkeypatch.context() as patch:
        calls = interrupting(patch, loop.Loop, "_take_step", -1)
        run(path, data)
    assert len(calls) == 40 - step
    assert same(whole[0], path)


@pytest.mark.parametrize("at", [3, 10, 11, 27])
def test_a_run_interrupted_at_any_step_ends_as_one_that_was_not(
    at, tmp_path, data, whole, monkeypatch
):
    with monkeypatch.context() as patch:
        interrupting(patch, loop.Loop, "_take_step", at)
        with pytest.raises(Interrupted):
            run(tmp_path / "run", data)
    run(tmp_path / "run", data)
    assert same(whole[0], tmp_path / "run")


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("name", ["note", "save", "finish"])
def test_a_run_interrupted_while_it_writes_ends_as_one_that_was_not(
    name, after, tmp_path, data, whole, monkeypatch
):
    with monkeypatch.context() as patch:
        interrupting(patch, RunDirectory, name, 0 if name == "finish" else 1, after)
        with pytest.raises(Interrupted):
            run(tmp_path / "run", data)
    run(tmp_path / "run", data)
    assert same(whole[0], tmp_path / "run")


def test_a_killed_program_goes_on_from_its_checkpoint_to_the_same_numbers(tmp_path):
    recipe = {"steps": 200, "validate_every": 5, "batch_size": 64}
    rows = {"train": 400, "test": 100}
    words = [f"--recipe={name}={value}" for name, value in recipe.items()]
    words += [f"--rows={name}={value}" for name, value in rows.items()]
    words += ["--model", "softmax", "--device", "cpu", "--quiet", "--out", "killed"]
    command = [sys.executable, "-m", "synthbench", "train", "parity", *words]
    killed = subprocess.Popen(command, cwd=tmp_path, env=environment())
    metrics = tmp_path / "killed" / "metrics.jsonl"
    while killed.poll() is None and not (metrics.is_file() and metrics.read_text().count("\n") > 3):
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    assert not (tmp_path / "killed" / "result.json").exists()
    for out in ("killed", "whole"):
        train(
            "parity",
            model="softmax",
            out=tmp_path / out,
            dataset=tmp_path / "killed" / "data",
            recipe=recipe,
            device="cpu",
            progress=False,
        )
    assert same(tmp_path / "whole", tmp_path / "killed")


def test_control_c_saves_the_steps_of_runs_in_worker_processes(tmp_path, monkeypatch):
    layer = tmp_path / "layers.py"
    layer.write_text(
        "import time\n\nfrom torch import nn\n\n\nclass Slow(nn.Linear):\n"
        "    def __init__(self, width):\n        super().__init__(width, width)\n\n"
        "    def forward(self, x):\n        time.sleep(0.1)\n        return super().forward(x)\n"
    )
    words = ["reproduce", "parity", "--layer", f"{layer}:Slow", "--seeds=2", "--workers=2"]
    words += ["--profile=quick", "--device=cpu", "--out=out", "--dataset=rows"]
    synthbench.generate("parity", out=tmp_path / "rows", rows={"train": 400, "test": 100})
    # Else each worker would import what an optimizer needs.
    program = "import torch._dynamo; from synthbench.__main__ import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words],
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while process.poll() is None and not _noted(tmp_path):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130, said
    saved = [int(one) for one in re.findall(r"step (\d+) of \d+ of parity", said)]
    kept = [torch.load(one)["step"] for one in sorted(tmp_path.glob("out/*/*/*/checkpoint.pt"))]
    assert "Interrupted. Saved: step " in said
    assert saved == kept
    assert len(saved) == 2 and min(saved) > 0
    # The same command goes on from there.
    begun = []

    def stopped(self, *arguments):
        begun.append(self.step)
        raise KeyboardInterrupt

    monkeypatch.setattr(loop.Loop, "_take_step", stopped)
    monkeypatch.chdir(tmp_path)
    assert _run(commands, [*words, "--workers=1"]) == 130
    assert begun == saved[:1]


def _noted(path):
    """The smaller number of measurements of two runs."""
    lines = [file.read_text().count("\n") for file in path.glob("out/*/*/*/metrics.jsonl")]
    return min(lines) if len(lines) == 2 else 0


# What is refused.


@pytest.fixture
def interrupted(tmp_path, data, monkeypatch):
    """The directory of a run that was interrupted after its first checkpoints."""
    with monkeypatch.context() as patch:
        interrupting(patch, loop.Loop, "_take_step", 15)
        with pytest.raises(Interrupted):
            run(tmp_path / "run", data)
    return tmp_path / "run"


def test_a_second_process_on_the_same_run_is_refused(tmp_path, data):
    result = run(tmp_path / "run", data, recipe={"steps": 10})
    command = RunDirectory(tmp_path / "run").command
    with (
        RunDirectory(tmp_path / "run").open(command),
        pytest.raises(UsageError, match=r"Another process is writing .*run'"),
    ):
        run(tmp_path / "run", data, recipe={"steps": 10})
    assert run(tmp_path / "run", data, recipe={"steps": 10}) == result


def test_a_checkpoint_of_another_model_is_refused(tmp_path, data, monkeypatch):
    with monkeypatch.context() as patch:
        interrupting(patch, loop.Loop, "_take_step", 15)
        with pytest.raises(Interrupted):
            run(tmp_path / "one", data)
        with pytest.raises(Interrupted):
            interrupting(patch, loop.Loop, "_take_step", 15)
            run(tmp_path / "two", data, options={"d_ff": 8})
    (tmp_path / "two" / "checkpoint.pt").replace(tmp_path / "one" / "checkpoint.pt")
    with pytest.raises(SynthbenchError, match="is of another model than 'small'"):
        run(tmp_path / "one", data)


def test_a_broken_checkpoint_is_an_error_that_says_what_to_do(data, interrupted):
    checkpoint = interrupted / "checkpoint.pt"
    whole = checkpoint.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1  # in the numbers of a tensor
    for damaged in (b"", whole[:1000], b"text", bytes(flipped)):
        checkpoint.write_bytes(damaged)
        with pytest.raises(DatasetError, match=r"checkpoint\.pt .*[.] Start again"):
            run(interrupted, data)
    torch.save([1], checkpoint)
    with pytest.raises(DatasetError, match=r"is damaged. Start again"):
        run(interrupted, data)
    checkpoint.write_bytes(whole)
    state = torch.load(checkpoint)
    for name in state.keys() - {"model", "optimizer"}:
        torch.save({key: value for key, value in state.items() if key != name}, checkpoint)
        with pytest.raises(SynthbenchError, match=f"has no '{name}': it is of another"):
            run(interrupted, data)
    torch.save({"a": 1}, checkpoint)
    with pytest.raises(SynthbenchError, match="is of another model than 'small'"):
        run(interrupted, data)


def test_measurements_that_were_lost_are_missed(data, interrupted):
    metrics = interrupted / "metrics.jsonl"
    whole = metrics.read_text()
    metrics.write_text("")
    with pytest.raises(SynthbenchError, match="end before step 12, which the checkpoint has"):
        run(interrupted, data)
    for odd in ("[]\n", "5\n", "{}\n"):
        metrics.write_text(whole + odd)
        with pytest.raises(DatasetError, match=r"metrics\.jsonl cannot be read"):
            RunDirectory(interrupted).metrics()


@pytest.mark.parametrize("text", ["[]", "{}", '{"splits": {}}', "{"])
def test_a_file_that_is_no_result_is_an_error(text, tmp_path, data):
    run(tmp_path / "run", data, recipe={"steps": 10})
    (tmp_path / "run" / "result.json").write_text(text)
    with pytest.raises(DatasetError, match=r"result\.json (is no result|cannot be read)"):
        run(tmp_path / "run", data, recipe={"steps": 10})
