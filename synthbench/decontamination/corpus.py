"""Files of JSON Lines: found in a directory, read in blocks of whole lines, written again.

A document is a line. Its texts are the strings in its JSON value, wherever they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from synthbench.dataset.files import reading
from synthbench.errors import DatasetError, UsageError

#: Names of files of documents, and of these when they are compressed.
SUFFIXES = (".jsonl", ".ndjson")
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".lz4": "lz4"}
ALLOWED = f"{' or '.join(SUFFIXES)}, also with {', '.join(COMPRESSIONS)} behind it"
#: Between two strings of a document. No row goes across an empty line.
_BETWEEN = "\n\n"
#: Bytes of a block, about.
BLOCK = 4 << 20


def is_documents(path: Path) -> bool:
    """True if a file has the name of one with documents."""
    name = path.with_suffix("") if path.suffix in COMPRESSIONS else path
    return name.suffix in SUFFIXES


def files_of(corpus: Path) -> tuple[list[Path], list[Path]]:
    """The files with documents in a directory, and the others, sorted, or the one file itself.

    Raises:
        UsageError: no file has documents.
    """
    if not corpus.is_dir():
        if not is_documents(corpus):
            raise UsageError(f"Corpus {str(corpus)!r}: allowed are names in {ALLOWED}.")
        return [corpus], []
    files = sorted(path for path in corpus.rglob("*") if path.is_file())
    documents = [path for path in files if is_documents(path)]
    if not documents:
        raise UsageError(f"Corpus {str(corpus)!r} has no file in {ALLOWED}.")
    return documents, [path for path in files if not is_documents(path)]


def blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    """The content of a file in blocks of whole lines. The last line may lack its end.

    Returns:
        The number of lines before each block, and its bytes. An empty file is one empty block.

    Raises:
        DatasetError: the file cannot be read.
    """
    first, rest = 0, b""
    with reading(path), pa.input_stream(str(path), compression=_compression(path)) as file:
        while part := file.read(BLOCK):
            whole, end, begun = part.rpartition(b"\n")
            if end:
                yield first, rest + whole + end
                first += 1 + whole.count(b"\n") + rest.count(b"\n")
                rest = begun
            else:
                rest += part
    if rest or not first:
        yield first, rest


def lines_of(data: bytes) -> list[bytes]:
    """Lines with their ends. The last one may lack it."""
    *whole, last = data.split(b"\n")
    return [*(line + b"\n" for line in whole), *([last] if last else [])]


def writer(path: Path, like: Path) -> pa.NativeFile:
    """A file to write, compressed as the name of another file says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return pa.output_stream(str(path), compression=_compression(like))


def _compression(path: Path) -> str | None:
    return COMPRESSIONS.get(path.suffix)


def texts_of(lines: list[bytes], place: str, first: int) -> list[str]:
    """The strings of each line, joined. An empty line is an empty text.

    A list of words and whole numbers is a string, too: they may be the tokens of a row.

    Args:
        lines: lines of JSON.
        place: the file's name, for errors.
        first: the number of lines of the file before these.

    Raises:
        DatasetError: a line is not JSON.
    """
    texts = []
    for number, line in enumerate(lines, first + 1):
        try:
            value = _value_of(line) if line.strip() else ""
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", None) or "is not UTF-8"
            raise DatasetError(f"{place}, line {number} is not JSON: {reason}.") from None
        parts: list[str] = []
        _collect(value, parts)
        text = _BETWEEN.join(parts)
        # A lone surrogate, which JSON allows, is not a character and never part of a row.
        texts.append(text.encode("utf-8", "replace").decode("utf-8"))
    return texts


def _value_of(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except ValueError:  # JSON, but with a whole number of more digits than Python reads
        return json.loads(line, parse_int=str)


def _collect(value: Any, parts: list[str]) -> None:
    if isinstance(value, str):
        parts.append(value)
    elif isinstance(value, dict):
        for part in value.values():
            _collect(part, parts)
    elif isinstance(value, list):
        if len(value) > 2 and all(map(_is_word, value)):
            parts.append(" ".join(map(str, value)))
        else:
            for part in value:
                _collect(part, parts)


def _is_word(value: Any) -> bool:
    if isinstance(value, str):
        return not any(map(str.isspace, value))
    return type(value) is int
