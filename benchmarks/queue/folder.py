"""The folder of a queue: results of what is done, and the state of the training under way.

    results.json      by the training's name, its result as `synthbench train` would write it
    state.json        which training is under way, how far it is, and its files with their checksums
    state-STEP-PART   its tensors in float32, cut into files of at most `PART` bytes

A state is written under new names before `state.json` names it, so a killed process leaves the last
one whole.
"""

import hashlib
import io
import json
from pathlib import Path

import torch

from synthbench.dataset.files import write_json
from synthbench.errors import DatasetError

#: The most bytes of a file.
PART = 16_000_000


class Folder:
    """Results and the state of the training under way; the directory is made if it is not there."""

    def __init__(self, path):
        self.path = Path(path)
        self._results, self._state = self.path / "results.json", self.path / "state.json"

    def results(self):
        """Results by the name of the training."""
        return _read(self._results) or {}

    def add(self, name, result):
        """Add a result, or replace that of an earlier step."""
        self._write(self._results, {**self.results(), name: result})

    def under_way(self):
        """The training under way by `name` and `step`, with its last measurements, or None."""
        return _read(self._state)

    def save(self, head, state):
        """Replace the state.

        Args:
            head: what `under_way` will say, JSON values with `step`.
            state: anything that `torch.save` writes.
        """
        whole = io.BytesIO()
        torch.save(state, whole)
        content, files = whole.getbuffer(), {}
        for number, first in enumerate(range(0, len(content), PART)):
            part, name = content[first : first + PART], f"state-{head['step']}-{number}"
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_bytes(part)
            files[name] = hashlib.sha256(part).hexdigest()
        self._write(self._state, {**head, "files": files})
        self._remove_others(files)

    def load(self, device):
        """The state, None if there is none.

        Raises:
            DatasetError: a file of it is missing or not as it was written.
        """
        head = self.under_way()
        if head is None:
            return None
        parts = []
        for name, checksum in head["files"].items():
            file = self.path / name
            content = file.read_bytes() if file.is_file() else b""
            if hashlib.sha256(content).hexdigest() != checksum:
                raise DatasetError(f"{file} of {head['name']} is missing or broken.")
            parts.append(content)
        return torch.load(io.BytesIO(b"".join(parts)), map_location=device, weights_only=True)

    def forget(self):
        """Remove the state."""
        self._state.unlink(missing_ok=True)
        self._remove_others(())

    def _remove_others(self, names):
        for file in self.path.glob("state-*"):
            if file.name not in names:
                file.unlink()

    def _write(self, file, values):
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(file, values)


def _read(file):
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise DatasetError(f"{file} is broken: {error}.") from None
