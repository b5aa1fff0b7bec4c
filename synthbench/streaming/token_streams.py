"""`tokens`: endless fresh rows as token ids, masks and labels, for training loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from synthbench.checks import check_whole_number
from synthbench.errors import UsageError
from synthbench.streaming.rows import StreamRows
from synthbench.streaming.token_batches import (
    TokenBatches,
    TokenView,
    checked_device,
    chosen_form,
)
from synthbench.tasks.base import Task
from synthbench.tasks.mixture import Mixture
from synthbench.tasks.registry import as_task

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def tokens(
    task: str | Task | Sequence[str | Task] | Mapping[str | Task, int],
    *,
    split: str = "train",
    form: str | None = None,
    batch_size: int = 512,
    seed: int | None = None,
    tokenizer: PreTrainedTokenizerBase | None = None,
    device: str | None = None,
    start: int | bool = 0,
    workers: int = 1,
    rank: int = 0,
    world_size: int = 1,
) -> TokenBatches:
    """Endless batches of fresh rows as tokens: the rows of `stream`, ready for a model.

    The forms have the names that Hugging Face gave them:

    - `sequence-classification`: `labels` `(rows,)` has one class a row.
    - `token-classification`: `labels` `(rows, width)`, the class of each token.
    - `masked-lm`: the question is followed by as many mask tokens as the answer has tokens, and
      `labels` has the answer's ids there.
    - `causal-lm`: question, separator, answer, end; `labels` has the answer and the end. Labels
      are not shifted.

    Ids are 0 for padding, on the right. Then the task's tokens in their order, and last the form's
    special tokens. Where nothing is asked, `labels` is -100, which cross-entropy leaves out.

    Args:
        task: a task, or the name of one with its defaults. Or several that take turns: a list, or a
            mapping to whole numbers, such as `{"listops": 2, "parity": 1}` for two rows of listops
            to each of parity. Then ids stand for the tokens of all of them, and every batch has
            `task`, the number of each row's task, int32 `(rows,)`.
        split: name of the split. An evaluation split gives endless held-out rows.
        form: one of the task's `forms`. Default: the first. Several tasks must have it in common.
        batch_size: rows of a batch.
        seed: of the draws, a whole number from 0. Default: the task's.
        tokenizer: a tokenizer of Transformers, which gives `causal-lm` in its own ids: the row's
            text and a newline, the answer, the end of text.
        device: where to put tensors of PyTorch, such as `cpu` or `cuda`. Default: NumPy arrays.
        start: True for a start symbol before each row, with a token of its own (the tokenizer's
            `bos_token`) and the label -100. Or a whole number: number of the first batch, as in
            `stream`. Set `batches.start` to have both.
        workers: processes that make rows, as in `stream`.
        rank: which share of the rows to give, from 0: row `j` of share `rank` is row
            `j * world_size + rank` of the stream. Processes that train together each take the
            share of their own rank.
        world_size: number of shares. Shares of several tasks may lack a task if the number and the
            sum of the weights have a common factor.

    Returns:
        An endless iterator over batches, which can be indexed and pickled. A batch is a dict of
        arrays: `input_ids` and `attention_mask` `(rows, width)`, `labels`, and `position_ids` if
        the task gives them; NumPy int32, with `device` tensors of int64. Without `tokenizer`,
        `width` is that of the task's token arrays, the same in all batches of our tasks.

    Raises:
        UsageError: a name that does not exist, a number that is not allowed, a task without text,
            or a form that the task does not have.
        ParameterError: the split is empty.

    Example:
        >>> import synthbench
        >>> batches = synthbench.tokens("listops", batch_size=8)
        >>> {name: array.shape for name, array in next(batches).items()}
        {'input_ids': (8, 50), 'attention_mask': (8, 50), 'labels': (8,)}
        >>> batches.form, batches.vocabulary_size, batches.outputs
        ('sequence-classification', 16, 10)
        >>> causal = synthbench.tokens("parity", split="test", form="causal-lm", batch_size=1)
        >>> batch = causal[0]
        >>> [causal.input_tokens[token] for token in batch["input_ids"][0]]
        ['6', '3', '10', '6', '=', '<separator>', '10', '<end>']
        >>> batch["labels"].tolist()
        [[-100, -100, -100, -100, -100, -100, 11, 14]]
    """
    tasks = Mixture.of(task).map(as_task)
    first, symbol = start_of(start)
    common = form if tokenizer is not None else _common_form(tasks, form)
    forms = [chosen_form(part, common, tokenizer, symbol) for part in tasks.parts]
    view = TokenView(forms, split, checked_device(device))
    rows = StreamRows(tasks, split, seed)
    return TokenBatches(rows, view, batch_size, first, workers, rank, world_size)


def start_of(start: object) -> tuple[int, bool]:
    """The number of the first batch, and whether rows have a start symbol.

    Raises:
        UsageError: neither a whole number from 0 nor a truth value.
    """
    if isinstance(start, bool | np.bool_):
        return 0, bool(start)
    return check_whole_number("Start", start, least=0), False


def _common_form(tasks: Mixture[Task], form: str | None) -> str | None:
    """The form that is asked for. Default: the first that all tasks have, None for a single task.

    Raises:
        UsageError: the tasks lack a common form.
    """
    if form is not None or tasks.is_single:
        return form
    first, *others = tasks.parts
    for name in first.forms:
        if all(name in other.forms for other in others):
            return name
    names = ", ".join(f"{part.name} ({', '.join(part.forms) or 'none'})" for part in tasks.parts)
    raise UsageError(f"The tasks have no form in common: {names}.")
