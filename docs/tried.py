"""The page *Every size tried* and the budget of tuning, from `examples/results/tried/`."""

from __future__ import annotations

import collections
import itertools
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from synthbench.tasks.registry import task_class
from synthbench.text.tables import Table
from synthbench.training.cells import number
from synthbench.training.contrasts import CONTRASTS, Contrast
from synthbench.training.paper_size import as_typed
from synthbench.training.recipes import STUDIES, find_study
from synthbench.training.trials import setting_of

Trial = Mapping[str, Any]
#: Measures that are no share: a difference of two of them has no scale.
_NO_SHARES = ("mse", "eureka_epoch")
#: Our figures reverse the paper's order here if they differ by more, whatever a test would say: the
#: last digit that the papers print.
_REVERSED = 0.01
_METRICS = {(study.task, one.name): one.metric for study in STUDIES for one in study.measures}


def tried_section(trials: Sequence[Trial]) -> str:
    """All sizes in Markdown, those first at which a paper's order is reversed."""
    sizes: dict[str, list[Trial]] = {}
    for trial in trials:
        size = {**trial, "model": "", "recipe": {}}
        sizes.setdefault(setting_of(size), []).append(trial)
    groups = [(group, reversals(group)) for group in sizes.values()]
    groups.sort(key=lambda one: (not one[1], one[0][0]["task"], one[0][0]["date"]))
    runs = sum(len(trial["runs"]) for trial in trials)
    reverse = sum(bool(found) for _, found in groups)
    settings = len(set(map(setting_of, trials)))
    parts = [
        f"{settings} settings with {runs} runs at {len(groups)} sizes; at {reverse} of them, "
        "which stand first, a contrast of the paper is reversed."
    ]
    for group, found in groups:
        parts += [f"## {_title(group[0])}", *map(_reversal, found), _table(pooled(group))]
    return "\n\n".join(parts)


def budget_section(trials: Sequence[Trial]) -> str:
    """How much every model was tuned: settings, runs and steps, by task and model."""
    models: dict[tuple[str, str], list[Trial]] = {}
    for trial in trials:
        models.setdefault((trial["task"], trial["model"]), []).append(trial)
    lines = []
    for (task, model), group in sorted(models.items()):
        settings = len(set(map(setting_of, group)))
        steps = sum(len(one["runs"]) * one["recipe"].get("steps", 0) for one in group)
        runs = sum(len(one["runs"]) for one in group)
        lines.append([f"`{task}`", f"`{model}`", f"{settings}", f"{runs}", f"{steps:,}"])
    head = ["task", "model", "settings", "runs", "steps of all runs"]
    return Table(head, lines, right=range(2, 5)).markdown()


def pooled(group: Iterable[Trial]) -> list[dict[str, Any]]:
    """One trial for all runs of a setting with different seeds, and its `places`.

    A seed that was run again, by other code or with other rows, begins another trial, which seeds
    that were added later join; runs of unknown seeds join none. A place is a source with its date:
    what stood there was seen together.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    by_date = sorted(group, key=lambda one: one["date"])
    for trial in itertools.chain.from_iterable(map(_one_run_a_seed, by_date)):
        of_setting = found.setdefault(setting_of(trial), [])
        place = (trial["source"], trial["date"])
        known = next((one for one in reversed(of_setting) if _are_other_seeds(one, trial)), None)
        if known is None:
            of_setting.append({**trial, "runs": [*trial["runs"]], "places": [place]})
            continue
        known["runs"] += trial["runs"]
        known["places"].append(place)
        known["source"] += f"; {trial['source']}"
        known["note"] = "; ".join(filter(None, [known.get("note"), trial.get("note")]))
    return [*itertools.chain.from_iterable(found.values())]


def _one_run_a_seed(trial: Trial) -> Iterator[Trial]:
    """The trial; if it has several runs of a known seed, the second of each is in another one."""
    rounds: dict[int, list[Any]] = {}
    earlier = collections.Counter[Any]()
    for run in trial["runs"]:
        rounds.setdefault(earlier[run["seed"]], []).append(run)
        earlier[run["seed"]] += run["seed"] is not None
    for runs in rounds.values():
        yield {**trial, "runs": runs}


def _are_other_seeds(*both: Trial) -> bool:
    """Whether the seeds of two trials are known, and no seed was run in both."""
    one, other = ({run["seed"] for run in trial["runs"]} for trial in both)
    return None not in one | other and one.isdisjoint(other)


def reversals(group: Iterable[Trial]) -> list[tuple[Contrast, float, float, str]]:
    """The contrasts that settings of one size reverse, with our two figures and what weakens them.

    Models whose figures stood in one place were meant to be compared. Where these reverse nothing,
    all settings are compared, and of each contrast the pair that differs most is given.
    """
    together: list[tuple[Contrast, float, float, str]] = []
    apart: dict[Contrast, tuple[Contrast, float, float, str]] = {}
    for one, other in itertools.permutations(pooled(group), 2):
        in_one_place = bool(set(one["places"]) & set(other["places"]))
        for contrast in CONTRASTS:
            if (contrast.task, contrast.variant) != (one["task"], one["variant"]):
                continue
            if contrast.models != (one["model"], other["model"]):
                continue
            higher, lower = (_mean(trial, contrast.measure) for trial in (one, other))
            if contrast.metric in _NO_SHARES or None in (higher, lower):
                continue
            if contrast.study != "main" or lower - higher <= _REVERSED:
                continue
            if not (_read_as_published(contrast, one) and _read_as_published(contrast, other)):
                continue
            weakness = _weakness(one["runs"], other["runs"])
            if in_one_place:
                together.append((contrast, higher, lower, weakness))
            elif contrast not in apart or lower - higher > apart[contrast][2] - apart[contrast][1]:
                apart[contrast] = (contrast, higher, lower, f"{weakness}, from different sources")
    return together or list(apart.values())


def _read_as_published(contrast: Contrast, trial: Trial) -> bool:
    """Whether a model's answer is read from the column that it has in the paper's table.

    A trial that does not name the column is taken to have the same.
    """
    recipe = find_study(contrast.task, "paper").recipe(trial["model"])
    theirs = recipe.for_variant(contrast.variant).options.get("readout", "last")
    return bool(trial["recipe"]["options"].get("readout", theirs) == theirs)


def _weakness(*both: Sequence[Mapping[str, Any]]) -> str:
    """Why the figures of two models show little, if there are reasons."""
    seeds = [len(runs) for runs in both]
    reasons = ["one seed each"] if max(seeds) == 1 else ["one seed of one"] * (min(seeds) == 1)
    reasons += ["not all fitted"] * any(run["fitted"] is False for runs in both for run in runs)
    return "".join(f", {reason}" for reason in reasons)


def _reversal(found: tuple[Contrast, float, float, str]) -> str:
    contrast, *ours, weak = found
    higher, lower = (
        f"`{model}` {number(contrast.metric, figure)} (paper: {published.value:.2f})"
        for model, figure, published in zip(contrast.models, ours, contrast.published, strict=True)
    )
    return f"**Reversed**, {contrast.measure}: {lower} is above {higher}{weak}."


def _title(trial: Trial) -> str:
    """A size in words: what differs from the task as its paper describes it."""
    several = len(task_class(trial["task"]).variants) > 1
    words = [f"{name} {_plain(value)}" for name, value in trial["parameters"].items()]
    words += ["fresh rows"] if trial["stream"] else []
    words += [f"{count:,} rows of {split}" for split, count in trial["rows"].items()]
    variant = f" {trial['variant']}" if several else ""
    return f"{trial['task']}{variant}: {', '.join(words) or 'the task as it is'}"


def _table(group: Sequence[Trial]) -> str:
    measures = list(
        dict.fromkeys(name for one in group for run in one["runs"] for name in run["figures"])
    )
    head = ["date", "model", "steps", "seeds", "training rows", *measures, "recipe", "source"]
    lines = [
        [
            trial["date"],
            f"`{trial['model']}`",
            f"{trial['recipe']['steps']:,}" if "steps" in trial["recipe"] else "",
            f"{len(trial['runs'])}",
            _fit(trial),
            *(_figure(trial, measure) for measure in measures),
            _recipe(trial),
            "; ".join(filter(None, [trial.get("note"), trial["source"]])),
        ]
        for trial in group
    ]
    return Table(head, lines, right=range(2, 5 + len(measures))).markdown()


def _fit(trial: Trial) -> str:
    shares = [run["training"] for run in trial["runs"] if run["training"] is not None]
    states = [run["fitted"] for run in trial["runs"] if run["fitted"] is not None]
    words = [f"{statistics.fmean(shares):.3f}"] if shares else []
    if states:
        unfitted = states.count(False)
        which = "" if unfitted == len(trial["runs"]) else f"{unfitted} of {len(trial['runs'])} "
        words.append(f"{which}not fitted" if unfitted else "fitted")
    return ", ".join(words)


def _figure(trial: Trial, measure: str) -> str:
    mean = _mean(trial, measure)
    if mean is None:
        return ""
    metric = _METRICS.get((trial["task"], measure), "accuracy")
    if metric == "eureka_ratio":
        return f"{sum(run['figures'][measure] for run in trial['runs']):.0f}/{len(trial['runs'])}"
    return number(metric, mean)


def _mean(trial: Trial, measure: str) -> float | None:
    values = [run["figures"].get(measure) for run in trial["runs"]]
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def _recipe(trial: Trial) -> str:
    """The fields and options of a recipe, as after `--recipe` and `--option`."""
    fields = {k: v for k, v in trial["recipe"].items() if k not in ("model", "steps", "options")}
    words = [f"{k}={_plain(v)}" for k, v in (fields | trial["recipe"]["options"]).items()]
    return f"`{' '.join(words)}`" if words else ""


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return as_typed([_plain(one) if isinstance(one, float) else one for one in value])
    return f"{value:.4g}" if isinstance(value, float) else str(value).replace("True", "true")
