"""Make comparisons of finished runs: `python -m benchmarks collect DIR [DIR ...]`.

Reads the `result.json` of every run below the directories and writes one file a study, as
`synthbench reproduce` would have if it had made all of these runs by one command. So a study may be
trained in parts, a variant or a model at a time. With `--add` the runs that a file has stay in it,
and seeds that it lacks are added.
"""

import argparse
import dataclasses
import json
import statistics
from pathlib import Path

from synthbench.errors import UsageError
from synthbench.tasks.registry import task_class
from synthbench.training.comparison import compare
from synthbench.training.recipes import find_study

_RESULTS = Path(__file__).parents[1] / "examples" / "results"


def main(words):
    """Write the comparisons of the directories named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks collect", description=__doc__)
    parser.add_argument("directories", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--into", default=_RESULTS, type=Path, help="default: examples/results")
    parser.add_argument("--add", action="store_true", help="to the runs that the files have")
    chosen = parser.parse_args(words)
    files = [file for one in chosen.directories for file in sorted(one.rglob("result.json"))]
    results = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    for file in collect(results, chosen.into, add=chosen.add):
        print(file)


def collect(results, out, command=None, add=False):
    """Write the comparisons of all results.

    Args:
        results: the results of runs.
        out: an existing directory; files of the same studies are replaced.
        command: what they were made by; default: the command that makes the whole study.
        add: keep the runs of these files, and add those of seeds that they lack.

    Returns:
        The files.

    Raises:
        UsageError: there are no results, or no such directory, or results cannot be added to those
            of a file because they are of other rows or recipes.
    """
    if not results:
        raise UsageError("There are no results yet.")
    if not Path(out).is_dir():
        raise UsageError(f"Directory {str(out)!r}: there is no such directory.")
    studies = {}
    for result in results:
        key = result["task"], result["study"]["profile"], result["study"]["name"]
        studies.setdefault(key, []).append(result)
    return [
        _write(find_study(*key), found, Path(out), command, add) for key, found in studies.items()
    ]


def _write(study, results, out, command, add):
    by_line = {}
    for result in sorted(results, key=lambda one: _place(study, one)):
        line = result["variant"], study.recipe(result["recipe"]["name"]).title
        by_line.setdefault(line, []).append(result)
    seeds = max(map(len, by_line.values()))
    made = compare(dataclasses.replace(study, seeds=seeds), by_line)
    for line in made["models"]:
        runs = by_line[line["variant"], line["model"]]
        for kept, run in zip(line["runs"], runs, strict=True):
            if "images_per_second" in run:  # of the queue
                kept["images_per_second"] = run["images_per_second"]
    other = [] if study.name == "main" else [study.name]
    file = out / f"{'-'.join([study.task, *other, study.profile])}.json"
    if add and file.exists():
        made = together(json.loads(file.read_text(encoding="utf-8")), made, study)
        seeds = made["seeds"]
    words = ["synthbench reproduce", study.task, f"--profile {study.profile}"]
    words += [f"--study {name}" for name in other]
    words += [] if seeds == study.seeds else [f"--seeds {seeds}"]
    whole = {"command": command or " ".join(words), **made, "workers": 1, "seconds": None}
    file.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    return file


def together(stored, made, study):
    """Two comparisons of a study as one; of a seed that both have, the run of `stored`.

    Raises:
        UsageError: they are of other rows, or have a line of other recipes.
    """
    lines = {(line["variant"], line["model"]): line for line in stored["models"]}
    for what in ("data", "measures"):
        if stored[what] != made[what]:
            raise UsageError(f"Study {study.name} of {study.task}: the file has other {what}.")
    for line in made["models"]:
        key = line["variant"], line["model"]
        lines[key] = _joined(lines[key], line) if key in lines else line
    names = [recipe.title for recipe in study.recipes]
    variants = list(task_class(study.task).variants)
    order = sorted(lines, key=lambda key: (variants.index(key[0]), names.index(key[1])))
    return {
        **made,
        "seeds": max(len(line["runs"]) for line in lines.values()),
        "run_seconds": round(stored["run_seconds"] + made["run_seconds"], 1),
        "models": [lines[key] for key in order],
    }


def _joined(old, new):
    """A line with the runs of two, by seed."""
    if old["recipes"] != new["recipes"]:
        raise UsageError(f"Model {new['model']}, {new['variant']}: the file has another recipe.")
    there = {run["seed"] for run in old["runs"]}
    added = [place for place, run in enumerate(new["runs"]) if run["seed"] not in there]
    if not added:
        return old
    if len(added) < len(new["runs"]):
        raise UsageError(
            f"Model {new['model']}, {new['variant']}: the file has some of these seeds; name the "
            "directories of the others alone."
        )
    runs = [*old["runs"], *new["runs"]]
    order = sorted(range(len(runs)), key=lambda place: runs[place]["seed"])
    measures = {}
    for name, one in new["measures"].items():
        values = [*old["measures"][name]["values"], *one["values"]]
        known = [value for value in values if value is not None]
        measures[name] = {
            **one,
            "mean": statistics.fmean(known) if known else None,
            "deviation": statistics.stdev(known) if len(known) > 1 else None,
            "values": [values[place] for place in order],
        }
    by_bucket = {
        bucket: (len(there) * old["by_bucket"][bucket] + len(added) * share) / len(runs)
        for bucket, share in new["by_bucket"].items()
    }
    ordered = [runs[place] for place in order]
    return {**new, "measures": measures, "by_bucket": by_bucket, "runs": ordered}


def _place(study, result):
    """Where a run stands: by variant, then by model, then by seed."""
    names = [recipe.name for recipe in study.recipes]
    variants = list(task_class(study.task).variants)
    return variants.index(result["variant"]), names.index(result["recipe"]["name"]), result["seed"]
