"""The papers' contrasts and what our runs say of them, as tables show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from synthbench.text.tables import Table
from synthbench.training.cells import cell, number
from synthbench.training.contrasts import NOT_RUN, ONE_RUN, REVERSED, STATES, Contrast, Finding
from synthbench.training.significance import interval

#: The most settings that a table names of those that two recipes differ in.
_NAMED = 3


def counts(findings: Sequence[Finding]) -> str:
    """How many contrasts are in which state, as in `same order 27, no difference 31`."""
    found = Counter(one.state for one in findings)
    return ", ".join(f"{state} {found[state]}" for state in STATES if found[state])


def contrasts_markdown(findings: Sequence[Finding]) -> str:
    """The contrasts of a comparison in Markdown: how many there are, and those that were run."""
    head = ["models", "measure", "paper", "ours", "state", "differ in", "table"]
    lines = [
        [*contrast_cells(one.contrast), evidence(one), one.state, unlike(one), one.contrast.source]
        for one in findings
        if one.state != NOT_RUN
    ]
    table = f"\n\n{Table(head, lines).markdown()}" if lines else ""
    return f"The paper's contrasts: {counts(findings)}.{table}"


def contrasts_notes(findings: Sequence[Finding]) -> list[str]:
    """The same for a terminal: numbers, and every contrast that is reversed."""
    return [
        f"The paper's contrasts: {counts(findings)}.",
        *(
            f"Reversed: {' above '.join(one.contrast.models)}, {where(one.contrast)}: "
            f"{evidence(one)}."
            for one in findings
            if one.state == REVERSED
        ),
    ]


def contrast_cells(contrast: Contrast) -> list[str]:
    """The models, the one with the higher figure first, the measure, and the paper's figures."""
    models = " above ".join(f"`{model}`" for model in contrast.models)
    figures = (cell(contrast.metric, one.to_dict(), one.runs) for one in contrast.published)
    return [models, where(contrast), " and ".join(figures)]


def where(contrast: Contrast) -> str:
    """The variant and the measure of a contrast."""
    several = contrast.variant != "default"
    return f"{contrast.variant}, {contrast.measure}" if several else contrast.measure


def evidence(finding: Finding) -> str:
    """Our two figures with their 95% intervals over seeds and rows, and the corrected p.

    A figure of a single run has no interval, and says so.
    """
    if not finding.figures:
        return ""
    metric = finding.contrast.metric
    if metric == "eureka_ratio":
        shown = [f"{sum(one.values):.0f} of {len(one.values)} runs" for one in finding.figures]
    else:
        shown = []
        for figure in finding.figures:
            spread = ONE_RUN
            if len(figure.values) > 1:
                spread = " to ".join(number(metric, end) for end in interval(figure))
            shown.append(f"{number(metric, figure.mean)} ({spread})")
    chance = ""
    if finding.p is not None:
        chance = ", p < 0.001" if finding.p < 0.001 else f", p = {finding.p:.2g}"
    return " and ".join(shown) + chance


def unlike(finding: Finding) -> str:
    """Whether a contrast is one of the models alone, or of their whole recipes."""
    if not finding.figures:
        return ""
    if not finding.unlike:
        first, second = finding.parameters
        sizes = f", of {first:,} and {second:,} parameters" if first != second else ""
        return f"the models alone{sizes}"
    named, more = finding.unlike[:_NAMED], len(finding.unlike) - _NAMED
    return f"recipes: {', '.join(named)}" + (f" and {more} more" if more > 0 else "")
