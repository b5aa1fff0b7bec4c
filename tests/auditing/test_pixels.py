"""The probes of pixels find a planted spot, and repeat."""

import numpy as np
import pyarrow as pa
import pytest

from synthbench.auditing.pixels import decode_pixels, pixel_shortcuts
from synthbench.tasks.images import png

torch = pytest.importorskip("torch", reason="torch is not installed")


def pictures(rows, seed):
    """Grey noise; in the half that the label says, brighter."""
    rng = np.random.Generator(np.random.Philox(seed))
    label = rng.integers(2, size=rows)
    pixels = rng.integers(0, 150, (rows, 12, 12, 3)).astype(np.uint8)
    for row, one in zip(pixels, label, strict=True):
        row[:, 6 * one : 6 * one + 6] += 60
    paths = pa.nulls(rows, pa.string())
    image = pa.StructArray.from_arrays([png.encode(pixels), paths], names=["bytes", "path"])
    return {"image": image, "label": pa.array(label)}


def test_pixels_come_back_as_they_were():
    columns = pictures(3, 0)
    assert decode_pixels("image", columns).shape == (3, 12, 12, 3)
    assert (
        decode_pixels("image", {"image": columns["image"].slice(1, 1)})[0]
        == decode_pixels("image", columns)[1]
    ).all()


LINEAR, NETWORK = pixel_shortcuts("image")


@pytest.mark.parametrize("shortcut", [LINEAR, pytest.param(NETWORK, marks=pytest.mark.slow)])
def test_a_planted_spot_is_found(shortcut):
    assert shortcut.learned
    predict = shortcut.fit(pictures(200, 1))
    asked = pictures(100, 2)
    assert (predict(asked) == asked["label"].to_numpy()).mean() > 0.9


@pytest.mark.slow
def test_the_network_repeats_and_leaves_torch_as_it_was():
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    train, asked = pictures(80, 3), pictures(40, 4)
    one, two = (NETWORK.fit(train)(asked).tolist() for _ in range(2))
    assert one == two
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads
