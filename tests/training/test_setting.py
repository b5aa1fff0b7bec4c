"""How a run computes, and what the command line says where it cannot."""

import shutil
import subprocess
from pathlib import Path

import pytest
import torch

from synthbench.errors import SynthbenchError, UsageError
from synthbench.training import setting
from synthbench.training.options import Setting
from synthbench.training.recipes.base import Recipe
from synthbench.training.setting import commit, isolated, memory_errors
from tests.support import start

CPU = Setting()
RECIPE = Recipe("one", "lstm", steps=1, batch_size=9)


@pytest.mark.parametrize("name", ["cuda:2", "cuda:0:1", "cuda:x", "tpu", "cpu:"])
def test_a_device_that_is_not_there_is_refused(name, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(UsageError, match=r"PyTorch finds 2 here|allowed are auto"):
        Setting(name).device  # noqa: B018


def test_auto_is_a_gpu_where_there_is_one_and_cuda_is_refused_where_there_is_none(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    for there, kind in ((True, "cuda"), (False, "cpu")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda there=there: there)
        assert Setting("auto").device.type == kind
    with pytest.raises(UsageError, match=r"'cuda': PyTorch finds no GPU here. Try --device cpu"):
        Setting("cuda").device  # noqa: B018


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("before", ["default", "warn", "error"])
def test_on_a_cpu_only_deterministic_algorithms_run_until_the_end(before, compiled):
    torch.set_deterministic_debug_mode(before)
    mode = torch.get_deterministic_debug_mode()
    try:
        with isolated(5, Setting(compiled=compiled)):
            assert torch.are_deterministic_algorithms_enabled()
            assert not torch.is_deterministic_algorithms_warn_only_enabled()
        assert torch.get_deterministic_debug_mode() == mode
    finally:
        torch.set_deterministic_debug_mode("default")


def test_threads_and_random_state_are_as_they_were_afterwards():
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    with isolated(5, Setting(threads=threads + 1)):
        assert torch.get_num_threads() == threads + 1
        inside = torch.rand(3)
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)
    with isolated(5, CPU):
        assert torch.equal(torch.rand(3), inside)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), "batch_size=4 or --precision bfloat16"),
        (MemoryError(), "batch size 9"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "Too little memory on cpu"),
    ],
)
def test_running_out_of_memory_names_the_batch_size_and_what_to_try(error, said):
    with pytest.raises(SynthbenchError, match=said), memory_errors(RECIPE, CPU):
        raise error


def test_other_errors_pass_as_they_are():
    with pytest.raises(RuntimeError, match="sizes differ"), memory_errors(RECIPE, CPU):
        raise RuntimeError("sizes differ")


def test_without_pytorch_one_line_says_what_to_install(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/run.json").write_text("{}", encoding="utf-8")
    program = """
import sys
from synthbench.cli.main import _run, commands
sys.modules["torch"] = None
for words in ("train ctl --model ndr", "reproduce ctl", "figures run"):
    print(_run(commands, words.split()))
"""
    done = start("-c", program, cwd=tmp_path)
    assert done.stdout == "1\n" * 3
    assert done.stderr.splitlines() == [
        f"Error: {command!r} needs PyTorch: pip install 'synthbench[train]'."
        for command in ("train", "reproduce", "figures")
    ]


def git(place, *words):
    """What Git says to a command in a directory."""
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    done = subprocess.run(["git", *author, *words], cwd=place, capture_output=True, check=True)
    return done.stdout.decode().strip()


@pytest.mark.skipif(shutil.which("git") is None, reason="Git is not installed")
def test_the_commit_is_that_of_the_packages_own_checkout_and_says_whether_files_differ(
    tmp_path, monkeypatch
):
    checkout = tmp_path / "checkout"
    module = checkout / "synthbench" / "training" / "setting.py"
    module.parent.mkdir(parents=True)
    module.write_text("", encoding="utf-8")
    monkeypatch.setattr(setting, "__file__", str(module))
    git(tmp_path, "init")  # a repository that the package is merely installed in
    read = commit.__wrapped__
    assert read() is None
    git(checkout, "init")
    git(checkout, "add", ".")
    git(checkout, "commit", "-m", "one")
    git(checkout, "tag", "-a", "v1", "-m", "a tag that does not replace the commit")
    assert read() == git(checkout, "rev-parse", "HEAD")
    module.write_text("changed = True\n", encoding="utf-8")
    assert read() == git(checkout, "rev-parse", "HEAD") + "-dirty"
    monkeypatch.setenv("PATH", str(Path(tmp_path, "nothing")))
    assert read() is None
