"""Checks of a third-party task's attributes, before anything is made with it.

Names become files, directories and entries of a card; texts are shown in terminals and pages;
splits and buckets are the coordinates of random streams. An error names the attribute and what it
is. What the task's methods return is checked when they are called (`synthbench.tasks.returned`).
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from synthbench.errors import SynthbenchError, TaskError, UsageError, unknown_name
from synthbench.tasks.answer_check import require_check
from synthbench.tasks.base import LABEL, Parameters, Split, Task, TextTask
from synthbench.tasks.column import Column
from synthbench.tasks.images.task import ImageTask
from synthbench.tasks.returned import weights_of
from synthbench.text.lines import error_text, is_one_line, short

#: Splits and variants name files and directories; "all" stands for all of them.
_NAME = re.compile(r"(?!all$)\w+([.-]\w+)*")
_SPLIT = re.compile(r"(?!all$)\w+(\.\w+)*")
#: A vocabulary's ids have two bytes.
_MOST_TOKENS = (1 << 15) - 1
_SIZES = "block_rows", "round_rows", "group_rows", "shard_rows"


def check_class(cls: type[Task]) -> None:
    """Make sure that a task's class can make tasks.

    Raises:
        TaskError: an attribute that it needs for this is not what it should be.
    """
    _require(cls, "name", _is_name, "letters, digits, '-', '_' and '.'")
    for attribute in ("title", "summary", "source", "bucket_name"):
        _require(cls, attribute, _is_text, "a text on one line, without control characters")
    _require(cls, "variants", _is_named_texts, "sentences by name. A name has letters and digits")
    _require(
        cls,
        "parameters_type",
        lambda value: isinstance(value, type) and issubclass(value, Parameters),
        "a subclass of Parameters",
    )
    _require(
        cls,
        "levels",
        lambda value: (
            isinstance(value, Mapping)
            and all(isinstance(name, str) for name in value)
            and all(isinstance(parameters, Mapping) for parameters in value.values())
        ),
        "parameters by level, such as {'easy': {'longest': 5}}",
    )


@functools.lru_cache(maxsize=256)
def check_task(task: Task) -> None:
    """Make sure that a task with its parameters is whole.

    Raises:
        TaskError: an attribute or property is not what it should be, or raises an error.
        UsageError: a column is no column, or an attribute names a column that does not exist.
    """
    _check_columns(task)
    _require(task, "instruction", _is_prose, "a text without control characters")
    _require(task, "splits", _are_splits, "a tuple of Split, each with a name of its own")
    for split in task.splits:
        _check_split(task, split)
    for attribute in _SIZES:
        _require(task, attribute, _is_count, "a whole number from 1")
    for attribute in ("categories", "metrics", "binary_metrics", "warnings"):
        _require(task, attribute, _are_texts, "a tuple of texts")
    _require(task, "stream", _is_json, "JSON values by name")
    if not isinstance(task, ImageTask):  # its tables need source images
        _require(task, "tables", _is_json, "JSON values by name")
    if isinstance(task, TextTask):
        _check_tokens(task)


def _check_split(task: Task, split: Split) -> None:
    what = f"splits of {task.name}: split {split.name!r} "
    if not _SPLIT.fullmatch(split.name):
        raise TaskError(f"{what}: allowed are letters, digits and _, but not 'all'.")
    if not _is_count(split.rows):
        raise TaskError(f"{what}has {short(split.rows)} rows: allowed are whole numbers from 1.")
    buckets = split.buckets
    whole = (
        isinstance(buckets, tuple) and buckets and all(type(bucket) is int for bucket in buckets)
    )
    if not whole or len(set(buckets)) < len(buckets):
        raise TaskError(
            f"{what}has the buckets {short(buckets)}: expected different whole numbers."
        )
    if type(split.evaluation) is not bool:
        raise TaskError(f"{what}has evaluation={short(split.evaluation)}: expected a truth value.")
    weights_of(task, split)
    labels = [task.bucket_label(bucket) for bucket in buckets]
    if not all(map(_is_text, labels)) or len(set(labels)) < len(labels):
        raise TaskError(
            f"bucket_label of {task.name} gives {short(labels)} for the buckets of split "
            f"{split.name}: expected a text for each, all different."
        )


def _check_tokens(task: TextTask) -> None:
    separator = task.separator
    if not isinstance(separator, str):
        raise TaskError(f"separator of {task.name} is {short(separator)}: expected a text.")
    tokens = _asked(task, "tokens")
    if not _are_texts(tokens) or not tokens:
        raise TaskError(f"tokens of {task.name} is {short(tokens)}: expected a tuple of texts.")
    if len(set(tokens)) < len(tokens) or len(tokens) > _MOST_TOKENS:
        raise TaskError(
            f"tokens of {task.name} has {len(tokens):,} texts, {len(set(tokens)):,} of them "
            f"different: allowed are up to {_MOST_TOKENS:,}, all different."
        )
    for token in tokens:
        if not _is_prose(token) or (separator in token if separator else len(token) > 1):
            raise TaskError(
                f"tokens of {task.name} has {short(token)}: a token has no separator "
                f"({separator!r}) and no control characters. Without a separator it is one "
                "character."
            )
    if "text" not in task.columns:
        raise TaskError(f"columns of {task.name} has no 'text': a TextTask declares it.")


def _check_columns(task: Task) -> None:
    """Make sure that columns are columns, and that a task has those that its attributes name."""
    columns = _require(
        task,
        "columns",
        lambda value: isinstance(value, Mapping) and value and all(map(_is_text, value)),
        "columns by name, such as {'text': value('string')}",
    )
    for name, column in columns.items():
        if not isinstance(column, Column):
            raise UsageError(
                f"Column {name!r} of {type(task).__name__} is {short(column)}: expected "
                "value(...), class_label(...), sequence(...), list_of(...), struct(...) or image()."
            )
        try:
            _ = column.arrow, column.card
        except Exception as error:  # a type that Arrow does not know
            raise TaskError(f"Column {name!r} of {task.name} is {column}: {error}.") from error
        if not all(part.plain for part in _parts(column)):
            raise TaskError(
                f"Column {name!r} of {task.name} is {column}: an image is a column of its own."
            )
    own_reading = type(task).read_answer is not Task.read_answer
    if LABEL in columns and pa.types.is_boolean(columns[LABEL].arrow) and not own_reading:
        raise TaskError(
            f"Column {LABEL!r} of {task.name} is {columns[LABEL]}, which no answer is read as: "
            "declare class_label(['false', 'true'])."
        )
    if task.is_checked:
        require_check(task)
        if LABEL not in columns:
            raise TaskError(f"check of {task.name}: columns lacks 'label', a right answer.")
    if "id" in columns:
        raise TaskError(f"columns of {task.name} has a column id: synthbench adds it.")
    _require(task, "inputs", lambda value: _are_texts(value) and value, "a tuple of column names")
    _require(task, "scored_columns", _are_texts, "a tuple of column names")
    named = {
        "inputs": task.inputs,
        "scored_columns": task.scored_columns,
        "group_by": [name for breakdown in _asked(task, "group_by") for name in breakdown.columns],
    }
    # `Task.buckets` reads the column `bucket_name`, unless the only bucket is 0.
    splits = _require(task, "splits", _are_splits, "a tuple of Split, each with a name of its own")
    if type(task).buckets is Task.buckets and any(split.buckets != (0,) for split in splits):
        named["bucket_name"] = [task.bucket_name]
    for attribute, names in named.items():
        for name in names:
            if name not in columns:
                what = f"column in {type(task).__name__}.{attribute}"
                hint = "If the bucket is not a column, override buckets."
                unknown = unknown_name(what, name, columns)
                raise UsageError(f"{unknown} {hint}") if attribute == "bucket_name" else unknown


def _parts(column: Column) -> Iterator[Column]:
    """The columns inside of lists and structs, at every depth."""
    for _, part, _ in column.inner(pa.array([], column.arrow)):
        yield part
        yield from _parts(part)


# What values may be.


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.strip() == value != "" and is_one_line(value)


def _is_prose(value: object) -> bool:
    return isinstance(value, str) and value != "" and is_one_line(value.replace("\n", " "))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _is_named_texts(value: object) -> bool:
    # The first variant is made unless another is named, so it may also have the name "all".
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(_is_name(name) or (not n and name == "all") for n, name in enumerate(value))
        and all(text == "" or _is_text(text) for text in value.values())
    )


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 1


def _are_texts(value: object) -> bool:
    return isinstance(value, tuple | list) and all(isinstance(text, str) for text in value)


def _are_splits(value: object) -> bool:
    if not isinstance(value, tuple | list) or not value:
        return False
    if not all(isinstance(split, Split) and isinstance(split.name, str) for split in value):
        return False
    return len({split.name for split in value}) == len(value)


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return isinstance(value, Mapping)


def _require(owner: Any, attribute: str, right: Callable[[Any], object], expected: str) -> Any:
    """The value of an attribute.

    Raises:
        TaskError: it is not right, or getting it raises an error.
    """
    value = _asked(owner, attribute)
    if not right(value):
        name = getattr(owner, "__name__", type(owner).__name__)
        raise TaskError(f"{attribute} of {name} is {short(value)}: expected {expected}.")
    return value


def _asked(owner: Any, attribute: str) -> Any:
    try:
        return getattr(owner, attribute)
    except SynthbenchError:
        raise
    except Exception as error:  # whatever the task's property raises
        name = getattr(owner, "__name__", type(owner).__name__)
        raise TaskError(f"{attribute} of {name} raises {error_text(error)}.") from error
