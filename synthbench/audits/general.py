"""Which shortcuts are tried on a dataset: those that suit its columns, and the task's own."""

from __future__ import annotations

import importlib.util

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from synthbench.audits.pixels import NETWORK, pixel_shortcuts
from synthbench.audits.sample import Sample
from synthbench.audits.subject import Subject
from synthbench.audits.tokens import token_shortcuts
from synthbench.tasks.scrutiny import Shortcut, by_key

#: Classes that a logistic regression or a network tells apart, at most.
MOST_LABELS = 100


def choose_shortcuts(subject: Subject, fit: Sample | None) -> tuple[list[Shortcut], dict[str, str]]:
    """The shortcuts to try on a task's rows, and those left out, by name, with the reason.

    Args:
        subject: what is audited.
        fit: the rows to fit; None where there are none.
    """
    own = list(subject.scrutiny.shortcuts)
    label = None if fit is None else fit.columns.get("label")
    if label is None or not pa.types.is_integer(label.type):
        return own, {}
    found = [
        by_key(
            "majority label",
            "Train's most frequent label, always.",
            lambda columns: np.zeros(len(columns["label"]), np.int64),
        )
    ]
    if subject.tokens is not None:
        found += token_shortcuts(subject.tokens)
    left_out = {}
    for column in subject.image_columns[:1]:
        found += pixel_shortcuts(column)
        if importlib.util.find_spec("torch") is None:
            reason = "PyTorch is not installed (pip install 'synthbench[train]')"
            left_out[NETWORK] = reason
        else:
            from synthbench.audits.network import network_shortcuts

            found += network_shortcuts(column)
    labels = pc.count_distinct(label).as_py()
    if labels > MOST_LABELS:
        learned = [shortcut for shortcut in found if shortcut.learned]
        reason = f"{labels:,} labels; it is fitted to {MOST_LABELS} at most"
        left_out |= {shortcut.name: reason for shortcut in learned}
        found = [shortcut for shortcut in found if not shortcut.learned]
    return [*found, *own], left_out
