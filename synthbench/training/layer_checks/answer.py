"""The answer to a question about a layer, and the report of all answers."""

from __future__ import annotations

import dataclasses
from typing import Any

from synthbench.errors import SynthbenchError

PASS, FAIL, NOT_APPLICABLE = "pass", "fail", "not applicable"


@dataclasses.dataclass(frozen=True)
class Answer:
    """The answer to one question about a layer.

    Attributes:
        question: its name, such as `causal`.
        verdict: `pass`, `fail` or `not applicable`.
        seen: the measured facts.
        where: positions, lengths or parameters, or an empty text.
    """

    question: str
    verdict: str
    seen: str
    where: str = ""


@dataclasses.dataclass(frozen=True)
class LayerReport:
    """The answers to all questions about a layer.

    Attributes:
        layer: the name of the layer.
        width: size of a state.
        length: positions of the longest row.
        parameters: number of its parameters.
        answers: the answers, in the order of `QUESTIONS`.
    """

    layer: str
    width: int
    length: int
    parameters: int
    answers: tuple[Answer, ...]

    @property
    def failed(self) -> tuple[Answer, ...]:
        """The answers whose verdict is `fail`."""
        return tuple(answer for answer in self.answers if answer.verdict == FAIL)

    def __getitem__(self, question: str) -> Answer:
        """The answer to a question."""
        return next(answer for answer in self.answers if answer.question == question)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values."""
        values = dataclasses.asdict(self)
        return {**values, "answers": list(values["answers"]), "passed": not self.failed}

    @property
    def summary(self) -> str:
        """The failed questions, a line each."""
        failed = [
            f"{answer.question}: {answer.seen}" + (f" ({answer.where})" if answer.where else "")
            for answer in self.failed
        ]
        count = f"{len(failed)} of {len(self.answers)} checks"
        return "\n  ".join([f"Layer {self.layer} fails {count}{':' if failed else '.'}", *failed])

    def raise_if_wrong(self) -> None:
        """Raise an error that lists the failed questions.

        Raises:
            SynthbenchError: a question has failed.
        """
        if self.failed:
            raise SynthbenchError(self.summary)


def reason(error: SynthbenchError) -> str:
    """The text of an error of a layer, without the advice on layers that do not fit."""
    return str(error).partition(". A function makes it fit")[0]
