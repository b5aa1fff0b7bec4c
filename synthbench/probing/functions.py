"""Generators of rows, drawn in processes of their own: `FILE.py:FUNCTION` and generators of peers.

FUNCTION(seed, split)    gives rows as dicts, without end or not
"""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from synthbench.engine.error_origin import where_raised
from synthbench.errors import SynthbenchError, UsageError, unknown_name
from synthbench.probing.clock import set_later
from synthbench.probing.columns import plain
from synthbench.probing.peers import PEERS, RAW, Generator
from synthbench.text.lines import one_line, short
from synthbench.verification.global_state import global_states, seed_global_states

#: The most rows of a draw, and of a draw that is only compared with another.
MOST_ROWS, COMPARED_ROWS = 10_000, 2_000
#: The most characters and seconds of a draw.
MOST_CHARACTERS, MOST_SECONDS = 1 << 26, 6.0


@dataclasses.dataclass(frozen=True)
class Draw:
    """A request to a generator.

    Attributes:
        seed: the seed.
        split: the split.
        state: the seed of the global random states before the draw.
        rows: the most rows.
        instead: splits to try one after another if the split is empty.
        timed: whether rows that take long are left out.
    """

    seed: int
    split: str
    state: int = 0
    rows: int = MOST_ROWS
    instead: tuple[str, ...] = ()
    timed: bool = True


@dataclasses.dataclass
class DrawnRows:
    """The rows of a draw.

    Attributes:
        split: the split.
        rows: the rows, as JSON values.
        ended: whether the generator ended by itself.
        moved: the global random states that it moved.
        error: the error that it raised, in a sentence, or an empty text.
    """

    split: str
    rows: list[dict[str, Any]]
    ended: bool
    moved: list[str]
    error: str = ""


@dataclasses.dataclass(frozen=True)
class Job:
    """Draws for a process to make, one after another.

    Attributes:
        origin: the generator, as the user named it.
        draws: the draws.
        later: whether the clock is set to a later time.
    """

    origin: str
    draws: tuple[Draw, ...]
    later: bool = False


def make_draws(job: Job) -> list[DrawnRows]:
    """Make the draws of a job, each with its rows or its error.

    Raises:
        UsageError: an unknown generator.
        SynthbenchError: it cannot be loaded.
    """
    if job.later:
        set_later()
    generator = load_generator(job.origin)
    drawn = []
    for draw in job.draws:
        result = _draw(generator, draw)
        for split in draw.instead:
            if not result.rows:
                result = _draw(generator, dataclasses.replace(draw, split=split))
        drawn.append(result)
    return drawn


def _draw(generator: Generator, draw: Draw) -> DrawnRows:
    seed_global_states(draw.state)
    before, started = global_states(), 0.0
    rows: list[dict[str, Any]] = []
    ended, error, characters = False, "", 0
    try:
        answer = generator.rows(draw.seed, draw.split, draw.rows)
        if isinstance(answer, str | bytes | Mapping) or not isinstance(answer, Iterable):
            raise UsageError(f"gave {short(answer)}: expected rows as dicts, one after another.")
        for row in answer:
            if not isinstance(row, Mapping):
                raise UsageError(f"gave the row {short(row)}: expected a dict.")
            # At once, because a generator may change a row that it has given.
            rows.append(plain({name: row[name] for name in row if name != RAW}))
            characters += sum(len(text) for text in rows[-1].values() if isinstance(text, str))
            started = started or time.monotonic()  # the first row may wait for imports
            late = draw.timed and time.monotonic() - started > MOST_SECONDS
            if len(rows) >= draw.rows or characters > MOST_CHARACTERS or late:
                break
        else:
            ended = True
    except (Exception, SystemExit) as raised:  # whatever the generator raises
        where = where_raised(raised)
        told = str(raised) if isinstance(raised, UsageError) else f"raised {_named(raised)}"
        error = one_line(told) + (f" in {where}" if where else "")
    after = global_states()
    return DrawnRows(
        draw.split, rows, ended, [name for name in after if after[name] != before.get(name)], error
    )


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def is_generator(source: str) -> bool:
    """True for the name of a generator, as opposed to a file or folder."""
    peer, sign, _ = source.partition(":")
    return bool(sign) and (peer in PEERS or source.rpartition(":")[0].endswith(".py"))


def load_generator(origin: str) -> Generator:
    """The generator of a name.

    Raises:
        UsageError: no such peer, file or function, or a function with other arguments.
        SynthbenchError: the file raises an error, or the peer is not installed.
    """
    peer, _, name = origin.partition(":")
    if peer in PEERS:
        return PEERS[peer].load(name)
    function = load_function(origin)
    try:
        inspect.signature(function).bind(0, "train")
    except TypeError:
        raise UsageError(
            f"{origin} takes {inspect.signature(function)}: expected two arguments, (seed, split)."
        ) from None
    except ValueError:  # built in
        pass
    return Generator(lambda seed, split, most: function(seed, split))


def load_function(reference: str) -> Callable[..., Any]:
    """The function at `FILE.py:FUNCTION`, of the file as it is now.

    Raises:
        UsageError: no such file or function.
        SynthbenchError: the file raises an error.
    """
    path, name = check_reference(reference)
    module_name = f"synthbench_probe_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses and pickles look a class's module up there
    if (beside := str(path.resolve().parent)) not in sys.path:
        sys.path.insert(0, beside)  # as when Python runs the file
    try:
        exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), module.__dict__)
    except (Exception, SystemExit) as error:  # whatever the file raises
        raise SynthbenchError(f"{path} cannot be loaded: {_named(error)}") from error
    functions = [key for key, value in vars(module).items() if callable(value)]
    if not callable(member := getattr(module, name, None)):
        known = [key for key in functions if not key.startswith("_")]
        raise unknown_name(f"function of {path}", name, known)
    function: Callable[..., Any] = member
    return function


def check_reference(reference: str) -> tuple[Path, str]:
    """The file and the function of `FILE.py:FUNCTION`.

    Raises:
        UsageError: another form, or a missing file.
    """
    file, _, name = reference.rpartition(":")
    if not file.endswith(".py") or not name.isidentifier():
        raise UsageError(f"{reference!r}: expected FILE.py:FUNCTION.")
    if not Path(file).is_file():
        raise UsageError(f"{reference!r}: the file {file!r} is missing.")
    return Path(file), name
