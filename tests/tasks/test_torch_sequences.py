"""Labels that are sequences, as PyTorch's streams, files and tensors have them."""

import numpy as np
import torch

import synthbench
from synthbench.sharing.export import export
from synthbench.streaming.torch import TorchStream
from tests.tasks.test_sequences import DIGITS, ROW, Sorting, known, made

__all__ = ["known", "made"]  # fixtures


def test_a_stream_asks_for_the_tokens_of_the_sequence_at_masks():
    stream = TorchStream("sorting", split="test", batch_size=8)
    batch, mask = next(iter(stream)), len(DIGITS) + 1
    assert batch["labels"].dtype == np.int64
    assert batch["labels"].shape == batch["input_ids"].shape == (8, 6 + 10)
    for ids, labels in zip(batch["input_ids"].tolist(), batch["labels"].tolist(), strict=True):
        question = ids[: ids.index(mask)]
        wanted = sorted(set(question))
        behind = len(ids) - len(question) - len(wanted)
        assert ids == [*question, *[mask] * len(wanted), *[0] * behind]
        assert labels == [*[-100] * len(question), *wanted, *[-100] * behind]


def test_a_tensor_is_an_answer():
    task, right = Sorting(), torch.tensor([1, 2, 3])
    assert task.measure(ROW, task.read_answer(ROW, right))["position_accuracy"] == 1.0
    assert task.score(ROW, right) == 1.0
    assert task.score(ROW, torch.tensor([1, 2, 4])) == 0.0


def test_an_export_to_tensors_holds_the_ids_of_the_sequence(made, tmp_path):
    export(made, to="torch", out=tmp_path / "tensors")
    held = torch.load(tmp_path / "tensors" / "default" / "test.pt", weights_only=True)
    first = next(synthbench.DatasetDirectory.open(made).rows("default", "test"))
    names = [held["label_vocabulary"][one] for one in held["label"][0] if one]
    assert " ".join(names) == first["label"]
    assert held["label_length"][0] == len(names)
