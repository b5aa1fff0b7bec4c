"""SmolLM2 on prompts that begin alike, for `results.py`: what they share is read only once.

The rule and the worked examples are the same in every prompt, and most of it. So answers begin from
the shared tokens' keys and values, and a training step takes one sequence: the shared tokens, then
each row's own, which see the shared ones and themselves. The figures are those of separate rows.
"""

import copy
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.nn import functional

#: Rows that are answered, or trained on, at once.
BATCH = 32


@torch.inference_mode()
def replies(model: Any, tokenizer: Any, prompts: Sequence[Any], tokens: int = 16) -> list[str]:
    """The model's greedy reply to each list of chat messages, of at most so many tokens."""
    model.eval()
    asked = [_tokens(tokenizer, prompt, add_generation_prompt=True) for prompt in prompts]
    shared = _shared(asked)
    beginning = model(torch.tensor([shared]), use_cache=True).past_key_values
    written = [""] * len(asked)
    for length in sorted({len(ids) for ids in asked}):  # rows of one length need no padding
        alike = [row for row, ids in enumerate(asked) if len(ids) == length]
        for first in range(0, len(alike), BATCH):
            rows = alike[first : first + BATCH]
            cache = copy.deepcopy(beginning)
            cache.batch_repeat_interleave(len(rows))
            ids = torch.tensor([asked[row] for row in rows])
            mask = torch.ones_like(ids)
            options = {"past_key_values": cache, "attention_mask": mask, "do_sample": False}
            made = model.generate(ids, max_new_tokens=tokens, **options)
            texts = tokenizer.batch_decode(made[:, length:], skip_special_tokens=True)
            for row, text in zip(rows, texts, strict=True):
                written[row] = text
    return written


def batches(tokenizer: Any, rows: Sequence[Any], first: int) -> Iterator[dict[str, Any]]:
    """Endless batches of rows with `prompt` and `completion`, from the `first` one, for `loss`.

    Every pass over the rows has an order of its own.
    """
    asked = [_tokens(tokenizer, row["prompt"], add_generation_prompt=True) for row in rows]
    whole = [_tokens(tokenizer, row["prompt"] + row["completion"]) for row in rows]
    shared = _shared(asked)
    each = len(rows) // BATCH
    while True:
        order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(first // each))
        chosen = order[first % each * BATCH :][:BATCH].tolist()
        yield _packed(shared, [(whole[row], len(asked[row])) for row in chosen])
        first += 1


def loss(model: Any, batch: dict[str, Any]) -> torch.Tensor:
    """The mean cross-entropy of the answers' tokens."""
    answers = batch.pop("answers")
    return functional.cross_entropy(model(**batch, use_cache=False).logits[0], answers)


def _packed(shared: list[int], rows: Sequence[tuple[list[int], int]]) -> dict[str, Any]:
    """One sequence of rows, each with its tokens and the place of the first that is answered."""
    ids, places, owners = list(shared), list(range(len(shared))), [0] * len(shared)
    kept, answers = [], []
    for owner, (row, answered) in enumerate(rows, start=1):
        begun = len(ids) - len(shared)
        kept += [begun + place - 1 for place in range(answered, len(row))]
        answers += row[answered:]
        ids += row[len(shared) :]
        places += range(len(shared), len(row))
        owners += [owner] * (len(row) - len(shared))
    of = torch.tensor(owners)
    seen = ((of[None] == 0) | (of[None] == of[:, None])).tril()
    return {
        "input_ids": torch.tensor([ids]),
        "position_ids": torch.tensor([places]),
        "attention_mask": torch.zeros(seen.shape).masked_fill(~seen, -torch.inf)[None, None],
        "logits_to_keep": torch.tensor(kept),
        "answers": torch.tensor(answers),
    }


def _shared(asked: Sequence[list[int]]) -> list[int]:
    """The longest beginning of all prompts, short of their last tokens."""
    places = zip(*(ids[:-1] for ids in asked), strict=False)
    return [ids[0] for ids in itertools.takewhile(lambda ids: len(set(ids)) == 1, places)]


def _tokens(tokenizer: Any, messages: Any, **options: Any) -> list[int]:
    ids: list[int] = tokenizer.apply_chat_template(messages, return_dict=False, **options)
    return ids
