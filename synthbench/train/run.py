"""One run: from a recipe and a dataset to chosen parameters and a report on every split."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn

import synthbench
from synthbench.dataset import Dataset
from synthbench.engine import open_engine
from synthbench.evaluation import evaluate
from synthbench.streaming import Rounds
from synthbench.train.batches import Batches, EpochBatches, StreamBatches, read_split
from synthbench.train.directory import RunDirectory
from synthbench.train.encoding import Encoding, Rows
from synthbench.train.loop import Loop
from synthbench.train.machine import machine
from synthbench.train.models import build
from synthbench.train.objectives import OBJECTIVES, Objective
from synthbench.train.predicting import halting_steps, predict
from synthbench.train.recipes.base import Recipe, Study
from synthbench.train.setting import Setting, isolated, memory_errors

#: Points of a curve that a result keeps.
_CURVE_POINTS = 50


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
    dataset: Dataset
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
        return {
            "synthbench": synthbench.__version__,
            "task": manifest.task,
            "variant": self.variant,
            "recipe": self.recipe.to_dict(),
            "seed": self.seed,
            "data": {
                "seed": manifest.seed,
                "parameters": manifest.parameters,
                "digests": {name: split.digest for name, split in splits.items()},
            },
            "stream": self.stream,
            "select": self.study.select,
            "precision": self.setting.precision,
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
        with directory.open(self.command, overwrite):
            return directory.result or self._finish(directory)

    def _finish(self, directory: RunDirectory) -> dict[str, Any]:
        """`finish` in a directory that this process has alone."""
        task = self.dataset.make_task(self.variant)
        encoding = Encoding.of(task)
        objective = OBJECTIVES[encoding.target]()
        rows = {
            split.name: read_split(self.dataset, self.variant, split.name, encoding)
            for split in task.splits
            if split.evaluation
        }
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
                "splits": self._reports(model, objective, rows),
                "halting": self._halting(model, rows),
                "eureka": self._eureka(directory),
                "curve": _thinned(directory.metrics()),
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
        size, device = self.recipe.batch_size, self.setting.device
        if not self.stream:
            rows = read_split(self.dataset, self.variant, "train", encoding)
            if fits(rows, device):
                rows = rows.to(device)
            yield EpochBatches(
                rows,
                size,
                self.seed,
                window=self.recipe.window,
                fixed_width=self.setting.compiled,
                balanced=self.recipe.balanced,
            )
            return
        manifest = self.dataset.manifest
        # The same seed and parameters: no row of the evaluation splits comes in the stream.
        source = Rounds(
            manifest.make_task(self.variant),
            "train",
            size,
            {name: split.rows for name, split in manifest.variants[self.variant].items()},
        )
        with open_engine(workers=self.workers) as engine:
            yield StreamBatches(source, size, encoding, engine, device)

    def _reports(
        self, model: nn.Module, objective: Objective, rows: Mapping[str, Rows]
    ) -> dict[str, Any]:
        """How the model does on each evaluation split, by what makes rows hard."""
        return {
            name: evaluate(
                self.dataset.path,
                predict(model, split, objective, self.setting),
                variant=self.variant,
                split=name,
            ).to_dict()
            for name, split in rows.items()
        }

    def _halting(self, model: nn.Module, rows: Mapping[str, Rows]) -> dict[str, float] | None:
        if not self.recipe.ponder:
            return None
        steps = {name: halting_steps(model, split, self.setting) for name, split in rows.items()}
        return {name: value for name, value in steps.items() if value is not None}

    def _eureka(self, directory: RunDirectory) -> dict[str, Any] | None:
        """When the watched accuracy first passed the threshold, None if it never did."""
        split = self.study.select or next(iter(self.study.watched), None)
        for line in directory.metrics() if self.study.eureka else ():
            if line[f"{split}/accuracy"] > self.study.eureka:
                return {"split": split, "step": line["step"], "epoch": line["epoch"]}
        return None


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
