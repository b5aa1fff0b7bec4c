"""In what a comparison differs from the paper's: data, sizes and the rest."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from synthbench.generation.planned import PlannedDataset
from synthbench.tasks.base import Task
from synthbench.tasks.registry import task_from
from synthbench.training.recipes import STUDIES
from synthbench.training.recipes.base import Study

#: Places of values that may not be the paper's.
_PROFILE = "profile `paper`"


def data_differences(comparison: Mapping[str, Any]) -> list[str]:
    """Differences from the paper's data: the task and numbers of rows. Otherwise empty.

    A study of ours that the paper does not have is compared with the paper's main study. Also empty
    if the study is not ours.
    """
    return task_differences(comparison) + rows_differences(comparison)


def task_differences(comparison: Mapping[str, Any]) -> list[str]:
    """Differences from the paper's task: parameters, and whether training is on fresh rows."""
    if (study := published_study(comparison)) is None:
        return []
    data, paper = comparison["data"], task_from(study.task, None, study.parameters)
    differences = [
        f"`{name}` {as_typed(ours)} ({_whose(study, name)}: {as_typed(theirs)})"
        for name, theirs in paper.parameters.to_dict().items()
        if as_typed(ours := data["parameters"].get(name, theirs)) != as_typed(theirs)
    ]
    if comparison["data"]["stream"] and not study.stream:
        differences.append("fresh rows in every step (paper: its train split)")
    return differences


def rows_differences(comparison: Mapping[str, Any]) -> list[str]:
    """The splits that have another number of rows than at the profile `paper`.

    Papers do not give all of these numbers, and some lack such a split.
    """
    if (study := published_study(comparison)) is None:
        return []
    data = comparison["data"]
    unread = "train" if data["stream"] else ""
    unlike: dict[str, list[tuple[int, int]]] = {}
    for variant in dict.fromkeys(line["variant"] for line in comparison["models"]):
        ours = sizes(task_from(study.task, variant, data["parameters"]), data["rows"])
        papers = sizes(task_from(study.task, variant, study.parameters), study.rows)
        for split, count in ours.items():
            if count != papers.get(split, count) and split != unread:
                unlike.setdefault(split, []).append((count, papers[split]))
    differences = []
    for split, pairs in unlike.items():
        ours_words, papers_words = map(_span, zip(*pairs, strict=True))
        differences.append(f"{ours_words} rows of {split} ({_PROFILE}: {papers_words})")
    return differences


def sizes(task: Task, rows: Mapping[str, int]) -> dict[str, int]:
    """`PlannedDataset.sizes`, remembered, as many comparisons share a dataset."""
    splits = tuple((split.name, split.rows, split.buckets) for split in task.splits)
    return dict(_sizes(task, splits, tuple(rows.items())))


@functools.lru_cache(maxsize=256)
def _sizes(
    task: Task, splits: tuple[object, ...], rows: tuple[tuple[str, int], ...]
) -> dict[str, int]:
    return PlannedDataset.sizes(task, dict(rows))


def other_departures(comparison: Mapping[str, Any]) -> tuple[str, ...]:
    """Differences from the paper besides data and sizes. Empty if the study is not ours."""
    study = _study(comparison, comparison["profile"])
    return study.departures if study else ()


def at_paper_size(comparison: Mapping[str, Any]) -> bool:
    """True if the runs have the recipes and the data of the profile `paper`."""
    ours, papers = (_study(comparison, profile) for profile in (comparison["profile"], "paper"))
    same = comparison["profile"] == "paper" or (ours and papers and ours.recipes == papers.recipes)
    return bool(same) and not data_differences(comparison)


def published_study(comparison: Mapping[str, Any]) -> Study | None:
    """The paper's study that a comparison is held against, None for a study that is not ours."""
    study = _study(comparison, "paper")
    if study is None and _study(comparison, comparison["profile"]):
        study = _study({**comparison, "study": "main"}, "paper")
    return study


def _study(comparison: Mapping[str, Any], profile: str) -> Study | None:
    key = (comparison["task"], comparison["study"], profile)
    return next(
        (study for study in STUDIES if (study.task, study.name, study.profile) == key), None
    )


def _whose(study: Study, parameter: str) -> str:
    return _PROFILE if parameter in study.unpublished else "paper"


def _span(counts: tuple[int, ...]) -> str:
    """The numbers of several variants in words."""
    least, most = min(counts), max(counts)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def as_typed(value: Any) -> str:
    """A value of a parameter as on the command line."""
    if not isinstance(value, list | tuple):
        return str(value)
    numbers = all(isinstance(element, int) for element in value)
    if numbers and len(value) > 2 and list(value) == list(range(value[0], value[-1] + 1)):
        return f"{value[0]}..{value[-1]}"
    return ",".join(map(str, value))
