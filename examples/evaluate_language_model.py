"""Ask a language model every row of a test split and score what it writes.

`ask` stands for your model: here a made-up one that settles on no answer half of the time. Printed
is the report, by depth and length.
"""

import tempfile

import synthbench
from synthbench.answers import find_answer


def ask(prompt: str) -> str:
    question = prompt.rpartition("\n")[2]
    answer = synthbench.solve("arithmetic", question)
    if len(question) % 8 == 1:
        return f"Step by step, I get 3, then 5.\n\n**The answer is {answer}.**"
    return f"That is {answer} or {answer + 1}."


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        directory = f"{place}/arithmetic"
        rows = {"train": 100, "iid": 50, "validation": 20, "test": 200}
        synthbench.generate("arithmetic", out=directory, rows=rows, progress=False)

        dataset = synthbench.Dataset.open(directory)
        task = dataset.manifest.make_task("default")
        predictions = {}
        for row in dataset.rows("default", "test", ["id", "text"]):
            written = ask(f"{task.instruction}\n\n{row['text']}")
            predictions[row["id"]] = find_answer(task, written)
        print(synthbench.evaluate(directory, predictions, split="test"))


if __name__ == "__main__":
    main()
