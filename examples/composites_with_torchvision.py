"""Make a small composites dataset, load it, and run torchvision's transforms on its images.

The source images must be there: see `python -m synthbench.tasks.images --help`.
"""

import tempfile

from datasets import load_dataset
from torchvision.transforms import v2

import synthbench


def main() -> None:
    transform = v2.Compose([v2.PILToTensor(), v2.RandomHorizontalFlip(p=0.0), v2.Resize(112)])
    with tempfile.TemporaryDirectory() as place:
        directory = f"{place}/composites"
        rows = {"train": 200, "validation": 20, "test": 20}
        synthbench.generate("composites", out=directory, rows=rows, progress=False)

        train = load_dataset(directory, split="train", cache_dir=f"{place}/cache")
        names = train.features["label"].names
        for row in train.select(range(3)):
            image = transform(row["image"])
            where = ("top-left", "top-right", "bottom-left", "bottom-right")[row["selected"]]
            print(tuple(image.shape), f"{where} decides:", names[row["label"]])


if __name__ == "__main__":
    main()
