"""Training and validating the papers' models; needs PyTorch, the extra `train`.

`train` makes one run, `validate` all runs of a study, `figures` draws a run. `train` and `validate`
load PyTorch only when they are called: the public names of `synthbench` are light to look up.
"""

from __future__ import annotations

import importlib.util

from synthbench.errors import SynthbenchError


def need_torch(command: str) -> None:
    """Make sure that PyTorch is installed.

    Raises:
        SynthbenchError: it is not.
    """
    if importlib.util.find_spec("torch") is None:
        raise SynthbenchError(f"{command!r} needs PyTorch: pip install 'synthbench[train]'.")
