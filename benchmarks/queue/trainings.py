"""The queue itself: trainings at the papers' sizes, in the order of what they show."""

import dataclasses

from synthbench.training.recipes import find_study
from synthbench.training.recipes.base import Recipe, Study

_PROFILE = "paper"
#: Images after which Eureka's models are looked at. NormSoftmax has its moment after 1.4 million,
#: the plain ViT after 12.4 million (Eureka, table 4).
_FIRST, _ON = 2_000_000, 12_000_000


@dataclasses.dataclass(frozen=True)
class Training:
    """One recipe with one seed.

    Attributes:
        study: what the recipe is from.
        variant: the task's variant.
        recipe: the recipe with the variant's options.
        seed: determines the initial parameters, dropout, and the order of a train split's rows.
        marks: the steps after which a result is written, the last of them the end. The recipe's
            own number of steps determines the learning rate, even if a training ends before.
    """

    study: Study
    variant: str
    recipe: Recipe
    seed: int
    marks: tuple[int, ...]

    @property
    def name(self):
        """A name that no other training of the queue has."""
        return f"{self.study.task}-{self.variant}-{self.recipe.name}-{self.seed}"


def training(task, model, seed=0, variant=None, rows=()):
    """A training of the paper's study of a task.

    Args:
        task: name of the task.
        model: name of the recipe.
        seed: its seed.
        variant: one of the study's variants; default: the first.
        rows: after how many rows results are written, rounded up to whole validations; default:
            at the end of the recipe.
    """
    study = find_study(task, _PROFILE)
    variant = variant or study.variants[0]
    recipe = study.recipe(model).for_variant(variant)
    apart = recipe.batch_size * recipe.validate_every
    marks = [min(recipe.steps, -(-one // apart) * recipe.validate_every) for one in rows]
    return Training(study, variant, recipe, seed, tuple(marks) or (recipe.steps,))


def _composites(model, seeds, rows=(_FIRST,)):
    return [training("composites", model, seed, rows=rows) for seed in seeds]


def _ctl(model):
    return [training("ctl", model, variant=variant) for variant in ("backward", "forward")]


#: All trainings. The plain ViT's first seed comes after the others, because it goes on: what a
#: machine keeps of one unfinished training fits into the files that come back, not that of two.
TRAININGS = (
    *_composites("vit-normsoftmax", (0, 1, 2)),
    *_composites("vit", (1, 2)),
    *_composites("resnet", (0, 1, 2)),
    *_composites("vit", (0,), rows=(_FIRST, _ON)),
    *_ctl("ndr"),
    *_ctl("transformer-gated-position"),
    *_ctl("transformer-relative-gate"),
    *(training("listops", model) for model in ("transformer", "transformer-relative")),
    *(training("arithmetic", model) for model in ("ndr", "transformer-gated-position")),
    *(training("listops", model) for model in ("ndr", "transformer-gated-position")),
)
