"""Fine-tune SmolLM2 on rows of train with TRL's SFTTrainer, and score it on held-out rows.

Prints the accuracy on rows of iid before and after, and the loss of each step.
`python examples/llm/sft.py 200 100` takes 200 steps of eight rows and asks 100.
"""

import sys
import tempfile

import smollm2
from trl import SFTConfig, SFTTrainer

import synthbench
from synthbench import llm

TASK = synthbench.task("arithmetic", level="easy")
OPTIONS = {"learning_rate": 1e-4, "logging_steps": 1, "save_strategy": "no", "bf16": False}


def main(steps: str = "1", asked: str = "5") -> None:
    model, tokenizer = smollm2.load()
    rows = llm.prompts(TASK, "iid", limit=int(asked), preset="small")
    with tempfile.TemporaryDirectory() as place:
        trainer = SFTTrainer(
            model=model,
            processing_class=tokenizer,
            train_dataset=llm.sft_examples(TASK, preset="small"),
            args=SFTConfig(place, max_steps=int(steps), **OPTIONS),
        )
        for time in ("before", "after"):
            report = llm.evaluate(rows, smollm2.replies(rows["prompt"]), TASK)
            print(f"accuracy {time}: {report.accuracy:.2f} of {report.rows} rows")
            if time == "before":
                trainer.train()
    print("loss:", *(f"{log['loss']:.2f}" for log in trainer.state.log_history[:-1]))


if __name__ == "__main__":
    main(*sys.argv[1:])
