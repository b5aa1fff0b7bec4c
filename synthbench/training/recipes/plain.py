"""A plain recipe for every task of texts without recipes. It is tuned for no task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synthbench.tasks.base import Task
from synthbench.training.recipes.base import Measure, Recipe, Study

#: The name of the study, by which results are known to be of a plain recipe.
PLAIN = "plain"
#: What tables say of the study.
NOTE = (
    "A plain recipe, not tuned for this task. A module `recipes` beside the task, with "
    "`studies(task)`, brings others."
)
_MODELS: Mapping[str, Mapping[str, Any]] = {
    "lstm": {"d_model": 128},
    "gru": {"order": "pre", "num_layers": 2, "d_model": 128},
    "transformer": {"d_model": 128, "num_layers": 2, "num_heads": 4},
    "causal-transformer": {"position": "rotary", "d_model": 128, "num_layers": 2, "num_heads": 4},
    "deltanet": {"d_model": 128, "num_layers": 2},
}
_STEPS = {"cpu": 3_000, "quick": 30}


def plain_studies(task: Task) -> tuple[Study, ...]:
    """The plain study in each profile, if the label is a class or a sequence of tokens.

    Args:
        task: a task of texts.
    """
    if not task.forms or (task.labels is None and task.answer.vocabulary is None):
        return ()
    splits = tuple(split.name for split in task.splits if split.evaluation)
    metric = task.metrics[0]
    return tuple(
        Study(
            task.name,
            profile,
            NOTE,
            tuple(_recipe(name, options, steps) for name, options in _MODELS.items()),
            tuple(Measure(split, split, metric) for split in splits),
            variants=(task.variant,),
            name=PLAIN,
            rows={split.name: min(split.rows, 1_000) for split in task.splits if split.evaluation},
            seeds=1 if profile == "quick" else 3,
            eval_splits=splits,
        )
        for profile, steps in _STEPS.items()
    )


def _recipe(name: str, options: Mapping[str, Any], steps: int) -> Recipe:
    return Recipe(
        name,
        name,
        steps=steps,
        batch_size=64,
        learning_rate=1e-3,
        weight_decay=0.01,
        clip=1.0,
        schedule="cosine",
        warmup=steps // 30,
        validate_every=steps // 10,
        options=options,
    )
