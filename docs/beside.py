"""A study of many variants as its paper prints it: a row a variant, a column a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from synthbench.text.tables import Table
from synthbench.training.cells import fit_words
from synthbench.training.train_fit import NOT_FITTED


def beside_paper(
    comparison: Mapping[str, Any], measure: str, chance: Callable[[str], float]
) -> str:
    """One measure of every variant and model, with the best seed and the paper's figure.

    Args:
        comparison: what `reproduce` wrote.
        measure: the name of one of its measures.
        chance: what a guess scores on a variant.

    Returns:
        A table in Markdown. A model that has not learned its training rows in all of its runs is
        marked "not fitted", without its figure.
    """
    models = list(dict.fromkeys(line["model"] for line in comparison["models"]))
    lines = {(line["variant"], line["model"]): line for line in comparison["models"]}
    rows = []
    for variant in dict.fromkeys(line["variant"] for line in comparison["models"]):
        row_lines = [lines.get((variant, model)) for model in models]
        seeds = sorted({len(line["runs"]) for line in row_lines if line is not None})
        cells = ["" if line is None else _cell(line, measure) for line in row_lines]
        rows.append([variant, " or ".join(map(str, seeds)), f"{chance(variant):.2f}", *cells])
    head = ["variant", "seeds", "chance", *(f"`{model}`" for model in models)]
    return Table(head, rows).markdown()


def _cell(line: Mapping[str, Any], measure: str) -> str:
    """The mean, the best of several seeds, and the paper's figure."""
    figure = line["measures"][measure]
    _, *states = fit_words(line)
    words = [NOT_FITTED if states else f"{figure['mean']:.3f}"]
    words += [f"best {max(figure['values']):.3f}"] * (len(figure["values"]) > 1 and not states)
    if published := figure["published"]:
        words.append(f"paper {published['mean']:.3f}")
    return ", ".join(words)
