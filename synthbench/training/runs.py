"""The table of runs: one row for each training run, in one Parquet file.

The package ships the table of its own runs. Tables of results, pictures and the `(stored)` lines of
`reproduce` are computed from it. `python -m benchmarks collect DIR` adds runs.

Columns:

- `task`, `variant`, `model`: the model is the name of a line in the table of a study.
- `study`, `profile`: the study that the run belongs to. Null for a run outside any study.
- `searched`: the run was made while a size or a recipe was searched for, or has a size that such a
  search chose.
- `seed`, `steps`: null where they were not recorded.
- `parameters`, `rows`, `recipe`: JSON objects. They hold the parameters of the task, the rows of
  splits, and the fields of the recipe with its `options`, as far as they differ from the defaults.
  `recipe` has the `name` of the recipe if several share a line.
- `stream`: training on fresh rows.
- `model_parameters`: number of parameters of the model.
- `training_metric`, `training`, `learned`, `fitted`: metric on training rows, its value, the share
  of training rows (of their variance for `mse`) that the run has learned, and whether it is enough.
- `figures`: measure, metric, value, and number of rows, for each measure of the study.
- `buckets`, `bucket_runs`: metric by depth, length or size, and the number of runs that the values
  are means of. It is 1 for every run that `collect` adds.
- `curve`: accuracy by step and split, for runs without `buckets`.
- `golden`: losses of the model's golden training with the code of the run.
- `seconds`, `machine`, `torch`, `version`, `commit`: training time, and the versions of the run.
- `source`, `note`: where the figures of a run without files come from, and remarks.
"""

from __future__ import annotations

import dataclasses
import functools
import io
import json
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from synthbench.errors import DatasetError
from synthbench.generation.planned import PlannedDataset
from synthbench.tasks.base import Task
from synthbench.tasks.registry import as_tasks, task_from
from synthbench.training.recipes.base import Measure, Recipe, Study
from synthbench.training.train_fit import FITTED

#: A row of the table, or a result of `train`.
Run = Mapping[str, Any]
_FIGURE = pa.struct(
    {"measure": pa.string(), "metric": pa.string(), "value": pa.float64(), "rows": pa.int64()}
)
_POINT = pa.struct({"step": pa.int64(), "split": pa.string(), "accuracy": pa.float64()})
SCHEMA = pa.schema(
    {
        "task": pa.string(),
        "study": pa.string(),
        "profile": pa.string(),
        "variant": pa.string(),
        "model": pa.string(),
        "searched": pa.bool_(),
        "seed": pa.int64(),
        "steps": pa.int64(),
        "parameters": pa.string(),
        "rows": pa.string(),
        "stream": pa.bool_(),
        "recipe": pa.string(),
        "model_parameters": pa.int64(),
        "training_metric": pa.string(),
        "training": pa.float64(),
        "learned": pa.float64(),
        "fitted": pa.bool_(),
        "figures": pa.list_(_FIGURE),
        "buckets": pa.map_(pa.string(), pa.float64()),
        "bucket_runs": pa.int64(),
        "curve": pa.list_(_POINT),
        "golden": pa.list_(pa.float64()),
        "seconds": pa.float64(),
        "machine": pa.string(),
        "torch": pa.string(),
        "version": pa.string(),
        "commit": pa.string(),
        "source": pa.string(),
        "note": pa.string(),
    }
)
_JSON = ("parameters", "rows", "recipe")
#: Fields of a recipe that do not set the training, or have a column of their own.
_OTHERS = (*("name", "steps", "by_variant", "variant_steps", "published", "line", "log_gradients"),)
_DEFAULTS = {
    field.name: None if field.default is dataclasses.MISSING else field.default
    for field in dataclasses.fields(Recipe)
    if field.name not in (*_OTHERS, "options")
} | {"precision": "float32"}
#: The columns that make a setting.
_SETTING = ("task", "variant", "model", "parameters", "rows", "stream", "steps", "recipe")
_FILE = "runs.parquet"


def stored() -> Path:
    """Path of the table that the package ships. In a checkout, that of the repository."""
    installed = Path(str(resources.files("synthbench") / "results" / _FILE))
    checkout = Path(__file__).parents[2] / "examples" / "results" / _FILE
    return installed if installed.is_file() else checkout


@functools.lru_cache(maxsize=1)
def stored_runs() -> tuple[Run, ...]:
    """The rows of the table that the package ships."""
    return tuple(read_runs(stored()))


def read_runs(path: Path) -> list[dict[str, Any]]:
    """The rows of a table of runs.

    Raises:
        DatasetError: the file does not exist, cannot be read, or has other columns.
    """
    try:
        table = pq.read_table(path).cast(SCHEMA)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise DatasetError(f"{path} is not a table of runs: {error}") from None
    runs: list[dict[str, Any]] = table.to_pylist(maps_as_pydicts="strict")
    for run in runs:
        run.update({name: json.loads(run[name]) for name in _JSON})
    return runs


def write_runs(path: Path, runs: Iterable[Run]) -> None:
    """Write a table of runs, ordered by task, study, variant, model and seed."""
    rows = [{**run, **{name: _as_text(run[name]) for name in _JSON}} for run in runs]
    order = ("task", "study", "profile", "variant", "model", "parameters", "recipe", "seed")
    rows.sort(key=lambda row: [(row[name] is None, row[name] or 0) for name in order])
    buffer = io.BytesIO()
    table = pa.Table.from_pylist(rows, SCHEMA)
    pq.write_table(table, buffer, compression="zstd", compression_level=19)
    path.write_bytes(buffer.getvalue())


def run_of(result: Mapping[str, Any], study: Study) -> dict[str, Any]:
    """The row of a run of a study, from the result of `train`."""
    task = task_from(result["task"], result["variant"], result["data"]["parameters"])
    sizes, stream = PlannedDataset.sizes(task), result["stream"]
    rows = result.get("rows") or {name: report["rows"] for name, report in result["splits"].items()}
    recipe = result["recipe"]
    titles = {recipe.name: recipe.title for recipe in study.recipes}
    model = titles.get(recipe["name"], recipe["name"])
    fit, machine = result["fit"], result["machine"]
    buckets = _buckets(result)
    return {
        **dict.fromkeys(SCHEMA.names),
        "task": task.name,
        "study": study.name,
        "profile": study.profile,
        "variant": task.variant,
        "model": model,
        "searched": False,
        "seed": result["seed"],
        "steps": result["steps"],
        "parameters": changed_parameters(task),
        "rows": {
            split: count
            for split, count in rows.items()
            if count != sizes.get(split) and not (stream and split == "train")
        },
        "stream": stream,
        "recipe": recipe_fields({**recipe, "precision": result["precision"]}, model),
        "model_parameters": result["model_parameters"],
        "training_metric": fit and fit["metric"],
        "training": fit and fit["chosen"],
        "learned": fit and fit["learned"],
        "fitted": fit and fit["state"] == FITTED,
        "figures": _all_figures(study, result),
        "buckets": buckets,
        "bucket_runs": 1 if buckets else None,
        "curve": [] if buckets else _curve(result["curve"]),
        "seconds": result["seconds"],
        "machine": machine["gpu"] or machine["processor"],
        "torch": machine["torch"],
        "version": result["synthbench"],
        "commit": result.get("commit"),
    }


def changed_parameters(task: Task) -> dict[str, Any]:
    """The parameters of a task that differ from the task's defaults."""
    defaults = task_from(task.name, task.variant).parameters.to_dict()
    return {k: value for k, value in task.parameters.to_dict().items() if value != defaults[k]}


def recipe_fields(recipe: Mapping[str, Any], line: str) -> dict[str, Any]:
    """The entry `recipe` of a row, from the JSON values of a recipe and the name of its line."""
    fields = {k: recipe[k] for k, value in _DEFAULTS.items() if recipe.get(k, value) != value}
    name = {} if recipe["name"] == line else {"name": recipe["name"]}
    return {**fields, **name, "options": json.loads(_as_text(recipe["options"]))}


def setting_of(run: Run) -> str:
    """The setting of a run, without its seed and figures, as one text."""
    return _as_text([run[name] for name in _SETTING])


def full_parameters(run: Run) -> dict[str, Any]:
    """All parameters of a run's task, with defaults for those that the row does not name."""
    task = task_from(run["task"], run["variant"], run["parameters"])
    parameters: dict[str, Any] = task.parameters.to_dict()
    return parameters


def _as_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _all_figures(study: Study, result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The figures of all measures, with that of the whole split where a measure lacks rows."""
    figures: dict[str, dict[str, Any]] = {}
    for measure in study.measures:
        if measure.percent_of:
            continue  # it needs the runs of another line
        figures[measure.name] = figure = _figure(measure, result)
        if not figure["rows"]:
            whole = dataclasses.replace(measure, name=measure.split, where=None)
            figures.setdefault(whole.name, _figure(whole, result))
    return list(figures.values())


def _figure(measure: Measure, result: Mapping[str, Any]) -> dict[str, Any]:
    report = result["splits"][measure.split]
    if measure.where is not None:
        column, value = measure.where
        report = report["by"][column].get(str(value))  # None if a level lacks such rows
    return {
        "measure": measure.name,
        "metric": measure.metric,
        "value": _value(measure, result, report),
        "rows": 0 if report is None else report["rows"],
    }


def _value(
    measure: Measure, result: Mapping[str, Any], report: Mapping[str, Any] | None
) -> float | None:
    """A measure of one run of `train`, None if the run lacks it."""
    moment, metric = result["eureka"], measure.metric
    if metric == "eureka_ratio":
        return float(moment is not None)
    if metric == "eureka_epoch":
        return moment["epoch"] if moment else None
    if metric == "halting":
        return result["halting"][measure.split] if result["halting"] else None
    if measure.rounds is not None:
        report = result.get("rounds", {}).get(str(measure.rounds), {}).get(measure.split)
    if report is None or (metric == "eureka_accuracy" and not moment):
        return None
    value: float | None = report["accuracy" if metric == "eureka_accuracy" else metric]
    return value


def _buckets(result: Mapping[str, Any]) -> dict[str, float]:
    """The metric that was trained for by depth, length or size, mean over evaluation splits."""
    column = as_tasks(result["task"])[0].bucket_name
    metric = result["fit"]["metric"] if result["fit"] else result["metrics"][0]
    by_bucket: dict[str, list[float]] = {}
    for report in result["splits"].values():
        for bucket, score in report["by"].get(column, {}).items():
            if score[metric] is not None:
                by_bucket.setdefault(bucket, []).append(score[metric])
    return {bucket: sum(values) / len(values) for bucket, values in by_bucket.items()}


def _curve(looks: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The accuracies of a training by step and split."""
    return [
        {"step": look["step"], "split": name.removesuffix("/accuracy"), "accuracy": value}
        for look in looks
        for name, value in look.items()
        if name.endswith("/accuracy")
    ]
