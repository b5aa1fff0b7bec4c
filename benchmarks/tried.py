"""Collect every setting that was tried: `python -m benchmarks tried DIR [DIR ...]`.

Reads what `reproduce` and `train` wrote into DIR (comparisons, and the `result.json` of each run),
and adds the runs that are new to `examples/results/tried/`, from which the page *Every size tried*
is made. Called again, it changes nothing. Trials whose files are gone are written there by hand.
"""

from __future__ import annotations

import argparse
import datetime
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from synthbench.errors import DatasetError
from synthbench.generation.planned import PlannedDataset
from synthbench.tasks.registry import task_from
from synthbench.training.trials import (
    from_comparison,
    from_result,
    merged,
    read_trials,
    write_trials,
)

TRIED = Path(__file__).parents[1] / "examples" / "results" / "tried"


def main(words: Sequence[str]) -> None:
    """Collect the trials of the directories named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks tried", description=__doc__)
    parser.add_argument("directories", nargs="+", metavar="DIR")
    parser.add_argument("--into", default=TRIED, type=Path, help="default: examples/results/tried")
    parser.add_argument("--source", help="where the files stood; default: the version and commit")
    parser.add_argument("--date", help="default: that of each file")
    chosen = parser.parse_args(words)
    there = read_trials(chosen.into)
    found = [
        trial
        for directory in chosen.directories
        for trial in collect(Path(directory), chosen.source, chosen.date)
    ]
    together = merged(there, found)
    write_trials(chosen.into, together)
    before, after = (sum(len(one["runs"]) for one in group) for group in (there, together))
    print(f"{after - before} new runs; {len(together)} trials with {after} runs in {chosen.into}")


def collect(
    directory: Path, source: str | None = None, date: str | None = None
) -> Iterator[dict[str, Any]]:
    """The trials of all comparisons and results below a directory, each run once.

    What the profile `quick` has left is no trial: it trains nothing to show.

    Raises:
        DatasetError: there is neither.
    """
    found = []
    for file in sorted(directory.rglob("*.json")):
        values = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(values, dict) or _profile(values) == "quick":
            continue
        day = date or datetime.date.fromtimestamp(file.stat().st_mtime).isoformat()
        if file.name == "result.json":
            found.append(_as_asked(from_result(values, source or _made_with(values), day)))
        elif {"models", "measures"} <= values.keys():
            found += from_comparison(values, source or _made_with(values), day)
    if not found:
        raise DatasetError(f"{str(directory)!r} has no results of `reproduce` or `train`.")
    yield from merged([], found)


def _as_asked(trial: dict[str, Any]) -> dict[str, Any]:
    """The trial without sizes that nobody asked for: fewer rows than usual, if no more exist."""
    if trial["rows"]:
        task = task_from(trial["task"], trial["variant"], trial["parameters"])
        usual = {split.name: split.rows for split in task.splits}
        capped = {k: n for k, n in PlannedDataset.sizes(task).items() if n < usual[k]}
        trial["rows"] = {k: n for k, n in trial["rows"].items() if n != capped.get(k)}
    return trial


def _profile(values: dict[str, Any]) -> str | None:
    """The profile of a comparison or a result."""
    study = values.get("study")
    return study["profile"] if isinstance(study, dict) else values.get("profile")


def _made_with(values: dict[str, Any]) -> str:
    """Version and commit of a result, or of a comparison's runs."""
    runs = [run for line in values.get("models", []) for run in line["runs"]] or [values]
    commits = list(dict.fromkeys(run["commit"][:7] for run in runs if run.get("commit")))
    words = f" at commit{'s' * (len(commits) > 1)} {', '.join(commits)}" if commits else ""
    return f"synthbench {values['synthbench']}{words}"
