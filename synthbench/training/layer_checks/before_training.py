"""The questions about a layer of the user's own, asked before it is trained."""

from __future__ import annotations

from collections.abc import Mapping

from synthbench.errors import SynthbenchError
from synthbench.text.progress import note
from synthbench.training.layer_checks.check import QUESTIONS, ask
from synthbench.training.models import LAYER, code_of, layer_alone
from synthbench.training.models.references import short_name
from synthbench.training.options import Setting
from synthbench.training.recipes.base import Recipe

#: Questions whose failure is noted but allowed: evaluation may draw at random, unused parameters do
#: no harm, and padding matters only where rows of a batch differ in length.
NOTED = ("padding", "repeatable", "gradients")
#: The longest rows on which this process has asked about a layer, all checks passed.
_passed: dict[tuple[str, ...], int] = {}


def check_before_training(
    recipe: Recipe, sizes: Mapping[str, int], length: int, setting: Setting
) -> None:
    """Ask all questions that matter for this run: bfloat16 only where the run computes in it.

    Args:
        recipe: the recipe. Models that are not layers from elsewhere pass.
        sizes: the sizes that follow from the task.
        length: tokens of the longest row.
        setting: device and precision.

    Raises:
        SynthbenchError: the layer fails a check.
    """
    if not recipe.model.startswith(LAYER):
        return
    code = code_of(recipe.model) or ""
    key = (recipe.model, code, repr(recipe.options), str(setting.device), setting.precision)
    if _passed.get(key, 0) >= length:
        return
    make, width = layer_alone(recipe.model, sizes, recipe.options)
    questions = [
        name for name in QUESTIONS if name != "precision" or setting.precision == "bfloat16"
    ]
    name = short_name(recipe.model.removeprefix(LAYER))
    report = ask(make, name, width, length, Setting(setting.device_name, threads=1), questions)
    refused = [answer for answer in report.failed if answer.question not in NOTED]
    if not refused:
        if report.failed:
            note(f"{report.summary} It is trained all the same.")
        _passed[key] = length
        return
    ahead = any(answer.question in ("causal", "prefix") for answer in refused)
    hint = "A layer that looks ahead by design sets causal = False. " if ahead else ""
    raise SynthbenchError(
        f"{report.summary}\n{hint}--skip-checks (skip_checks=True) trains the layer as it is."
    )
