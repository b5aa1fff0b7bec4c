"""`python -m benchmarks`: every name runs at a small size, and what is wrong ends in one line."""

import functools
import importlib
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.__main__ import MORE, main
from synthbench.errors import SynthbenchError
from tests.support import ROOT, start


def _small_peers(patched, place):
    for program in ("_TWO_SEEDS", "_EVERY_TASK"):  # of all tasks of reasoning-gym, for minutes
        patched.setattr(f"benchmarks.peers.{program}", "print('task', 1.0)")
    patched.setattr("benchmarks.peers._THEIR_ROWS", 10)
    return ["--rows", "10"]


def _small_prompt_tokens(patched, place):
    patched.setattr("benchmarks.prompt_tokens.package_of", lambda task: place)
    patched.setattr("benchmarks.prompt_tokens.ROWS", 2)
    patched.setattr("benchmarks.prompt_tokens.counter", lambda: lambda text, **_: len(str(text)))
    return ["parity"]


def _small_decontaminate(patched, place):
    (place / "text.md").write_text("A text.", encoding="utf-8")
    return [str(place), "--mb", "1"]


def _small_solutions(patched, place):
    patched.setattr("benchmarks.solutions.counter", lambda: len)
    return ["parity", "--rows", "2"]


def _small_scaling(patched, place):
    pytest.importorskip("distributed", reason="Dask is not installed: the extra dask has it")
    patched.setattr("benchmarks.scaling.SETTINGS", (("local", 1), ("dask", 1)))
    patched.setattr("benchmarks.scaling._idle", lambda cluster: (0.0, 0.0, 0.0))
    return ["parity", "--rows", "3000"]


def _small_floor(patched, place):
    floor = importlib.import_module("benchmarks.floor")
    patched.setattr(floor, "_stream", functools.partial(floor._stream, seconds=0.01))
    return ["parity", "--model", "softmax", "--profile", "cpu", "--workers", "1"]


def _small_leak(patched, place):
    patched.setattr("benchmarks.leak._EVERY", 1)
    return ["--steps", "1", "--seeds", "1"]


def _small_replies(patched, place):
    rows = {"model": ["M"], "task": ["gsm8k"], "expected": ["3"], "reply": ["#### 3"]}
    pq.write_table(pa.table(rows), place / "replies.parquet")
    return [str(place / "replies.parquet"), "--repeat", "1"]


def _small_published(patched, place):
    return ["no-such-task"]


def _small_collect(patched, place):
    from synthbench.training.train import train

    out, rows = place / "run", {"test": 4}
    train("clusters", model="clusters-dnas", out=out, rows=rows, progress=False)
    return [str(place), "--into", str(place / "runs.parquet")]


#: The words of each benchmark at a small size, or a function that prepares it and gives them.
SMALL = {
    "scaling": _small_scaling,
    "endurance": ["ctl", "--rows", "17000", "--shard-rows", "8192", "--workers", "1"],
    "verify": ["parity", "--other", str(ROOT), "--preset", "small"],
    "peers": _small_peers,
    "prompt_tokens": _small_prompt_tokens,
    "decontaminate": _small_decontaminate,
    "solutions": _small_solutions,
    "floor": _small_floor,
    "steps": ["parity", "--model", "softmax", "--steps", "30", "--workers", "1"],
    "attention": [
        *("--rows", "1", "--length", "4", "--d-model", "8", "--heads", "2", "--times", "1"),
        *("--device", "cpu"),
    ],
    "replies": _small_replies,
    "layers": ["torch GRU"],
    "sudoku": ["--rows", "4"],
    "rewards": ["--rows", "8", "--repeat", "1", "--other", "."],
    "collect": _small_collect,
    "leak": _small_leak,
    "published": _small_published,
}
#: What the modules import that a plain installation lacks.
NEEDS = {
    "endurance": "psutil",
    "scaling": "psutil",
    **dict.fromkeys(MORE[MORE.index("floor") :], "torch"),
}


def _skip_without_needs(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{NEEDS[name]} is not installed")


# A library that reasoning-gym brings has warnings when it is compiled.
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.slow
@pytest.mark.parametrize("name", MORE)
def test_every_benchmark_runs_at_a_small_size(name, tmp_path, monkeypatch, capsys):
    _skip_without_needs(name)
    prepared = SMALL[name]
    words = prepared if isinstance(prepared, list) else prepared(monkeypatch, tmp_path)
    main([name, *words])
    assert capsys.readouterr().out.strip()


def test_help_says_how_the_benchmarks_are_called():
    done = start("-m", "benchmarks", "--help")
    assert done.returncode == 0 and done.stdout.startswith("usage: python -m benchmarks ")


@pytest.mark.torch
@pytest.mark.parametrize(
    "words, status, said",
    [
        (["nope"], 2, "Unknown task or benchmark 'nope'. Allowed: listops, "),
        (["scalin"], 2, "Did you mean 'scaling'?"),
        (["parity", "scaling"], 2, "Benchmark 'scaling' must be the first word."),
        (["collect", ".", "--into", "broken.json"], 1, "broken.json is not a table of runs: "),
        (["verify", "--other", "."], 2, "--other .: it has no package synthbench."),
        (["steps", "parity", "--model", "X"], 2, "Unknown model 'X'. Allowed: softmax, heat, "),
        (["floor", "parity", "--model", "X"], 2, "Unknown model 'X'. Allowed: softmax, heat, "),
        (["endurance", "listops", "--rows", "3000"], 2, "--rows 3000: a shard has 131,072 rows"),
    ],
)
def test_what_is_wrong_ends_in_one_line(words, status, said, tmp_path, monkeypatch, capsys):
    _skip_without_needs(words[0])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.json").write_text("{}", encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(words)
    printed = capsys.readouterr()
    assert ended.value.code == status
    assert printed.err.startswith("Error: ") and said in printed.err
    assert printed.err.count("\n") == 1 and not printed.out


@pytest.mark.torch
def test_a_model_of_one_task_of_several_is_measured_there_alone():
    from benchmarks.recipes import recipes_of
    from synthbench.training.recipes import find_study

    studies = [find_study(task, "cpu") for task in ("ctl", "parity")]
    found = recipes_of(studies, ["heat"])
    assert [(study.task, recipe.name) for study, recipe in found] == [("parity", "heat")]
    assert all(recipe.model != "lstm" for _, recipe in recipes_of(studies, None, ["lstm"]))


def test_a_scheduler_that_ends_is_not_waited_for(tmp_path, monkeypatch):
    pytest.importorskip("psutil", reason="psutil is not installed")
    from benchmarks import scaling

    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no port is free >&2\nexit 1\n", encoding="utf-8")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    with (
        pytest.raises(SynthbenchError, match="scheduler has ended: no port is free"),
        scaling._cluster(tmp_path, 1),
    ):
        pass


def test_the_first_rows_are_compared_with_the_last(capsys, monkeypatch):
    pytest.importorskip("psutil", reason="psutil is not installed")
    from benchmarks import endurance

    pairs = {}
    monkeypatch.setattr(endurance, "report", lambda name, *pair: pairs.update({name: pair}))
    endurance.main(["ctl", "--rows", "32768", "--shard-rows", "8192", "--workers", "1"])
    rows = {name: (start.rows, end.rows) for name, (start, end) in pairs.items()}
    assert rows == {"first": (8_192, 24_576), "last": (16_384, 32_768)}
    assert "32,768 rows in 4 shards" in capsys.readouterr().out
