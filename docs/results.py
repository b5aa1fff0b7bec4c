"""The tables of results in the documentation, made from the files that `reproduce` wrote."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from docs.origins import origin
from docs.recipes import differences_table, recipe_differences, without_counterpart
from synthbench.errors import DatasetError
from synthbench.tasks.registry import list_tasks
from synthbench.text.tables import Table
from synthbench.training.cells import cell
from synthbench.training.comparison import (
    fit_cell,
    fit_words,
    headings,
    of_one_run,
    ours_and_theirs,
)
from synthbench.training.contrast_tables import contrast_cells, evidence, unlike
from synthbench.training.contrasts import (
    CONTRASTS,
    NO_DIFFERENCE,
    NO_SHARES,
    NOT_RUN,
    ONE_RUN,
    REVERSED,
    SAME,
    STATES,
    Finding,
    judge,
)
from synthbench.training.paper_size import (
    at_paper_size,
    other_departures,
    rows_differences,
    task_differences,
)
from synthbench.training.recipes import by_rule
from synthbench.training.recipes.layers import SUITES
from synthbench.training.train_fit import NOT_FITTED, rises, state_of
from synthbench.training.trials import doubled, read_trials

#: The kinds of sizes that contrasts are told apart by.
_PAPER, _RULE, _OTHERS = "at the paper's size", "at a size chosen by a rule", "at other sizes"
_SIZES = (_PAPER, _RULE, _OTHERS)
#: The metric that is a share of runs.
_OF_RUNS = "eureka_ratio"


def read_comparisons(directory: str | Path) -> list[dict[str, Any]]:
    """All comparisons in a directory, ordered by task; main studies first, then by file name.

    Models have the run of twice the steps that stands among the trials in `tried`, if there is one.

    Raises:
        DatasetError: there is none, or one cannot be read.
    """
    comparisons = []
    trials = read_trials(Path(directory) / "tried")
    for file in sorted(Path(directory).glob("*.json")):
        try:
            comparison = json.loads(file.read_text(encoding="utf-8"))
            comparison["task"], comparison["profile"], comparison["study"]
            for line in comparison["models"]:
                if longer := doubled(comparison, line, trials):
                    line["doubled"] = longer
        except (ValueError, KeyError, TypeError) as error:
            raise DatasetError(f"{file} is no comparison of `reproduce`: {error!r}") from None
        comparisons.append(comparison)
    if not comparisons:
        raise DatasetError(f"No results in {str(directory)!r}: it has no .json files.")
    order = list_tasks()
    return sorted(comparisons, key=lambda one: (order.index(one["task"]), one["study"] != "main"))


def of_studies(comparisons: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those that belong to no suite."""
    return [one for one in comparisons if (one["task"], one["study"]) not in _OF_SUITES]


def of_suites(comparisons: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those that belong to a suite, in its order."""
    found = {(one["task"], one["study"]): one for one in comparisons}
    return [found[place] for place in _OF_SUITES if place in found]


#: Task and name of every study of a suite.
_OF_SUITES = [(study.task, study.name) for suite in SUITES.values() for study in suite]


# Results.


def results_section(comparisons: Sequence[Mapping[str, Any]]) -> str:
    """Every comparison in Markdown: what differs from the paper, its table, and how it was made."""
    return "\n\n".join(part for one in comparisons for part in _section(one))


def _section(comparison: Mapping[str, Any]) -> list[str]:
    several = len({line["variant"] for line in comparison["models"]}) > 1
    measures = [one for one in comparison["measures"] if one["headline"]]
    head = ["model", *["variant"] * several, "parameters", "seeds", "steps", "training rows"]
    columns = [headings(one, comparison) for one in measures]
    head += [word for heads in columns for word in heads]
    lines = [
        [
            f"`{line['model']}`",
            *[line["variant"]] * several,
            f"{line['model_parameters']:,}",
            f"{len(line['runs'])}",
            f"{max(run['steps'] for run in line['runs']):,}",
            fit_cell(line),
            *(
                figure
                for one, heads in zip(measures, columns, strict=True)
                for figure in ours_and_theirs(one, line)[: len(heads)]
            ),
        ]
        for line in comparison["models"]
    ]
    table = Table(head, lines, right=range(1 + several, len(head)))
    title = f"### {comparison['task']}, profile {comparison['profile']}"
    if comparison["study"] != "main":
        title += f", study {comparison['study']}: {comparison['title']}"
    parts = [title, sizes(comparison), table.markdown(), differences_table(comparison)]
    return [*filter(None, parts), origin(comparison)]


def sizes(comparison: Mapping[str, Any]) -> str:
    """In what a comparison differs from the paper's, as a sentence."""
    other = "; ".join(other_departures(comparison))
    besides = f" Besides: {other}." if other else ""
    if at_paper_size(comparison):
        return "The paper's task and sizes" + (f", but for: {other}." if other else ".")
    task, rows = task_differences(comparison), rows_differences(comparison)
    words = f"**Not the paper's task**: {', '.join(task)}." if task else "The paper's task."
    if rows:
        words += f" Other numbers of rows: {', '.join(rows)}."
    if unlike := dict.fromkeys(f"`{one.setting}`" for one in recipe_differences(comparison)):
        words += f" Recipes differ from those of the profile `paper` in {', '.join(unlike)}."
    if others := without_counterpart(comparison):
        words += f" Not in the profile `paper`: {', '.join(others)}."
    return words + besides


def models_sizes(comparison: Mapping[str, Any]) -> str:
    """The seeds and the parameters of a comparison's models, as a sentence."""
    counts: dict[str, list[str]] = {}
    for line in comparison["models"]:
        counts.setdefault(f"`{line['model']}`", []).append(f"{line['model_parameters']:,}")
    named = (f"{model} {' or '.join(dict.fromkeys(found))}" for model, found in counts.items())
    return f"{_seeds(comparison)}; parameters: {', '.join(named)}."


def _seeds(comparison: Mapping[str, Any]) -> str:
    """How many seeds were run; which variants have how many, if not all have the same."""
    variants: dict[int, dict[str, None]] = {}
    for line in comparison["models"]:
        variants.setdefault(len(line["runs"]), {})[line["variant"]] = None
    words = [
        f"{number} seed{'s' if number > 1 else ''}"
        + (f" of {', '.join(variants[number])}" if len(variants) > 1 else "")
        for number in sorted(variants, reverse=True)
    ]
    return " and ".join(words)


def budget(comparison: Mapping[str, Any]) -> str:
    """The steps of training and the rows that figures are of, as a sentence."""
    made = dict.fromkeys(
        f"{line['runs'][0]['steps']:,} steps of {line['recipes'][0]['batch_size']} rows"
        for line in comparison["models"]
    )
    rows = dict.fromkeys(f"{one['rows']:,}" for one in comparison["measures"])
    return f"Trained for {' or '.join(made)}, scored on {' or '.join(rows)} rows."


# Contrasts.


def contrasts_section(comparisons: Sequence[Mapping[str, Any]]) -> str:
    """What our runs say of every contrast of the papers' tables, in Markdown."""
    by_size: dict[str, list[Mapping[str, Any]]] = {size: [] for size in _SIZES}
    for comparison in comparisons:
        by_size[_size(comparison)].append(comparison)
    found = {size: _findings(group) for size, group in by_size.items() if group}
    parts = [f"The tables have {len(CONTRASTS)} contrasts."]
    parts += [_counts(size, findings) for size, findings in found.items()]
    parts += _undecided([one for findings in found.values() for one in findings.values()])
    head = ["models", "measure", "paper", *found, "differ in"]
    tables: dict[str, list[list[str]]] = {}
    for contrast in CONTRASTS:
        of_sizes = {size: findings[contrast] for size, findings in found.items()}
        if any(one.state != NOT_RUN for one in of_sizes.values()):
            cells = [*contrast_cells(contrast), *map(_finding, of_sizes.values())]
            tables.setdefault(contrast.table, []).append([*cells, _unlike(of_sizes)])
    for name, lines in tables.items():
        table = Table(head, lines).markdown().replace("\n", "\n    ")
        plural = "s" if len(lines) > 1 else ""
        parts.append(f'??? note "{name}: {len(lines)} contrast{plural}"\n\n    {table}')
    return "\n\n".join(parts)


def _undecided(findings: Sequence[Finding]) -> list[str]:
    """The largest differences that no test has told apart, as a sentence, if there are any."""
    gaps: dict[str, list[float]] = {}
    for one in findings:
        metric = one.contrast.metric
        if one.state == NO_DIFFERENCE and (metric not in NO_SHARES or metric == _OF_RUNS):
            first, second = (figure.mean for figure in one.figures)
            kind = "the share of runs with a moment" if metric == _OF_RUNS else "accuracy"
            gaps.setdefault(kind, []).append(abs(first - second))
    if not gaps:
        return []
    words = [f"{max(found):.2f} in {kind}" for kind, found in sorted(gaps.items())]
    return [f"Where there is *no difference*, the largest gap is {' and '.join(words)}."]


def _size(comparison: Mapping[str, Any]) -> str:
    """One of `_SIZES`."""
    if at_paper_size(comparison):
        return _PAPER
    return _RULE if comparison["study"] == by_rule.NAME else _OTHERS


def _findings(comparisons: Sequence[Mapping[str, Any]]) -> dict[Any, Finding]:
    """A finding for every contrast: of several comparisons the first that has both models."""
    found = {one: Finding(one, NOT_RUN) for one in CONTRASTS}
    for comparison in comparisons:
        for finding in judge(comparison):
            if found[finding.contrast].state == NOT_RUN:
                found[finding.contrast] = finding
    return found


def _counts(title: str, findings: Mapping[Any, Finding]) -> str:
    """How many contrasts of each table are in which state."""
    tables: dict[str, Counter[str]] = {}
    for contrast, finding in findings.items():
        tables.setdefault(contrast.table, Counter())[finding.state] += 1
    run = {source: one for source, one in tables.items() if one[NOT_RUN] < one.total()}
    rest = {source: one for source, one in tables.items() if source not in run}
    lines = [[source, *(_count(one[state]) for state in STATES)] for source, one in run.items()]
    if rest:
        together = sum(rest.values(), Counter())
        lines.append([f"{len(rest)} other tables", *(_count(together[state]) for state in STATES)])
    total = sum(tables.values(), Counter())
    lines.append(["**all**", *(f"**{total[state]}**" for state in STATES)])
    table = Table([title, *STATES], lines, right=range(1, 1 + len(STATES))).markdown()
    return "\n\n".join([table, *_alone(findings.values())])


def _alone(findings: Iterable[Finding]) -> list[str]:
    """How many of the contrasts with an order are of the models alone, as a sentence."""
    ordered = [one for one in findings if one.state in (SAME, REVERSED)]
    alone = [one for one in ordered if not one.unlike]
    pairs = len({(one.contrast.task, one.contrast.models) for one in alone})
    if not ordered:
        return []
    words = f"{len(alone)} of the {len(ordered)} that are *same order* or *reversed* compare "
    words += "the models alone, not whole recipes"
    return [
        f"{words} ({pairs} pair{'s' if pairs > 1 else ''} of models)." if alone else f"{words}."
    ]


def _count(number: int) -> str:
    return str(number) if number else ""


def _finding(finding: Finding) -> str:
    shown = evidence(finding)
    return finding.state + (f": {shown}" if shown else "")


def _unlike(findings: Mapping[str, Finding]) -> str:
    """What the recipes differ in, at each size at which both models were run."""
    words = {size: unlike(one) for size, one in findings.items() if unlike(one)}
    if len(set(words.values())) < 2:
        return next(iter(words.values()), "")
    return "; ".join(f"{size} {one}" for size, one in words.items())


# Pictures and sentences.


def unfinished(line: Mapping[str, Any]) -> bool:
    """Whether twice the steps have shown that a model was not trained to the end."""
    longer = line.get("doubled")
    return bool(longer) and rises(longer)


def drawn_models(comparison: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The models of a comparison that are drawn; those that are not fitted say so in their name.

    A model that was not trained to the end is not drawn.
    """
    found = []
    for line in comparison["models"]:
        if unfinished(line):
            continue
        mark = f", {NOT_FITTED}" if state_of(line["runs"]) == NOT_FITTED else ""
        found.append({**line, "model": line["model"] + mark})
    return found


def figure(comparisons: Sequence[Mapping[str, Any]], name: str) -> str:
    """The figure that a sentence rests on; it says so if its model is not fitted, or of one run.

    Args:
        comparisons: all results.
        name: task, profile, variant, model and measure, as in `ctl cpu forward ndr test`;
            `cpu/NAME` for the study NAME of a profile; `training` in place of the measure asks for
            the training rows.

    Raises:
        DatasetError: there is no such figure.
    """
    task, profile, variant, model, measure = name.split(maxsplit=4)
    profile, _, study = profile.partition("/")
    for one in comparisons:
        for line in one["models"]:
            place = (one["task"], one["profile"], line["variant"], line["model"])
            if place != (task, profile, variant, model) or one["study"] != (study or "main"):
                continue
            measures = {entry["name"]: entry for entry in one["measures"]}
            if measure == "training":
                return ", ".join(fit_words(line) + [ONE_RUN] * (len(line["runs"]) == 1))
            if measure in measures:
                found = line["measures"][measure]
                _, *states = fit_words(line)
                states += [ONE_RUN] * of_one_run(found)
                mark = f" ({', '.join(states)})" if states else ""
                return cell(measures[measure]["metric"], found, len(found["values"])) + mark
    raise DatasetError(f"Figure {name!r}: no result has it.")
