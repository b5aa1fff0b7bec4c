"""Questions about a scorer: does it pay the right answer, in any form, and no wrong answer?

    FUNCTION(reply, row)    the reward, a number or a dict with `score`

A second argument named as right answers are (`answer`, `ground_truth`, `label`, `target` ...) gets
the right answer instead of the row. Rewards for verl (`compute_score`) and TRL (`completions`) are
called as these do.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from synthbench.errors import SynthbenchError
from synthbench.probing.columns import ANSWERS, Chosen, Row
from synthbench.probing.functions import load_function, load_generator
from synthbench.probing.replies import BARE, BLANKS, FORMS, WRONG_ANSWERS, near_miss, wrong_answers
from synthbench.probing.report import FOUND, HOLDS, NOT_ASKED, STATED, WRONG, Verdict, quoted
from synthbench.text.lines import one_line, short
from synthbench.verification.elsewhere import Elsewhere, ElsewhereError

#: The rows whose answers are scored, and the rows among which they are looked for.
_ROWS, MOST_SCORED = 40, 200
#: The share of rows on which a wrong answer may be right by chance.
_BY_CHANCE = 0.1
_SECONDS = 300.0
#: Names of the argument that gets the right answer.
_RIGHT = {*ANSWERS, "expected_answer", "gold", "reference", "truth", "correct", "correct_answer"}
_ROW = {"row", "entry", "example", "item", "doc", "sample"}

Score = Callable[[str, Row], Any]


@dataclasses.dataclass(frozen=True)
class Scored:
    """The reward of an answer.

    Attributes:
        question: the question of the row.
        text: the reply or answer.
        reward: the reward; None if the scorer failed.
        error: how it failed, or an empty text.
    """

    question: str
    text: str
    reward: float | None
    error: str = ""

    def __str__(self) -> str:
        outcome = self.error or f"{self.reward:g}"
        return f"{quoted(self.text)!r} for {quoted(self.question)} -> {outcome}"


@dataclasses.dataclass(frozen=True)
class ScorerJob:
    """Rows to score answers to, in a process of its own.

    Attributes:
        scorer: `FILE.py:FUNCTION`; None for the generator's own scorer.
        origin: the generator that rows are drawn from; None if `rows` are given.
        chosen: the columns.
        rows: the rows, unless a generator draws them.
        reads_replies: whether the scorer reads whole replies.
        pairs: the numbers of rows with the same question and different answers.
    """

    scorer: str | None
    origin: str | None
    chosen: Chosen
    rows: Sequence[Row]
    reads_replies: bool
    pairs: Sequence[tuple[int, int]] = ()


def scorer_verdicts(job: ScorerJob) -> Iterator[Verdict]:
    """The verdicts on a scorer.

    Raises:
        SynthbenchError: the process that scores fails.
    """
    if job.chosen.answer is None:
        yield Verdict("scorer", NOT_ASKED, "no answers; --answer COL names their column.")
        return
    if job.scorer is None and job.origin is None:
        yield Verdict("scorer", NOT_ASKED, "no scorer; --scorer FILE.py:FUNCTION names it.")
        return
    try:
        with Elsewhere(score_rows, job) as elsewhere:
            scored: dict[str, list[Scored]] | None = elsewhere.result(_SECONDS)
    except ElsewhereError as error:
        raise SynthbenchError(f"{job.scorer or job.origin}: {error}.") from None
    if scored is None:
        yield Verdict("scorer", NOT_ASKED, "no scorer; --scorer FILE.py:FUNCTION names it.")
        return
    if not scored.get(BARE):
        yield Verdict("scorer", NOT_ASKED, "no row has an answer.")
        return
    yield from _judged(scored, job.reads_replies)


def excused(contradictions: Verdict, job: ScorerJob) -> Verdict:
    """The verdict on contradictions, given that a question may have several right answers.

    They do if the scorer pays the answer of each row of a pair for the other row, and does not pay
    a near miss.

    Raises:
        SynthbenchError: the process that scores fails.
    """
    with Elsewhere(score_pairs, job) as elsewhere:
        paid: list[bool] = elsewhere.result(_SECONDS)
    if not paid or not all(paid):
        return contradictions
    seen = f"{contradictions.seen[:-1]}, and the scorer pays each of them."
    return dataclasses.replace(contradictions, result=STATED, seen=seen)


def score_pairs(job: ScorerJob) -> list[bool]:
    """For both rows of each pair, whether the scorer takes the answer of the other for right."""
    score, rows = _scorer_and_rows(job, max(map(max, job.pairs)) + 1)
    assert score is not None
    paid = []
    for pair in job.pairs:
        for number, other in (pair, pair[::-1]):
            row, answer = rows[number], job.chosen.answer_of(rows[number])
            question = job.chosen.question_of(row)
            if job.chosen.question_of(rows[other]) != question:
                return []  # drawn anew, the rows are others
            texts = (answer, job.chosen.answer_of(rows[other]), near_miss(answer))
            own, its, wrong = (_scored(score, question, text, row).reward or 0.0 for text in texts)
            paid.append(its >= own > wrong)
    return paid


def score_rows(job: ScorerJob) -> dict[str, list[Scored]] | None:
    """Have a scorer judge right and wrong answers to some rows.

    Returns:
        What it gave for each form of the right answer and for each wrong answer; None if the
        generator lacks a scorer of its own.

    Raises:
        UsageError: an unknown function.
    """
    score, rows = _scorer_and_rows(job, MOST_SCORED)
    if score is None:
        return None
    columns = job.chosen
    rows = [row for row in rows if columns.answer_of(row).strip()]
    rows = rows[:: max(1, len(rows) // _ROWS)][:_ROWS]
    answers = _written(score, rows, columns)
    scored: dict[str, list[Scored]] = {}
    for number, (row, answer) in enumerate(zip(rows, answers, strict=True)):
        question = columns.question_of(row)
        following = answers[number + 1 :] + answers[:number]
        texts = {
            form.name: form.write(answer)
            for form in FORMS
            if job.reads_replies or not form.in_reply
        }
        for name, text in {**texts, **wrong_answers(question, answer, following)}.items():
            if text is not None:
                scored.setdefault(name, []).append(_scored(score, question, text, row))
    return scored


def _written(score: Score, rows: Sequence[Row], columns: Chosen) -> list[str]:
    """The right answers as JSON, or as Python writes them if the scorer pays that (True, true)."""
    json_texts = [columns.answer_of(row) for row in rows]
    texts = [str(columns.answer_value(row)) for row in rows]
    if texts == json_texts:
        return texts

    def paid(answers: Sequence[str]) -> float:
        results = (_scored(score, "", text, row) for text, row in zip(answers, rows, strict=True))
        return sum(result.reward or 0.0 for result in results)

    return max((json_texts, texts), key=paid)


def _scorer_and_rows(job: ScorerJob, most: int) -> tuple[Score | None, Sequence[Row]]:
    generator = None if job.origin is None else load_generator(job.origin)
    score = None if generator is None else generator.score
    if job.scorer is not None:
        score = adapted(load_function(job.scorer), job.chosen)
    rows = job.rows[:most]
    if generator is not None and score is not None:
        rows = [*islice(iter(generator.rows(0, "train", most)), most)]
    return score, rows


def _scored(score: Score, question: str, text: str, row: Row) -> Scored:
    try:
        returned = score(text, row)
    except (Exception, SystemExit) as error:  # whatever the scorer raises
        return Scored(question, text, None, one_line(f"raised {type(error).__name__}: {error}"))
    reward = _number(returned)
    return Scored(question, text, reward, "" if reward is not None else f"gave {short(returned)}")


def _number(reward: Any) -> float | None:
    """A reward as a number, also of a dict with `score` and of a list with a single reward."""
    if isinstance(reward, Mapping):
        reward = reward.get("score", reward.get("reward"))
    if isinstance(reward, list | tuple) and reward:
        reward = reward[0]
    try:
        number = float(reward)
    except (TypeError, ValueError):
        return None
    return number if number == number else None  # not NaN


def adapted(function: Callable[..., Any], columns: Chosen) -> Score:
    """A scorer that takes a reply and the row, whatever arguments the function has."""
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:  # built in
        return lambda text, row: function(text, row)
    names = [*parameters]

    def right(row: Row) -> Any:
        return columns.answer_value(row)

    if "solution_str" in names:  # of verl
        return lambda text, row: function(
            data_source=row.get("data_source", ""),
            solution_str=text,
            ground_truth=right(row),
            **({"extra_info": row.get("extra_info")} if "extra_info" in names else {}),
        )
    if "completions" in names:  # of TRL
        return lambda text, row: function(
            completions=[_as_completion(text, row)], **_columns_of(parameters, row, right(row))
        )
    if names and names[0] in _ROW:
        return lambda text, row: function(row, text)
    if len(names) > 1 and names[1] in _RIGHT:
        return lambda text, row: function(text, right(row))
    return lambda text, row: function(text, row)


def _as_completion(text: str, row: Row) -> Any:
    """A completion as TRL gives it: messages where the prompt is messages."""
    chat = isinstance(row.get("prompt"), list)
    return [{"role": "assistant", "content": text}] if chat else text


def _columns_of(
    parameters: Mapping[str, inspect.Parameter], row: Row, right: Any
) -> dict[str, list[Any]]:
    """The columns that a reward of TRL takes, each as a list of one value."""
    takes_all = any(
        parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()
    )
    columns = {**row} if takes_all else {name: row[name] for name in parameters if name in row}
    lacking = [name for name in parameters if name in _RIGHT and name not in columns]
    values = {**columns, **dict.fromkeys(lacking, right)}
    values.pop("completions", None)
    return {name: [value] for name, value in values.items()}


def _judged(scored: Mapping[str, Sequence[Scored]], reads_replies: bool) -> Iterator[Verdict]:
    bare = scored[BARE]
    full = max((answer.reward for answer in bare if answer.reward is not None), default=0.0)
    full = full if full > 0 else 1.0
    nothing = {answer.question: answer.reward or 0.0 for answer in scored.get("empty", ())}
    unpaid = [answer for answer in bare if not _is_paid(answer, full)]
    lost = [
        answer for answer in unpaid if (answer.reward or 0.0) <= nothing.get(answer.question, 0.0)
    ]
    text = f"{len(bare) - len(unpaid):,} of {len(bare):,} bare right answers are paid {full:g}"
    if unpaid and not lost:
        text += f", {len(unpaid):,} in part"
    result = WRONG if lost else FOUND if unpaid else HOLDS
    yield Verdict("scorer: right", result, f"{text}.", "", _shown(lost or unpaid))
    marked = [form.name for form in FORMS if form.in_reply and form.name in scored]
    if reads_replies and marked and not any(_paid(scored[name], full) for name in marked):
        yield Verdict(
            "scorer: replies",
            FOUND,
            "no reply with words or marks around the right answer is paid: it may read an answer "
            "that was extracted (--scorer-reads answer).",
            "",
            _shown([scored[name][0] for name in marked]),
        )
    for form in FORMS[1:]:
        if form.name in scored:
            results, paid = scored[form.name], _paid(scored[form.name], full)
            missing = [answer for answer in results if not _is_paid(answer, full)]
            result = HOLDS if not missing else FOUND if form.name == BLANKS else STATED
            seen = f"{paid:,} of {len(results):,} right answers in this form are paid."
            yield Verdict(f"scorer: {form.name}", result, seen, "", _shown(missing))
    for name in WRONG_ANSWERS:
        if name in scored:
            yield _judged_wrong(name, scored[name], full)


def _judged_wrong(name: str, results: Sequence[Scored], full: float) -> Verdict:
    paid = [answer for answer in results if _is_paid(answer, full)]
    failed = [answer for answer in results if answer.error]
    part = [answer for answer in results if answer not in paid and (answer.reward or 0.0) > 0]
    text = f"{len(paid):,} of {len(results):,} are paid in full"
    if part:
        most = max(answer.reward or 0.0 for answer in part)
        text += f", {len(part):,} in part (up to {most:g})"
    if failed:
        text += f", {len(failed):,} make it fail"
    # Where a question has many right answers, a wrong answer may be among them.
    result = FOUND if len(paid) > _BY_CHANCE * len(results) or failed else STATED
    result = result if paid or part or failed else HOLDS
    return Verdict(f"scorer: {name}", result, f"{text}.", "", _shown([*paid, *failed, *part]))


def _is_paid(scored: Scored, full: float) -> bool:
    return scored.reward is not None and scored.reward >= full - 1e-9


def _paid(results: Sequence[Scored], full: float) -> int:
    return sum(_is_paid(answer, full) for answer in results)


def _shown(results: Sequence[Scored]) -> tuple[str, ...]:
    return tuple(str(answer) for answer in results[:2])
