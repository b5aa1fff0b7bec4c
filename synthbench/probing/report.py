"""The result of a probe: a verdict on each question, with its evidence."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from synthbench.errors import SynthbenchError
from synthbench.text.lines import printable
from synthbench.text.tables import Table, items, render, stack, styled

if TYPE_CHECKING:
    from rich.console import Group

#: The results of a question. `wrong`: whatever the task. `found`: worth a look. `stated`: a figure
#: that is neither good nor bad. `not asked`: this source cannot answer the question.
WRONG, FOUND, HOLDS, STATED, NOT_ASKED = "wrong", "found", "holds", "stated", "not asked"
_STYLES = {WRONG: "bold red", FOUND: "yellow", HOLDS: "green", STATED: "", NOT_ASKED: "dim"}
#: The most characters of a question or an answer in an example.
_LONGEST = 160


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The answer to one question.

    Attributes:
        question: the question's name, as `--only` takes it.
        result: `wrong`, `found`, `holds`, `stated` or `not asked`.
        seen: counts, in a sentence.
        chance: the figure to expect by chance, if it is known.
        examples: up to two examples.
        again: the command that asks the question again.
    """

    question: str
    result: str
    seen: str
    chance: str = ""
    examples: tuple[str, ...] = ()
    again: str = ""

    def __str__(self) -> str:
        chance = f" (by chance: {self.chance})" if self.chance else ""
        return f"{self.question}: {self.seen}{chance}"


@dataclasses.dataclass(frozen=True, repr=False)
class Probe:
    """The result of `probe`; `str` gives the table and the evidence.

    Attributes:
        source: the source's name.
        taken: the columns that were read, splits and numbers of rows, in a sentence.
        verdicts: the verdict on each question.
    """

    source: str
    taken: str
    verdicts: Sequence[Verdict]

    @property
    def wrong(self) -> list[Verdict]:
        """Faults whatever the task."""
        return [verdict for verdict in self.verdicts if verdict.result == WRONG]

    @property
    def found(self) -> list[Verdict]:
        """Faults and other verdicts that are worth a look."""
        return [verdict for verdict in self.verdicts if verdict.result in (WRONG, FOUND)]

    def raise_if_wrong(self) -> None:
        """Raise an error if something is wrong whatever the task.

        Raises:
            SynthbenchError: it names every such fault, and the command that shows it again.
        """
        if self.wrong:
            lines = [f"{fault} Again: {fault.again}" for fault in self.wrong]
            raise SynthbenchError("\n".join([f"{self.source} is wrong:", *lines]))

    def to_dict(self) -> dict[str, Any]:
        """The probe as JSON values."""
        return dataclasses.asdict(self)

    def __repr__(self) -> str:
        return render(self)

    def __rich__(self) -> Group:
        """The table in colours, as `rich.print` and the command line show it."""
        rows = [
            (
                verdict.question,
                styled(verdict.result, _STYLES[verdict.result]),
                verdict.seen + (f" By chance: {verdict.chance}." if verdict.chance else ""),
            )
            for verdict in self.verdicts
        ]
        table = Table(("question", "result", "seen"), rows, whole=(0, 1))
        parts: list[Any] = [styled(self.source, "bold"), styled(self.taken), "", table]
        for verdict in self.found:
            parts += ["", styled(verdict.question, _STYLES[verdict.result])]
            parts += [items(verdict.examples)] if verdict.examples else []
            parts += [f"Again: {verdict.again}"]
        return stack(*parts)


def quoted(text: str) -> str:
    """A text in an example: on one line, shortened."""
    line = printable(text, keep="").strip()
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 row`, `2 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def share(part: int, whole: int) -> str:
    """A share in percent."""
    return f"{part / whole:.2%}" if whole else "0%"
