"""Train on endless fresh rows: a bag of tokens and a linear layer, on parity, with PyTorch."""

import torch
from torch.utils.data import DataLoader

from synthbench.torch_stream import TorchStream


def main(steps: int = 200) -> float:
    torch.manual_seed(0)
    loader = DataLoader(TorchStream("parity", batch_size=512), batch_size=None)
    model = torch.nn.Linear(4 * 11, 11)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    loss = torch.zeros(())
    for step, batch in enumerate(loader):
        if step == steps:
            break
        digits = torch.stack([torch.as_tensor(batch[name]).long() for name in "abcd"], dim=1)
        inputs = torch.nn.functional.one_hot(digits, 11).flatten(1).float()
        loss = torch.nn.functional.cross_entropy(model(inputs), torch.as_tensor(batch["label"]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss after {steps} steps: {loss.item():.3f}")
    return loss.item()


if __name__ == "__main__":
    main()
