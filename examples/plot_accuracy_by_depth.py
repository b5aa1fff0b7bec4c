"""Draw accuracy by depth, with 95% intervals, from `evaluate(...).by`.

Two made-up models answer nested lists: one always gives train's most frequent label, the other
errs in one of ten operators, so that it gets worse with every level. The picture goes to
`accuracy_by_depth.png`; printed is what it shows.
"""

import random
import tempfile
from collections import Counter

import matplotlib

matplotlib.use("agg")  # draws files, needs no screen
import matplotlib.pyplot as plt

import synthbench


def erring(row: dict, luck: random.Random) -> int:
    right = all(luck.random() < 0.9 for _ in range(row["text"].count("[")))
    return row["label"] if right else luck.randrange(10)


def main() -> None:
    luck = random.Random(0)
    with tempfile.TemporaryDirectory() as place:
        directory = f"{place}/listops"
        rows = {"train": 1_000, "iid": 500, "validation": 200, "test": 400}
        synthbench.generate("listops", out=directory, rows=rows)
        dataset = synthbench.DatasetDirectory.open(directory)
        labels = Counter(row["label"] for row in dataset.rows("default", "train", ["label"]))
        ((majority, _),) = labels.most_common(1)
        models = {"majority": lambda row: majority, "erring": lambda row: erring(row, luck)}
        splits = ("iid", "validation", "test")

        figure, axes = plt.subplots()
        for name, model in models.items():
            answers = {
                row["id"]: model(row) for split in splits for row in dataset.rows("default", split)
            }
            scores = synthbench.evaluate(directory, answers).by["dependency_depth"]
            means = [score.accuracy for score in scores.values()]
            low, high = zip(*(one.intervals["accuracy"] for one in scores.values()), strict=True)
            axes.plot(list(scores), means, marker="o", label=name)
            axes.fill_between(list(scores), low, high, alpha=0.2)
            print(name, *(f"{depth}: {score.accuracy:.2f}" for depth, score in scores.items()))
        axes.set(xlabel="dependency depth", ylabel="accuracy", ylim=(0, 1))
        axes.legend()
        figure.savefig("accuracy_by_depth.png")


if __name__ == "__main__":
    main()
