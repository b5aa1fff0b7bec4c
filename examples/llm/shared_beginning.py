"""SmolLM2 on prompts that begin alike, for `results.py`: what they share is read only once.

All prompts share the rule and the worked examples, which are most of their tokens. So answers, and
the rows of a training step, begin from the keys and values of the shared tokens. The results are
those of rows that are computed one by one.
"""

import copy
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

#: Rows that are answered at once.
ANSWERED = 32
#: In place of a token that is no part of the answer.
IGNORED = -100


@torch.inference_mode()
def replies(model: Any, tokenizer: Any, prompts: Sequence[Any], tokens: int = 16) -> list[str]:
    """The model's greedy reply to each list of chat messages, of at most so many tokens."""
    model.eval()
    asked = [_tokens(tokenizer, prompt, add_generation_prompt=True) for prompt in prompts]
    shared = _shared(asked)
    beginning = model(torch.tensor([shared], device=model.device), use_cache=True).past_key_values
    written = [""] * len(asked)
    for length in sorted({len(ids) for ids in asked}):  # rows of one length need no padding
        alike = [row for row, ids in enumerate(asked) if len(ids) == length]
        for first in range(0, len(alike), ANSWERED):
            rows = alike[first : first + ANSWERED]
            cache = copy.deepcopy(beginning)
            cache.batch_repeat_interleave(len(rows))
            ids = torch.tensor([asked[row] for row in rows], device=model.device)
            mask = torch.ones_like(ids)
            options = {"past_key_values": cache, "attention_mask": mask, "do_sample": False}
            made = model.generate(ids, max_new_tokens=tokens, **options)
            texts = tokenizer.batch_decode(made[:, length:], skip_special_tokens=True)
            for row, text in zip(rows, texts, strict=True):
                written[row] = text
    return written


def batches(tokenizer: Any, rows: Sequence[Any], first: int, size: int) -> Iterator[dict[str, Any]]:
    """Endless batches of `size` rows with `prompt` and `completion`, from the `first`, for `loss`.

    Every pass over the rows has an order of its own.
    """
    asked = [_tokens(tokenizer, row["prompt"], add_generation_prompt=True) for row in rows]
    whole = [_tokens(tokenizer, row["prompt"] + row["completion"]) for row in rows]
    shared = _shared(asked)
    own = [torch.tensor(ids[len(shared) :]) for ids in whole]
    answers = [ids.clone() for ids in own]
    for ids, question in zip(answers, asked, strict=True):
        ids[: len(question) - len(shared)] = IGNORED
    each = len(rows) // size
    while True:
        order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(first // each))
        chosen = order[first % each * size :][:size].tolist()
        yield {
            "shared": torch.tensor([shared]),
            "own": pad_sequence([own[row] for row in chosen], batch_first=True),
            "answers": pad_sequence([answers[row] for row in chosen], True, IGNORED),
        }
        first += 1


def loss(model: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """The mean cross-entropy of the answers' tokens."""
    batch = {name: ids.to(model.device) for name, ids in batch.items()}
    cache = model(batch["shared"], use_cache=True, logits_to_keep=1).past_key_values
    cache.batch_repeat_interleave(len(batch["own"]))
    states = model.model(batch["own"], past_key_values=cache).last_hidden_state[:, :-1]
    answers = batch["answers"][:, 1:]
    asked = answers != IGNORED
    return functional.cross_entropy(model.lm_head(states[asked]), answers[asked])


def _shared(asked: Sequence[list[int]]) -> list[int]:
    """The longest beginning of all prompts, short of their last tokens."""
    places = zip(*(ids[:-1] for ids in asked), strict=False)
    return [ids[0] for ids in itertools.takewhile(lambda ids: len(set(ids)) == 1, places)]


def _tokens(tokenizer: Any, messages: Any, **options: Any) -> list[int]:
    ids: list[int] = tokenizer.apply_chat_template(messages, return_dict=False, **options)
    return ids
