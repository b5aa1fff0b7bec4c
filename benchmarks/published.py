"""Tasks of public generators, asked by `probe`: `python -m benchmarks published [WORD ...]`.

All tasks of reasoning-gym and reasoning-core are drawn with their default settings. Each answer is
a line of `--store`, so that a second run goes on where the first ended. WORDs choose tasks whose
name contains one of them. The page *Tasks of public generators* shows the store.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import importlib.util
import json
import time
from pathlib import Path
from typing import Any

from benchmarks.preloaded import Servers
from synthbench.errors import SynthbenchError
from synthbench.probing import draws, scorer
from synthbench.probing.probe import probe
from synthbench.probing.report import FOUND, HOLDS, NOT_ASKED, STATED, WRONG

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
        report = probe(task, rows=rows, progress=False)
    except SynthbenchError as error:
        print(f"{task}: {error}", flush=True)
        return {**line, "error": str(error)[:300]}
    print(f"{time.perf_counter() - started:.1f} s\n{report}\n", flush=True)
    line["rows"] = rows
    for result in (WRONG, FOUND):
        line[result] = {
            verdict.question: verdict.seen
            for verdict in report.verdicts
            if verdict.result == result
        }
    for result in (STATED, HOLDS, NOT_ASKED):
        line[result] = [verdict.question for verdict in report.verdicts if verdict.result == result]
    return line


def read_store(path: Path) -> dict[str, dict[str, Any]]:
    """The lines of a store by task. A later line of a task replaces an earlier line."""
    if not path.exists():
        return {}
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {line["task"]: line for line in lines}


def main(words: list[str]) -> None:
    """Ask all tasks that the store lacks."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks published", description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--rows", type=int, default=200, help="rows of a draw")
    parser.add_argument("--seconds", type=float, default=120, help="the most for a task's draws")
    parser.add_argument("--store", type=Path, default=STORE)
    arguments = parser.parse_args(words)
    known = read_store(arguments.store)
    for library, preload in PRELOADED.items():
        if importlib.util.find_spec(library.replace("-", "_")) is None:
            print(f"{library} is not installed")
            continue
        tasks = [
            task
            for task in (f"{library}:{name}" for name in task_names(library))
            if "error" in known.get(task, {"error": "not asked yet"})
            and (not arguments.words or any(word in task for word in arguments.words))
        ]
        if not tasks:
            continue
        with Servers(preload, ("0", "0", "1"), arguments.seconds) as servers:
            for task in tasks:
                line = ask(servers, task, arguments.rows)
                known[task] = line
                with arguments.store.open("a", encoding="utf-8") as store:
                    store.write(json.dumps(line, separators=(",", ":")) + "\n")
    failed = sum("error" in line for line in known.values())
    print(f"{len(known) - failed} tasks asked, {failed} not, in {arguments.store}")
