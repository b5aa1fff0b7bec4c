"""Ask SmolLM2 rows of every text task and score what it writes.

Prints the replies with their scores, and the accuracy of each task with its 95% interval.
`python examples/llm/score.py 100 easy` asks 100 rows of the easy level of each task.
"""

import sys

import smollm2

import synthbench
from synthbench import llm


def main(rows: str = "5", level: str = "easy") -> None:
    for name in ("listops", "arithmetic", "ctl", "parity"):
        task = synthbench.task(name, level=level)
        asked = llm.prompts(task, limit=int(rows), preset="small")
        written = smollm2.replies(asked["prompt"])
        for row, reply in zip(asked, written, strict=True):
            print(llm.score(task, row, reply), repr(reply), "for", row["answer"])
        report = llm.evaluate(asked, written, task)
        low, high = report.intervals["accuracy"]
        print(f"{name}: {report.accuracy:.3f} ({low:.3f} to {high:.3f}) of {report.rows} rows\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
