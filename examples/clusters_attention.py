"""Mode collapse: do two clusters stay apart under four steps of parameter-free attention?

Softmax against doubly-normalised attention (Ding et al. 2020, appendix E), queries, keys and
values equal to the points. `python examples/clusters_attention.py 1000` takes all rows.
"""

import sys
import tempfile

import torch

import synthbench
from synthbench.train.models.clusters import Clusters

METHODS = {
    "none": Clusters(steps=0),
    "softmax": Clusters(normalisation="softmax"),
    "doubly-normalised": Clusters(normalisation="doubly-normalised"),
}


def main(rows: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        directory = f"{place}/clusters"
        synthbench.generate(
            "clusters", variant="all", out=directory, rows={"test": rows}, progress=False
        )
        dataset = synthbench.Dataset.open(directory)
        for variant in dataset.manifest.variants:
            for name, method in METHODS.items():
                moved = {}
                for row in dataset.rows(variant, "test"):
                    points = torch.tensor([row["points"]], dtype=torch.float64)
                    moved[row["id"]] = method(points).scores[0].numpy()
                report = synthbench.evaluate(directory, moved, variant=variant, split="test")
                distance, separated = report.metrics["distance"], report.metrics["separated"]
                print(f"{variant:10}  {name:17}  {distance:.2f}  {separated:.1%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
