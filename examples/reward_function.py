"""Train a language model with GRPO; the reward is 1 for the right answer and 0 for any other.

`python examples/reward_function.py MODEL` trains MODEL, a name on the Hugging Face Hub or a
directory, with TRL's GRPOTrainer on parity. Printed is the mean reward of each step; without a
model, what six completions are worth, which needs no TRL.
"""

import sys
import tempfile

from synthbench import llm


def show_rewards() -> None:
    """Print what completions of one row are worth."""
    row = llm.prompts("parity", split="train", limit=1, preset="small")[0]
    right, wrong = row["answer"], str(row["label"] + 1)
    completions = [
        f"The answer is {right}.",
        f"<think>Is it {wrong}?</think> **{right}**",
        [{"role": "assistant", "content": f"So it is $\\boxed{{{right}}}$"}],
        f"The answer is {wrong}.",
        f"{right} or {wrong}",
        "I cannot say.",
    ]
    reward = llm.trl_reward("parity")
    rewards = reward(completions, label=[row["label"]] * len(completions))
    print(f"{row['text']} {right}")
    for completion, points in zip(completions, rewards, strict=True):
        print(points, completion)


def train(model: str, steps: int = 2) -> None:
    """Train a model; GRPOTrainer hands all columns of the dataset to the reward, as lists."""
    import torch
    from trl import GRPOConfig, GRPOTrainer

    with tempfile.TemporaryDirectory() as place:
        trainer = GRPOTrainer(
            model=model,
            reward_funcs=llm.trl_reward("parity"),
            train_dataset=llm.prompts("parity", split="train", preset="small"),
            args=GRPOConfig(
                output_dir=place,
                max_steps=steps,
                per_device_train_batch_size=4,
                num_generations=4,
                max_completion_length=32,
                logging_steps=1,
                save_strategy="no",
                report_to=[],
                bf16=torch.cuda.is_available(),
            ),
        )
        trainer.train()
    for log in trainer.state.log_history[:-1]:
        print(f"step {log['step']}: mean reward {log['reward']:.2f}")


if __name__ == "__main__":
    train(*sys.argv[1:2]) if len(sys.argv) > 1 else show_rewards()
