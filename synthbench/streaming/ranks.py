"""The rank of this process among the processes that train together."""

from __future__ import annotations

import os
import sys

import torch.distributed

from synthbench.errors import UsageError
from synthbench.streaming.batches import check_share


def ranks_here() -> tuple[int, int]:
    """The rank of this process and the number of ranks.

    Both are those of `torch.distributed` if it is initialised, else `RANK` and `WORLD_SIZE` of the
    environment, which `torchrun` sets, else 0 and 1.

    Raises:
        UsageError: accelerate shares the rows of this process, or the environment has only one of
            the variables, or values that are not allowed.
    """
    if accelerate_processes() > 1:
        raise UsageError(
            "This process uses accelerate, which shares rows itself. Read the stream through "
            "accelerator.prepare(DataLoader(TorchStream(..., batch_size=None), batch_size=N)). For "
            "its StatefulDataLoader also give TorchStream rank=0, world_size=1."
        )
    if (ranks := distributed_ranks()) is not None:
        return ranks
    variables = {name: os.environ.get(name) for name in ("RANK", "WORLD_SIZE")}
    rank, world_size = variables.values()
    if rank is None and world_size is None:
        return 0, 1
    if not (rank and world_size and rank.isdecimal() and world_size.isdecimal()):
        shown = ", ".join(f"{name}={value}" for name, value in variables.items())
        raise UsageError(
            f"Environment {shown}: expected two whole numbers, as torchrun sets them, or give "
            "TorchStream rank= and world_size=."
        )
    return check_share(int(rank), int(world_size))


def distributed_ranks() -> tuple[int, int] | None:
    """The rank and the number of ranks of `torch.distributed`; None if it is not initialised."""
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return None
    return torch.distributed.get_rank(), torch.distributed.get_world_size()


def accelerate_processes() -> int:
    """Among how many processes accelerate shares rows; 1 if it is not in use."""
    accelerate = sys.modules.get("accelerate")
    if accelerate is None or not accelerate.state.is_initialized():
        return 1
    return int(accelerate.PartialState().num_processes)
