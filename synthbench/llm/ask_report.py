"""The report on a model's replies: accuracy or pass@k by bucket, unread replies, tokens."""

from __future__ import annotations

import collections
import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from synthbench.errors import SynthbenchError
from synthbench.evaluation.chat_replies import ChatReply
from synthbench.evaluation.evaluate import evaluate
from synthbench.evaluation.message import read_message
from synthbench.evaluation.report import Report
from synthbench.evaluation.scores import Score, by_value, rows_by, score_table, wilson
from synthbench.evaluation.unreadable import why_unread
from synthbench.llm.scoring import reward_of
from synthbench.tasks.base import Task
from synthbench.text.lines import one_line
from synthbench.text.tables import items, render, stack, styled

if TYPE_CHECKING:
    from rich.console import Group

#: How many unread replies are shown, and how many characters of their ends.
_SHOWN, _END = 3, 160


@dataclasses.dataclass(frozen=True)
class UnreadReply:
    """A reply in which no answer could be read.

    Attributes:
        id: the row's id.
        reason: why.
        reply: the model's text. None for nothing.
    """

    id: str
    reason: str
    reply: str | None


@dataclasses.dataclass(frozen=True, repr=False)
class AskReport:
    """A model's answers. Prints as a table.

    Attributes:
        model: the model's name at the server.
        report: the report of `synthbench.evaluate` on the first reply to each row.
        samples: how many replies each row has.
        passed: scores with the metrics `pass@1`, `pass@2`, ... up to `samples`: unbiased estimates
            of the probability that at least one of so many replies is right. By column, and under
            `all` for all rows. Their intervals are over rows.
        alike: the number of rows whose replies are all equal, 0 with one reply to each row.
        unread: the replies in which no answer could be read. They are wrong.
        truncated: the number of replies that stopped at the limit of tokens, by the finish reason
            that the server gives. They have an answer only where it is marked.
        thoughts_unclosed: the number of replies that end within their thoughts.
        prompt_tokens: tokens of all prompts, as the server counts them; None if it does not.
        completion_tokens: tokens of all replies, likewise.
        asked: how many replies came in this call. Others were kept before.
        seconds: how long this call took.
        failures: why requests got no reply, one text for each. Their rows do not count.
        file: where the replies are kept; None for nowhere.
    """

    model: str
    report: Report
    samples: int
    passed: dict[str, dict[Any, Score]]
    alike: int
    unread: tuple[UnreadReply, ...]
    truncated: int
    thoughts_unclosed: int
    prompt_tokens: int | None
    completion_tokens: int | None
    asked: int
    seconds: float
    failures: tuple[str, ...]
    file: str | None

    @classmethod
    def of(
        cls,
        task: Task,
        split: str,
        rows: Sequence[Mapping[str, Any]],
        replies: Mapping[tuple[str, int], ChatReply],
        *,
        samples: int,
        **told: Any,
    ) -> AskReport:
        """The report on the rows that have all their replies; `told` sets further attributes.

        Raises:
            SynthbenchError: an unknown row.
        """
        places = [[(row["id"], sample) for sample in range(samples)] for row in rows]
        whole = [all(key in replies for key in each) for each in places]
        complete = [row for row, has_all in zip(rows, whole, strict=True) if has_all]
        if not complete:
            raise SynthbenchError("No row has all its replies. The same call asks for the others.")
        used = [replies[key] for each in places for key in each if key in replies]
        texts = {
            (row["id"], sample): replies[row["id"], sample].running_text
            for row in complete
            for sample in range(samples)
        }
        first = {row["id"]: texts[row["id"], 0] for row in complete}
        report = evaluate(
            {split: rows},
            first,
            task,
            split=split,
            read="text",
            answered_only=True,
            progress=False,
        )
        right = np.array(
            [
                [reward_of(task, row, texts[row["id"], sample]) for sample in range(samples)]
                for row in complete
            ]
        )
        unread = [
            UnreadReply(row["id"], reason, text)
            for row in complete
            for sample in range(samples)
            if (reason := why_unread(task, row, text := texts[row["id"], sample]))
        ]
        return cls(
            report=report,
            samples=samples,
            passed=_passed(task, complete, right),
            alike=0 if samples == 1 else sum(_are_equal(replies, row, samples) for row in complete),
            unread=tuple(unread),
            truncated=sum(text is not None and text.truncated for text in texts.values()),
            thoughts_unclosed=sum(
                text is not None and read_message(text) is None for text in texts.values()
            ),
            prompt_tokens=_sum(reply.prompt_tokens for reply in used),
            completion_tokens=_sum(reply.completion_tokens for reply in used),
            **told,
        )

    @property
    def accuracy(self) -> float:
        """The share of right replies, of all samples."""
        return self.passed["all"]["all"].metrics["pass@1"]

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values, with three of the unread replies."""
        values = self.report.to_dict()
        values |= {name: getattr(self, name) for name in ("model", "samples", "accuracy")}
        values["pass"] = {column: by_value(scores) for column, scores in self.passed.items()}
        values["unread"] = len(self.unread)
        values["unread_reasons"] = dict(self._reasons())
        values["unread_examples"] = [dataclasses.asdict(reply) for reply in self.unread[:_SHOWN]]
        names = (
            "alike",
            "truncated",
            "thoughts_unclosed",
            "prompt_tokens",
            "completion_tokens",
            "asked",
            "seconds",
            "file",
        )
        values |= {name: getattr(self, name) for name in names}
        values["replies"] = self.report.replies * self.samples
        return {**values, "failures": list(self.failures)}

    def __repr__(self) -> str:
        return render(self)

    def __rich__(self) -> Group:
        """The report in colours, as the command line shows it."""
        if self.samples == 1:
            return stack(self.report, "", items(self._notes()))
        title = styled(f"{self.report.task}, {self.report.variant}", "bold")
        groups = {"" if name == "all" else name: scores for name, scores in self.passed.items()}
        table = score_table(self.passed["all"]["all"], groups)
        return stack(title, "", table, "", items(self._notes()))

    def _reasons(self) -> list[tuple[str, int]]:
        return collections.Counter(reply.reason for reply in self.unread).most_common()

    def _notes(self) -> Iterator[str]:
        """Model, tokens, unread replies and failures."""
        rate = ""
        if self.asked and self.seconds:
            rate = f"; {self.asked:,} in {self.seconds:,.1f} s"
        yield f"{self.model}: {self.report.rows * self.samples:,} replies{rate}"
        if self.prompt_tokens is None or self.completion_tokens is None:
            yield "Token usage: not reported"
        else:
            prompts, replies = self.prompt_tokens, self.completion_tokens
            yield f"Tokens: {prompts:,} of prompts, {replies:,} of replies"
        if self.alike:
            rows = self.passed["all"]["all"].rows
            remark = ". The server may ignore temperature and seed" if self.alike == rows else ""
            yield f"{self.alike:,} of {rows:,} rows have {self.samples:,} equal replies{remark}"
        if self.unread:
            reasons = ", ".join(f"{reason} ({count:,})" for reason, count in self._reasons()[:5])
            yield f"{len(self.unread):,} replies without a readable answer are wrong: {reasons}"
        if self.samples > 1:  # of a single sample, the report says so
            yield f"{self.truncated:,} truncated, {self.thoughts_unclosed:,} with unclosed thoughts"
        for unread in self.unread[:_SHOWN]:
            text = unread.reply or ""
            end = ("..." if len(text) > _END else "") + text[-_END:]
            yield f"{unread.id}: {one_line(repr(end))}"
        if self.failures:
            yield (
                f"{len(self.failures):,} requests got no reply, such as: {self.failures[0]}. "
                "The same call asks for them again"
            )
        if self.file:
            yield f"Replies: {self.file}"


def _are_equal(
    replies: Mapping[tuple[str, int], ChatReply], row: Mapping[str, Any], samples: int
) -> bool:
    """True if all replies to a row have the same text."""
    return len({replies[row["id"], sample].text for sample in range(samples)}) == 1


def _sum(counts: Iterator[int | None]) -> int | None:
    """The sum of counts of tokens, None unless all are reported."""
    told = list(counts)
    return sum(count for count in told if count is not None) if None not in told else None


def _passed(
    task: Task, rows: Sequence[Mapping[str, Any]], right: np.ndarray[Any, Any]
) -> dict[str, dict[Any, Score]]:
    """pass@k of all rows, and by the values of each breakdown's column.

    Args:
        task: the task.
        rows: the rows.
        right: 1.0 or 0.0, float64 `(rows, samples)`.
    """
    samples = right.shape[1] if right.ndim == 2 else 1
    most = {samples, *(1 << power for power in range(samples.bit_length()))}
    tries = sorted(k for k in most if k <= samples)
    rates = np.array([[pass_rate(int(row.sum()), samples, k) for k in tries] for row in right])
    groups: dict[str, dict[Any, list[int]]] = {"all": {"all": list(range(len(rows)))}}
    for breakdown in task.group_by:
        if all(name in row for row in rows for name in breakdown.columns):
            columns = [[row[name] for row in rows] for name in breakdown.columns]
            groups[breakdown.name] = rows_by(task, breakdown, columns)
    return {
        column: {value: _score(tries, rates, numbers) for value, numbers in each.items()}
        for column, each in groups.items()
    }


def _score(tries: Sequence[int], rates: np.ndarray[Any, Any], numbers: Sequence[int]) -> Score:
    """The means of some rows, with Wilson's intervals.

    A row's share of right samples varies no more than a single right or wrong, so the intervals
    are, if anything, too wide.
    """
    count = len(numbers)
    means = rates[list(numbers)].mean(axis=0) if count else [math.nan] * len(tries)
    metrics = {f"pass@{k}": float(mean) for k, mean in zip(tries, means, strict=True)}
    intervals = {name: wilson(mean * count, count) for name, mean in metrics.items() if count}
    return Score(count, count, metrics, intervals)


def pass_rate(right: int, samples: int, tries: int) -> float:
    """The estimated probability that at least one of some replies is right, without bias.

    Args:
        right: how many replies were right.
        samples: how many there were.
        tries: among how many at least one must be right, 1 to `samples`.

    Example:
        >>> from synthbench.llm.ask_report import pass_rate
        >>> pass_rate(1, 4, 2)
        0.5

    Source: Chen et al., Evaluating large language models trained on code (2021), section 2.1.
    """
    return 1.0 - math.comb(samples - right, tries) / math.comb(samples, tries)
