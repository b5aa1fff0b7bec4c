"""Figures of a finished run, like those of the papers. They need matplotlib and scikit-learn."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from synthbench.dataset.output import OutputDirectory
from synthbench.errors import SynthbenchError, unknown_name
from synthbench.text.progress import progress_bar
from synthbench.training.figures.counting import Counts, NormInputs, PaperGrid
from synthbench.training.figures.curves import GradientNorms, LearningCurves, Slingshots
from synthbench.training.figures.dnas import Centres, HybridCourse
from synthbench.training.figures.figure import Figure, RunView, Unavailable, open_run
from synthbench.training.figures.pairs import Pairs
from synthbench.training.figures.places import Places
from synthbench.training.figures.probing import AttentionProbes, Probes
from synthbench.training.figures.regions import (
    AttentionImage,
    AttentionScores,
    RegionCourse,
    RegionGradients,
)
from synthbench.training.figures.rows import (
    AttentionMaps,
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
        HybridCourse(),
        Probes(),
        AttentionProbes(),
        AttentionImage(),
        AttentionScores(),
        RegionGradients(),
        RegionCourse(),
        Slingshots(),
        Counts(),
        NormInputs(),
        PaperGrid(),
        PointPaths(),
        Centres(),
        Places(),
        Pairs(),
    )
}


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A figure that was asked for."""

    run: Path
    name: str
    file: Path | None  # its picture. Its data is beside it, as JSON
    reason: str = ""  # why the picture is missing


def draw_figures(
    run: str | PathLike[str] | Sequence[str | PathLike[str]],
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
        run: the run's directory, or the directories of several runs.
        out: the directory to write to, where each of several runs has its own path below the
            directory that they share. Default: `figures` in the run's directory.
        names: names in `FIGURES`. Default: all.
        split: the split that they show. Default: the last, usually the hardest.
        row: the row whose attention and gates are drawn, counted from 0.
        dataset: the dataset of the runs. Default: where it was in training.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        Each figure's file, or the reason for its absence, in the order of the runs and the names.

    Raises:
        UsageError: no such run, figure, split or row, or a directory that cannot be written.
        DatasetError: a run that is not finished, or a dataset that cannot be read.
        SynthbenchError: a package is missing, or a file cannot be written.
    """
    for package, name in (("matplotlib", "matplotlib"), ("sklearn", "scikit-learn")):
        if importlib.util.find_spec(package) is None:
            raise SynthbenchError(f"Figures need {name}: pip install 'synthbench[train]'.")
    for figure in names or ():
        if figure not in FIGURES:
            raise unknown_name("figure", figure, FIGURES)
    runs = [run] if isinstance(run, str | PathLike) else list(run)
    paths = list(dict.fromkeys(Path(run).resolve() for run in runs))
    shared = os.path.commonpath(paths) if len(paths) > 1 else paths[0]
    views = [open_run(path, dataset, split, row) for path in paths]
    outputs = [
        OutputDirectory(path / "figures" if out is None else Path(out, path.relative_to(shared)))
        for path in paths
    ]
    for output in outputs:
        output.check_path()
    wanted, drawn = names or list(FIGURES), []
    with progress_bar(progress, "draw", "figures", len(views) * len(wanted)) as bar:
        for view, output in zip(views, outputs, strict=True):
            output.make()
            for name in wanted:
                bar.update(0, now=name)
                drawn.append(_draw(view, FIGURES[name], output))
                bar.update()
    return drawn


def _draw(view: RunView, figure: Figure, output: OutputDirectory) -> Drawn:
    """Write the data and the picture of a figure, if the run has it."""
    name, run = figure.name, view.directory.path
    try:
        data = figure.data(view)
    except Unavailable as reason:
        return Drawn(run, name, None, str(reason))
    output.write_text(f"{name}.json", json.dumps(data, ensure_ascii=False) + "\n")
    with output.writing(f"{name}.png") as file:
        figure.draw(data, file)
    return Drawn(run, name, output.path / f"{name}.png")
