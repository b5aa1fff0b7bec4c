"""Tasks of texts whose test rows are two and four times as long as those of train."""

from __future__ import annotations

from typing import ClassVar

from synthbench.tasks.base import Split, TextTask

#: Test has rows of so many times the length of train.
_TIMES = (2, 4)
#: Tokens of a round of a stream, whose first row waits for the whole round.
_ROUND_TOKENS = 1 << 20
#: Tokens of an evaluation row from which on rounds have half as many.
_LONG = 1_024


def longer(length: int, longest: int) -> tuple[int, ...]:
    """The lengths of test for a length of train: twice and four times it, at most `longest`."""
    return tuple(dict.fromkeys(min(times * length, longest) for times in _TIMES))


class LongerRows(TextTask):
    """A task whose parameters have `length`, of train, and `test_lengths`.

    Attributes:
        train_rows: rows of train.
        block_tokens: tokens of a block, which bounds its memory.
        group_blocks: blocks of a Parquet row group.
    """

    train_rows: ClassVar[int]
    block_tokens: ClassVar[int]
    group_blocks: ClassVar[int]

    @property
    def splits(self) -> tuple[Split, ...]:
        trained, tested = (self.parameters.length,), self.parameters.test_lengths
        return (
            Split("train", self.train_rows, trained, evaluation=False),
            Split("iid", 3_000, trained),
            Split("validation", 3_000, trained),
            Split("test", 1_500 * len(tested), tested),
        )

    @property
    def block_rows(self) -> int:
        """Candidates of a block: fewer of long rows."""
        longest: int = self.parameters.test_lengths[-1]
        return max(64, min(4_096, self.block_tokens // longest))

    @property
    def group_rows(self) -> int:
        """Rows of a Parquet row group: fewer of long rows."""
        return self.group_blocks * self.block_rows

    def stream_round_rows(self, split: Split) -> int:
        """Rows of a round: fewer of long rows, and fewest of those that must be held out."""
        longest = max(split.buckets)
        tokens = _ROUND_TOKENS // 2 if split.evaluation and longest > _LONG else _ROUND_TOKENS
        return tokens // longest
