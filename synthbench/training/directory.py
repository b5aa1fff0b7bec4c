"""The directory of a run.

run.json        the command. A run of another command is refused
metrics.jsonl   measurements of training, and in some lines of the watched splits
checkpoint.pt   all that is needed to go on, saved at evaluations and when a run is stopped
step-N.pt       the parameters after step N, if they are kept
model.pt        the chosen parameters of a finished run
result.json     the result of a finished run
"""

from __future__ import annotations

import contextlib
import json
import math
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synthbench.dataset.output import OutputDirectory
from synthbench.errors import DatasetError, SynthbenchError, UsageError

if TYPE_CHECKING:
    import torch

RUN, MODEL = "run.json", "model.pt"
_METRICS, _CHECKPOINT, _RESULT = "metrics.jsonl", "checkpoint.pt", "result.json"


def at_step(step: int) -> str:
    """The file of the parameters after a step."""
    return f"step-{step}.pt"


class RunDirectory:
    """The directory of a run, trained on the dataset in `data`, by default `data` in `path`.

    Attributes:
        path: the directory.
        output: checks the place, and writes its files.
    """

    def __init__(self, path: str | Path, data: str | Path | None = None) -> None:
        self.path = Path(path)
        self.output = OutputDirectory(path, RUN, data or self.path / "data")

    def check(self, command: dict[str, Any], overwrite: bool = False) -> None:
        """Check that a run may be written here, without writing anything.

        Args:
            command: the command as JSON values, or as much of it as is known.
            overwrite: whether another run here may be replaced.

        Raises:
            UsageError: another run or something else is here, or the path cannot be used.
        """
        if not self.output.check():
            return
        try:
            begun = self._json(RUN)
        except DatasetError:
            begun = {}
        if not isinstance(begun, dict) or not {"synthbench", "task", "recipe"} <= begun.keys():
            raise UsageError(
                f"Output {str(self.path)!r} holds other files ({RUN!r} is not of a run); "
                "name a directory that is empty or does not exist yet."
            )
        command = json.loads(json.dumps(command))  # lists for tuples, as read
        if not overwrite:
            self.output.check_same("run", begun, command)

    def holds(self, command: dict[str, Any]) -> bool:
        """True if a run of this command is here, and all that it has written can be read."""
        import torch

        if not (self.path / RUN).is_file():
            return False
        try:
            self.check(command)
            self.metrics()
            return bool(self.result or self.load(torch.device("cpu")))
        except SynthbenchError:
            return False

    @contextlib.contextmanager
    def open(self, command: dict[str, Any], overwrite: bool = False) -> Iterator[None]:
        """Lock the directory for a run. Arguments are those of `check`.

        With `overwrite`, the run that is here is removed first.

        Raises:
            UsageError: as `check`, and if another process is at work here.
        """
        self.check(command, overwrite)
        with self.output.lock():
            self.check(command, overwrite)  # a run may have begun here meanwhile
            if overwrite:
                for name in (_METRICS, _CHECKPOINT, MODEL, _RESULT, *map(at_step, self.kept)):
                    (self.path / name).unlink(missing_ok=True)
            if overwrite or not (self.path / RUN).is_file():
                self.output.write_json(RUN, command)
            yield

    @property
    def command(self) -> dict[str, Any]:
        """The run's command.

        Raises:
            UsageError: the run does not exist.
        """
        if not (self.path / RUN).is_file():
            raise UsageError(f"No run at {str(self.path)!r}: it has no {RUN}.")
        return self._json(RUN)

    @property
    def result(self) -> dict[str, Any] | None:
        """The result, None before the run is finished.

        Raises:
            DatasetError: the file cannot be read, or holds something else.
        """
        if not (self.path / _RESULT).is_file():
            return None
        result = self._json(_RESULT)
        if not isinstance(result, dict) or not {"recipe", "splits", "fit"} <= result.keys():
            raise DatasetError(f"{self.path / _RESULT} is no result. Start again with --overwrite.")
        return result

    def finish(self, model: dict[str, Any], result: dict[str, Any]) -> None:
        """Write the chosen parameters and the result, and remove the checkpoint."""
        self.save(model, MODEL)
        self.output.write_json(_RESULT, result)
        (self.path / _CHECKPOINT).unlink(missing_ok=True)

    def save(self, state: dict[str, Any], name: str = _CHECKPOINT) -> None:
        """Write a checkpoint or the chosen parameters. The file is never seen half-written."""
        import torch  # late, so that a place can be refused without it

        with self.output.writing(name) as beside:
            torch.save(state, beside)

    def load(self, device: torch.device, name: str = _CHECKPOINT) -> dict[str, Any] | None:
        """The last checkpoint or the chosen parameters. None without either.

        Raises:
            DatasetError: the file cannot be read.
        """
        import torch

        if not (self.path / name).is_file():
            return None
        try:
            with self.output.reading(name) as file, zipfile.ZipFile(file) as parts:
                damaged = parts.testzip()  # PyTorch does not look
                state = torch.load(file, map_location=device, weights_only=True)
        except DatasetError as error:
            raise DatasetError(f"{error}. Start again with --overwrite.") from None
        if damaged is not None or not isinstance(state, dict):
            raise DatasetError(f"{file} is damaged. Start again with --overwrite.")
        return state

    @property
    def kept(self) -> list[int]:
        """The steps whose parameters are kept, in order."""
        names = (file.stem.removeprefix("step-") for file in self.path.glob("step-*.pt"))
        return sorted(int(name) for name in names if name.isdecimal())

    def metrics(self) -> list[dict[str, Any]]:
        """The measurements of training and of the watched splits, in order.

        Raises:
            DatasetError: a line that cannot be read.
        """
        with self.output.reading(_METRICS):
            measured = [json.loads(line) for line in self._lines()]
            for measurement in measured:
                int(measurement["step"])
        return measured

    def _lines(self) -> list[str]:
        """The lines of the metrics without a last line that was not written to its end."""
        try:
            text = (self.path / _METRICS).read_text(encoding="utf-8")
        except FileNotFoundError:
            return []
        return text.rpartition("\n")[0].splitlines()

    @property
    def last_step(self) -> int:
        """The last step that was noted, 0 if none can be read."""
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
            lines = self._lines()
            return int(json.loads(lines[-1])["step"]) if lines else 0
        return 0

    def steps_done(self, steps: int) -> int:
        """The last step that was noted, or all `steps` of a finished run, as runs may end early."""
        return steps if (self.path / _RESULT).is_file() else self.last_step

    def note(self, measured: dict[str, Any]) -> None:
        """Append a line to the metrics. Numbers that are not finite become null."""
        values = {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in measured.items()
        }
        with (self.path / _METRICS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(values, allow_nan=False) + "\n")

    def forget_after(self, step: int) -> None:
        """Remove the measurements after a step, because the steps that follow are taken again."""
        if not (self.path / _METRICS).is_file():
            return
        measured = self.metrics()
        lines = zip(self._lines(), measured, strict=True)
        kept = [f"{line}\n" for line, measurement in lines if measurement["step"] <= step]
        self.output.write_text(_METRICS, "".join(kept))

    def _json(self, name: str) -> dict[str, Any]:
        with self.output.reading(name) as file:
            values: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return values
