"""Small source files in the layouts of the real ones, for tests of what is made from images."""

import gzip
import struct
from pathlib import Path

import numpy as np

from synthbench.seeding import Draws

#: Images of each class, in the training and the test set.
TRAINING, TEST = 12, 4
#: What `write_sources` writes, and the splits that share it.
SPECS = ("mnist", "fashion", "cifar", "folder:pictures", "folder:split")
SPLITS = ("train", "validation", "test")


def write_sources(root):
    """MNIST, Fashion-MNIST, CIFAR-10 and two class-folder trees, all of ten classes or fewer."""
    write_idx(root / "MNIST/raw", seed=1)
    write_idx(root / "FashionMNIST/raw", seed=2)
    write_cifar(root / "cifar-10-batches-py", seed=3)
    write_tree(root / "pictures", ["car", "dove", "train", "wren"], seed=4)
    write_tree(root / "split/train", ["automobile", "bird"], seed=5)
    write_tree(root / "split/test", ["automobile", "bird"], seed=6, count=TEST)
    return root


def pictures(seed, count, *shape):
    """Noise, uint8 `(count, *shape)`."""
    return Draws({"pictures": seed}).integers(256, (count, *shape)).astype(np.uint8)


def labels(seed, per_class, classes=10):
    """Labels in a shuffled order, each class equally often."""
    order = Draws({"labels": seed}).permutation(classes * per_class)
    return np.repeat(np.arange(classes), per_class)[order]


def idx(array):
    """An idx file of bytes."""
    header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    return header + array.astype(np.uint8).tobytes()


def write_idx(folder, seed, packed=False):
    folder.mkdir(parents=True, exist_ok=True)
    for part, per_class in (("train", TRAINING), ("t10k", TEST)):
        for name, array in (
            ("images-idx3", pictures(seed, 10 * per_class, 28, 28)),
            ("labels-idx1", labels(seed, per_class)),
        ):
            data = gzip.compress(idx(array)) if packed else idx(array)
            (folder / f"{part}-{name}-ubyte{'.gz' if packed else ''}").write_bytes(data)


def write_cifar(folder, seed):
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, 6):
        shown = labels(10 * seed + number, TRAINING // 4)
        data = pictures(10 * seed + number, len(shown), 3072)
        (folder / f"data_batch_{number}").write_bytes(python_2_pickle(data, shown))
    shown = labels(seed, TEST)
    batch = python_2_pickle(pictures(seed, len(shown), 3072), shown)
    (folder / "test_batch").write_bytes(batch)


def python_2_pickle(data, shown):
    """A batch as Python 2 pickled the original files: byte strings, and integers for flags."""

    def text(value):
        return b"U" + bytes([len(value)]) + value

    def number(value):
        return b"J" + struct.pack("<i", value)

    dtype = (
        b"cnumpy\ndtype\n(" + text(b"u1") + number(0) + number(1) + b"tR"
        b"(" + number(3) + text(b"|") + b"NNN" + number(-1) + number(-1) + number(0) + b"tb"
    )
    shape = b"(" + number(data.shape[0]) + number(data.shape[1]) + b"t"
    raw = data.tobytes()
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n("
        + number(0)
        + b"t"
        + text(b"b")
        + b"tR("
        + number(1)
        + shape
        + dtype
        + b"\x89T"
        + struct.pack("<i", len(raw))
        + raw
        + b"tb"
    )
    listed = b"](" + b"".join(number(int(label)) for label in shown) + b"e"
    return b"\x80\x02}(" + text(b"data") + array + text(b"labels") + listed + b"u."


def write_tree(root, classes, seed, count=TRAINING, size=(28, 28)):
    from PIL import Image

    for label, name in enumerate(classes):
        folder = Path(root) / name
        folder.mkdir(parents=True)
        for number, pixels in enumerate(pictures(100 * seed + label, count, *size, 3)):
            Image.fromarray(pixels).save(folder / f"{number:03d}.png")
