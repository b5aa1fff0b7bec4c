"""What the published split of Grokking hides: `python -m benchmarks leak [--seeds 3]`.

Power et al. (2022) train on a random half of all equations and validate on the other. Of `a + b`
about half of the validation rows then have `b + a` in train. This trains the Transformer of
`synthbench reproduce modular-arithmetic` on such a split, without weight decay, and prints its
accuracy on the rows whose exchanged row is in train, and on the others. The split is made here
alone: the task holds out both orders, or neither.
"""

import argparse

import numpy as np
import torch

from synthbench.seeding import Draws
from synthbench.tasks.base import Split
from synthbench.tasks.registry import task as make_task
from synthbench.tasks.row_ids import fingerprints, rows_table
from synthbench.text.tables import Table, render
from synthbench.training.batches import EpochBatches
from synthbench.training.forms import form_of
from synthbench.training.models import build
from synthbench.training.options import Setting
from synthbench.training.predicting import measure
from synthbench.training.recipes import find_study
from synthbench.training.schedules import learning_rate, parameter_groups
from synthbench.training.setting import isolated, machine

#: Steps between two looks.
_EVERY = 200


def main(words):
    """Train on the published split and print the accuracies."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks leak", description=__doc__)
    parser.add_argument("--recipe", default="no-decay", choices=["no-decay", "weight-decay"])
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args(words)
    recipe = find_study("modular-arithmetic", "cpu").recipe(arguments.recipe)
    setting = Setting(threads=1)
    made_with = machine(setting)
    print(
        f"{made_with['processor']}, PyTorch {made_with['torch']}; add, {arguments.recipe}",
        flush=True,
    )
    lines = []
    for seed in range(arguments.seeds):
        for step, figures in _trained(recipe, arguments.steps, seed, setting):
            lines.append((str(seed), str(step), *(f"{figure:.3f}" for figure in figures)))
            print("  ".join(lines[-1]), flush=True)
    head = ("seed", "step", "train", "validation", "exchanged row in train", "others")
    print(render(Table(head, lines, right=range(len(head)))))


def _trained(recipe, steps, seed, setting):
    """Accuracies of one run, every so many steps."""
    rows, train, exchanged = published_split(seed)
    form = form_of(make_task("modular-arithmetic", "add"))
    groups = [train, ~train, ~train & exchanged, ~train & ~exchanged]
    parts = [rows.select(torch.from_numpy(np.flatnonzero(group))) for group in groups]
    with isolated(seed, setting):
        model = build(recipe.model, form, form.sizes(rows), recipe.options)
        betas = (0.9, recipe.beta2)
        optimizer = torch.optim.AdamW(parameter_groups(model, recipe), betas=betas)
        batches = EpochBatches(parts[0], recipe.batch_size, seed)
        for step in range(steps):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(recipe, step)
            batch = batches.batch(step)
            loss = form.loss(model.train()(batch.inputs, batch.lengths).scores, batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if (step + 1) % _EVERY == 0:
                yield step + 1, [measure(model, part, form, setting)[1] for part in parts]


def published_split(seed):
    """All rows of `add`, which half of them is train, and whose exchanged row is in train."""
    task = make_task("modular-arithmetic", "add")
    every = Split("all", task.capacity(Split("all", 0), 0))
    block = task.enumerate_rows(every, 0)
    table = rows_table(task, block, fingerprints(task, block))
    order = Draws({"benchmark": "leak", "seed": seed}, 0).permutation(len(table))
    train = np.zeros(len(table), bool)
    train[order[: len(table) // 2]] = True
    modulus = task.parameters.modulus
    a, b = (table[name].to_numpy().astype(int) for name in "ab")
    in_train = np.zeros((modulus, modulus), bool)
    in_train[a[train], b[train]] = True
    return form_of(task).encode_table(table), train, in_train[b, a]
