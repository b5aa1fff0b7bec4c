"""Datasets that lead their readers elsewhere: links, pipes, devices, names of other places.

`python -m tests.hostile.places` makes each of them, lets every reader at it, and prints what came
of it as JSON; it fails if anything outside of the dataset was opened, listed or changed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from synthbench.errors import SynthbenchError
from synthbench.evaluation.evaluate import evaluate
from synthbench.generation.generate import generate
from synthbench.verification.verify import verify
from tests.hostile import made, watching
from tests.hostile.strategies import PLACES
from tests.hostile.targets import ours

#: The shard of `iid`, which is split into no more.
SHARD = "data/default/iid-00000-of-00001.parquet"
MANIFEST, CARD = "manifest.json", "README.md"

Spoil = Callable[[Path], None]


def link_to_outside(name, relative=False):
    """Move a file or directory out and put a link to it in its place."""

    def spoil(directory):
        path = directory / name
        outside = directory.parent / "outside" / path.name
        path.rename(outside)
        path.symlink_to(os.path.relpath(outside, path.parent) if relative else outside)

    return spoil


def link_to(name, target):
    """Put a link in the place of a file."""

    def spoil(directory):
        (directory / name).unlink()
        (directory / name).symlink_to(target)

    return spoil


def pipe(name):
    """Put a pipe that nobody writes to in the place of a file, or beside the files."""

    def spoil(directory):
        (directory / name).unlink(missing_ok=True)
        os.mkfifo(directory / name)

    return spoil


def folder(name):
    """Put a directory in the place of a file."""

    def spoil(directory):
        (directory / name).unlink()
        (directory / name).mkdir()

    return spoil


def link_beside(name):
    """Put a link to what is outside beside the shards."""
    return lambda directory: (directory / name).symlink_to(directory.parent / "outside")


def manifest_with(change):
    """Change the manifest."""

    def spoil(directory):
        file = directory / MANIFEST
        values = json.loads(file.read_text(encoding="utf-8"))
        change(values)
        file.write_text(json.dumps(values), encoding="utf-8")

    return spoil


def shard_named(place):
    """Let the manifest name a shard elsewhere."""
    splits: Callable[[Any], Any] = lambda values: values["variants"]["default"]["splits"]  # noqa: E731
    return manifest_with(lambda values: splits(values)["iid"]["shards"][0].update(file=place))


SPOILT: dict[str, Spoil] = {
    **{f"link to {name}": link_to_outside(name) for name in (SHARD, MANIFEST, CARD, "data")},
    "link to data/default": link_to_outside("data/default"),
    **{f"relative link to {name}": link_to_outside(name, True) for name in (SHARD, "data")},
    **{f"endless {name}": link_to(name, "/dev/zero") for name in (SHARD, MANIFEST, CARD)},
    "dangling link": link_to(SHARD, "/nowhere"),
    "link to itself": link_to(SHARD, Path(SHARD).name),
    **{f"pipe {name}": pipe(name) for name in (SHARD, MANIFEST, CARD)},
    "pipe beside": pipe("data/default/other.parquet"),
    **{f"folder {name}": folder(name) for name in (SHARD, MANIFEST, CARD)},
    "link beside": link_beside("data/default/more"),
    "link beside data": link_beside("data/more"),
    **{f"shard {place!r}": shard_named(place) for place in PLACES if place < "\ud800"},
    "variant '..'": manifest_with(
        lambda values: values["variants"].update({"..": values["variants"].pop("default")})
    ),
    "legacy infos": lambda directory: (directory / "dataset_infos.json").write_text("{}") and None,
    "second card": lambda directory: (directory / ".huggingface.yaml").write_text("{}") and None,
    "loading script": lambda directory: (directory / "data.py").write_text("x = 1\n") and None,
}


def _outcome(function):
    """What a reader makes of a dataset: good, failures, or an error; it may not wait for ever."""
    signal.alarm(30)
    result = ours(function)
    signal.alarm(0)
    if isinstance(result, SynthbenchError):
        return f"error: {result}"
    failures = getattr(result, "failures", None)
    return "; ".join(failures) if failures else "good"


def attack(name, root):
    """Make one of the spoilt datasets and let every reader at it; what came of it, by reader."""
    directory = made.copy_of("listops", root)
    SPOILT[name](directory)
    everything = {"id": 1}
    with watching.nothing_else_is_touched(root, [directory]):
        outcomes = {
            "verify": _outcome(lambda: verify(directory, workers=1, progress=False)),
            "evaluate": _outcome(lambda: evaluate(directory, everything, split="iid")),
        }
    with watching.nothing_else_is_touched(root, [directory, root / ".data.partial"]):
        again = made.command("listops")
        outcomes["generate"] = _outcome(lambda: generate(out=directory, **again))
    return outcomes


def class_folders(root, source_dir, folders):
    """A dataset of composites whose manifest names class folders somewhere."""
    directory = shutil.copytree(made.dataset("composites"), root / "data")
    manifest_with(lambda values: values["parameters"].update(target_source=f"folder:{folders}"))(
        directory
    )
    os.environ["SYNTHBENCH_DATA"] = str(source_dir)
    with watching.nothing_else_is_touched(root, [directory, source_dir]):
        return {
            "verify": _outcome(lambda: verify(directory, workers=1, progress=False)),
            "evaluate": _outcome(lambda: evaluate(directory, {"id": 1}, split="test")),
        }


def main():
    os.environ["SYNTHBENCH_DATA"] = made.NOWHERE
    made.dataset("listops")
    made.dataset("composites")
    made.sources()
    watching.install()
    outcomes = {}
    for name in SPOILT:
        with watching.scratch() as root:
            outcomes[name] = attack(name, root)
    pictures = made.sources() / "pictures"
    for name, source_dir, folders in (
        ("folders elsewhere", made.sources() / "split", str(pictures)),
        ("folders above", made.sources() / "split", "../pictures"),
        ("folders of nobody", made.sources(), "~nobody-at-all/pictures"),
        ("folders in the working directory", made.sources() / "split", "tests"),
    ):
        with watching.scratch() as root:
            outcomes[name] = class_folders(root, source_dir, folders)
    print(json.dumps(outcomes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
