"""Ask a language model every row of a test split and score what it writes.

`ask` stands for your model: here a made-up one that settles on no answer half of the time. Printed
is the report, by depth and length. With Inspect the same is one command:
`inspect eval synthbench/arithmetic --model MODEL -T limit=200`.
"""

from collections.abc import Mapping, Sequence

import synthbench
from synthbench import llm


def ask(messages: Sequence[Mapping[str, str]]) -> str:
    _rule, question, _form = messages[-1]["content"].split("\n\n")
    answer = synthbench.solve("arithmetic", question)
    if len(question) % 8 == 1:
        return f"Step by step, I get 3, then 5.\n\nAnswer: {answer}"
    return f"That is {answer} or {answer + 1}."


def main() -> None:
    rows = llm.prompts("arithmetic", split="test", limit=200, preset="small")
    written = {row["id"]: ask(row["prompt"]) for row in rows}
    print(synthbench.evaluate(rows, written, task="arithmetic", read="text"))


if __name__ == "__main__":
    main()
