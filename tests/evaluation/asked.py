"""Rows of one task of each kind with an answer to each, and the answers in common forms."""

from __future__ import annotations

import functools
import random

import numpy as np
import pandas as pd
import pyarrow as pa

from synthbench.evaluation.evaluate import evaluate
from synthbench.tasks.registry import task as make_task
from tests.support import draw_splits, id_texts, plain_rows

#: One of each kind of answer: digits, symbols, names, grids, vectors, clusters.
TASKS = [
    *(("listops", "default"), ("ctl", "forward"), ("composites", "main")),
    *(("grid-count", "default"), ("identity", "default"), ("clusters", "balanced")),
]


class Asked:
    """Rows of one task in a shuffled order, and an answer to each."""

    def __init__(self, task):
        self.task = task
        if task.name == "composites":  # whose rows need source images, but whose labels do not
            rows = [{"id": f"{number:016x}", "label": number % 7} for number in range(12)]
        else:
            drawn = draw_splits(task, 12)["test"]
            rows = plain_rows(task.rendered(drawn.block))
            for row, name in zip(rows, id_texts(drawn.fingerprints), strict=True):
                row["id"] = name
        random.Random(1).shuffle(rows)
        self.rows = rows
        self.ids = [row["id"] for row in rows]
        self.answers = [self.answer(row) for row in rows]
        # The first prediction is wrong, so that what is read for other rows shows.
        wrong = self.answers[1] if self.classes is None else (self.answers[0] + 1) % self.classes
        if np.shape(wrong) == np.shape(self.answers[0]):
            self.answers[0] = wrong

    def answer(self, row):
        return row["label"] if "label" in row else [[2 * x, y] for x, y in row["points"]]

    @property
    def classes(self):
        return None if self.task.labels is None else len(self.task.labels)

    def evaluate(self, predictions):
        return evaluate(self.rows, predictions, task=self.task)

    @functools.cached_property
    def expected(self):
        return self.evaluate(dict(zip(self.ids, self.answers, strict=True)))

    def shuffled(self):
        """Ids and answers in another order than the rows."""
        pairs = list(zip(self.ids, self.answers, strict=True))
        random.Random(2).shuffle(pairs)
        ids, answers = zip(*pairs, strict=True)
        return list(ids), list(answers)

    @property
    def uniform(self):
        """Whether all answers have one shape, as those of an array must have."""
        return len({np.shape(answer) for answer in self.answers}) == 1


@functools.cache
def asked(name, variant):
    return Asked(make_task(name, variant))


def table(ids, answers, name="prediction"):
    return pa.table({"more": [0] * len(ids), name: answers, "id": ids})


def frame(ids, answers):
    return pd.DataFrame({"prediction": answers, "id": ids}, index=range(7, 7 + len(ids)))


def records(ids, answers):
    return [{"id": one, "prediction": answer} for one, answer in zip(ids, answers, strict=True)]


def scores(case):
    assert case.classes is not None
    noise = np.random.default_rng(0).normal(size=(len(case.answers), case.classes))
    return noise + 100.0 * np.eye(case.classes)[case.answers]
