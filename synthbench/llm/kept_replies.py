"""The replies of a model, kept in a directory, so that an interrupted run goes on.

DIR/ask.json         what was asked: task, model, prompt
DIR/replies.jsonl    a line for each reply, as it came; `synthbench evaluate` reads it

{"id": "1f0a...", "sample": 0, "completion": "Answer: 7", "finish_reason": "stop",
"prompt_tokens": 80, "completion_tokens": 4}
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import filelock

from synthbench.checks import claim_output, usable_path
from synthbench.dataset.files import read_json, write_json
from synthbench.errors import DatasetError, SynthbenchError, UsageError
from synthbench.evaluation.chat_replies import ChatReply, is_kept_reply, kept_reply
from synthbench.text.lines import one_line, short

REPLIES, _ASKED, _LOCK = "replies.jsonl", "ask.json", ".lock"


class KeptReplies:
    """The replies to each row, by id and number of the sample. To be used in a `with` block.

    Args:
        directory: where they are kept; None for memory alone.
        identity: what replies depend on beside the row, as JSON values.

    Attributes:
        replies: the replies so far.

    Raises:
        UsageError: the directory has replies to something else, or other files.
        SynthbenchError: another process writes there.
        DatasetError: a file there is damaged.
    """

    def __init__(self, directory: Path | None, identity: Mapping[str, Any]) -> None:
        self.replies: dict[tuple[str, int], ChatReply] = {}
        self._directory, self._asked = directory, json.loads(json.dumps(identity))
        self._opened = contextlib.ExitStack()
        self._file: BinaryIO | None = None
        if directory is not None:
            usable_path("Output", directory)
            claim_output(directory, _ASKED, (_LOCK,))

    def __enter__(self) -> KeptReplies:
        if self._directory is not None and (self._directory / _ASKED).exists():
            self._open(self._directory)
        return self

    def __exit__(self, *exception: object) -> None:
        self._opened.close()

    def add(self, name: str, sample: int, reply: ChatReply) -> None:
        """Keep a reply to the row with this id. The first one makes the directory."""
        self.replies[name, sample] = reply
        if self._directory is None:
            return
        if self._file is None:
            self._open(self._directory)
        assert self._file is not None
        values = dataclasses.asdict(reply)
        record = {"id": name, "sample": sample, "completion": values.pop("text"), **values}
        # Text of a model may have halves of surrogate pairs, which JSON can escape.
        self._file.write(f"{json.dumps(record)}\n".encode())
        self._file.flush()

    def _open(self, directory: Path) -> None:
        """Lock the directory, read what is there, and open the file for more."""
        directory.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(directory / _LOCK)
        try:
            lock.acquire(timeout=0)
        except filelock.Timeout:
            raise SynthbenchError(
                f"Another process writes replies to {str(directory)!r}. Wait for it, or name "
                "another directory."
            ) from None
        with contextlib.ExitStack() as opened:  # what fails here must not keep the lock
            opened.callback(lock.release)
            self._check_asked(directory / _ASKED)
            self._read(directory / REPLIES)
            self._file = opened.enter_context((directory / REPLIES).open("ab"))
            self._opened = opened.pop_all()

    def _check_asked(self, file: Path) -> None:
        if not file.exists():
            write_json(file, self._asked)
            return
        before = _json(file.read_bytes(), str(file))
        if before == self._asked:
            return
        if not (isinstance(before, dict) and before.keys() == self._asked.keys()):
            content = list(before) if isinstance(before, dict) else before
            raise DatasetError(
                f"{file} is not what ask writes: expected an object with "
                f"{', '.join(self._asked)}. Found {short(content)}.\nName another directory."
            )
        name = next(key for key, value in self._asked.items() if before[key] != value)
        raise UsageError(
            f"Output {str(self._directory)!r} has replies to another request: {name} is "
            f"{short(before[name])} there and {short(self._asked[name])} here.\n"
            "Name another directory."
        )

    def _read(self, file: Path) -> None:
        """Read the replies, and cut off a line that was not written to its end."""
        if not file.exists():
            return
        data = file.read_bytes()
        if data and not data.endswith(b"\n"):
            data = data[: data.rfind(b"\n") + 1]
            with file.open("r+b") as opened:
                opened.truncate(len(data))
        for number, line in enumerate(data.splitlines(), start=1):
            record = _json(line, f"{file}, line {number}")
            if not (isinstance(record, dict) and is_kept_reply(record)):
                raise DatasetError(
                    f"{file}, line {number}: {short(record)} is not a reply that ask has kept."
                )
            self.replies[record["id"], record["sample"]] = kept_reply(record)


def _json(data: bytes, place: str) -> Any:
    try:
        return read_json(data)
    except ValueError as error:
        raise DatasetError(f"{place}: not valid JSON ({one_line(str(error))}).") from None
