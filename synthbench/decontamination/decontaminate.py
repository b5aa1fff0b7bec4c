"""Take the documents that hold a held-out row of a text task out of a corpus."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import itertools
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from synthbench.arguments import checked
from synthbench.checks import usable_path
from synthbench.decontamination import corpus as corpus_files
from synthbench.decontamination.search import MOST_BITS, Found, search_for, text_tasks
from synthbench.engine.engine import Engine, check_workers
from synthbench.engine.open import open_engine
from synthbench.errors import MissingPathError, SynthbenchError, UsageError
from synthbench.text.progress import progress_bar
from synthbench.text.tables import Table, stack, styled

if TYPE_CHECKING:
    from rich.console import Group

_MB = 1_000_000


@dataclasses.dataclass
class DecontaminationReport:
    """The rows that were found in a corpus.

    Attributes:
        files: how many files were searched.
        others: files of the corpus that are not JSON Lines. They are not copied.
        documents: documents searched.
        dropped: documents that hold a held-out row.
        bytes: bytes of the documents searched, uncompressed.
        seconds: how long it took.
        found: for each task, variant and split the documents with such rows. See `Found`.
        least_tokens: for each task the number of tokens from which on a row can count.
    """

    files: int
    others: list[str]
    documents: int = 0
    dropped: int = 0
    bytes: int = 0
    seconds: float = 0.0
    found: collections.Counter[tuple[str, str, str]] = dataclasses.field(
        default_factory=collections.Counter
    )
    least_tokens: dict[str, int] = dataclasses.field(default_factory=dict)

    def add(self, part: _Searched) -> Iterator[str]:
        """Count what was found in a block. Gives a line of JSON about each row."""
        self.documents += part.documents
        self.dropped += len(part.found)
        self.bytes += len(part.block.data)
        for index, rows in part.found.items():
            self.found.update({row[:3] for row in rows})
            for row in rows:
                place = {"file": part.block.place, "line": part.block.first + index + 1}
                yield json.dumps({**place, **row._asdict()}, ensure_ascii=False) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values."""
        rows = [
            {"task": task, "variant": variant, "split": split, "documents": count}
            for (task, variant, split), count in sorted(self.found.items())
        ]
        return {**dataclasses.asdict(self), "found": rows}

    def __rich__(self) -> Group:
        """A table of the findings, and a line that sums it up."""
        size, kept = self.bytes / _MB, self.documents - self.dropped
        line = (
            f"{self.dropped:,} of {self.documents:,} documents hold held-out rows; {kept:,} are "
            f"kept. {size:,.1f} MB in {self.seconds:.1f} s"
        )
        # Of less than 1 MB the speed is that of starting.
        line += f", {size / self.seconds:,.1f} MB a second." if size >= 1 else "."
        parts: list[Any] = []
        if self.found:
            rows = [
                (f"{task} {variant}".removesuffix(" default"), split, f"{count:,}")
                for (task, variant, split), count in sorted(self.found.items())
            ]
            parts.append(Table(("task", "split", "documents"), rows, right=(2,), keys=1))
        if self.others:
            left = f"Left out, as they are not JSON Lines: {len(self.others)} files"
            parts.append(styled(f"{left}, such as {self.others[0]!r}.", "yellow"))
        return stack(*parts, styled(line, "bold"))


@checked
def decontaminate(
    corpus: str | PathLike[str],
    *,
    out: str | PathLike[str],
    tasks: Sequence[str] | None = None,
    min_bits: float | int | None = None,
    report: str | PathLike[str] | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> DecontaminationReport:
    r"""Copy a corpus without the documents that hold a held-out row of a text task.

    A document is a line of JSON, and its texts are all strings in it. The other lines stay as they
    are, byte for byte, and so do files that lose no line. `out` appears whole, at the end.

    A row counts if it is on a line of a text, or on a line that was wrapped, however its tokens are
    separated, and if it has more information than ordinary text of its form. For example, `3 + 4 =`
    is in texts that have nothing to do with modular arithmetic, and never counts by default.

    Args:
        corpus: a file of JSON Lines, or a directory of such files, whose structure is kept. They
            may be compressed (`.gz`, `.zst`, `.bz2`, `.lz4`).
        out: the clean file or directory, which must not exist yet.
        tasks: the tasks whose rows are searched for. Default: all whose rows are texts.
        min_bits: the least information of rows that count: the entropy of a row's tokens, by their
            frequencies in the row, times their number. Default: as each task says, mostly 32 bits
            and 33 tokens.
        report: a file for a line of JSON about each row found: file, line, task, variant, split
            and row. It must not exist yet.
        workers: how many processes search. Default: the usable cores.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        What was found.

    Raises:
        UsageError: no such corpus, task or number of workers, or an output that exists.
        DatasetError: a file that cannot be read, or a line that is not JSON.
        SynthbenchError: the output cannot be written.

    Example:
        >>> from pathlib import Path
        >>> from synthbench.decontamination.decontaminate import decontaminate
        >>> lines = ['{"text": "Solve [MAX 0 [MIN 4 6]]."}', '{"text": "Solve it."}']
        >>> _ = Path("corpus.jsonl").write_text("\n".join(lines))
        >>> result = decontaminate("corpus.jsonl", out="clean.jsonl")
        >>> result.dropped, Path("clean.jsonl").read_text()
        (1, '{"text": "Solve it."}')
    """
    source, output = _places(corpus, out)
    notes = None if report is None else _new_path("Report", report)
    if min_bits is not None and not 0 <= min_bits <= MOST_BITS:
        raise UsageError(f"Least bits {min_bits}: allowed are numbers from 0 to {MOST_BITS}.")
    check_workers(workers)
    files, others = corpus_files.files_of(source)
    request = tuple(dict.fromkeys(text_tasks() if tasks is None else tasks)), min_bits
    search = search_for(*request)  # before processes are started, which inherit it
    left = [str(path.relative_to(source)) for path in others]
    result = DecontaminationReport(len(files), left, least_tokens=search.least_tokens)
    size, started = sum(file.stat().st_size for file in files), time.perf_counter()
    with (
        _published(output) as temporary,
        contextlib.nullcontext(Path(os.devnull)) if notes is None else _published(notes) as noted,
        noted.open("w", encoding="utf-8") as lines,
        open_engine(workers=workers, calls=len(files) + size // corpus_files.BLOCK) as engine,
        progress_bar(progress, "search", "kB", 1 + size // 1000) as bar,
    ):
        for part in _clean(source, files, temporary, request, engine):
            lines.writelines(result.add(part))
            bar.total = max(bar.total, 1 + result.bytes // 1000)  # more than the compressed files
            bar.update(len(part.block.data) // 1000)
    result.seconds = time.perf_counter() - started
    return result


@contextlib.contextmanager
def _published(output: Path) -> Iterator[Path]:
    """A path beside the output, which becomes the output when the block has ended well.

    Raises:
        SynthbenchError: the output cannot be written.
    """
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{output.name}.", dir=output.parent) as beside:
            temporary = Path(beside, "new")
            yield temporary
            temporary.rename(output)
    except OSError as error:
        reason = error.strerror or error
        raise SynthbenchError(f"Output {str(output)!r} cannot be written: {reason}.") from error


class _Block(NamedTuple):
    """Whole lines of a file.

    Attributes:
        file: the file's number.
        place: its name in the corpus.
        first: the number of lines before these.
        data: the lines.
    """

    file: int
    place: str
    first: int
    data: bytes


class _Searched(NamedTuple):
    """A block, and the rows found in it.

    Attributes:
        block: the block.
        documents: how many of its lines are documents.
        found: the rows in each of those that hold any, by their index among the lines.
    """

    block: _Block
    documents: int
    found: dict[int, list[Found]]


def _places(corpus: str | PathLike[str], out: str | PathLike[str]) -> tuple[Path, Path]:
    """The paths of a corpus and of its clean copy.

    Raises:
        UsageError: the corpus is missing, or the output exists or lies in the corpus.
    """
    source, output = usable_path("Corpus", corpus), _new_path("Output", out)
    if not source.exists():
        raise MissingPathError(f"Corpus {str(source)!r} is missing.")
    if source.is_dir() and output.resolve().is_relative_to(source.resolve()):
        raise UsageError(f"Output {str(output)!r} lies in the corpus. Name a path outside it.")
    return source, output


def _new_path(what: str, path: str | PathLike[str]) -> Path:
    path = usable_path(what, path)
    if os.path.lexists(path):
        raise UsageError(f"{what} {str(path)!r} exists already. Name a path that does not.")
    return path


def _clean(
    source: Path,
    files: Sequence[Path],
    output: Path,
    request: tuple[tuple[str, ...], float | None],
    engine: Engine,
) -> Iterator[_Searched]:
    """Write all files without the documents that hold held-out rows."""
    names = [str(file.relative_to(source)) if file != source else "" for file in files]
    requests = (
        (*request, _Block(number, names[number] or file.name, *part))
        for number, file in enumerate(files)
        for part in corpus_files.blocks(file)
    )
    searched = (result for _, result in engine.in_order(_search, requests))
    for number, parts in itertools.groupby(searched, key=lambda part: part.block.file):
        target, dropped = output / names[number], 0
        with corpus_files.writer(target, files[number]) as file:
            for part in parts:
                lines = corpus_files.lines_of(part.block.data)
                kept = (line for index, line in enumerate(lines) if index not in part.found)
                file.write(b"".join(kept) if part.found else part.block.data)
                dropped += len(part.found)
                yield part
        if not dropped:  # compressed again, a file may have other bytes
            shutil.copyfile(files[number], target)


def _search(names: tuple[str, ...], min_bits: float | None, block: _Block) -> _Searched:
    """The rows that are found in a block."""
    lines = corpus_files.lines_of(block.data)
    texts = corpus_files.texts_of(lines, block.place, block.first)
    by_line = search_for(names, min_bits).find(texts)
    documents = sum(bool(line.strip()) for line in lines)
    rows = {index: rows for index, rows in enumerate(by_line) if rows}
    return _Searched(block, documents, rows)
