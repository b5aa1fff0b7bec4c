"""Make a small ListOps dataset, answer every row with train's most frequent label, score it."""

import tempfile
from collections import Counter

import synthbench


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        directory = f"{place}/listops"
        rows = {"train": 10_000, "iid": 1_000, "validation": 1_000, "test": 1_000}
        synthbench.generate("listops", out=directory, rows=rows, progress=False)

        dataset = synthbench.Dataset.open(directory)
        labels = Counter(row["label"] for row in dataset.rows("default", "train", ["label"]))
        ((majority, _),) = labels.most_common(1)
        answers = {row["id"]: majority for row in dataset.rows("default", "test", ["id"])}

        print(synthbench.evaluate(directory, answers, split="test"))


if __name__ == "__main__":
    main()
