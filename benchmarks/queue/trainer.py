"""Takes the steps of a training, in pieces.

A step depends on the seed and the step's number alone: random numbers are seeded anew before each.
So a training that was interrupted goes on with the losses that it would have had. The rules for the
best step and for Eureka-moments are those of `synthbench train`. It keeps the parameters of the
best step; here the answers that they gave to all evaluation rows are kept instead, which are a
thousandth of the size.
"""

import contextlib
import dataclasses
import itertools
import statistics
import time
from typing import Any

import torch

from benchmarks.queue.rows import judged, split_rows
from synthbench.errors import UsageError
from synthbench.evaluation.evaluate import evaluate
from synthbench.training.forms.form import Classes
from synthbench.training.forms.rows import Batch
from synthbench.training.layers.attention import set_temperature
from synthbench.training.loop import learning_rate, parameter_groups, temperature
from synthbench.training.models import build
from synthbench.training.predicting import apply
from synthbench.training.run import _thinned, command_without_data
from synthbench.training.setting import machine
from synthbench.training.train_fit import fit_of, learned

#: Rows that are evaluated at a time, and seconds between two states.
_EVALUATED, _SAVE_EVERY = 512, 60.0


def check(training, form):
    """Refuse a training that would not be what its study and recipe ask for.

    Raises:
        UsageError: names what this trainer does not do.
    """
    study, recipe, images = training.study, training.recipe, form.reads == "images"
    refused = {
        "ponder": recipe.ponder,
        "balance_gradients": recipe.balance_gradients,
        "one_length of images": images and recipe.one_length,
        "balanced of images": images and recipe.balanced,
        f"form={recipe.form}": recipe.form,
        "labels that are no classes": not isinstance(form, Classes),
        "a study without select": study.select is None,
        "a study with rows of its own": study.rows,
        "a stream of texts": study.stream and not images,
        "a train split of images": images and not study.stream,
    }
    if found := [what for what, is_asked in refused.items() if is_asked]:
        raise UsageError(
            f"{training.name}: the queue does not know {', '.join(found)}; `synthbench train` does."
        )


@dataclasses.dataclass
class Progress:
    """How far a training is, without its parameters."""

    step: int = 0
    seconds: float = 0.0
    curve: list[dict[str, float]] = dataclasses.field(default_factory=list)
    best: dict[str, Any] | None = None  # step, score, training rows' accuracy and answers


class Trainer:
    """Trainings of one recipe on one variant, one seed after another; compiled once for all.

    Args:
        training: one of them.
        task: its task.
        data: the task's rows on the device, `Composites` or `Tokens`.
        setting: device, precision, and whether steps are compiled.

    Raises:
        UsageError: see `check`.
    """

    def __init__(self, training, task, data, setting):
        self._study, self._recipe = training.study, training.recipe
        self._task, self._data, self._setting = task, data, setting
        check(training, data.form)
        self._sample = data.sample(self._recipe)
        self._splits = {
            split.name: split_rows(task, split.name) for split in task.splits if split.evaluation
        }
        self._tables = {name: data.table(rows) for name, rows in self._splits.items()}
        self._model = self._fresh_model(training.seed).to(setting.device)
        self._losses = self._loss
        if setting.compiled:
            self._losses = torch.compile(self._loss, dynamic=data.dynamic)

    def _fresh_model(self, seed):
        torch.manual_seed(seed)
        return build(self._recipe.model, self._data.form, self._data.sizes, self._recipe.options)

    # One training.

    def train(self, training, folder, until, commit=None):
        """Train from the folder's state, or from the start, until the last mark or a time.

        Args:
            training: which; the trainer must be made for its recipe and variant.
            folder: gets states and results.
            until: a time of `time.monotonic`.
            commit: the code's commit, for the result.

        Returns:
            Whether the training has ended.
        """
        cuda = [self._setting.device] if self._setting.device.type == "cuda" else []
        with torch.random.fork_rng(cuda):
            self._start(training.seed)
            self._restore(training, folder)
            return self._go_on(training, folder, until, commit)

    def _start(self, seed):
        """Fresh parameters in the same model, so that its compiled step stays valid."""
        self._model.load_state_dict(self._fresh_model(seed).state_dict())
        self._optimizer = torch.optim.AdamW(
            parameter_groups(self._model, self._recipe),
            lr=self._recipe.learning_rate,
            betas=(0.9, self._recipe.beta2),
            fused=True,
        )
        self._progress = Progress()
        # Sums of loss and accuracy since the last measurement stay on the device.
        self._sums = torch.zeros(2, dtype=torch.float64, device=self._setting.device)

    def _restore(self, training, folder):
        head = folder.under_way()
        if head is None or head["name"] != training.name:
            return
        state = folder.load(self._setting.device)
        self._model.load_state_dict(state["model"])
        self._optimizer.load_state_dict(state["optimizer"])
        self._sums.copy_(state["sums"])
        self._progress = Progress(**state["progress"])

    def _save(self, training, folder):
        progress = self._progress
        head = {
            "name": training.name,
            "step": progress.step,
            "seconds": round(progress.seconds, 3),
            "last": progress.curve[-1] if progress.curve else None,
        }
        state = {
            "model": self._model.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "sums": self._sums,
            "progress": vars(progress),
        }
        folder.save(head, state)

    def _go_on(self, training, folder, until, commit):
        progress, recipe = self._progress, self._recipe
        batches = self._data.batches(recipe, training.seed)
        started = saved = time.monotonic()
        before = progress.seconds
        while progress.step < training.marks[-1]:
            now = time.monotonic()
            if now >= until:
                self._save(training, folder)
                return False
            if now - saved > _SAVE_EVERY:
                self._save(training, folder)
                saved = now
            self.step(training.seed, progress.step, batches(progress.step))
            progress.step += 1
            if progress.step % recipe.validate_every == 0 or progress.step in training.marks:
                self._look(lambda: before + time.monotonic() - started)
            if progress.step in training.marks:
                progress.seconds = before + time.monotonic() - started
                folder.add(training.name, self._result(training, commit))
            progress.seconds = before + time.monotonic() - started
        folder.forget()
        return True

    # One step.

    def step(self, seed, number, batch):
        """One optimiser step; nothing in it waits for the device."""
        recipe = self._recipe
        torch.manual_seed((seed << 32) + number)
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate(recipe, number)
        if (heat := temperature(recipe, number)) is not None:
            set_temperature(self._model, heat)
        self._model.train()
        loss, right = self._losses(*batch)
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if recipe.clip:
            torch.nn.utils.clip_grad_norm_(self._model.parameters(), recipe.clip)
        self._optimizer.step()
        self._sums += torch.stack([loss.detach(), right])

    def _loss(self, *batch):
        """Mean loss and accuracy of a batch; this is what is compiled."""
        read, scores = self._scored(*batch)
        loss = self._data.form.loss(scores, read, self._recipe.label_smoothing)
        return loss, self._data.form.measured(scores.detach(), read).mean()

    def _scored(self, *batch):
        """A batch as the model reads it, and its scores."""
        *parts, targets = batch
        with self._setting.autocast():
            read = Batch(*self._data.inputs(*parts), targets)
            return read, apply(self._model, read).scores

    # Measuring.

    def _look(self, seconds):
        """Measure the evaluation splits, and answer all rows if the step is the best so far."""
        progress, recipe, study = self._progress, self._recipe, self._study
        steps = progress.step - (progress.curve[-1]["step"] if progress.curve else 0)
        loss, accuracy = (self._sums / max(1, steps)).tolist()
        self._sums.zero_()
        line = {
            "step": progress.step,
            "epoch": progress.step * recipe.batch_size / self._data.epoch,
            "learning_rate": learning_rate(recipe, progress.step - 1),
            "train/loss": loss,
            "train/accuracy": accuracy,
        }
        answers = {}
        for name in study.eval_splits:
            answers[name], line[f"{name}/loss"], line[f"{name}/accuracy"] = self._answer(name)
        score = (line[f"{study.select}/accuracy"], -line[f"{study.select}/loss"])
        if progress.best is None or score > tuple(progress.best["score"]):
            progress.best = self._kept(score, answers)
        line["seconds"] = round(seconds(), 3)
        progress.curve.append(line)

    def _kept(self, score, answers):
        """What is kept of the parameters as they are now."""
        others = [name for name in self._tables if name not in answers]
        return {
            "step": self._progress.step,
            "score": list(score),
            "training": self._measure(self._sample)[2],
            "answers": {**answers, **{name: self._answer(name)[0] for name in others}},
        }

    def _answer(self, split):
        return self._measure(self._tables[split])

    @torch.inference_mode()
    def _measure(self, table):
        """The class that the model gives each row, uint8 `(rows,)`; mean loss and accuracy."""
        self._model.eval()
        form, answers = self._data.form, []
        sums = torch.zeros(2, dtype=torch.float64, device=self._setting.device)
        for first in range(0, len(table[-1]), _EVALUATED):
            read, scores = self._scored(*(one[first : first + _EVALUATED] for one in table))
            answers.append(scores.argmax(dim=-1))
            loss, right = form.loss(scores, read), form.measured(scores, read)
            sums += torch.stack([loss * len(right), right.sum()])
        loss, accuracy = (sums / len(table[-1])).tolist()
        return torch.cat(answers).to(torch.uint8).clone(), loss, accuracy

    # The result.

    def _result(self, training, commit):
        """The result at a mark, with the entries that `synthbench train` gives a result."""
        progress, recipe = self._progress, self._recipe
        best, chosen_step = progress.best, progress.best["step"]
        end = self._measure(self._sample)[2]
        last, kept = (end, end), (best["training"],) * 2  # the share that is right is learned
        if not learned(kept) and learned(last):
            best, chosen_step, kept = self._kept(best["score"], {}), progress.step, last
        fit = fit_of(self._data.form.metric, len(self._sample[-1]), last, kept)
        rate = self._images_a_second()
        return {
            **command_without_data(training.study, self._task, training, self._setting),
            "compiled": self._setting.compiled,
            "commit": commit,
            "data": {"parameters": self._task.parameters.to_dict()},
            "study": {"name": training.study.name, "profile": training.study.profile},
            "steps": progress.step,
            "best_step": chosen_step,
            "seconds": round(progress.seconds, 3),
            "steps_per_second": rate and round(rate / recipe.batch_size, 3),
            "images_per_second": rate and round(rate),
            "fit": fit,
            "eureka": self._eureka(),
            "halting": None,
            "curve": _thinned(progress.curve),
            "model_parameters": sum(one.numel() for one in self._model.parameters()),
            "metrics": list(self._task.metrics),
            **self._evaluated(best["answers"]),
            "machine": machine(self._setting),
        }

    def _evaluated(self, answers):
        """The report on each split, and how long the reports took."""
        started, task = time.monotonic(), self._task
        reports = {
            name: evaluate(
                judged(task, rows), answers[name].tolist(), task=task, split=name, progress=False
            ).to_dict()
            for name, rows in self._splits.items()
        }
        seconds = round(time.monotonic() - started, 3)
        return {"splits": reports, "evaluation_seconds": seconds}

    def _images_a_second(self):
        """The median between two measurements, both included; None if there were fewer."""
        curve, size = self._progress.curve, self._recipe.batch_size
        with contextlib.suppress(statistics.StatisticsError):
            return statistics.median(
                size * (after["step"] - one["step"]) / (after["seconds"] - one["seconds"])
                for one, after in itertools.pairwise(curve)
                if after["seconds"] > one["seconds"]
            )
        return None

    def _eureka(self):
        """When the accuracy that selects first passed the study's threshold, None if never."""
        split = self._study.select
        for line in self._progress.curve if self._study.eureka else ():
            if line[f"{split}/accuracy"] > self._study.eureka:
                return {"split": split, "step": line["step"], "epoch": line["epoch"]}
        return None
