"""The model of a run before any training: built once, and looked at before anything is written."""

from __future__ import annotations

import dataclasses
import weakref
from typing import Any

from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from synthbench.errors import ParameterError, SynthbenchError, UsageError
from synthbench.training.batches import check_lengths
from synthbench.training.forms import Form
from synthbench.training.forms.rows import Rows
from synthbench.training.layer_checks.generating import sees_what_follows
from synthbench.training.layers.attention import Attention
from synthbench.training.layers.halting import Halting
from synthbench.training.models import build
from synthbench.training.models.foreign import (
    ForeignMixer,
    ForeignModel,
    line_of_theirs,
    theirs,
)
from synthbench.training.options import Setting
from synthbench.training.predicting import learn_longest, mixes_rows, read_longest
from synthbench.training.recipes.base import Recipe
from synthbench.training.setting import isolated, memory_errors, random_state, set_random_state

#: One thread, because processes that `reproduce` forks later would lack PyTorch's other threads.
_ONE_THREAD = Setting(threads=1)
#: By how much the scores of a row may differ in batches of other sizes, as a share of the largest.
_PRECISIONS = {"float32": 1e-3, "bfloat16": 0.1}


@dataclasses.dataclass
class FreshModel:
    """The model of one run with fresh parameters, which `seed` determines.

    It stays in the process that built it: sent to another process, it is built there. Its
    parameters are drawn on the CPU, so that they are the same everywhere, and it is tried as
    `setting` computes, because layers may have code for GPUs or for bfloat16 alone.
    """

    recipe: Recipe
    form: Form
    seed: int
    setting: Setting = _ONE_THREAD

    def __post_init__(self) -> None:
        self._built: tuple[nn.Module, tuple[Any, ...]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_built": None}

    def build(self, rows: Rows) -> None:
        """Build the model, and try it on the longest of some rows.

        Raises:
            UsageError: no such model, it reads other rows, or it sees the tokens that it should
                predict.
            ParameterError: an option that the model refuses, a row that is too long for it, or a
                recipe that asks for a part that the model or its rows lack.
            SynthbenchError: too little memory, or a model from elsewhere that fails.
        """
        recipe, form = self.recipe, self.form
        if recipe.label_smoothing and not form.chooses:
            raise ParameterError(
                f"Recipe label_smoothing={recipe.label_smoothing}: rows without classes allow 0 "
                "only."
            )
        if recipe.cooldown and not form.larger_is_better:
            raise ParameterError(
                f"Recipe cooldown={recipe.cooldown}: rows without classes allow 0 only."
            )
        check_lengths(rows, recipe.one_length, recipe.balanced)
        with memory_errors(recipe, self.setting), isolated(self.seed, self.setting):
            model = build(recipe.model, form, form.sizes(rows), recipe.options)
            random = random_state()
            self._check_parts(model)
            _check_fresh(model)
            with self.setting.autocast(cache=False):
                self._try(model.to(self.setting.device), rows)
        self._built = model.to(_ONE_THREAD.device), random

    def _check_parts(self, model: nn.Module) -> None:
        """Refuses a model without the parts that the recipe names."""
        recipe, parts = self.recipe, {type(part) for part in model.modules()}
        for needed, part, lacks in (
            (recipe.heat is not None, Attention, "heat: model {} has no temperature"),
            (recipe.balance_gradients, Attention, "balance_gradients: model {} has no attention"),
            (recipe.ponder > 0, Halting, "ponder: model {} does not halt"),
        ):
            if needed and part not in parts:
                raise ParameterError(f"Recipe {lacks.format(repr(recipe.model))}.")

    def _try(self, model: nn.Module, rows: Rows) -> None:
        """Refuses a model that cannot read, predict and learn."""
        before = _shapes(model)
        read_longest(model, rows)
        for name, shape in _shapes(model).items():
            if theirs(model) is not None and before.get(name, shape) != shape:
                raise SynthbenchError(
                    f"{line_of_theirs(model)}{name} had the shape {before[name]} and has {shape} "
                    "after a row: stored tensors keep their shape. A table that grows is "
                    "registered with register_buffer(..., persistent=False)."
                )
        if self.form.causal:
            assert rows.lengths is not None
            vocabulary, width = self.form.sizes(rows)["vocabulary"], int(rows.lengths.max())
            if (change := sees_what_follows(model, vocabulary, width)) is not None:
                raise UsageError(
                    f"Model {self.recipe.model!r} sees the tokens that it should predict: "
                    f"scores change at {change}. causal-lm needs a model in which no position sees "
                    "what follows it, such as causal-transformer."
                )
        if (part := theirs(model)) is None:
            return
        precision = _PRECISIONS[self.setting.precision]
        if mixes_rows(model, rows, precision):
            raise SynthbenchError(
                f"{line_of_theirs(model)}the scores of a row depend on the other rows of its "
                f"batch: {type(part).__name__} has to treat each row by itself, with rows as the "
                "first axis (PyTorch's recurrent layers: --option batch_first=true)."
            )
        learn_longest(model, rows, self.form)

    def take(self, rows: Rows) -> nn.Module:
        """Hand the model over, and go back to the random state that followed `build`."""
        if self._built is None:
            self.build(rows)
        assert self._built is not None
        (model, random), self._built = self._built, None
        set_random_state(random)
        return model

    def forget(self) -> None:
        """Free the memory of the model; `take` builds it again."""
        self._built = None


#: Modules from elsewhere that an earlier model of this process has.
_known: weakref.WeakSet[nn.Module] = weakref.WeakSet()


def _check_fresh(model: nn.Module) -> None:
    """Refuse a part from elsewhere that another model has, and may have trained."""
    wrappers = [
        module for module in model.modules() if isinstance(module, ForeignMixer | ForeignModel)
    ]
    parts = [
        wrapper.layer if isinstance(wrapper, ForeignMixer) else wrapper.model
        for wrapper in wrappers
    ]
    for wrapper, part in zip(wrappers, parts, strict=True):
        if part in _known:
            raise SynthbenchError(
                f"{wrapper.line}this {type(part).__name__} is in an earlier model, too, so seeds "
                "would share its parameters: make a new one at every call."
            )
    _known.update(parts)


def _shapes(model: nn.Module) -> dict[str, tuple[int, ...]]:
    """The shapes of the tensors that a model stores, without those that lack a shape yet."""
    state = model.state_dict()
    return {
        name: tuple(value.shape)
        for name, value in state.items()
        if isinstance(value, Tensor) and not is_lazy(value)
    }
