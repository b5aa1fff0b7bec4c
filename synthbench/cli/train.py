"""Commands that train models and draw their runs: train, reproduce, figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from synthbench.checks import needs
from synthbench.cli.options import (
    WithExamples,
    choice_option,
    level_option,
    pairs,
    row_counts,
    seed_option,
    set_option,
    show,
    source_option,
    task_argument,
    variant_option,
    variants_option,
)
from synthbench.cli.suite import try_suite
from synthbench.errors import UsageError
from synthbench.text.tables import Table

if TYPE_CHECKING:
    from synthbench.tasks.base import Task
    from synthbench.training.recipes.base import Study

profile_option = choice_option("--profile", "cpu", "paper", "quick")
device_option = click.option(
    "--device",
    default="auto",
    show_default=True,
    metavar="NAME",
    help="auto, cpu, cuda or cuda:N.",
)
precision_option = choice_option("--precision", "float32", "bfloat16")
study_option = click.option(
    "--study",
    default="main",
    show_default=True,
    metavar="NAME",
    help="An ablation or another size.",
)
dataset_option = click.option(
    "--dataset", metavar="DIR", help="The dataset to train on. Made if it does not exist."
)
skip_checks_option = click.option(
    "--skip-checks", is_flag=True, help="Train a layer even if check-layer finds it wrong."
)
compile_option = click.option("--compile", is_flag=True, help="Compile the training step.")
stream_option = click.option(
    "--stream/--no-stream",
    default=None,
    help="Train on endless fresh rows, or on the train split. Default: the study's choice.",
)


@click.command(
    cls=WithExamples,
    epilog="""
    synthbench train grid-count --model counting --out run
    synthbench train ctl --model ndr --stream --recipe steps=5000
    synthbench train ctl --layer my_layer.py:Layer --option num_layers=2
    """,
)
@task_argument
@click.option(
    "--model",
    metavar="M",
    help="A name, or your own: FILE.py:NAME or MODULE:NAME.",
)
@click.option(
    "--layer",
    metavar="FILE:NAME",
    help="A layer for our blocks: FILE.py:NAME, torch.nn:GRU.",
)
@click.option("--out", metavar="RUN", help="Default: runs/TASK/VARIANT/MODEL/seed-SEED.")
@profile_option
@study_option
@variant_option
@dataset_option
@seed_option
@click.option("--recipe", multiple=True, metavar="KEY=VALUE", help="A recipe's field: steps=500.")
@click.option(
    "--option", "options", multiple=True, metavar="KEY=VALUE", help="A model's option: d_model=64."
)
@level_option
@set_option
@click.option(
    "--rows",
    multiple=True,
    metavar="SPLIT=N",
    help="Number of rows of a split. 0 leaves the split out.",
)
@stream_option
@device_option
@precision_option
@compile_option
@click.option(
    "--workers",
    type=int,
    default=1,
    show_default=True,
    help="Processes that make rows, up to 256.",
)
@source_option
@click.option(
    "--keep-checkpoints",
    type=int,
    default=0,
    metavar="N",
    help="Keep N checkpoints, for figures during training.",
)
@click.option("--overwrite", is_flag=True, help="Replace another run in the same place.")
@skip_checks_option
@click.option("--quiet", is_flag=True, help="Show no progress bar and no summary.")
def train(
    task: str,
    model: str | None,
    layer: str | None,
    variant: str | None,
    level: str | None,
    settings: Sequence[str],
    recipe: Sequence[str],
    options: Sequence[str],
    rows: Sequence[str],
    quiet: bool,
    **keywords: Any,
) -> None:
    """Train a model on TASK and evaluate it on every split."""
    from synthbench.training.recipes import find_study

    study = find_study(task, keywords["profile"], keywords["study"])
    if model is None and layer is None:
        names = ", ".join(recipe.name for recipe in study.recipes)
        raise UsageError(
            f"Missing option '--model' or '--layer'. With recipes for {task}: {names}."
        )
    from synthbench.training.train import summary
    from synthbench.training.train import train as run

    variants = () if variant is None else (variant,)
    tasks = _choose(study, keywords["dataset"], variants, level, settings)
    result = run(
        task if tasks is None else next(tasks),
        model=model,
        layer=layer,
        recipe=pairs(recipe, "--recipe"),
        options=pairs(options, "--option"),
        rows=row_counts(rows),
        progress=not quiet,
        **keywords,
    )
    if not quiet:
        show(summary(result))


@click.command(
    cls=WithExamples,
    epilog="""
    synthbench reproduce parity
    synthbench reproduce ctl --model transformer --model ndr --seeds 3
    synthbench reproduce --suite layers --layer my_layer.py:Layer
    synthbench reproduce --suite layers --compare first second
    """,
)
@click.argument("task", required=False)
@click.option("--suite", metavar="S", help="Instead of TASK: layers, the suite for your layer.")
@click.option("--width", type=int, metavar="N", help="With --suite: size of a state. Default: 64.")
@click.option("--rates", metavar="R,R", help="With --suite: learning rates, such as 1e-3,3e-3.")
@click.option(
    "--compare",
    nargs=2,
    metavar="RUN RUN",
    help="With --suite: compare two of its directories.",
)
@profile_option
@study_option
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="M",
    help="A model of the study, or your own. Default: all of the study. Repeatable.",
)
@click.option(
    "--layer",
    "layers",
    multiple=True,
    metavar="FILE:NAME",
    help="A layer of your own in our blocks. Repeatable.",
)
@click.option(
    "--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of your own models."
)
@variants_option
@level_option
@set_option
@click.option("--seeds", type=int, metavar="N", help="Default: as many as the study asks for.")
@click.option("--out", metavar="DIR", help="Default: TASK-reproduced.")
@dataset_option
@stream_option
@device_option
@precision_option
@compile_option
@click.option(
    "--workers",
    type=int,
    metavar="N",
    help="Runs at once, up to 256. Default: usable cores.",
)
@source_option
@click.option("--overwrite", is_flag=True, help="Replace runs of other recipes in DIR.")
@skip_checks_option
@click.option("--quiet", is_flag=True, help="Show no progress bar and no table.")
def reproduce(
    task: str | None,
    suite: str | None,
    width: int | None,
    rates: str | None,
    compare: tuple[str, str] | None,
    models: Sequence[str],
    options: Sequence[str],
    variants: Sequence[str],
    level: str | None,
    settings: Sequence[str],
    quiet: bool,
    **keywords: Any,
) -> None:
    """Train the models of TASK's paper and compare the figures."""
    common: dict[str, Any] = {
        "models": models,
        "options": pairs(options, "--option"),
        "progress": not quiet,
    }
    of_suites = {"--width": width, "--rates": rates, "--compare": compare}
    if suite is not None:
        fixed = {"--variant": variants, "--level": level, "--set": settings}
        try_suite(suite, task, {**keywords, **common}, fixed, quiet, width, rates, compare)
        return
    if misplaced := [name for name, value in of_suites.items() if value is not None]:
        raise UsageError(f"{misplaced[0]} is for --suite.")
    if task is None:
        raise UsageError("Name a TASK, or a suite with --suite.")
    from synthbench.training.comparison import comparison_table
    from synthbench.training.recipes import find_study
    from synthbench.training.reproduce import reproduce as run

    study = find_study(task, keywords["profile"], keywords["study"])
    tasks = _choose(study, keywords["dataset"], variants, level, settings)
    comparison = run(task if tasks is None else list(tasks), **common, **keywords)
    if not quiet:
        show(comparison_table(comparison))


def _choose(
    study: Study,
    dataset: str | None,
    variants: Sequence[str],
    level: str | None,
    settings: Sequence[str],
) -> Iterator[Task] | None:
    """The tasks that the options choose, or None if no option does."""
    from synthbench.generation.planned import PlannedDataset

    if not (variants or level or settings):
        return None
    return PlannedDataset.choose_tasks(
        study.usual,
        dataset,
        variants=variants,
        level=level,
        parameters=pairs(settings, "--set"),
    )


@click.command(
    cls=WithExamples,
    epilog="""
    synthbench figures run
    synthbench figures run --figure attention --split test --row 3 --out drawn
    synthbench figures run other --figure curves --out drawn
    """,
)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option("--figure", "names", multiple=True, metavar="F", help="Default: all. Repeatable.")
@click.option("--split", metavar="S", help="Default: the last, usually the hardest.")
@click.option("--row", type=int, default=0, show_default=True, help="The row to draw maps of.")
@click.option("--out", metavar="DIR", help="Default: RUN/figures.")
@click.option("--dataset", metavar="DIR", help="The run's dataset, if it has moved.")
@source_option
def figures(runs: Sequence[str], **keywords: Any) -> None:
    """Draw curves, attention, gates and probes of finished RUNs."""
    from synthbench.training.directory import RunDirectory

    for run in runs:
        RunDirectory(run).command  # noqa: B018  (refuses other directories, before the slow import)
    with needs("'figures'", "PyTorch", "train"):
        from synthbench.training.figures import draw_figures

    drawn = draw_figures(runs, **keywords)
    lines = [
        (figure.name, str(figure.file) if figure.file else f"not drawn: {figure.reason}")
        for figure in drawn
    ]
    show(Table(("figure", "file"), lines))
