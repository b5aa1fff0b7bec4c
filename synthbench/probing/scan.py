"""One pass over the rows of a split: a hash of each question in several forms, and a sample."""

from __future__ import annotations

import dataclasses
import hashlib
import heapq
import re
from array import array
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from synthbench.probing.columns import Chosen, Row, answer_key
from synthbench.seeding import mix
from synthbench.text.progress import Bar

#: The most rows of a split that shortcuts are fitted to and scored on, and their most characters.
SAMPLE_ROWS, SAMPLE_CHARACTERS = 10_000, 1 << 25
#: Rows from one redraw of the bar to the next.
_SHOWN = 5_000
_TOKENS = re.compile(r"\w+|[^\w\s]")
_SIGNS = re.compile(r"[\W_]+")


def tokens_of(text: str) -> list[str]:
    """The words, numbers and signs of a text."""
    return _TOKENS.findall(text)


#: Forms of a question in which it may be known, from the exact text on, by their description.
FORMS: dict[str, Callable[[str], str]] = {
    "exact": lambda text: text,
    "spaces": lambda text: "".join(text.casefold().split()),
    "signs": lambda text: _SIGNS.sub("", text.casefold()),
    "order": lambda text: " ".join(sorted(tokens_of(text.casefold()))),
}


@dataclasses.dataclass
class Scan:
    """The rows of a split.

    Attributes:
        forms: for each form of a question its hash in each row, uint64 `(rows,)`.
        answers: the hash of each row's answer, uint64 `(rows,)`.
        sample: some questions with their answers, in the order of the rows.
        answered: the number of rows whose answer is not None.
    """

    forms: dict[str, NDArray[np.uint64]]
    answers: NDArray[np.uint64]
    sample: list[tuple[str, str]]
    answered: int

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def exact(self) -> NDArray[np.uint64]:
        """The hash of each question, uint64 `(rows,)`."""
        return self.forms["exact"]


def scan(rows: Iterable[Row], columns: Chosen, bar: Bar, split: str) -> Scan:
    """Read the rows of a split once, and keep a few hashes of each."""
    hashes = {form: array("Q") for form in FORMS}
    answers = array("Q")
    sample, answered = _Sample(), 0
    for row in rows:
        answered += columns.answer_value(row) is not None
        question, answer = columns.question_of(row), columns.answer_of(row)
        for form, of in FORMS.items():
            hashes[form].append(hashed(of(question)))
        answers.append(hashed(answer_key(answer)))
        sample.add(question, answer)
        if len(answers) % _SHOWN == 0:
            bar.update(0, now=f"{split}, {len(answers):,} rows")
    arrays = {form: np.frombuffer(values, np.uint64) for form, values in hashes.items()}
    return Scan(arrays, np.frombuffer(answers, np.uint64), sample.rows(), answered)


def hashed(text: str) -> int:
    """A 64-bit hash of a text. Two given texts share it with a probability of 2**-64."""
    data = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


def joined(hashes: NDArray[np.uint64], other: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A hash of each pair of hashes, uint64 `(rows,)`."""
    return mix(mix(hashes) ^ other)


class _Sample:
    """Rows whose numbers have the smallest hashes, so that a row's place decides nothing."""

    def __init__(self) -> None:
        self._kept: list[tuple[int, int, str, str]] = []
        self._seen = self._characters = 0

    def add(self, question: str, answer: str) -> None:
        """Look at the next row."""
        number, self._seen = self._seen, self._seen + 1
        # Negative: the heap's first entry has the largest hash, and leaves first.
        entry = (-hashed(str(number)), number, question, answer)
        full = len(self._kept) >= SAMPLE_ROWS or self._characters > SAMPLE_CHARACTERS
        if full and entry < self._kept[0]:
            return
        heapq.heappush(self._kept, entry)
        self._characters += len(question) + len(answer)
        while len(self._kept) > SAMPLE_ROWS or (
            self._characters > SAMPLE_CHARACTERS and len(self._kept) > 1
        ):
            _, _, *texts = heapq.heappop(self._kept)
            self._characters -= sum(map(len, texts))

    def rows(self) -> list[tuple[str, str]]:
        """The sample in the order of the rows."""
        return [(row[2], row[3]) for row in sorted(self._kept, key=lambda row: row[1])]


def pick(rows: Iterable[Row], numbers: Iterable[int]) -> dict[int, Row]:
    """The rows with these numbers, each by its number. It reads as far as the last of them."""
    wanted = set(numbers)
    picks: dict[int, Row] = {}
    if wanted:
        for number, row in _until(rows, max(wanted)):
            if number in wanted:
                picks[number] = row
    return picks


def _until(rows: Iterable[Row], last: int) -> Iterator[tuple[int, Row]]:
    for number, row in enumerate(rows):
        yield number, row
        if number >= last:
            return
