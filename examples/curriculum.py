"""A curriculum on endless fresh rows: deeper lists, as soon as the flat ones are learned.

A GRU learns nested lists of MIN and MAX from a stream. Of each batch it sees the rows up to a
depth; when it answers four of five, one more level is allowed. No row of the stream is in an
evaluation split. Printed is the step at which each depth was allowed.
`python examples/curriculum.py 3000` takes 3,000 steps.
"""

import itertools
import sys

import torch

import synthbench

TASK = synthbench.task("listops", operators=["MIN", "MAX"])


class Reader(torch.nn.Module):
    """Embedding, GRU, and a classifier of its last state."""

    def __init__(self, d_model: int = 64) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(1 + len(TASK.tokens), d_model)
        self.gru = torch.nn.GRU(d_model, d_model, batch_first=True)
        self.head = torch.nn.Linear(d_model, 10)

    def forward(self, texts: list[str]) -> torch.Tensor:
        """Scores `(rows, 10)`; padding, 0, stands in front, so that all end together."""
        rows = [[1 + TASK.tokens.index(word) for word in text.split()] for text in texts]
        longest = max(map(len, rows))
        tokens = torch.tensor([[0] * (longest - len(row)) + row for row in rows])
        return self.head(self.gru(self.embedding(tokens))[0][:, -1])


def main(steps: int) -> None:
    torch.manual_seed(0)
    stream = synthbench.stream(TASK, batch_size=256)
    model = Reader()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.005)
    deepest = 1
    for step, batch in enumerate(itertools.islice(stream, steps)):
        easy = batch["depth"] <= deepest
        scores = model(list(batch["text"][easy]))
        labels = torch.as_tensor(batch["label"][easy])
        loss = torch.nn.functional.cross_entropy(scores, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        accuracy = (scores.argmax(dim=1) == labels).float().mean()
        if accuracy > 0.8 and deepest < max(TASK.parameters.train_depths):
            deepest += 1
            print(f"step {step}: depth {deepest} from here on")
    print(f"after {steps} steps: {accuracy:.1%} of the rows up to depth {deepest}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 70)
