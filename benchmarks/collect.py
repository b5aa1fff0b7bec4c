"""Add finished runs to the table of runs: `python -m benchmarks collect DIR [DIR ...]`.

Reads the `result.json` of every run below the directories and adds a row for each to
`examples/results/runs.parquet`, from which all tables of results are made. A run that has the
recipe, the data and the precision of its study belongs to that study, and its `golden` losses are
those of its commit. Any other run has no study and counts as searched. Runs of the profile `quick`
are left out. A second call with the same runs adds nothing. A run of a study replaces a stored run
of the same line and seed only with `--replace`; the earlier run stays in the table as searched.
"""

import argparse
import collections
import json
import subprocess
from pathlib import Path

from synthbench.dataset.files import reading
from synthbench.errors import UsageError
from synthbench.generation.planned import PlannedDataset
from synthbench.tasks.registry import task_from
from synthbench.training.recipes import study_of_run
from synthbench.training.runs import (
    changed_parameters,
    read_runs,
    recipe_fields,
    run_of,
    setting_of,
    stored,
    write_runs,
)

_ROOT = Path(__file__).parents[1]
_GOLDEN = "tests/golden/losses.json"


def main(words):
    """Add the runs of the directories named and print each that is new."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks collect", description=__doc__)
    parser.add_argument("directories", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--into", default=stored(), type=Path, metavar="FILE")
    parser.add_argument("--replace", action="store_true", help="runs of the same line and seed")
    parser.add_argument("--searched", action="store_true", help="runs of a size that was searched")
    arguments = parser.parse_args(words)
    files = [
        file
        for directory in arguments.directories
        for file in sorted(directory.rglob("result.json"))
    ]
    results = []
    for file in files:
        with reading(file):
            results.append(json.loads(file.read_text(encoding="utf-8")))
    before = read_runs(arguments.into) if arguments.into.exists() else []
    after, added = collected(before, results, arguments.replace, arguments.searched)
    write_runs(arguments.into, after)
    for run in added:
        study = f"{run['profile']}/{run['study']}" if run["study"] else "no study"
        figures = ", ".join(f"{figure['measure']} {figure['value']}" for figure in run["figures"])
        place = f"{run['task']}, {study}, {run['variant']}, {run['model']}, seed {run['seed']}"
        print(f"{place}: learned {run['learned']}; {figures}")
    print(f"{len(added)} of {len(results)} runs added; {len(after)} in {arguments.into}")


def collected(before, results, replace=False, searched=False):
    """The rows of a table with those of further results, and the rows that were added.

    Args:
        before: the rows of the table.
        results: results of `train`.
        replace: let runs of studies take the place of stored runs of the same line and seed.
        searched: mark the runs as runs of a size that was searched.

    Raises:
        UsageError: without `replace`, a stored run of the same line and seed has other figures.
    """
    lines = {_line(run): run for run in before if run["study"]}
    known = collections.Counter(map(_content, before))
    after, added = list(before), []
    for result in results:
        key = result["task"], result["study"]["profile"], result["study"]["name"]
        if key[1] == "quick":
            continue
        study = study_of_run(*key)
        run = _placed(run_of(result, study), study, result)
        run["searched"] |= searched
        if known[_content(run)]:
            continue
        if run["study"] and (there := lines.get(_line(run))):
            if not replace:
                raise UsageError(
                    f"Study {study.name} of {study.task}, {run['variant']}, {run['model']}, seed "
                    f"{run['seed']}: the table has this run with other figures; see --replace."
                )
            after[after.index(there)] = {**there, "study": None, "profile": None, "searched": True}
        known[_content(run)] += 1
        lines[_line(run)] = run
        after.append(run)
        added.append(run)
    return after, added


def _line(run):
    return tuple(run[name] for name in ("task", "study", "profile", "variant", "model", "seed"))


def _content(run):
    """The setting, the seed and the figures of a run."""
    figures = [[figure["measure"], figure["value"]] for figure in run["figures"]]
    return json.dumps([setting_of(run), run["seed"], run["learned"], figures])


def _placed(run, study, result):
    """The run in its study, or outside any study if recipe, data or precision are others."""
    task = task_from(study.task, run["variant"], study.parameters)
    recipe = next(
        (recipe for recipe in study.recipes if recipe.name == result["recipe"]["name"]), None
    )
    alike = (
        recipe is not None
        and run["variant"] in study.variants
        and _took_all_steps(run["steps"], recipe.for_variant(run["variant"]))
        and run["recipe"]
        == recipe_fields(recipe.for_variant(run["variant"]).to_dict(), run["model"])
        and run["parameters"] == changed_parameters(task)
        and run["stream"] == study.stream
        and _sizes(task, run["rows"], run["stream"]) == _sizes(task, study.rows_made, study.stream)
    )
    if not alike:
        return {**run, "study": None, "profile": None, "searched": True}
    return {**run, "golden": golden_losses(run["commit"], recipe.model)}


def _took_all_steps(steps, recipe):
    """Whether a run has ended as its recipe says: with a cool-down it may end early."""
    return steps == recipe.steps or (recipe.cooldown < steps < recipe.steps and recipe.cooldown > 0)


def _sizes(task, rows, stream):
    """The rows of the splits that a run reads."""
    sizes = PlannedDataset.sizes(task, rows)
    return {name: count for name, count in sizes.items() if not (stream and name == "train")}


def golden_losses(commit, model):
    """The losses of a model's golden training with the code of a commit, None if not known."""
    if not commit or commit.endswith("-dirty"):
        return None
    words = ["git", "-C", str(_ROOT), "show", f"{commit}:{_GOLDEN}"]
    done = subprocess.run(words, capture_output=True, text=True)
    return None if done.returncode else json.loads(done.stdout)["losses"].get(model)
