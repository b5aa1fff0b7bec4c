"""The training loop: steps, measurements of the evaluation splits, checkpoints.

What happens at a step depends on the seed and the step alone, and a checkpoint holds all that a
later step depends on. So a run that is interrupted and continued ends with the same numbers, given
the same machine and number of threads.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from synthbench.engine.signals import defer_signals
from synthbench.errors import SynthbenchError
from synthbench.text.progress import Bar, progress_bar
from synthbench.training.batches import EpochBatches, StreamBatches
from synthbench.training.directory import RunDirectory, at_step
from synthbench.training.forms.form import Form
from synthbench.training.forms.rows import Batch, Rows
from synthbench.training.layers.attention import balance_gradients, set_temperature
from synthbench.training.models.foreign import line_of_theirs, naming_theirs
from synthbench.training.options import Setting
from synthbench.training.predicting import apply, measure
from synthbench.training.recipes.base import Recipe
from synthbench.training.schedules import learning_rate, parameter_groups, temperature
from synthbench.training.train_fit import LEARNED

#: The least number of times in a run that training is noted, and evaluation splits are measured.
_NOTES, _EVALUATIONS = 50, 10
#: Seconds between two checkpoints at most, for runs that end without notice.
_SAVE_EVERY = 30.0
#: Parameters whose gradients Eureka, figure 5, compares.
_PROJECTIONS = ("query.weight", "key.weight", "value.weight")


class Best(NamedTuple):
    """The best validation so far."""

    step: int
    score: tuple[float, float]  # metric and loss, with signs that make larger better
    parameters: dict[str, Tensor]


class Loop:
    """The steps of a run. Call `run` inside `isolated`.

    The splits in `eval_splits` are measured at every validation and at least ten times. The best
    checkpoint is chosen by the split `select`. Without it, the last checkpoint counts. The
    parameters at the end of each of `keep` equal parts of the run stay in the directory.
    """

    def __init__(
        self,
        recipe: Recipe,
        model: nn.Module,
        form: Form,
        batches: EpochBatches | StreamBatches,
        eval_splits: Mapping[str, Rows],
        select: str | None,
        directory: RunDirectory,
        setting: Setting,
        keep: int = 0,
    ) -> None:
        self.recipe, self.model, self.form, self.keep = recipe, model, form, keep
        self.batches, self.eval_splits, self.select = batches, eval_splits, select
        self.directory, self.setting = directory, setting
        self.optimizer = torch.optim.AdamW(
            parameter_groups(model, recipe),
            lr=recipe.learning_rate,
            betas=(0.9, recipe.beta2),
            # PyTorch lacks a fused step for complex parameters.
            fused=all(parameter.is_floating_point() for parameter in model.parameters()),
        )
        self.best: Best | None = None
        self.step = 0
        self.learned_at: int | None = None  # with a cooldown: the step at which it began
        self.tokens: int | Tensor = 0  # read so far, on the device of the batches
        self.seconds = 0.0
        self._unnoted = False  # whether the last step is still to be noted and evaluated
        self._random = self._random_state()  # before that
        self._saved = time.monotonic()
        self._forward = torch.compile(model) if setting.compiled else model
        self._seen = _Seen(setting.device)

    @property
    def end(self) -> int:
        """The last step, as far as is known."""
        steps = self.recipe.steps
        return (
            steps if self.learned_at is None else min(steps, self.learned_at + self.recipe.cooldown)
        )

    def run(self, bar: Bar | None = None) -> dict[str, Tensor]:
        """Take all steps that are left. Returns the chosen parameters.

        `bar` counts them beside those of other runs. Default: a bar of this run alone.
        """
        counted = self.directory.last_step
        self._restore()
        try:
            if bar is not None:
                bar.update(self.step - counted)
                return self._run(bar)
            title, steps = f"train {self.recipe.name}", self.recipe.steps
            with progress_bar(self.setting.progress, title, "steps", steps, self.step) as own:
                return self._run(own)
        except KeyboardInterrupt as interruption:
            with defer_signals():
                self._save()
            name, steps = self.recipe.name, self.recipe.steps
            interruption.add_note(f"Step {self.step:,} of {steps:,} of {name} is saved")
            raise

    def _run(self, bar: Bar) -> dict[str, Tensor]:
        """`run` from the step that was restored."""
        started = time.perf_counter() - self.seconds
        steps = self.recipe.steps
        while self.step < self.end or self._unnoted:
            if not self._unnoted:
                batch = self.batches.batch(self.step)
                self.tokens = self.tokens + _tokens(batch)
                batch = batch.to(self.setting.device)
                with defer_signals():  # a checkpoint must not hold half a step
                    self._take_step(batch)
                    self.step += 1
                    self._unnoted, self._random = True, self._random_state()
                bar.update()
            if bar.is_shown and self._seen.is_due():
                bar.update(0, now=self._seen.words(self.form.metric))
            validates = self.step % self.recipe.validate_every == 0 or self.step == self.end
            too_rare = steps < _EVALUATIONS * self.recipe.validate_every
            evaluates = validates or (too_rare and self._ends_part(_EVALUATIONS))
            self.seconds = time.perf_counter() - started
            if evaluates or self._ends_part(_NOTES) or self.step == self.end:
                self._note(evaluates, validates)
            if self._ends_part(self.keep):
                self.directory.save(self.model.state_dict(), at_step(self.step))
            self._unnoted = False
            if evaluates or time.monotonic() - self._saved > _SAVE_EVERY:
                self._save()
        self.seconds = time.perf_counter() - started
        bar.update(steps - self.step)
        return self.best.parameters if self.best else self.model.state_dict()

    def _ends_part(self, count: int) -> bool:
        """True if one of `count` equal parts of the run ends at this step."""
        steps = self.recipe.steps
        return self.step * count // steps > (self.step - 1) * count // steps

    def _take_step(self, batch: Batch) -> None:
        recipe = self.recipe
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(recipe, self.step, self.end)
        if (heat := temperature(recipe, self.step)) is not None:
            set_temperature(self.model, heat)
        self.model.train()
        with self.setting.autocast():
            output = apply(self._forward, batch)
        rounds = output.scores, *output.earlier
        losses = [self.form.loss(scores, batch, recipe.label_smoothing) for scores in rounds]
        total = loss = torch.stack(losses).mean()
        if recipe.ponder and output.ponder is not None:
            total = loss + recipe.ponder * output.ponder.mean()
        self.optimizer.zero_grad(set_to_none=True)
        with naming_theirs(self.model):
            total.backward()  # type: ignore[no-untyped-call]
        if recipe.balance_gradients:
            balance_gradients(self.model)
        if recipe.clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), recipe.clip)
        self.optimizer.step()
        self._seen.add(loss, self.form.measured(output.scores, batch).mean())

    def _note(self, evaluates: bool, validates: bool) -> None:
        """Append a line to the metrics, with the evaluation splits if this step `evaluates` them.

        The parameters may be chosen only if it also `validates`: evaluations that the recipe does
        not ask for are for the curve alone.
        """
        loss, trained = self._seen.means()
        if not math.isfinite(loss):
            line = line_of_theirs(self.model)
            raise SynthbenchError(
                f"{line}{'the' if line else 'The'} training loss of {self.recipe.name!r} is {loss} "
                f"by step {self.step}. Try --recipe clip=1 or a smaller learning_rate."
            )
        measured: dict[str, Any] = {
            "step": self.step,
            "epoch": self.step * self.recipe.batch_size / self.batches.rows,
            "seconds": round(self.seconds, 3),
            "learning_rate": learning_rate(self.recipe, self.step - 1, self.end),
            "train/loss": loss,
            f"train/{self.form.metric}": trained,
        }
        for name, split in self.eval_splits.items() if evaluates else ():
            loss, metric = measure(self.model, split, self.form, self.setting)
            measured[f"{name}/loss"] = loss
            measured[f"{name}/{self.form.metric}"] = metric
            if name == self.select and validates:
                self._keep_if_best(loss, metric)
        if self.recipe.log_gradients and evaluates:  # L1 norms, as in Eureka, figure 5
            measured |= {
                f"grad_norm/{name.removeprefix('backbone.')}": parameter.grad.abs().sum().item()
                for name, parameter in self.model.named_parameters()
                if name.endswith(_PROJECTIONS) and parameter.grad is not None
            }
        self.directory.note(measured)
        self._seen.clear()
        if self.recipe.cooldown and self.learned_at is None and trained >= LEARNED:
            self.learned_at = self.step

    def _keep_if_best(self, loss: float, metric: float) -> None:
        sign = 1.0 if self.form.larger_is_better else -1.0
        score = (sign * metric, -loss)
        if self.best is None or score > self.best.score:
            state = copy.deepcopy(dict(self.model.state_dict()))
            self.best = Best(self.step, score, state)

    def _random_state(self) -> tuple[Tensor, Tensor | None]:
        on_gpu = self.setting.device.type == "cuda"
        cuda = torch.cuda.get_rng_state(self.setting.device) if on_gpu else None
        return torch.get_rng_state(), cuda

    def _save(self) -> None:
        self.directory.save(self._state())
        self._saved = time.monotonic()

    def _state(self) -> dict[str, Any]:
        """All that a later step depends on."""
        random, random_cuda = self._random if self._unnoted else self._random_state()
        return {
            "step": self.step,
            "learned_at": self.learned_at,
            "tokens": int(self.tokens),
            "unnoted": self._unnoted,
            "noted": self.directory.last_step,
            "seen": self._seen.state(),
            "seconds": self.seconds,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "random": random,
            "random_cuda": random_cuda,
            "best": None if self.best is None else tuple(self.best),
        }

    def _restore(self) -> None:
        """Go back to the last checkpoint, or to the start."""
        state = self.directory.load(self.setting.device)
        if state is not None:
            try:
                self.model.load_state_dict(state["model"])
                self.optimizer.load_state_dict(state["optimizer"])
            except (RuntimeError, ValueError, LookupError, TypeError, AttributeError) as error:
                raise SynthbenchError(
                    f"The checkpoint in {self.directory.path} is of another model than "
                    f"{self.recipe.name!r}: {' '.join(str(error).split())[:200]}"
                ) from error
            if missing := self._state().keys() - state.keys():
                raise SynthbenchError(
                    f"The checkpoint in {self.directory.path} has no {min(missing)!r}: it is of "
                    "another version of synthbench. Start again with --overwrite."
                )
            self.step, self.seconds = state["step"], state["seconds"]
            self.learned_at, self.tokens = state["learned_at"], state["tokens"]
            self._unnoted, noted = state["unnoted"], state["noted"]
            self._seen.restore(state["seen"])
            if self.directory.last_step < noted:
                raise SynthbenchError(
                    f"The metrics in {self.directory.path} end before step {noted}, which the "
                    "checkpoint has. Start again with --overwrite."
                )
            torch.set_rng_state(state["random"].cpu())
            if state["random_cuda"] is not None and self.setting.device.type == "cuda":
                torch.cuda.set_rng_state(state["random_cuda"].cpu(), self.setting.device)
            self.best = None if state["best"] is None else Best(*state["best"])
        self.directory.forget_after(self.step - self._unnoted)


def _tokens(batch: Batch) -> int | Tensor:
    """The number of tokens of a batch, without padding. Of rows that are not texts, of values."""
    return batch.inputs.numel() if batch.lengths is None else batch.lengths.sum()


class _Seen:
    """Mean loss and metric of the training batches since the last line of the metrics.

    The sums stay on the device, so that no step waits for them.
    """

    def __init__(self, device: torch.device) -> None:
        self._sums = torch.zeros(2, dtype=torch.float64, device=device)
        self._last = self._sums
        self._count = 0
        self._shown = 0.0

    def add(self, loss: Tensor, metric: Tensor) -> None:
        self._last = torch.stack([loss.detach(), metric.detach()])
        self._sums += self._last
        self._count += 1

    def means(self) -> tuple[float, float]:
        loss, metric = (self._sums / max(1, self._count)).tolist()
        return loss, metric

    def clear(self) -> None:
        self._sums.zero_()
        self._count = 0

    def state(self) -> dict[str, Any]:
        return {"sums": self._sums, "count": self._count}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._sums.copy_(state["sums"])
        self._count = state["count"]

    def is_due(self) -> bool:
        """True if the last batch was shown half a second ago, and so may be shown again."""
        return time.monotonic() - self._shown >= 0.5

    def words(self, metric: str) -> str:
        """Loss and metric of the last batch, to be shown."""
        self._shown = time.monotonic()
        loss, value = self._last.tolist()
        return f"loss {loss:.3f}, {metric} {value:.2f}"
