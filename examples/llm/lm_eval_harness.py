"""Evaluate SmolLM2 with EleutherAI's lm-evaluation-harness on an exported dataset.

Prints the harness's scores: `tolerant` takes the last number, `strict` the whole reply.
`python examples/llm/lm_eval_harness.py 100` asks 100 rows.
"""

import sys
import tempfile

import lm_eval
import smollm2
from lm_eval.tasks import TaskManager

import synthbench


def main(rows: str = "5") -> None:
    with tempfile.TemporaryDirectory() as place:
        synthbench.generate("parity", out=f"{place}/parity", preset="small", workers=1)
        synthbench.export(f"{place}/parity", to="lm-eval", out=f"{place}/harness", splits=["test"])
        found = lm_eval.simple_evaluate(
            model="hf",
            model_args={"pretrained": smollm2.directory(), "dtype": "float32", "device": "cpu"},
            tasks=["synthbench_parity"],
            task_manager=TaskManager(include_path=f"{place}/harness", include_defaults=False),
            gen_kwargs={"max_gen_toks": 8},
            limit=int(rows),
            bootstrap_iters=0,
        )
    for name, score in found["results"]["synthbench_parity"].items():
        if name.startswith("exact_match,"):
            print(f"{name.partition(',')[2]}: {score:.3f} of {rows} rows")


if __name__ == "__main__":
    main(*sys.argv[1:])
