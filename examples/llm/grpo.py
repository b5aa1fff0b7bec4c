"""Train SmolLM2, or another model, with TRL's GRPOTrainer on Countdown. Right is worth 1.

Prints the mean reward of each step. `python examples/llm/grpo.py 100` takes 100 steps;
`python examples/llm/grpo.py 100 MODEL` trains a model of the Hugging Face Hub, or a directory.
"""

import sys
import tempfile

import smollm2
from trl import GRPOConfig, GRPOTrainer

import synthbench
from synthbench import llm

COUNTDOWN = synthbench.task("countdown", level="easy")
SIZES = {"per_device_train_batch_size": 4, "num_generations": 4, "max_completion_length": 32}
OPTIONS = {"logging_steps": 1, "save_strategy": "no", "bf16": False}


def main(steps: str = "1", model: str = "") -> None:
    with tempfile.TemporaryDirectory() as place:
        trainer = GRPOTrainer(
            model=model or smollm2.directory(),
            reward_funcs=llm.trl_reward(COUNTDOWN),
            train_dataset=llm.prompts(COUNTDOWN, split="train", preset="small"),
            args=GRPOConfig(place, max_steps=int(steps), **SIZES, **OPTIONS),
        )
        trainer.train()
    for log in trainer.state.log_history[:-1]:
        print(f"step {log['step']}: mean reward {log['reward']:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
