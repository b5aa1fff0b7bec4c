"""Mode collapse: do two clusters stay apart under four steps of parameter-free attention?

Softmax against doubly-normalised attention (Ding et al. 2020, equations 1 and 5), queries, keys
and values equal to the points. `python examples/clusters_attention.py 1000` takes all rows.
"""

import sys
import tempfile

import numpy as np

import synthbench


def attend(points: np.ndarray, doubly: bool) -> np.ndarray:
    """One step: every point moves to a weighted mean of all points, float64 `(points, 2)`."""
    weights = np.exp(points @ points.T - (points**2).sum(axis=1).max())
    if doubly:
        weights = weights / weights.sum(axis=0)
    return weights / weights.sum(axis=1, keepdims=True) @ points


def main(rows: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        directory = f"{place}/clusters"
        synthbench.generate(
            "clusters", variant="all", out=directory, rows={"test": rows}, progress=False
        )
        dataset = synthbench.Dataset.open(directory)
        for variant in dataset.manifest.variants:
            for name, steps, doubly in (
                ("none", 0, False),
                ("softmax", 4, False),
                ("doubly-normalised", 4, True),
            ):
                moved = {}
                for row in dataset.rows(variant, "test"):
                    points = np.array(row["points"], np.float64)
                    for _ in range(steps):
                        points = attend(points, doubly)
                    moved[row["id"]] = points
                report = synthbench.evaluate(directory, moved, variant=variant, split="test")
                distance, separated = report.metrics["distance"], report.metrics["separated"]
                print(f"{variant:10}  {name:17}  {distance:.2f}  {separated:.1%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
