"""The right answer as a reward for language models that are trained by reinforcement learning.

TRL's GRPOTrainer takes the prompts and the reward as they are:

    GRPOTrainer(
        model="Qwen/Qwen3-0.6B",
        reward_funcs=llm.trl_reward("ctl"),
        train_dataset=llm.prompts("ctl", split="train"),
    )

It hands all columns of the dataset to the reward, as lists. Printed are six completions with their
rewards.
"""

from typing import Any

from synthbench import llm


def main() -> None:
    row = llm.prompts("ctl", split="train", limit=1, preset="small")[0]
    right = row["answer"]
    wrong = "".join("10"[int(digit)] for digit in right)
    completions: list[Any] = [
        f"The answer is {right}.",
        f"<think>Is it {wrong}?</think> **{right}**",
        [{"role": "assistant", "content": f"So it is $\\boxed{{{right}}}$"}],
        f"The answer is {wrong}.",
        f"{right} or {wrong}",
        "I cannot say.",
    ]
    reward = llm.trl_reward("ctl")
    rewards = reward(completions, label=[row["label"]] * len(completions))
    print(f"{row['text']} = {right}")
    for completion, points in zip(completions, rewards, strict=True):
        print(points, completion)


if __name__ == "__main__":
    main()
