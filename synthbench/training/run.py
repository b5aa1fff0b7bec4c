"""One run: from a recipe and a dataset to chosen parameters and a report on every split."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import torch
from torch import nn

from synthbench import __version__
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.engine.open import open_engine
from synthbench.errors import DatasetError
from synthbench.evaluation.evaluate import evaluate
from synthbench.streaming.rounds import Rounds
from synthbench.tasks.base import Task
from synthbench.text.progress import progress_bar
from synthbench.training.batches import (
    Batches,
    EpochBatches,
    OneLength,
    StreamBatches,
    read_split,
    read_split_with,
)
from synthbench.training.directory import RunDirectory
from synthbench.training.encoding import Encoding, Rows
from synthbench.training.fitting import check_fit
from synthbench.training.loop import Loop
from synthbench.training.models import build
from synthbench.training.objectives import OBJECTIVES, Objective
from synthbench.training.predicting import halting_steps, predict
from synthbench.training.recipes.base import Recipe, Study
from synthbench.training.setting import Setting, isolated, machine, memory_errors

#: Looks at the watched splits that a result keeps.
_CURVE_POINTS = 50


@dataclasses.dataclass(frozen=True)
class _EvaluationSplit:
    """An evaluation split as it was read before training.

    Attributes:
        rows: what the model reads.
        judged: what `evaluate` reads: the id and the columns by which answers are judged and
            grouped.
    """

    rows: Rows
    judged: pa.Table

    @classmethod
    def read(
        cls, dataset: DatasetDirectory, task: Task, split: str, encoding: Encoding
    ) -> _EvaluationSplit:
        groups = [breakdown.column for breakdown in task.breakdowns]
        columns = list(dict.fromkeys(["id", *(task.judged_by or task.columns), *groups]))
        rows, judged = read_split_with(dataset, task.variant, split, encoding, columns)
        stated = dataset.split(task.variant, split).rows
        if len(rows) != stated:
            raise DatasetError(
                f"{dataset.path}: split {split!r} has {len(rows):,} rows where its manifest says "
                f"{stated:,}."
            )
        return cls(rows, judged)


@dataclasses.dataclass(frozen=True)
class Run:
    """One run, with everything chosen.

    Attributes:
        study: what it belongs to.
        recipe: the model and how it is trained.
        dataset: where its rows are.
        variant: which of the dataset's variants.
        seed: of parameters, dropout and the order of rows.
        setting: how to compute.
        stream: whether it trains on fresh rows.
        workers: how many processes make them.
    """

    study: Study
    recipe: Recipe
    dataset: DatasetDirectory
    variant: str
    seed: int
    setting: Setting
    stream: bool = False
    workers: int = 1

    @property
    def command(self) -> dict[str, Any]:
        """What is run, as JSON values: two runs of one command end with the same numbers."""
        manifest = self.dataset.manifest
        splits = manifest.variants[self.variant]
        known = command_without_data(
            self.study, self.recipe, self.variant, self.seed, self.setting, self.stream
        )
        return {
            **known,
            "data": {
                "seed": manifest.seed,
                "parameters": manifest.parameters,
                "digests": {name: split.digest for name, split in splits.items()},
            },
        }

    def finish(self, directory: RunDirectory, overwrite: bool = False) -> dict[str, Any]:
        """Train, from where an interrupted run stopped, and evaluate; returns the result.

        Raises:
            UsageError: another run is in the directory or at work there, or the model does not
                fit the task.
            ParameterError: an option that the model does not have.
            DatasetError: a checkpoint or rows that cannot be read.
            SynthbenchError: too little memory.
        """
        directory.check(self.command, overwrite)
        splits = None
        if overwrite or directory.result is None:
            splits = self._read_splits()  # what can be refused is refused before anything changes
        with directory.open(self.command, overwrite):
            return directory.result or self._finish(directory, splits or self._read_splits())

    def _read_splits(self) -> dict[str, _EvaluationSplit]:
        """All evaluation splits, each read once, after a check that the model can read them."""
        task = self.dataset.make_task(self.variant)
        encoding = Encoding.of(task)
        splits = {
            split.name: _EvaluationSplit.read(self.dataset, task, split.name, encoding)
            for split in task.splits
            if split.evaluation
        }
        records = self.dataset.manifest.variants[self.variant]
        sizes = {name: record.rows for name, record in records.items()}
        rows = [split.rows for split in splits.values()]
        check_fit(self.recipe, task, rows, sizes, self.stream)
        return splits

    def _finish(
        self, directory: RunDirectory, splits: Mapping[str, _EvaluationSplit]
    ) -> dict[str, Any]:
        """`finish` in a directory that this process has alone."""
        task = self.dataset.make_task(self.variant)
        encoding = Encoding.of(task)
        rows = {name: split.rows for name, split in splits.items()}
        objective = OBJECTIVES[encoding.target]()
        with memory_errors(self.recipe, self.setting), isolated(self.seed, self.setting):
            sizes = encoding.sizes(next(iter(rows.values())))
            model = build(self.recipe.model, encoding.form, sizes, self.recipe.options)
            model = model.to(self.setting.device)
            taken = self._train(model, objective, encoding, rows, directory)
            started = time.perf_counter()
            result = {
                **self.command,
                "study": {"name": self.study.name, "profile": self.study.profile},
                **taken,
                "model_parameters": sum(one.numel() for one in model.parameters()),
                "metrics": list(task.metrics),
                "splits": self._reports(model, objective, task, splits),
                "halting": self._halting(model, rows),
                "eureka": self._eureka(directory),
                "curve": _thinned(self._looks(directory)),
                "machine": machine(self.setting),
                "evaluation_seconds": round(time.perf_counter() - started, 3),
                "dataset": str(self.dataset.path.resolve()),
            }
        directory.finish(model.state_dict(), result)
        return result

    def _train(
        self,
        model: nn.Module,
        objective: Objective,
        encoding: Encoding,
        rows: Mapping[str, Rows],
        directory: RunDirectory,
    ) -> dict[str, Any]:
        """Train the model, if there is something to learn, and give it the chosen parameters."""
        if self.recipe.steps == 0:
            return {"steps": 0, "best_step": 0, "seconds": 0.0, "steps_per_second": None}
        watched = {name: rows[name] for name in self.study.watched}
        with self._batches(encoding) as batches:
            loop = Loop(
                self.recipe,
                model,
                objective,
                batches,
                watched,
                self.study.select,
                directory,
                self.setting,
            )
            model.load_state_dict(loop.run())
        return {
            "steps": loop.step,
            "best_step": loop.best.step if loop.best else loop.step,
            "seconds": round(loop.seconds, 3),
            "steps_per_second": round(loop.step / loop.seconds, 3),
        }

    @contextlib.contextmanager
    def _batches(self, encoding: Encoding) -> Iterator[Batches]:
        """What the model is trained on: the train split, or a stream."""
        recipe, device = self.recipe, self.setting.device
        size = recipe.batch_size
        if not self.stream:
            rows = read_split(self.dataset, self.variant, "train", encoding)
            if fits(rows, device):
                rows = rows.to(device)
            yield EpochBatches(
                rows,
                size,
                self.seed,
                one_length=recipe.one_length,
                fixed_width=self.setting.compiled,
                balanced=recipe.balanced,
            )
            return
        task = self.dataset.manifest.make_task(self.variant)
        source = Rounds(task, "train", size)
        with open_engine(workers=self.workers) as engine:
            # An epoch is as many rows as the paper's train split has.
            epoch = task.split("train").rows
            choose = functools.partial(
                OneLength, batch_size=size, seed=self.seed, balanced=recipe.balanced
            )
            yield StreamBatches(
                source, size, encoding, engine, device, epoch, choose if recipe.one_length else None
            )

    def _reports(
        self,
        model: nn.Module,
        objective: Objective,
        task: Task,
        splits: Mapping[str, _EvaluationSplit],
    ) -> dict[str, Any]:
        """How the model does on each evaluation split, by what makes rows hard."""
        reports = {}
        rows = sum(len(split.rows) for split in splits.values())
        with progress_bar(
            self.setting.progress, f"evaluate {self.recipe.name}", "rows", rows
        ) as bar:
            for name, split in splits.items():
                bar.update(0, now=name)
                answers = predict(model, split.rows, objective, self.setting)
                judged = split.judged.to_pylist()
                report = evaluate(judged, answers, task=task, split=name, progress=False)
                reports[name] = report.to_dict()
                bar.update(len(split.rows))
        return reports

    def _halting(self, model: nn.Module, rows: Mapping[str, Rows]) -> dict[str, float] | None:
        if not self.recipe.ponder:
            return None
        steps = {name: halting_steps(model, split, self.setting) for name, split in rows.items()}
        return {name: value for name, value in steps.items() if value is not None}

    def _looks(self, directory: RunDirectory) -> list[dict[str, Any]]:
        """The lines of the metrics that say how the watched splits stood."""
        needed = {f"{split}/loss" for split in self.study.watched}
        return [line for line in directory.metrics() if needed <= line.keys()]

    def _eureka(self, directory: RunDirectory) -> dict[str, Any] | None:
        """When the watched accuracy first passed the threshold, None if it never did."""
        split = self.study.select or next(iter(self.study.watched), None)
        for line in self._looks(directory) if self.study.eureka else ():
            if line[f"{split}/accuracy"] > self.study.eureka:
                return {"split": split, "step": line["step"], "epoch": line["epoch"]}
        return None


def command_without_data(
    study: Study, recipe: Recipe, variant: str, seed: int, setting: Setting, stream: bool
) -> dict[str, Any]:
    """What is run, as far as it is known before the dataset is made; as JSON values."""
    return {
        "synthbench": __version__,
        "task": study.task,
        "variant": variant,
        "recipe": recipe.to_dict(),
        "seed": seed,
        "stream": stream,
        "select": study.select,
        "precision": setting.precision,
    }


def _thinned(curve: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Some lines of the metrics, evenly spread, the last one among them; without gradients."""
    every = -(-len(curve) // _CURVE_POINTS)
    return [
        {name: value for name, value in line.items() if not name.startswith("grad_norm/")}
        for number, line in enumerate(reversed(curve))
        if number % every == 0
    ][::-1]


def fits(rows: Rows, device: torch.device) -> bool:
    """Whether rows may lie on a device for a whole run: they take a quarter of it at most."""
    if device.type != "cuda":
        return True
    parts = (rows.inputs, rows.lengths, rows.targets)
    size = sum(part.nbytes for part in parts if part is not None)
    free, _ = torch.cuda.mem_get_info(device)
    return size < free / 4
