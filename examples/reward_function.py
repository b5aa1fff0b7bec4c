"""`score` as a reward for language models that are trained by reinforcement learning.

`score_answer` has the signature that reasoning-gym and others ask of a scorer, `reward` that of
TRL's GRPOTrainer (`reward_funcs=[reward]`): it gets all columns of the dataset as lists. Printed
are six completions with their rewards.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import synthbench
from synthbench import answers
from synthbench.registry import make_task

#: With the tables of seed 0. Of other datasets: `Dataset.open(DIR).manifest.make_task(VARIANT)`.
TASK = make_task("ctl")


def score_answer(answer: str | None, entry: Mapping[str, Any]) -> float:
    """1.0 if the text gives the row's answer, else 0.0; never anything in between."""
    return answers.score_answer(answer, entry, TASK)


def reward(
    prompts: Sequence[Any], completions: Sequence[Any], **columns: Sequence[Any]
) -> list[float]:
    """The rewards of completions, each a text or a list of chat messages."""
    texts = [one if isinstance(one, str) else one[-1]["content"] for one in completions]
    entries = [{"label": label} for label in columns["label"]]
    return [score_answer(*pair) for pair in zip(texts, entries, strict=True)]


def main() -> None:
    batch = next(synthbench.stream("ctl", batch_size=1, workers=1))
    question, label = batch["text"][0], int(batch["label"][0])
    right, wrong = TASK.symbols[label], TASK.symbols[label - 1]
    completions = [
        f"The answer is {right}.",
        f"<think>Is it {wrong}?</think> **{right}**",
        [{"role": "assistant", "content": f"So it is $\\boxed{{{right}}}$"}],
        f"The answer is {wrong}.",
        f"{right} or {wrong}",
        "I cannot say.",
    ]
    prompts = [f"{TASK.instruction}\n\n{question}"] * len(completions)
    rewards = reward(prompts, completions, label=[label] * len(completions))
    print(f"{question} = {right}")
    for completion, points in zip(completions, rewards, strict=True):
        print(points, completion)


if __name__ == "__main__":
    main()
