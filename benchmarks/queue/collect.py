"""Results of the queue as comparisons, one file a study, as `synthbench reproduce` writes them."""

import dataclasses
import json
from pathlib import Path

from synthbench.errors import UsageError
from synthbench.training.comparison import compare
from synthbench.training.recipes import find_study


def collect(results, out):
    """Write the comparisons of all results.

    Args:
        results: the results by their names.
        out: an existing directory; files of the same studies are replaced.

    Returns:
        The files.

    Raises:
        UsageError: there are no results, or no such directory.
    """
    if not results:
        raise UsageError("The folder has no results yet.")
    if not Path(out).is_dir():
        raise UsageError(f"Directory {str(out)!r}: there is no such directory.")
    studies = {}
    for result in results.values():
        key = result["task"], result["study"]["profile"], result["study"]["name"]
        studies.setdefault(key, []).append(result)
    return [_write(find_study(*key), found, Path(out)) for key, found in studies.items()]


def _write(study, results, out):
    by_line = {}
    for result in sorted(results, key=lambda one: one["seed"]):
        line = result["variant"], study.recipe(result["recipe"]["name"]).title
        by_line.setdefault(line, []).append(result)
    seeds = max(map(len, by_line.values()))
    made = compare(dataclasses.replace(study, seeds=seeds), by_line)
    for line in made["models"]:
        runs = by_line[line["variant"], line["model"]]
        for kept, run in zip(line["runs"], runs, strict=True):
            kept["images_per_second"] = run["images_per_second"]
    name = [study.task, *([study.name] if study.name != "main" else []), study.profile]
    file = out / f"{'-'.join(name)}.json"
    whole = {"command": "python -m benchmarks queue run", **made, "workers": 1, "seconds": None}
    file.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    return file
