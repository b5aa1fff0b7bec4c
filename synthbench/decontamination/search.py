"""The search for held-out rows of text tasks in texts, without files.

A text is made plain (`plain`) and divided into atoms (`atoms`). On each of its lines a row is
recognised in three steps, each of which sees less text than the one before: tokens of a task that
are separated alike are found (`lines`), the task says where among them rows may be
(`TextTask.row_spans`), and the row's id says whether it is held out. All rows of many texts are
parsed together.
"""

from __future__ import annotations

import collections
import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from synthbench.decontamination.atoms import AtomReader, Atoms
from synthbench.decontamination.lines import Core, Finder, Stretch, can_touch, common_gate
from synthbench.decontamination.plain import plain
from synthbench.errors import UsageError
from synthbench.tasks.base import TextTask
from synthbench.tasks.registry import loadable_tasks, task, task_class
from synthbench.tasks.row_ids import are_held_out, fingerprints
from synthbench.tasks.tokens import Vocabulary

#: Rows of more tokens are not searched for. The longest of any task of ours have 2,048.
LONGEST = 4_096
#: The information of the longest row if all its tokens differ.
MOST_BITS = LONGEST * 12
#: Signs behind the number of a line or question.
_MARKS = (")", "-")
#: Errors of `solve` and `parse` for other texts than rows.
_NO_ROW = (ValueError, TypeError, AttributeError, LookupError, RecursionError, pa.ArrowException)


class Found(NamedTuple):
    """A held-out row in a text.

    Attributes:
        task: the task's name.
        variant: its first variant that has the row.
        split: the evaluation splits of the task's defaults that rows of its size belong to, such as
            `iid`; `other` if all splits lack such rows.
        row: the row's text, spaced as in a dataset.
    """

    task: str
    variant: str
    split: str
    row: str


def text_tasks() -> list[str]:
    """The names of the tasks whose rows are texts. Broken tasks of others are warned of."""
    return [name for name, kind in loadable_tasks() if issubclass(kind, TextTask)]


@functools.lru_cache(maxsize=1)  # each process makes it once
def search_for(names: tuple[str, ...], min_bits: float | None) -> Search:
    """The search for these tasks. See `Search`."""
    return Search(names, min_bits)


class Search:
    """Finds held-out rows of tasks, in all their variants and at all their levels.

    Args:
        names: the tasks.
        min_bits: rows with less information are taken for ordinary text; None: as each task says.

    Attributes:
        least_tokens: for each task the number of tokens from which on a row can count. A task is
            left out if all its rows are ordinary text.

    Raises:
        UsageError: an unknown task, or one whose rows are not texts.

    Example:
        >>> from synthbench.decontamination.search import Search
        >>> (found,), none = Search(["listops"]).find(["Solve [MAX 0[MIN 4 6]].", "[MAX 0 4 ]"])
        >>> found.row, found.split, none
        ('[MAX 0 [MIN 4 6 ] ]', 'iid', [])
    """

    def __init__(self, names: Sequence[str], min_bits: float | None = None) -> None:
        self._min_bits = min_bits
        self.least_tokens: dict[str, int] = {}
        by_vocabulary: dict[tuple[Vocabulary, Core, bool], list[TextTask]] = {}
        for name in names:
            for text_task, touching in _forms(name):
                if min_bits is None and math.isinf(text_task.ordinary_bits):
                    continue
                shared = by_vocabulary.setdefault(
                    (text_task.vocabulary, text_task.core, touching), []
                )
                shared.append(text_task)
                least = self._least_tokens(text_task)
                self.least_tokens[name] = min(least, self.least_tokens.get(name, least))
        self._finders = [
            (
                Finder(
                    vocabulary,
                    min(map(self._least_tokens, sharing)),
                    core,
                    touching,
                    square=any(text_task.blank is not None for text_task in sharing),
                ),
                sharing,
            )
            for (vocabulary, core, touching), sharing in by_vocabulary.items()
        ]
        # One automaton for all short cores is fast. For all patterns it would have too many states.
        short = [finder for finder, _ in self._finders if finder.is_short]
        together = "|".join(f"(?:{finder.prefilter})" for finder in short)
        for finder in short:
            finder.gate = together
        coreless = [finder for finder, _ in self._finders if not finder.has_core]
        for finder in coreless:
            finder.gate = common_gate(coreless)
        self._gates = list(dict.fromkeys(finder.gate for finder, _ in self._finders))
        self._reader = AtomReader(vocabulary for vocabulary, _, _ in by_vocabulary)

    def _least_tokens(self, text_task: TextTask) -> int:
        if self._min_bits is None:
            least = _least_tokens(text_task.ordinary_bits, text_task.vocabulary.size - 1)
            return max(least, text_task.ordinary_tokens)
        return _least_tokens(self._min_bits, text_task.vocabulary.size - 1)

    def counts(self, text_task: TextTask, words: Sequence[str]) -> bool:
        """True if a row of a task has more information than ordinary text of its form."""
        if not 1 < len(words) <= LONGEST:
            return False
        if self._min_bits is not None:
            return _bits(words) >= self._min_bits
        different = set(words)
        if text_task.ordinary_bits and len(different) == len(words):
            return False  # a permutation
        if not any(word[-1].isalnum() for word in different):
            return False  # a drawing, such as +---+
        return len(words) >= text_task.ordinary_tokens and _bits(words) >= text_task.ordinary_bits

    def find(self, documents: Sequence[str]) -> list[list[Found]]:
        """The held-out rows in each document, each once."""
        by_document: list[dict[tuple[str, str], Found]] = [{} for _ in documents]
        shown = [plain(text) for text in documents]
        column = pa.array(shown, pa.large_string())
        likely = {gate: _likely(column, shown, gate) for gate in self._gates}
        atoms: dict[str, Atoms] = {}
        for finder, sharing in self._finders:
            stretches: list[tuple[int, Stretch]] = []
            parts, texts = likely[finder.gate]
            if finder.gate != finder.prefilter:
                parts = [parts[place] for place in _matching(texts, finder.prefilter)]
            for index, part in parts:
                if part not in atoms:
                    atoms[part] = self._reader.read(part)
                stretches += ((index, stretch) for stretch in finder.stretches(atoms[part]))
            if not stretches:
                continue
            for text_task in sharing:
                where: dict[str, set[int]] = {}
                for index, stretch in stretches:
                    for row in self._candidates(text_task, stretch):
                        where.setdefault(row, set()).add(index)
                for row in _held_out(text_task, list(where)):
                    kind = Found(text_task.name, text_task.variant, _splits_of(text_task, row), row)
                    for index in where[row]:
                        by_document[index].setdefault((text_task.name, row), kind)
        return [list(rows.values()) for rows in by_document]

    def _candidates(self, text_task: TextTask, stretch: Stretch) -> Iterable[str]:
        """The texts of possible rows with enough tokens.

        A sign at either end may belong to the text around a row, and so may a number and a sign
        before it, as in `1) ( 3 )` or `Question 7 - 3 + 1`.
        """
        for first, end in text_task.row_spans(stretch.words):
            row = stretch.words[first:end]
            is_code = self._min_bits is None and len(row) < stretch.least
            if first < stretch.operand or is_code or not self.counts(text_task, row):
                continue
            text = text_task.separator.join(row)
            yield text
            signs = 0 if row[0].isalnum() else sum(1 for _ in _same(row))  # as of ## headings
            starts = {0, min(signs, 1), signs, 2 * (row[0].isdigit() and row[1] in _MARKS)}
            ends = {len(row), len(row) - (not row[-1].isalnum())}
            for start, stop in itertools.product(sorted(starts), sorted(ends)):
                if stop - start < len(row):
                    yield text_task.separator.join(row[start:stop])


def _same(words: Sequence[str]) -> Iterator[str]:
    """The first words, as long as they are the same."""
    return itertools.takewhile(words[0].__eq__, words)


def _forms(name: str) -> list[tuple[TextTask, bool]]:
    """A task in every variant and at every level that has other tokens.

    Each comes with whether its digits may touch: not where they could be a token of another level,
    as the 10 of `parity`.

    Raises:
        UsageError: an unknown task, or one whose rows are not texts.
    """
    kind = task_class(name)
    if not issubclass(kind, TextTask) or kind.inputs != ("text",):
        raise UsageError(f"Task {name!r}: its rows are not texts. Allowed are {text_tasks()}.")
    forms: dict[tuple[str, Vocabulary], TextTask] = {}
    for variant in kind.variants:
        for level in (None, *kind.levels):
            text_task = task(name, variant, level=level)
            assert isinstance(text_task, TextTask)
            forms.setdefault((variant, text_task.vocabulary), text_task)
    tokens: dict[str, set[str]] = {}
    for variant, vocabulary in forms:
        tokens.setdefault(variant, set()).update(vocabulary.tokens)
    touching = {variant: can_touch(frozenset(tokens[variant])) for variant in tokens}
    return [(text_task, touching[variant]) for (variant, _), text_task in forms.items()]


def _least_tokens(bits: float, tokens: int) -> int:
    """The least number of tokens, from 3, that can have so many bits."""
    least = 3
    while least * math.log2(max(2, min(least, tokens))) < bits:
        least += 1
    return least


def _bits(words: Sequence[str]) -> float:
    """The entropy of a text's tokens, by their own frequencies, times their number."""
    counts = collections.Counter(words).values()
    return len(words) * math.log2(len(words)) - sum(n * math.log2(n) for n in counts)


def _matching(column: pa.Array, pattern: str) -> list[int]:
    matches = pc.match_substring_regex(column, pattern).to_numpy(zero_copy_only=False)
    indices: list[int] = np.flatnonzero(matches).tolist()
    return indices


def _likely(
    column: pa.Array, texts: Sequence[str], pattern: str
) -> tuple[list[tuple[int, str]], pa.Array]:
    """The parts of texts that match a pattern, each with the index of its text, and as an array."""
    parts = [
        (index, part) for index in _matching(column, pattern) for part in texts[index].split("\n\n")
    ]
    among = pa.array([part for _, part in parts], pa.large_string())
    matching = _matching(among, pattern)
    return [parts[place] for place in matching], among.take(pa.array(matching, pa.int64()))


def _held_out(text_task: TextTask, texts: list[str]) -> list[str]:
    """Those texts that are held-out rows of a task."""
    if not texts:
        return []
    try:
        prints = fingerprints(text_task, text_task.parse({"text": pa.array(texts, pa.string())}))
    except _NO_ROW:
        rows = [text for text in texts if _is_row(text_task, text)]
        if len(texts) == 1:
            return []
        if len(rows) == len(texts):  # `solve` takes what `parse` does not
            return [row for text in texts for row in _held_out(text_task, [text])]
        return _held_out(text_task, rows)
    flags = are_held_out(prints).tolist()
    return [
        text for text, held in zip(texts, flags, strict=True) if held and _is_row(text_task, text)
    ]


def _is_row(text_task: TextTask, text: str) -> bool:
    try:
        text_task.solve(text)
    except _NO_ROW:
        return False
    return True


def _splits_of(text_task: TextTask, row: str) -> str:
    """The evaluation splits that have rows of this size, such as `iid` or `iid, validation`."""
    columns = {"text": row, **text_task.recompute_columns({"text": row})}
    arrays = {
        name: pa.array([columns[name]], text_task.columns[name].arrow) for name in text_task.columns
    }
    (bucket,) = text_task.buckets(arrays).tolist()
    names = [
        split.name for split in text_task.splits if split.evaluation and bucket in split.buckets
    ]
    return ", ".join(names) or "other"
