"""A run's directory: what is run, what has been seen so far, and where to go on.

run.json        what is run; another run is refused here
metrics.jsonl   how training went, line by line, and at some lines how the watched splits stood
checkpoint.pt   everything needed to go on, of the last look at the watched splits
model.pt        the chosen parameters, once the run is finished
result.json     what came out, once the run is finished
"""

from __future__ import annotations

import contextlib
import json
import math
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from synthbench.dataset.places import hold
from synthbench.dataset.staging import describe_difference, write_failure, write_json
from synthbench.errors import DatasetError, UsageError
from synthbench.training.output import check_output

RUN = "run.json"
_METRICS, _CHECKPOINT = "metrics.jsonl", "checkpoint.pt"
_MODEL, _RESULT = "model.pt", "result.json"


class RunDirectory:
    """The directory of one run.

    Args:
        path: where it is, or is to be.
        data: the directory of the dataset that the run is trained on; default: `data` in `path`.

    Attributes:
        path: the same.
    """

    def __init__(self, path: str | Path, data: str | Path | None = None) -> None:
        self.path = Path(path)
        self._data = Path(data or self.path / "data")

    def check(self, command: dict[str, Any], overwrite: bool = False) -> None:
        """Make sure that a run may be written here; writes nothing.

        Args:
            command: what is to be run, or as much of it as is known, as JSON values.
            overwrite: whether another run here may be thrown away.

        Raises:
            UsageError: another run or something else is here, or the place cannot be used.
        """
        check_output(self.path, self._data, RUN)
        if not (self.path / RUN).is_file():
            return
        try:
            begun = self._json(RUN)
        except DatasetError:
            begun = {}
        if not isinstance(begun, dict) or not {"synthbench", "task", "recipe"} <= begun.keys():
            raise UsageError(
                f"Output {str(self.path)!r} holds something else ({RUN!r} is not of a run); "
                "name a directory that is empty or not there yet."
            )
        command = json.loads(json.dumps(command))  # lists for tuples, as read
        if not overwrite and any(begun.get(name) != value for name, value in command.items()):
            raise UsageError(
                f"Output {str(self.path)!r} holds another run "
                f"({describe_difference(begun, command)}); name another --out, or replace it "
                "with --overwrite."
            )

    @contextlib.contextmanager
    def open(self, command: dict[str, Any], overwrite: bool = False) -> Iterator[None]:
        """Have the directory for a run alone: an empty one, or one that holds this very run.

        Args:
            command: what is to be run, as JSON values.
            overwrite: whether another run there may be thrown away.

        Raises:
            UsageError: another run or something else is there, a run is at work there, or the
                place cannot be used.
        """
        self.check(command, overwrite)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = hold(self.path)
        except OSError as error:
            raise UsageError(
                f"Output {str(self.path)!r} cannot be written: {error.strerror or error}."
            ) from None
        if lock is None:
            raise UsageError(
                f"Another process is at work on {str(self.path)!r}; wait until it is done."
            )
        with lock:
            self.check(command, overwrite)  # a run may have begun here meanwhile
            self._begin(command, overwrite)
            yield

    def _begin(self, command: dict[str, Any], overwrite: bool) -> None:
        """Note what is run, unless that is noted already."""
        if (self.path / RUN).is_file():
            if not overwrite:
                return
            for name in (_METRICS, _CHECKPOINT, _MODEL, _RESULT):
                (self.path / name).unlink(missing_ok=True)
        write_json(self.path / RUN, command)

    @property
    def command(self) -> dict[str, Any]:
        """What is run.

        Raises:
            UsageError: there is no run.
        """
        if not (self.path / RUN).is_file():
            raise UsageError(f"No run at {str(self.path)!r}: it has no {RUN}.")
        return self._json(RUN)

    @property
    def result(self) -> dict[str, Any] | None:
        """What came out, None before the run is finished."""
        return self._json(_RESULT) if (self.path / _RESULT).is_file() else None

    def finish(self, model: dict[str, Any], result: dict[str, Any]) -> None:
        """Write the chosen parameters and the result; the checkpoint has served."""
        self._save(_MODEL, model)
        write_json(self.path / _RESULT, result)
        (self.path / _CHECKPOINT).unlink(missing_ok=True)

    def save(self, state: dict[str, Any]) -> None:
        """Write a checkpoint, whole at every moment."""
        self._save(_CHECKPOINT, state)

    def load(self, device: torch.device) -> dict[str, Any] | None:
        """The last checkpoint, None if there is none.

        Raises:
            DatasetError: it cannot be read.
        """
        return self._load(_CHECKPOINT, device) if (self.path / _CHECKPOINT).is_file() else None

    def model(self, device: torch.device) -> dict[str, Any]:
        """The chosen parameters of a finished run.

        Raises:
            DatasetError: it is not finished, or they cannot be read.
        """
        return self._load(_MODEL, device)

    def metrics(self) -> list[dict[str, Any]]:
        """What was noted of training and of the watched splits, in order.

        Raises:
            DatasetError: a line that cannot be read.
        """
        file = self.path / _METRICS
        try:
            text = file.read_text(encoding="utf-8") if file.is_file() else ""
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise DatasetError(f"{file} cannot be read: {error}") from None

    def note(self, measured: dict[str, Any]) -> None:
        """Append a line to the metrics; what is no finite number is null there."""
        values = {name: _finite(value) for name, value in measured.items()}
        with (self.path / _METRICS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(values, allow_nan=False) + "\n")

    def forget_after(self, step: int) -> None:
        """Leave out what was measured after a step: it will be measured again."""
        file = self.path / _METRICS
        if file.is_file():
            lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
            kept = [one for one in lines if one.endswith("\n") and json.loads(one)["step"] <= step]
            file.write_text("".join(kept), encoding="utf-8")

    def _json(self, name: str) -> dict[str, Any]:
        try:
            values: dict[str, Any] = json.loads((self.path / name).read_text(encoding="utf-8"))
        except ValueError as error:
            raise DatasetError(f"{self.path / name} cannot be read: {error}") from None
        return values

    def _save(self, name: str, state: dict[str, Any]) -> None:
        file = self.path / name
        beside = file.with_name(f"{name}.new")
        try:
            torch.save(state, beside)
            beside.replace(file)
        except OSError as error:
            raise write_failure(file, error) from error

    def _load(self, name: str, device: torch.device) -> dict[str, Any]:
        file = self.path / name
        try:
            state: dict[str, Any] = torch.load(file, map_location=device, weights_only=True)
        except FileNotFoundError:
            raise DatasetError(f"{file} is missing: the run is not finished.") from None
        except (OSError, RuntimeError, EOFError, pickle.UnpicklingError) as error:
            reason = str(error).splitlines()[0]
            raise DatasetError(
                f"{file} cannot be read ({reason}); begin again with --overwrite."
            ) from None
        return state


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
