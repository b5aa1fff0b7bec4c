"""Blocks of grids: of one size, or of every size of a split."""

import numpy as np

from synthbench.seeding import Draws


def propose(task, split="train", n=20, size=None, block=0):
    split = task.split(split)
    size = split.buckets[0] if size is None else size
    return task.propose(Draws({"test": 1}, block), n, split, size)


def mixed(task, split="train", n=7):
    """Rows of every size of a split, sizes taking turns."""
    blocks = [propose(task, split, n, size) for size in task.split(split).buckets]
    block = blocks[0].concatenate(blocks)
    return block.take(np.argsort(np.arange(len(block)) % n, kind="stable"))
