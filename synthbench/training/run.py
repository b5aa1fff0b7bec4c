"""One run: from a recipe and a dataset to chosen parameters and a report on every split."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from torch import nn

from synthbench import __version__
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.streaming.rounds import Rounds
from synthbench.tasks.base import Task
from synthbench.text.progress import Bar
from synthbench.training.batches import EpochBatches, StreamBatches, read_split
from synthbench.training.directory import RunDirectory
from synthbench.training.forms import Form
from synthbench.training.forms.rows import Rows
from synthbench.training.fresh import FreshModel
from synthbench.training.loop import Loop
from synthbench.training.models import code_of
from synthbench.training.options import Setting
from synthbench.training.predicting import (
    EvaluationSplit,
    halting_steps,
    metrics_by_rounds,
    read_longest,
    report_splits,
    training_score,
)
from synthbench.training.recipes.base import Recipe, Study
from synthbench.training.setting import commit, isolated, machine, memory_errors
from synthbench.training.train_fit import FIT_ROWS, fit_of, learned

#: The most measurements of the evaluation splits that a result keeps.
_CURVE_POINTS = 50


@dataclasses.dataclass(frozen=True)
class Run:
    """One run. The seed determines the model's parameters, dropout and the order of rows.

    Of a stream all seeds have the same rows in the same order, unless `one_length` draws from them.
    """

    study: Study
    dataset: DatasetDirectory
    task: Task  # the task in one variant of the dataset
    model: FreshModel
    setting: Setting
    directory: RunDirectory
    overwrite: bool = False  # replace another run in the directory
    again: bool = True  # with `overwrite`, replace a run of the same command, too
    keep: int = 0  # the number of checkpoints that stay in the directory

    @property
    def recipe(self) -> Recipe:
        """The recipe by which the model is trained."""
        return self.model.recipe

    @property
    def form(self) -> Form:
        """The form of the rows."""
        return self.model.form

    @property
    def command(self) -> dict[str, Any]:
        """The run's command, as JSON values. Two runs of it end with the same numbers."""
        manifest = self.dataset.manifest
        splits = manifest.variants[self.task.variant]
        return {
            **command_without_data(self.study, self.task, self.model, self.setting),
            "data": {
                "seed": manifest.seed,
                "parameters": manifest.parameters,
                "digests": {name: split.digest for name, split in splits.items()},
            },
        }

    def finish(self, bar: Bar | None = None) -> dict[str, Any]:
        """Train, from where an interrupted run stopped, and evaluate. Returns the result.

        Whatever is wrong is refused before a file changes.

        Args:
            bar: as in `Loop.run`.

        Raises:
            UsageError: another run is in the directory or at work there.
            ParameterError: a row that is too long for the model.
            SynthbenchError: too little memory, or a checkpoint or rows that cannot be read.
        """
        overwrite = self.overwrite and (self.again or not self.directory.holds(self.command))
        if not overwrite and self.directory.result is not None:
            with self.directory.open(self.command):
                return self.directory.result
        splits = self._read_splits()
        with memory_errors(self.recipe, self.setting), isolated(self.model.seed, self.setting):
            model = self.model.take(next(iter(splits.values()))[0]).to(self.setting.device)
            for rows, _ in splits.values():
                read_longest(model, rows)
            with self.directory.open(self.command, overwrite):
                return self.directory.result or self._finish(model, splits, bar)

    def _read_splits(self) -> dict[str, EvaluationSplit]:
        """All evaluation splits, each read once."""
        task = self.task
        groups = [name for breakdown in task.group_by for name in breakdown.columns]
        judged = task.scored_columns or task.columns
        columns = list(dict.fromkeys(["id", *judged, *groups]))
        return {
            split.name: read_split(self.dataset, task.variant, split.name, self.form, columns)
            for split in task.splits
            if split.evaluation and split.name in self.dataset.manifest.variants[task.variant]
        }

    def _finish(
        self, model: nn.Module, splits: Mapping[str, EvaluationSplit], bar: Bar | None
    ) -> dict[str, Any]:
        """`finish` in a locked directory."""
        task, directory = self.task, self.directory
        written = self.dataset.manifest.variants[task.variant]
        rows = {name: encoded for name, (encoded, _) in splits.items()}
        code = commit()  # before training, because the checkout may change meanwhile
        taken = self._train(model, rows, bar)
        # The metrics' lines that have measurements of the evaluation splits.
        needed = {f"{split}/loss" for split in self.study.eval_splits}
        evaluations = [line for line in directory.metrics() if needed <= line.keys()]
        started = time.perf_counter()
        result = {
            **self.command,
            "commit": code,
            "study": {"name": self.study.name, "profile": self.study.profile},
            "rows": {name: split.rows for name, split in written.items()},
            **taken,
            "model_parameters": sum(parameter.numel() for parameter in model.parameters()),
            "metrics": list(task.metrics),
            "splits": report_splits(
                f"evaluate {self.recipe.name}", model, self.form, task, splits, self.setting
            ),
            "rounds": metrics_by_rounds(model, self.form, task, splits, self._rounds, self.setting),
            "halting": (halting_steps(model, rows, self.setting) if self.recipe.ponder else None),
            "eureka": self._eureka(evaluations),
            "curve": _thinned(evaluations),
            "machine": machine(self.setting),
            "evaluation_seconds": round(time.perf_counter() - started, 3),
            "dataset": str(self.dataset.path.resolve()),
        }
        directory.finish(model.state_dict(), result)
        return result

    def _train(self, model: nn.Module, rows: Mapping[str, Rows], bar: Bar | None) -> dict[str, Any]:
        """Train the model, if there is something to learn, and give it the chosen parameters."""
        recipe, study, setting = self.recipe, self.study, self.setting
        directory, form = self.directory, self.form
        if recipe.steps == 0:
            return {
                "steps": 0, "best_step": 0, "seconds": 0.0, "steps_per_second": None, "fit": None,
                "learned_at": None, "tokens": 0,
            }  # fmt: skip
        eval_splits = {name: rows[name] for name in study.eval_splits}
        with self._batches() as batches:
            watched = eval_splits, study.select
            loop = Loop(recipe, model, form, batches, *watched, directory, setting, self.keep)
            parameters = loop.run(bar)
            trained_on = batches.sample(FIT_ROWS)
        best_step = loop.best.step if loop.best else loop.step
        last = copy.deepcopy(dict(model.state_dict()))
        end = training_score(model, trained_on, form, setting)
        model.load_state_dict(parameters)
        kept = training_score(model, trained_on, form, setting)
        if not learned(kept) and learned(end):
            # A model that does not generalise may be best on validation before it has learned.
            model.load_state_dict(last)
            kept, best_step = end, loop.step
        return {
            "fit": fit_of(form.metric, len(trained_on), end, kept),
            "steps": loop.step,
            "best_step": best_step,
            "learned_at": loop.learned_at,
            "tokens": int(loop.tokens),
            "seconds": round(loop.seconds, 3),
            "steps_per_second": round(loop.step / loop.seconds, 3),
        }

    @contextlib.contextmanager
    def _batches(self) -> Iterator[EpochBatches | StreamBatches]:
        """The batches that the model is trained on, from the train split or a stream."""
        recipe, device, form = self.recipe, self.setting.device, self.form
        size = recipe.batch_size
        drawn: dict[str, Any] = {
            "seed": self.model.seed,
            "one_length": recipe.one_length,
            "balanced": recipe.balanced,
        }
        if not self.study.stream:
            rows, _ = read_split(self.dataset, self.task.variant, "train", form)
            if fits(rows, device):
                rows = rows.to(device)
            yield EpochBatches(rows, size, fixed_width=self.setting.compiled, **drawn)
            return
        source = Rounds(self.task, "train")
        # An epoch is as many rows as the paper's train split has.
        epoch = self.task.split("train").rows
        with source.tables(self.setting.workers) as table:
            yield StreamBatches(source, table, size, form, device, epoch, **drawn)

    @property
    def _rounds(self) -> set[int]:
        """The numbers of rounds that the study's measures name."""
        measures = self.study.measures
        return {measure.rounds for measure in measures if measure.rounds is not None}

    def _eureka(self, evaluations: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
        """When the measured accuracy first passed the threshold, None if it never did."""
        split = self.study.select or next(iter(self.study.eval_splits), None)
        for line in evaluations if self.study.eureka else ():
            if line[f"{split}/accuracy"] > self.study.eureka:
                return {"split": split, "step": line["step"], "epoch": line["epoch"]}
        return None


def command_without_data(
    study: Study, task: Task, model: FreshModel, setting: Setting
) -> dict[str, Any]:
    """The part of `Run.command` that is known before the dataset is made."""
    return {
        "synthbench": __version__,
        "task": task.name,
        "variant": task.variant,
        "recipe": model.recipe.to_dict(),
        "seed": model.seed,
        "stream": study.stream,
        "select": study.select,
        "precision": setting.precision,
        **({} if (code := code_of(model.recipe.model)) is None else {"code": code}),
    }


def _thinned(curve: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """At most `_CURVE_POINTS` lines, evenly spaced, the last one included. Without gradients."""
    every = max(1, -(-len(curve) // _CURVE_POINTS))
    return [
        {name: value for name, value in line.items() if not name.startswith("grad_norm/")}
        for line in curve[::-1][::every][::-1]
    ]


def fits(rows: Rows, device: torch.device) -> bool:
    """True if rows can stay on a device: they take at most a quarter of its free memory."""
    if device.type != "cuda":
        return True
    size = sum(part.nbytes for part in rows.parts if part is not None)
    free, _ = torch.cuda.mem_get_info(device)
    return size < free / 4
