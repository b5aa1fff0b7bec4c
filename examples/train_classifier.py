"""Load a dataset with `datasets` and train a classifier on it, in plain PyTorch.

An LSTM reads chains of up to five table look-ups (ctl, with fewer symbols and functions than the
paper). Printed is how many rows it answers, by length: of the lengths that it was trained on (iid),
and of longer chains (test). `python examples/train_classifier.py 1000` takes 1,000 steps.
"""

import sys
import tempfile

import torch
from datasets import Dataset, load_dataset
from torch import Tensor, nn

import synthbench


class Classifier(nn.Module):
    """Embedding, LSTM, and a classifier of the state at the last token."""

    def __init__(self, vocabulary: int, classes: int, d_model: int = 64) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d_model)
        self.lstm = nn.LSTM(d_model, d_model, batch_first=True)
        self.head = nn.Linear(d_model, classes)

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Scores `(rows, classes)` of tokens `(rows, length)` that are padded on the right."""
        states, _ = self.lstm(self.embedding(tokens))
        return self.head(states[torch.arange(len(tokens)), lengths - 1])


def encode(rows: Dataset, words: list[str]) -> tuple[Tensor, Tensor]:
    """Tokens `(rows, length)` and lengths `(rows,)`; 0 is padding."""
    texts = [text.split() for text in rows["text"]]
    tokens = [torch.tensor([1 + words.index(word) for word in text]) for text in texts]
    padded = nn.utils.rnn.pad_sequence(tokens, batch_first=True)
    return padded, torch.tensor([len(text) for text in texts])


def main(steps: int) -> None:
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as place:
        directory, rows = f"{place}/ctl", {"train": 3000, "iid": 300}
        ctl = synthbench.task("ctl", symbols=4, functions=4)
        synthbench.generate(ctl, out=directory, rows=rows)
        dataset = load_dataset(directory, cache_dir=f"{place}/cache")
        words = sorted({word for text in dataset["train"]["text"] for word in text.split()})

        model = Classifier(1 + len(words), dataset["train"].features["label"].num_classes)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.005)
        tokens, lengths = encode(dataset["train"], words)
        labels = torch.tensor(dataset["train"]["label"])
        for _ in range(steps):
            chosen = torch.randint(len(labels), (128,))
            scores = model(tokens[chosen], lengths[chosen])
            loss = nn.functional.cross_entropy(scores, labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        for split in ("iid", "test"):
            with torch.no_grad():
                answers = model(*encode(dataset[split], words)).argmax(dim=1)
            print(synthbench.evaluate(directory, answers, split=split), end="\n\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
