"""From the names of a task and a model to a trained model and its result."""

from __future__ import annotations

import contextlib
import dataclasses
import platform
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

import synthbench
from synthbench.dataset import Dataset
from synthbench.engine import open_engine, usable_cores
from synthbench.evaluation import evaluate
from synthbench.sources import use_source_dir
from synthbench.streaming import Rounds
from synthbench.tables import text_table
from synthbench.train.batches import Batches, EpochBatches, StreamBatches, read_split
from synthbench.train.data import DataRequest
from synthbench.train.encoding import Encoding, Rows
from synthbench.train.loop import Loop
from synthbench.train.models import build
from synthbench.train.objectives import OBJECTIVES, Objective
from synthbench.train.predicting import halting_steps, predict
from synthbench.train.recipes import find_study
from synthbench.train.recipes.base import Recipe, Study
from synthbench.train.runs import RunDirectory
from synthbench.train.setting import Setting, isolated, memory_errors

#: Rows of the train split beside a stream: nobody reads them, but a dataset has some.
_STREAM_TRAIN_ROWS = 100


def train(
    task: str,
    *,
    model: str,
    out: str | Path | None = None,
    profile: str = "cpu",
    study: str = "main",
    variant: str | None = None,
    data: str | Path | None = None,
    seed: int = 0,
    recipe: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    rows: Mapping[str, int] | None = None,
    stream: bool = False,
    device: str = "auto",
    precision: str = "float32",
    compile: bool = False,
    workers: int = 1,
    source_dir: str | Path | None = None,
    overwrite: bool = False,
    progress: bool = True,
) -> dict[str, Any]:
    """Train one model and evaluate it on every evaluation split.

    An interrupted run is continued by the same call, from its last validation; on a CPU it ends
    with the same numbers. A finished one is only read.

    Args:
        task: name of the task.
        model: name of a model that has a recipe for it.
        out: the run's directory; default: `runs/TASK/VARIANT/MODEL/seed-SEED`.
        profile: sizes of the recipe: "cpu", or "paper".
        study: "main", or an ablation of the papers.
        variant: one of the task's variants; default: the recipe's first.
        data: a dataset directory, made if it is not there; default: `data` in the run's.
        seed: of the model's parameters, dropout and the order of rows; the dataset that is made
            has the seed 0.
        recipe: fields of the recipe to change, such as `steps`.
        options: options of the model to change, such as `num_layers`.
        parameters: the task's parameters that differ from the recipe's.
        rows: rows of splits that differ from the recipe's.
        stream: train on fresh rows from `stream`, instead of the train split.
        device: "auto", "cpu", "cuda" or "cuda:N".
        precision: "float32", or "bfloat16".
        compile: compile the training step with `torch.compile`.
        workers: how many processes make rows.
        source_dir: where source images lie, for tasks made from images.
        overwrite: replace another run that is there.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        The result, as written to `result.json`.

    Raises:
        UsageError: a name that does not exist, a place that cannot be used, data of another task
            or with other parameters, or no such device.
        ParameterError: an impossible recipe, option or parameter.
        DatasetError: a dataset or checkpoint that is not what it should be.
        SynthbenchError: too little memory.
    """
    comparison = find_study(task, profile, study)
    chosen = comparison.recipe(model).changed(recipe or {}, options or {})
    variant = variant or comparison.variants[0]
    setting = Setting.make(device, precision, compile, progress)
    path = Path(out or Path("runs", task, variant, chosen.name, f"seed-{seed}"))
    wanted = DataRequest(
        task,
        (variant,),
        {**comparison.parameters, **(parameters or {})},
        {**comparison.rows, **(rows or {}), **({"train": _STREAM_TRAIN_ROWS} if stream else {})},
        insisted=parameters or {},
    )
    with use_source_dir(source_dir):
        dataset = wanted.open(Path(data or path / "data"), workers, progress)
        run = Run(comparison, chosen, dataset, variant, seed, setting, stream, workers)
        return run.finish(RunDirectory(path), overwrite)


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
            UsageError: another run is in the directory, or the model does not fit the task.
            ParameterError: an option that the model does not have.
            DatasetError: a checkpoint or rows that cannot be read.
            SynthbenchError: too little memory.
        """
        directory.open(self.command, overwrite)
        if (result := directory.result) is not None:
            return result
        started = time.perf_counter()
        task = self.dataset.manifest.make_task(self.variant)
        encoding = Encoding.of(task)
        objective = OBJECTIVES[encoding.target]()
        rows = {
            split.name: read_split(self.dataset, self.variant, split.name, encoding)
            for split in task.splits
            if split.evaluation
        }
        with memory_errors(self.recipe, self.setting), isolated(self.seed, self.setting.device):
            sizes = encoding.sizes(next(iter(rows.values())))
            model = build(self.recipe.model, encoding.form, sizes, self.recipe.options)
            model = model.to(self.setting.device)
            taken = self._train(model, objective, encoding, rows, directory)
            result = {
                **self.command,
                "study": {"name": self.study.name, "profile": self.study.profile},
                **taken,
                "model_parameters": sum(one.numel() for one in model.parameters()),
                "metrics": list(task.metrics),
                "splits": self._reports(model, objective, rows),
                "halting": self._halting(model, rows),
                "eureka": self._eureka(directory),
                "machine": machine(self.setting),
                "total_seconds": round(time.perf_counter() - started, 3),
                "dataset": str(self.dataset.path),
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


def summary(result: Mapping[str, Any]) -> str:
    """A result for people: what was run, and each split's metrics."""
    metrics = [name for name in next(iter(result["splits"].values())) if name in result["metrics"]]
    head = ["split", "rows", *metrics]
    lines = [
        [name, f"{report['rows']:,}", *(shown(report[metric]) for metric in metrics)]
        for name, report in result["splits"].items()
    ]
    speed = result["steps_per_second"]
    title = (
        f"{result['task']}, {result['variant']}: {result['recipe']['name']}, "
        f"{result['steps']:,} steps" + (f" at {speed:.1f} a second" if speed else "")
    )
    return f"{title}\n\n{text_table(head, lines, right=range(1, len(head)))}"


def shown(value: float | None) -> str:
    """A metric for people."""
    if value is None:
        return "-"
    return f"{value:.3g}" if 0 < abs(value) < 0.01 else f"{value:.4f}"


def fits(rows: Rows, device: torch.device) -> bool:
    """Whether rows may lie on a device for a whole run: they take a quarter of it at most."""
    if device.type != "cuda":
        return True
    parts = (rows.inputs, rows.lengths, rows.targets)
    size = sum(part.nbytes for part in parts if part is not None)
    free, _ = torch.cuda.mem_get_info(device)
    return size < free / 4


def machine(setting: Setting) -> dict[str, Any]:
    """What a run was made with, as JSON values."""
    gpu = setting.device.type == "cuda"
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "cores": usable_cores(),
        "threads": torch.get_num_threads(),
        "gpu": torch.cuda.get_device_name(setting.device) if gpu else None,
    }


def processor() -> str:
    """The processor's name, as far as the system tells it."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
