"""Audit a dataset of your own making: what scores without solving, and does a remedy help?

Arithmetic is made twice: as the paper draws it, and with labels as even as can be. Printed are
chance and the best shortcuts on the test split of each, and what is worth a second look.
`python examples/audit_dataset.py 100000` takes so many rows of train.
"""

import sys
import tempfile

import synthbench


def main(rows: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        for balance in ("depth", "label"):
            directory = f"{place}/{balance}"
            sizes = {"train": rows, "iid": 100, "validation": 100, "test": 300}
            arithmetic = synthbench.task("arithmetic", balance=balance)
            synthbench.generate(arithmetic, out=directory, rows=sizes)
            found = synthbench.audit(directory)

            print(f"balance={balance}")
            scores = {
                one.name: one.splits["test"].figures["accuracy"]
                for one in found.variants["default"].shortcuts
                if "test" in one.splits
            }
            best = sorted(scores, key=lambda name: -scores[name].mean)[:5]
            for name in dict.fromkeys(["majority label", *best]):
                print(f"  {scores[name].mean:.3f}  {name}")
            for finding in found.findings:
                print(f"  {finding}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
