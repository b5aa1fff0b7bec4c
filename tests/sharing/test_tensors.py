"""Tensors: every row comes out again from numbers, lengths and vocabulary."""

import sys

import numpy as np
import pytest

import synthbench
from synthbench.errors import SynthbenchError
from synthbench.sharing.export import export
from synthbench.tasks.images import png
from synthbench.tasks.registry import list_tasks
from tests.support import is_free_text

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


@pytest.mark.parametrize("name", [one for one in list_tasks() if not is_free_text(one)])
def test_every_row_can_be_read_from_the_tensors(name, tiny, tmp_path):
    dataset = synthbench.DatasetDirectory.open(tiny(name))
    export(tiny(name), "torch", tmp_path / "out")
    for variant, splits in dataset.manifest.variants.items():
        task = dataset.manifest.make_task(variant)
        for split, record in splits.items():
            file = tmp_path / "out" / variant / f"{split}.pt"
            loaded = torch.load(file, weights_only=True)
            assert loaded["digest"] == record.digest
            assert (loaded["task"], loaded["variant"], loaded["split"]) == (name, variant, split)
            for number, row in enumerate(dataset.rows(variant, split)):
                assert f"{loaded['id'][number].item() % 2**64:016x}" == row.pop("id")
                for column, value in row.items():
                    if column == "quadrants":
                        assert column not in loaded
                    else:
                        assert restored(task, loaded, column, number) == plain(value), column


def restored(task, loaded, column, number):
    """A value from the tensors."""
    values = loaded[column][number].numpy()
    if column == "text":
        length = int(loaded["text_length"][number])
        assert not values[length:].any()
        return task.separator.join(loaded["vocabulary"][one] for one in values[:length])
    if column == "steps" and values.ndim:
        return [loaded["vocabulary"][one] for one in values if one]
    if column == "image":
        return values.transpose(1, 2, 0).tobytes()
    if column == "label" and task.answer.vocabulary:
        names = loaded["label_vocabulary"]
        return task.answer.vocabulary.separator.join(names[one] for one in values if one)
    if column in ("grid", "label") and values.ndim == 2:
        size = int(loaded["size"][number])
        assert (values[size:] == -1).all()
        assert (values[:, size:] == -1).all()
        return values[:size, :size].tolist()
    return values.tolist()


def plain(value):
    return png.decode(value["bytes"]).tobytes() if isinstance(value, dict) else value


def test_tokens_have_the_same_numbers_in_every_split(tiny, tmp_path):
    export(tiny("listops"), "torch", tmp_path / "out")
    splits = [torch.load(file, weights_only=True) for file in (tmp_path / "out").rglob("*.pt")]
    assert len(splits) == 4
    assert len({tuple(split["vocabulary"]) for split in splits}) == 1
    assert all(split["text"].dtype == torch.uint8 for split in splits)
    assert all(split["label"].dtype == torch.int64 for split in splits)
    assert all(split["classes"] == [str(digit) for digit in range(10)] for split in splits)
    assert all(split["text"].shape[1] == split["text_length"].max() for split in splits)


def test_many_tokens_take_wider_numbers(tmp_path):
    synthbench.generate(
        synthbench.task("ctl", symbols=300),
        out=tmp_path / "ctl",
        rows={"train": 30, "iid": 10, "validation": 10, "test": 10},
        workers=1,
        progress=False,
    )
    export(tmp_path / "ctl", "torch", tmp_path / "out", splits=["test"])
    loaded = torch.load(tmp_path / "out/forward/test.pt", weights_only=True)
    texts = [
        row["text"]
        for row in synthbench.DatasetDirectory.open(tmp_path / "ctl").rows("forward", "test")
    ]
    words = [[loaded["vocabulary"][one] for one in row if one] for row in loaded["text"].tolist()]
    assert [" ".join(row) for row in words] == texts
    assert np.dtype(loaded["text"].numpy().dtype) == np.int16


def test_without_pytorch_the_error_says_what_to_install(tiny, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SynthbenchError, match=r"needs PyTorch: pip install 'synthbench\[train\]'"):
        export(tiny("parity"), "torch", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
