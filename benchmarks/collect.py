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
from synthbench.training.recipes.base import Recipe

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
        UsageError: there are no results, or no such directory; a run occurs twice, is of another
            recipe than the study's, or of other data than the other runs or those of a file.
    """
    if not results:
        raise UsageError("There are no results yet.")
    if not Path(out).is_dir():
        raise UsageError(f"Directory {str(out)!r}: there is no such directory.")
    studies = {}
    for result in results:
        key = result["task"], result["study"]["profile"], result["study"]["name"]
        studies.setdefault(key, []).append(result)
    of_studies = [(find_study(*key), found) for key, found in studies.items()]
    for study, found in of_studies:
        _check(study, found)
    return [_write(study, found, Path(out), command, add) for study, found in of_studies]


def _check(study, results):
    """Refuse runs that one line or one table cannot hold together.

    Raises:
        UsageError: names the run.
    """
    seen, others = set(), {}
    for result in results:
        recipe, variant = study.recipe(result["recipe"]["name"]), result["variant"]
        run = f"Study {study.name} of {study.task}, {variant}, {recipe.name}, seed {result['seed']}"
        if (place := (variant, recipe.name, result["seed"])) in seen:
            raise UsageError(f"{run}: two of the results are of this run.")
        seen.add(place)
        theirs = recipe.for_variant(variant).to_dict()
        for name, value in result["recipe"].items():
            if value != theirs[name]:
                raise UsageError(f"{run}: its {name} is {value!r}, the study's {theirs[name]!r}.")
        alike = {
            "precision": result["precision"],
            "parameters": result["data"]["parameters"],
            f"rows of {variant}": {k: report["rows"] for k, report in result["splits"].items()},
        }
        for what, value in alike.items():
            if value != (other := others.setdefault(what, value)):
                raise UsageError(f"{run}: other {what} than in other runs, {value} and {other}.")


def _write(study, results, out, command, add):
    other = [] if study.name == "main" else [study.name]
    file = out / f"{'-'.join([study.task, *other, study.profile])}.json"
    stored = json.loads(file.read_text(encoding="utf-8")) if add and file.exists() else None
    if stored:
        there = {
            (line["variant"], line["model"], run["seed"])
            for line in stored["models"]
            for run in line["runs"]
        }
        results = [one for one in results if (*_line(study, one), one["seed"]) not in there]
        if not results:
            return file
    by_line = {}
    for result in sorted(results, key=lambda one: _place(study, one)):
        by_line.setdefault(_line(study, result), []).append(result)
    seeds = max(map(len, by_line.values()))
    made = compare(dataclasses.replace(study, seeds=seeds), by_line)
    for line in made["models"]:
        runs = by_line[line["variant"], line["model"]]
        for kept, run in zip(line["runs"], runs, strict=True):
            if "images_per_second" in run:  # of the queue
                kept["images_per_second"] = run["images_per_second"]
    if stored:
        made = together(stored, made, study)
        seeds = made["seeds"]
    words = ["synthbench reproduce", study.task, f"--profile {study.profile}"]
    words += [f"--study {name}" for name in other]
    words += [] if seeds == study.seeds else [f"--seeds {seeds}"]
    whole = {"command": command or " ".join(words), **made, "workers": 1, "seconds": None}
    file.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    return file


def _line(study, result):
    """The variant and the title of the line that a run belongs to."""
    return result["variant"], study.recipe(result["recipe"]["name"]).title


def together(stored, made, study):
    """Two comparisons of a study as one; they have no run in common.

    What the stored one is held against stays; it says nothing of the runs that are added.

    Raises:
        UsageError: they are of other rows or precision, or have a line of other recipes.
    """
    for what in ("data", "measures", "precision"):
        if stored[what] != made[what]:
            raise UsageError(f"Study {study.name} of {study.task}: the file has other {what}.")
    lines = {}
    for line in stored["models"]:  # its runs keep their machine and version
        runs = [{**run, "machine": run.get("machine") or stored["machine"]} for run in line["runs"]]
        if stored["synthbench"] != made["synthbench"]:
            runs = [{"synthbench": stored["synthbench"], **run} for run in runs]
        lines[line["variant"], line["model"]] = {**line, "runs": runs}
    for line in made["models"]:
        key = line["variant"], line["model"]
        lines[key] = _joined(lines[key], line) if key in lines else line
    names = [recipe.title for recipe in study.recipes]
    variants = list(task_class(study.task).variants)
    order = sorted(lines, key=lambda key: (variants.index(key[0]), names.index(key[1])))
    return {
        **made,
        **({"held": stored["held"]} if "held" in stored else {}),
        "seeds": max(len(line["runs"]) for line in lines.values()),
        "run_seconds": round(stored["run_seconds"] + made["run_seconds"], 1),
        "models": [lines[key] for key in order],
    }


def _joined(old, new):
    """A line with the runs of two, by seed."""
    of_old, of_new = ([Recipe.from_dict(one) for one in line["recipes"]] for line in (old, new))
    if of_old != of_new:  # a field that came later has its default
        raise UsageError(f"Model {new['model']}, {new['variant']}: the file has another recipe.")
    if len(old["recipes"]) > 1:  # whose runs do not say which of them they are of
        raise UsageError(f"Model {new['model']}: a line of several recipes cannot be added to.")
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
        bucket: (len(old["runs"]) * old["by_bucket"][bucket] + len(new["runs"]) * share) / len(runs)
        for bucket, share in new["by_bucket"].items()
    }
    ordered = [runs[place] for place in order]
    return {**new, "measures": measures, "by_bucket": by_bucket, "runs": ordered}


def _place(study, result):
    """Where a run stands: by variant, then by model, then by seed."""
    names = [recipe.name for recipe in study.recipes]
    variants = list(task_class(study.task).variants)
    return variants.index(result["variant"]), names.index(result["recipe"]["name"]), result["seed"]
