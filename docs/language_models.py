"""The results of language models, from the files that `examples/llm/results.py` wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from charts import Curve, line_chart

from synthbench.errors import DatasetError
from synthbench.tasks.registry import list_tasks
from synthbench.text.lines import printable
from synthbench.text.tables import Table
from synthbench.training.train_fit import NOT_FITTED, state_of

#: The parts of a result that are answers of the model, and their titles.
_MODELS = {
    "zero-shot": "SmolLM2, zero-shot",
    "eight examples": "SmolLM2, eight examples",
    "fine-tuned": "SmolLM2, fine-tuned",
}
_SPLITS = ("iid", "test")
_LEVELS = ("easy", "medium", "hard")
_NOT_RUN = "not run"


def read_results(directory: str | Path) -> list[dict[str, Any]]:
    """All results in a directory, ordered by task and level.

    Raises:
        DatasetError: there is none, or one cannot be read.
    """
    results = []
    for file in sorted(Path(directory).glob("*.json")):
        try:
            result = json.loads(file.read_text(encoding="utf-8"))
            results.append(
                (list_tasks().index(result["task"]), _LEVELS.index(result["level"]), result)
            )
            result["parts"], result["bucket"], result["trained_on"], result["command"]
        except (ValueError, KeyError, TypeError) as error:
            raise DatasetError(f"{file} is no result of examples/llm: {error!r}") from None
    if not results:
        raise DatasetError(f"No results in {str(directory)!r}: it has no .json files.")
    return [result for *_, result in sorted(results, key=lambda entry: entry[:2])]


def results_section(results: Sequence[Mapping[str, Any]]) -> str:
    """The table of all results, pictures for each task and level, replies, and the commands."""
    head = ["task", "level", "what answers", "training rows", *_SPLITS]
    table = Table(head, [line for result in results for line in _lines(result)], right=range(3, 6))
    charts = [chart for result in results for chart in _charts(result)]
    origins = "\n".join(map(_origin, results))
    return "\n\n".join([table.markdown(), *charts, *_replies(results), origins])


def _lines(result: Mapping[str, Any]) -> Iterator[list[str]]:
    """The lines of one task and level: what needs no model, then the model's parts."""
    start = [f"`{result['task']}`", result["level"]]
    known = result["parts"].get("shortcuts")
    for title, cell in (("chance", _chance), ("best shortcut of the audit", _shortcut)):
        cells = [cell(known[split]) if split in known else "" for split in _SPLITS] if known else []
        yield [*start, title, "", *(cells or [_NOT_RUN] * 2)]
    for part, title in _MODELS.items():
        if (figures := result["parts"].get(part)) is None:
            yield [*start, title, *[_NOT_RUN] * 3]
            continue
        splits = figures if _is_fitted(figures) else {}
        cells = [_accuracy(splits[split]) if split in splits else "" for split in _SPLITS]
        yield [*start, title, _fit(figures), *cells]


def _replies(results: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Replies to the first rows of test without worked examples, and why some were not read."""
    lines = [
        [
            f"`{result['task']}`",
            result["level"],
            f"`{reply['answer']}`",
            f"`{printable(reply['reply'].strip())}`".replace("|", "\\|"),
            reply["unread"] or "",
        ]
        for result in results
        for reply in result["parts"].get("zero-shot", {}).get("test", {}).get("replies", [])
    ]
    if lines:
        head = ["task", "level", "right answer", "reply", "why it was not read"]
        yield "The first replies to rows of test, zero-shot:"
        yield Table(head, lines).markdown()


def _chance(known: Mapping[str, Any]) -> str:
    return f"{known['chance']:.3f}"


def _shortcut(known: Mapping[str, Any]) -> str:
    interval = f"{known['low']:.3f} to {known['high']:.3f}"
    return f"{known['mean']:.3f} ({interval}) of {known['rows']} rows, {known['best']}"


def _accuracy(figures: Mapping[str, Any]) -> str:
    low, high = figures["accuracy_interval"]
    share = 100 * figures["unparsed"] / figures["rows"]
    unreadable = f", {share:.3g}% unreadable" if share else ""
    return f"{figures['accuracy']:.3f} ({low:.3f} to {high:.3f}){unreadable}"


def _fit(figures: Mapping[str, Any]) -> str:
    """How well a model has learned its training rows, marked if it is not fitted."""
    if "fit" not in figures:
        return ""
    mark = "" if _is_fitted(figures) else f", {NOT_FITTED} in {figures['steps']:,} steps"
    return f"{figures['fit']['chosen']:.3f} of {figures['fit']['rows']:,} rows{mark}"


def _is_fitted(figures: Mapping[str, Any]) -> bool:
    """True for a model that needs no training, or has learned its training rows."""
    return "fit" not in figures or state_of([figures]) != NOT_FITTED


def _charts(result: Mapping[str, Any]) -> Iterator[str]:
    """Accuracy by depth or length, if the task has any, of fitted models and the solver."""
    series: dict[str, list[Curve]] = {}
    for part, title in _MODELS.items():
        figures = result["parts"].get(part, {})
        if _is_fitted(figures) and (curve := _curve(result, figures)):
            series[title] = [curve]
    places = sorted({x for (curve,) in series.values() for x, _ in curve})
    if len(places) > 1:
        series["the solver"] = [[(x, 1.0) for x in places]]
        where = f"{result['bucket'].replace('_', ' ')}, {result['task']} {result['level']}"
        yield line_chart(series, where, ticks=places, trained_to=max(result["trained_on"]))


def _curve(result: Mapping[str, Any], figures: Mapping[str, Any]) -> Curve:
    """Accuracy by bucket: of the rows of iid, and beyond what was trained on of those of test."""
    points: dict[float, float] = {}
    for split in _SPLITS:
        groups = figures.get(split, {}).get("by", {}).get(result["bucket"], {})
        points |= {float(bucket): group["accuracy"] for bucket, group in groups.items()}
    return sorted(points.items())


def _origin(result: Mapping[str, Any]) -> str:
    """The command, the training, and the time on each machine, of one result."""
    trained, tuned = "", result["parts"].get("fine-tuned")
    if tuned:
        names = [name for name in ("steps", "batch", "rate", "decay") if tuned.get(name)]
        options = " ".join(f"--{name} {tuned[name]}" for name in names)
        trained = f", fine-tuned with `{options}`"
    seconds: dict[str, int] = {}
    for part in result["parts"].values():
        machine = part["machine"]
        name = f"{machine['gpu'] or machine['processor']}, PyTorch {machine['torch']}"
        seconds[name] = seconds.get(name, 0) + part["cpu_seconds"]
    times = [f"{taken:,} s of processor time ({name})" for name, taken in seconds.items()]
    return f"- `{result['command']}`{trained}: {' and '.join(times)}."
