r"""Evaluate SmolLM2 with Inspect and its provider `hf`, which runs a model in this process.

Prints the accuracy that Inspect computes; its log goes to `./logs`.
`python examples/llm/inspect_hf.py 100` asks 100 rows. The same on the command line:

    inspect eval synthbench/parity --model hf/smollm2 --max-tokens 24 -M do_sample=false \
        -M model_path=$(python examples/llm/smollm2.py) -T level=easy -T limit=100
"""

import sys

import inspect_ai
import smollm2

import synthbench
from synthbench import llm


def main(rows: str = "5") -> None:
    (log,) = inspect_ai.eval(
        llm.inspect_task(synthbench.task("parity", level="easy"), limit=int(rows), preset="small"),
        model="hf/smollm2",
        model_args={"model_path": smollm2.directory(), "device": "cpu", "do_sample": False},
        max_tokens=24,
        display="none",
    )
    if log.status != "success":
        sys.exit(f"Inspect: {log.error}")
    (score,) = log.results.scores
    print(f"accuracy {score.metrics['accuracy'].value:.3f} of {len(log.samples)} rows")


if __name__ == "__main__":
    main(*sys.argv[1:])
