"""Tasks of public generators, asked by `probe`: `python -m benchmarks published [WORD ...]`.

All tasks of reasoning-gym and reasoning-core are drawn with their default settings. Each answer is
a line of `--store`, so that a second run goes on where the first ended. WORDs choose tasks whose
name contains one of them. `--out` writes the page *Tasks of public generators* of the
documentation from the store.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import importlib.util
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.preloaded import Servers
from synthbench.errors import SynthbenchError
from synthbench.probing import draws, scorer
from synthbench.probing.probe import probe
from synthbench.probing.report import FOUND, HOLDS, NOT_ASKED, STATED, WRONG
from synthbench.text.tables import Table

STORE = Path(__file__).parent / "public-tasks.jsonl"
#: What a server imports for each library.
PRELOADED = {
    "reasoning-gym": (__name__, "load_reasoning_gym"),
    "reasoning-core": (__name__, "load_reasoning_core"),
}


def load_reasoning_gym() -> None:
    """Import all tasks of reasoning-gym."""
    import reasoning_gym  # noqa: F401


def load_reasoning_core() -> None:
    """Import all tasks of reasoning-core."""
    import reasoning_core

    for name in reasoning_core.list_tasks():
        with contextlib.suppress(ImportError):  # the probe of the task will say so
            reasoning_core.get_task(name)


def task_names(library: str) -> list[str]:
    """The tasks of a library."""
    if library == "reasoning-gym":
        import reasoning_gym  # noqa: F401
        from reasoning_gym.factory import DATASETS

        return sorted(DATASETS)
    import reasoning_core

    return sorted(reasoning_core.list_tasks())


def ask(servers: Servers, task: str, rows: int) -> dict[str, Any]:
    """The answers of a task, or its error, as a line of the store."""
    draws.Elsewhere = scorer.Elsewhere = servers.call  # type: ignore[misc,assignment]
    started = time.perf_counter()
    library = task.partition(":")[0]
    line: dict[str, Any] = {"task": task, "version": importlib.metadata.version(library)}
    try:
        found = probe(task, rows=rows, progress=False)
    except SynthbenchError as error:
        print(f"{task}: {error}", flush=True)
        return {**line, "error": str(error)[:300]}
    print(f"{time.perf_counter() - started:.1f} s\n{found}\n", flush=True)
    line["rows"] = rows
    for result in (WRONG, FOUND):
        line[result] = {one.question: one.seen for one in found.verdicts if one.result == result}
    for result in (STATED, HOLDS, NOT_ASKED):
        line[result] = [one.question for one in found.verdicts if one.result == result]
    return line


def read_store(path: Path) -> dict[str, dict[str, Any]]:
    """The lines of a store by task. A later line of a task replaces an earlier line."""
    if not path.exists():
        return {}
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {line["task"]: line for line in lines}


def main(words: list[str]) -> None:
    """Ask all tasks that the store lacks, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks published", description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--rows", type=int, default=200, help="rows of a draw")
    parser.add_argument("--seconds", type=float, default=120, help="the most for a task's draws")
    parser.add_argument("--store", type=Path, default=STORE)
    parser.add_argument("--out", metavar="FILE.md", type=Path)
    chosen = parser.parse_args(words)
    known = read_store(chosen.store)
    for library, preload in PRELOADED.items():
        if importlib.util.find_spec(library.replace("-", "_")) is None:
            print(f"{library} is not installed")
            continue
        asked = [
            task
            for task in (f"{library}:{name}" for name in task_names(library))
            if "error" in known.get(task, {"error": "not asked yet"})
            and (not chosen.words or any(word in task for word in chosen.words))
        ]
        if not asked:
            continue
        with Servers(preload, ("0", "0", "1"), chosen.seconds) as servers:
            for task in asked:
                line = ask(servers, task, chosen.rows)
                known[task] = line
                with chosen.store.open("a", encoding="utf-8") as store:
                    store.write(json.dumps(line, separators=(",", ":")) + "\n")
    if chosen.out:
        chosen.out.write_text(page(known), encoding="utf-8")
    failed = sum("error" in line for line in known.values())
    print(f"{len(known) - failed} tasks asked, {failed} not, in {chosen.store}")


#: The columns of the page, and the questions of a probe that each sums up. A name that ends in a
#: colon takes all questions that begin with it.
COLUMNS = {
    "again": ("repeatable",),
    "process": ("process",),
    "hash seed": ("hash seed",),
    "state": ("global state",),
    "state unmoved": ("global state is moved",),
    "next seed": ("seeds",),
    "repeats": ("repeats", "repeats of a seed"),
    "one answer": ("contradictions",),
    "answers vary": ("balance",),
    "shortcuts": ("shortcut:",),
    "right paid": ("scorer: right",),
    "as written": ("scorer: blanks", "scorer: sign", "scorer: digit groups", "scorer: capitals",
                   "scorer: full stop"),
    "wrong unpaid": ("scorer: another row's", "scorer: empty", "scorer: question",
                     "scorer: all at once", "scorer: near miss"),
}  # fmt: skip
#: The marks of results, the most serious first.
MARKS = {WRONG: "**no**", FOUND: "look", STATED: "=", HOLDS: "+", NOT_ASKED: "\u00b7"}


def result_of(line: Mapping[str, Any], questions: tuple[str, ...]) -> str:
    """The most serious result of some questions of a task."""
    for result in MARKS:
        for asked in line[result]:
            if any(asked == one or (one[-1] == ":" and asked.startswith(one)) for one in questions):
                return result
    return NOT_ASKED


def _row(line: Mapping[str, Any]) -> list[str]:
    marks = [MARKS[result_of(line, questions)] for questions in COLUMNS.values()]
    return [f"`{line['task']}`", str(line["rows"]), *marks]


def page(known: Mapping[str, Mapping[str, Any]]) -> str:
    """The page of the documentation."""
    asked = [line for line in known.values() if "error" not in line]
    results = {
        column: [result_of(line, questions) for line in asked]
        for column, questions in COLUMNS.items()
    }
    counts = Table(
        ("question", "holds +", "stated =", "look", "**no**", "not asked \u00b7"),
        [
            [column, *(str(found.count(one)) for one in (HOLDS, STATED, FOUND, WRONG, NOT_ASKED))]
            for column, found in results.items()
        ],
    )
    table = Table(("task", "rows", *COLUMNS), [_row(line) for line in asked])
    failed: dict[str, list[str]] = {}
    for line in known.values():
        if "error" in line:
            reason = line["error"].removeprefix(f"{line['task']}: ").rstrip(".")
            failed.setdefault(reason, []).append(f"`{line['task']}`")
    versions = " and ".join(
        dict.fromkeys(f"{line['task'].partition(':')[0]} {line['version']}" for line in asked)
    )
    head = _HEAD.format(tasks=len(asked), versions=versions)
    parts = [head, counts.markdown(), _FACTS, "## Tasks", table.markdown()]
    if failed:
        lines = [f"- {reason}: {', '.join(tasks)}." for reason, tasks in failed.items()]
        parts += ["## Not asked", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


_HEAD = """# Tasks of public generators

[`synthbench probe`](../guides/probe.md) asked {tasks} tasks of {versions} its questions, with the
default settings of each task. `python -m benchmarks published --out
docs/pages/results/public-tasks.md` writes this page. Neither library has splits, so leaks were
not asked about. Few rows were drawn, so a shortcut or a rare repeat may be missed. Draws had
a limit of time on a busy machine, so a task that did not end in time may be fast elsewhere.

| mark | meaning |
| --- | --- |
| + | holds |
| = | a figure, or a choice such as the forms of an answer that a scorer pays |
| look | worth a look: it may be meant |
| **no** | wrong whatever the task |
| \u00b7 | not asked |

## What holds"""
_FACTS = """## What to know

Each fact was seen without synthbench, too. Scripts are in `findings/`.

- **Next seed** (reasoning-gym): row *n* of seed *s* is drawn with seed *s + n*, so seeds 0 and 1
  share 499 of 500 rows. Choose seeds that are farther apart than the rows of a dataset
  (`reasoning_gym_next_seed.sh`).
- **Few questions** (reasoning-gym): of 500 rows of `tower_of_hanoi` of seed 1,000,000, 496 are rows
  of seed 0. In `string_synthesis` and `string_splitting` 447 are, in `coin_flip` 433
  (`reasoning_gym_shared_rows.sh`).
- **One rule** (reasoning-gym): every answer of `aiw` is one more than the first number of women in
  the question, in 2,000 of 2,000 rows (`reasoning_gym_aiw_rule.sh`).
- **Hash seed** (reasoning-gym): rows of `isomorphic_strings`, `polynomial_multiplication`,
  `ransom_note` and `word_ladder` depend on `PYTHONHASHSEED`, which Python draws for each process
  (`reasoning_gym_hash_seed.sh`).
- **Global state** (reasoning-gym): some rows of `list_functions` and `codeio` depend on the
  global states of `random` and NumPy, and `pool_matrix` seeds that of NumPy
  (`reasoning_gym_global_state.sh`).
- **Any text is paid** (reasoning-gym): the scorer of `game_of_life_halting` pays 1 for every text
  that is not empty (`reasoning_gym_halting.sh`).
- **One of many inputs is paid** (reasoning-gym): `codeio` asks for a feasible input, and pays
  another feasible input 0.01 (`reasoning_gym_codeio_inputs.sh`).
- **Errors instead of rewards** (reasoning-gym): the scorer of `prime_factorization` raises
  `ValueError` for an answer with words, and pays 0.5 for the number of the question itself.
- **Second draw** (reasoning-core): after the same seeds of `random` and NumPy, rows of
  `arithmetics` are others when they are drawn again in a process
  (`reasoning_core_second_draw.sh`).
- **Hash seed** (reasoning-core): rows of `analogical_case_matching` and other tasks depend on
  `PYTHONHASHSEED` (`reasoning_core_hash_seed.sh`).

These are choices. Answers of `boxnet` and `graph_color` are None, because their scorers check a
solution. A board of `n_queens` may come with several solutions, and its scorer pays each. The
scorer of `decimal_arithmetic` documents a tolerance of the last of three decimal places, though
the question asks for 12 digits. Tasks of reasoning-core draw from the global states of `random`
and NumPy by design. `composite` needs a list of tasks."""
