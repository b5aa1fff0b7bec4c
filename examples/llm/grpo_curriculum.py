"""Train SmolLM2 with GRPO on a curriculum: sums get deeper as the model earns rewards.

Prints the mean reward of each step and the level at the end. Run twice, the command
`python examples/llm/grpo_curriculum.py 20` takes 40 steps: it goes on from `./grpo-curriculum`.
"""

import json
import sys
from pathlib import Path

import smollm2
from trl import GRPOConfig, GRPOTrainer

from synthbench import llm, task

SUMS = {"operators": ["+"], "max_length": 9, "validation_depths": [2], "test_depths": [2]}
LEVELS = {f"{n} sums": task("arithmetic", **SUMS, train_depths=[n]) for n in (1, 2)}
SIZES = {"per_device_train_batch_size": 8, "num_generations": 8, "max_completion_length": 12}
OPTIONS = {"learning_rate": 1e-5, "logging_steps": 1, "save_strategy": "no", "bf16": False}


def main(steps: str = "1", place: str = "grpo-curriculum") -> None:
    curriculum = llm.Curriculum("arithmetic", levels=LEVELS, window=16, up=0.5, down=0.05)
    if (state := Path(place, "curriculum.json")).exists():
        curriculum.load_state_dict(json.loads(state.read_text(encoding="utf-8")))
    trainer = GRPOTrainer(
        model=place if state.exists() else smollm2.directory(),
        reward_funcs=curriculum.reward,
        train_dataset=curriculum.dataset(),
        args=GRPOConfig(place, max_steps=int(steps), shuffle_dataset=False, **SIZES, **OPTIONS),
    )
    trainer.train()
    trainer.save_model()
    state.write_text(json.dumps(curriculum.state_dict()), encoding="utf-8")
    print("rewards:", *(f"{log['reward']:.3f}" for log in trainer.state.log_history[:-1]))
    print("level:", curriculum.level)


if __name__ == "__main__":
    main(*sys.argv[1:])
