"""Figures of a finished run, like those of the papers. They need matplotlib and scikit-learn."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from synthbench.dataset.output import OutputDirectory
from synthbench.errors import SynthbenchError, unknown_name
from synthbench.text.progress import progress_bar
from synthbench.training.figures.curves import GradientNorms, LearningCurves
from synthbench.training.figures.figure import Figure, Unavailable, open_run
from synthbench.training.figures.pairs import Pairs
from synthbench.training.figures.places import Places
from synthbench.training.figures.probing import Probes
from synthbench.training.figures.rows import (
    AttentionMaps,
    Counts,
    ExplainedAway,
    Gates,
    HaltingSteps,
    HybridWeights,
    KeyMass,
    PointPaths,
)

FIGURES: dict[str, Figure] = {
    figure.name: figure
    for figure in (
        LearningCurves(),
        GradientNorms(),
        AttentionMaps(),
        Gates(),
        HaltingSteps(),
        KeyMass(),
        ExplainedAway(),
        HybridWeights(),
        Probes(),
        Counts(),
        PointPaths(),
        Places(),
        Pairs(),
    )
}


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A figure that was asked for."""

    name: str
    file: Path | None  # its picture; its data is beside it, as JSON
    reason: str = ""  # why there is no picture


def draw_figures(
    run: str | PathLike[str],
    *,
    out: str | PathLike[str] | None = None,
    names: Sequence[str] | None = None,
    split: str | None = None,
    row: int = 0,
    dataset: str | PathLike[str] | None = None,
    progress: bool = True,
) -> list[Drawn]:
    """Draw the figures that a run can have, each as a picture and its data.

    Args:
        run: the run's directory.
        out: the directory to write to; default: `figures` in the run's directory.
        names: names in `FIGURES`; default: all.
        split: the split that they show; default: the last one, usually the hardest.
        row: the row whose attention and gates are drawn, counted from 0.
        dataset: the dataset of the run; default: where it was in training.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        Each figure's file, or the reason why there is none, in the order of the names.

    Raises:
        UsageError: no such run, figure, split or row, or a directory that cannot be written.
        DatasetError: a run that is not finished, or a dataset that cannot be read.
        SynthbenchError: a package is missing, or a file cannot be written.
    """
    for package, name in (("matplotlib", "matplotlib"), ("sklearn", "scikit-learn")):
        if importlib.util.find_spec(package) is None:
            raise SynthbenchError(f"Figures need {name}: pip install 'synthbench[train]'.")
    for one in names or ():
        if one not in FIGURES:
            raise unknown_name("figure", one, FIGURES)
    view = open_run(run, dataset, split, row)
    folder = Path(out or Path(run, "figures"))
    output = OutputDirectory(folder)
    output.check_path()
    output.make()
    drawn = []
    with progress_bar(progress, "draw", "figures", len(names or FIGURES)) as bar:
        for one in names or FIGURES:
            bar.update(0, now=one)
            try:
                data = FIGURES[one].data(view)
            except Unavailable as reason:
                drawn.append(Drawn(one, None, str(reason)))
            else:
                output.write_text(f"{one}.json", json.dumps(data, ensure_ascii=False) + "\n")
                drawn.append(Drawn(one, folder / f"{one}.png"))
                with output.writing(f"{one}.png") as file:
                    FIGURES[one].draw(data, file)
            bar.update()
    return drawn
