"""The shortcuts that an audit tries: those that suit the rows' columns, and the task's own."""

from __future__ import annotations

import importlib.util

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from synthbench.auditing.pixels import pixel_shortcuts
from synthbench.auditing.sequences import sequence_shortcuts
from synthbench.auditing.tokens import token_shortcuts
from synthbench.auditing.variant import AuditedVariant, Sample
from synthbench.tasks.audit_spec import Shortcut, by_key

#: The maximum number of classes that a logistic regression or a network is fitted to.
MOST_LABELS = 100


def choose_shortcuts(
    subject: AuditedVariant, fit: Sample | None
) -> tuple[list[Shortcut], dict[str, str]]:
    """The shortcuts to try, and the reason for each shortcut that is left out, by its name.

    Without rows to fit them on (`fit` is None), only the task's own shortcuts are tried.
    """
    own = list(subject.spec.shortcuts)
    label = None if fit is None else fit.columns.get("label")
    if label is None or not (pa.types.is_integer(label.type) or pa.types.is_string(label.type)):
        return own, {}
    shortcuts = [
        by_key(
            "majority label",
            "Always train's most frequent label.",
            lambda columns: np.zeros(len(columns["label"]), np.int64),
        )
    ]
    if subject.tokens is not None:
        shortcuts += token_shortcuts(subject.tokens)
    left_out = {}
    if (column := subject.task.image_column) is not None:
        linear, network = pixel_shortcuts(column)
        shortcuts.append(linear)
        if importlib.util.find_spec("torch") is not None:
            shortcuts.append(network)
        else:
            left_out[network.name] = "PyTorch is not installed (pip install 'synthbench[train]')"
    labels = pc.count_distinct(label).as_py()
    if labels > MOST_LABELS:
        reason = f"{labels:,} labels. It is fitted to at most {MOST_LABELS}"
        left_out |= {shortcut.name: reason for shortcut in shortcuts if shortcut.learned}
        shortcuts = [shortcut for shortcut in shortcuts if not shortcut.learned]
    if subject.label_vocabulary is not None:
        shortcuts += sequence_shortcuts(subject.label_vocabulary, subject.tokens)
    return [*shortcuts, *own], left_out
