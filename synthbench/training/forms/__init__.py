"""Forms: how the rows of a task become tensors, and a model's scores become answers.

A form is one object. It says how columns become tensors, which sizes a model must have, the head
that reads a backbone's states, the loss, the metric of a row, and answers as `evaluate` reads them.

    form                      a model reads     and gives
    sequence-classification   tokens            a class for each row
    token-classification      tokens            a class for each token
    masked-lm                 tokens            the answer's tokens at the masks behind the question
    causal-lm                 tokens            the answer, token by token
    ImageClass                images            a class for each row
    GridCounts                grids             a count for each cell
    Vector                    vectors           a vector for each row
    Points                    points            points. There is nothing to learn
"""

from __future__ import annotations

import pyarrow as pa

from synthbench.errors import UsageError, unknown_name
from synthbench.tasks.base import Task
from synthbench.training.forms.arrays import ColumnForm, GridCounts, ImageClass, Points, Vector
from synthbench.training.forms.form import Form
from synthbench.training.forms.generated import GeneratedTokens
from synthbench.training.forms.texts import PlaceTokens, RowClasses, TextForm

__all__ = ["Form", "form_of"]

#: The forms of texts that models here learn, by their names in `Task.forms`.
_OF_TEXTS: dict[str, type[TextForm]] = {
    "sequence-classification": RowClasses,
    "token-classification": PlaceTokens,
    "masked-lm": PlaceTokens,
    "causal-lm": GeneratedTokens,
}


def form_of(task: Task, name: str | None = None, start: bool = False) -> Form:
    """The form of a task's rows, which follows from the type of its column.

    Args:
        task: the task.
        name: of a task of texts, one of its forms that a model here can learn. Default: the first
            of them.
        start: whether rows of texts begin with a start symbol.

    Raises:
        UsageError: no such form, or columns that no model here can read or answer.

    Example:
        >>> import synthbench
        >>> from synthbench.training.forms import form_of
        >>> form = form_of(synthbench.task("parity"), "masked-lm")
        >>> form.input_tokens[-1]
        '<mask>'
    """
    if task.forms:
        known = [form for form in task.forms if form in _OF_TEXTS]
        if known and (name is None or name in known):
            form = name or known[0]
            return _OF_TEXTS[form](task, form, start)
        raise unknown_name(f"form of {task.name} for the trainer", name, known)
    column = task.image_column or task.inputs[0]
    kind = _kind(task, column)
    if kind is None:
        raise UsageError(
            f"Task {task.name!r}: no model reads its column {column!r}. Allowed are the text of a "
            "TextTask whose label is a class or a sequence, an image, a list of floats, or lists "
            "of lists of numbers."
        )
    if kind is ImageClass and not task.labels:
        raise UsageError(f"Task {task.name!r}: its label has no classes to choose from.")
    if name is not None:
        raise UsageError(f"Form {name!r}: the rows of {task.name} are no texts. Leave it out.")
    if start:
        raise UsageError(f"Recipe start=true: the rows of {task.name} are not texts. Leave it out.")
    return kind(task, column)


def _kind(task: Task, column: str) -> type[ColumnForm] | None:
    """The form for a column's values, None if no model reads them."""
    if column == task.image_column:
        return ImageClass
    item, depth = task.columns[column].arrow, 0
    while pa.types.is_list(item):
        item, depth = item.value_type, depth + 1
    if depth == 2 and pa.types.is_integer(item):
        return GridCounts
    return {1: Vector, 2: Points}.get(depth) if pa.types.is_float32(item) else None
