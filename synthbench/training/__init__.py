"""Training and validating the papers' models. Needs PyTorch, the extra `train`.

`train` makes one run, `reproduce` all runs of a study, `figures` draws a run, and `check_layer`
asks nine questions about a layer before any training. `train` and `reproduce` load PyTorch only
when they are called: the public names of `synthbench` are light to look up.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from synthbench.training.layer_checks.check import check_layer

__all__ = ["check_layer"]


def __getattr__(name: str) -> object:
    if name != "check_layer":
        raise AttributeError(f"module {__name__!r} lacks the attribute {name!r}")
    from synthbench.checks import needs

    with needs("'check_layer'", "PyTorch", "train"):
        from synthbench.training.layer_checks.check import check_layer

    return check_layer
