"""Worked solutions: they hold for every task of text, and no altered step is believed."""

import random
import re

import pytest

import synthbench
from synthbench.errors import TaskError, UsageError
from synthbench.evaluation.final_answer import find_answer
from synthbench.tasks import worked as generic
from synthbench.tasks.registry import list_tasks, task_class
from synthbench.tasks.worked import Sentence, solution, worked_functions, worked_steps
from synthbench.verification.conformance import draws as proposals
from synthbench.verification.conformance import rows as conformance
from synthbench.verification.conformance.draws import propose_rows
from synthbench.verification.conformance.rows import check_worked, plain_rows

TEXTS = [name for name in list_tasks() if "text" in synthbench.task(name).columns]
VARIANTS = [(name, variant) for name in TEXTS for variant in task_class(name).variants]
#: Parameters under which a task's rows or rules look otherwise than by default.
OTHERS = [
    synthbench.task("listops", max_args=9, max_length=120),
    synthbench.task("listops", ties="first"),
    synthbench.task("arithmetic", modulus=5),
    synthbench.task("arithmetic", modulus=97),
    synthbench.task("ctl", "backward", symbols=40, functions=30),
    synthbench.task("modular-arithmetic", "divide", modulus=7),
    *(
        synthbench.task("chomsky", variant, reading="program", level="easy")
        for variant in ("modular-arithmetic-simple", "odds-first", "compute-sqrt")
    ),
    *(
        synthbench.task("addition", variant, order="reversed", zero_padding=True, level="easy")
        for variant in ("addition", "multiplication")
    ),
]


@pytest.fixture
def few_candidates(monkeypatch):
    """Fewer candidates of a bucket than `check-task` proposes, as five rows are looked at."""
    monkeypatch.setattr(proposals, "_CANDIDATES", 16)


def rows_of(task, split, count):
    """Rows of the first, a middle and the last bucket of a split."""
    buckets = task.split(split).buckets
    for bucket in dict.fromkeys((buckets[0], buckets[len(buckets) // 2], buckets[-1])):
        block, _ = propose_rows(task, task.split(split), bucket, count)
        yield from plain_rows(task, block)


def holds(task, row):
    """The solution scores, and its last line is the answer alone."""
    text = solution(task, row)
    *steps, last = text.splitlines()
    assert steps == worked_steps(task, row)
    for read in (text, last):
        assert task.score(row, find_answer(task, read)) == 1.0
    return steps


def test_every_task_of_text_has_worked_solutions():
    assert [name for name in TEXTS if worked_functions(task_class(name)) is None] == []


@pytest.mark.usefixtures("few_candidates")
@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_steps_lead_to_the_label_at_every_level(name, variant):
    for level in ("easy", "medium"):
        task = synthbench.task(name, variant, level=level)
        for split in (task.splits[0], task.splits[-1]):
            for row in rows_of(task, split.name, 5):
                holds(task, row)


@pytest.mark.parametrize("task", OTHERS, ids=repr)
def test_steps_hold_for_other_parameters(task):
    for row in rows_of(task, "train", 20):
        holds(task, row)


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_a_step_that_is_altered_left_out_or_repeated_is_refused(name, variant):
    task = synthbench.task(name, variant, level="easy")
    _, replay = worked_functions(type(task))
    draws = random.Random(0)
    for row in rows_of(task, "train", 10):
        steps, question = worked_steps(task, row), row["text"]
        assert task.score(row, replay(task, question, steps)) == 1
        place = draws.randrange(len(steps))
        wrong = [altered(steps, place, start, draws) for start in spans(steps[place])]
        before, after = steps[:place], steps[place + 1 :]
        wrong += [before + after, [*before, steps[place], *steps[place:]]]
        wrong += [[*steps, "So it is."], [*before, "So it is.", *after]]
        for other in wrong:
            with pytest.raises(ValueError):
                replay(task, question, other)


def spans(step):
    """Where the numbers of a step stand."""
    return [found.span() for found in re.finditer(r"\d+", step)]


def altered(steps, place, span, draws):
    """The steps with another number in one place."""
    start, end = span
    step = steps[place]
    number = draws.choice([one for one in range(100) if one != int(step[start:end])])
    return [*steps[:place], f"{step[:start]}{number}{step[end:]}", *steps[place + 1 :]]


def test_the_worked_rows_of_the_documentation():
    for name, variant, text, steps in (
        (
            "listops",
            None,
            "[MED 4 8 5 [MAX 8 4 9 ] ]",
            [
                "[MAX 8 4 9 ]: the largest is 9.",
                "[MED 4 8 5 9 ]: in order 4 5 8 9, and in the middle are 5 and 8; half of their "
                "sum 13, rounded down, is 6.",
            ],
        ),
        (
            "modular-arithmetic",
            "divide",
            "2 / 3 =",
            [
                "To divide by 3 modulo 97, multiply by its inverse.",
                "97 = 32 * 3 + 1, so 1 is 0 - 32 * 1 = -32 times 3.",
                "1 is -32 times 3, so the inverse is 65.",
                "2 * 65 = 130.",
                "130 = 1 * 97 + 33, so the remainder is 33.",
            ],
        ),
        (
            "chomsky",
            "solve-equation",
            "( ( 2 - x ) + ( 1 + 2 ) ) = 4",
            [
                "(1+2) = 3, which is 3 modulo 5.",
                "E + 3 = 4, so E = 1, which is 1 modulo 5.",
                "2 - E = 1, so E = 1, which is 1 modulo 5.",
                "E is x, so x = 1.",
            ],
        ),
        (
            "addition",
            "addition",
            "9 0 7 + 9 5 =",
            [
                "Digit 1 from the right: 7 + 5 + 0 = 12, so write 2 and carry 1.",
                "Digit 2 from the right: 0 + 9 + 1 = 10, so write 0 and carry 1.",
                "Digit 3 from the right: 9 + 0 + 1 = 10, so write 0 and carry 1.",
                "The sum is 1002.",
            ],
        ),
        (
            "addition",
            "multiplication",
            "9 7 * 3 5 =",
            [
                "97 * 5 = 485, in all 485.",
                "97 * 30 = 2910, in all 3395.",
                "The product is 3395.",
            ],
        ),
    ):
        task = synthbench.task(name, variant)
        row = {"text": text, **task.recompute_columns({"text": text})}
        assert worked_steps(task, row) == steps


def test_rows_that_cannot_be_worked_out_are_refused():
    task = synthbench.task("parity")
    for row, said in (
        ({"text": "1 2 3 =", "label": 1}, "is not a question of parity"),
        ({"label": 1}, "is not a question of parity"),
        ({"text": "1 2 3 4 =", "label": 4}, "is 4, but its steps lead to '3'"),
    ):
        with pytest.raises(UsageError, match=said):
            worked_steps(task, row)
    with pytest.raises(UsageError, match="'clusters' has no worked solutions"):
        worked_steps(synthbench.task("clusters"), {})


def test_steps_that_do_not_hold_are_the_fault_of_the_task(monkeypatch):
    from synthbench.tasks.parity import worked

    monkeypatch.setattr(worked, "asks_for_c", lambda a, b: False)
    row = {"text": "1 2 3 4 =", "label": 3}
    with pytest.raises(TaskError, match="write_steps of parity: the step 'Not exactly"):
        worked_steps(synthbench.task("parity"), row)


def test_the_conformance_suite_finds_solutions_that_do_not_hold(monkeypatch):
    task = synthbench.task("parity")
    block, _ = propose_rows(task, task.split("train"), 0, 20)
    assert check_worked(task, block) == []
    write, replay = worked_functions(type(task))

    def found(write, replay):
        monkeypatch.setattr(conformance, "worked_functions", lambda cls: (write, replay))
        monkeypatch.setattr(generic, "worked_functions", lambda cls: (write, replay))
        return check_worked(task, block)

    (said,) = found(write, lambda task, question, steps: task.solve(question))
    assert "holds without the step" in said
    monkeypatch.setattr(generic, "answer_line", lambda answer: f"Answer: {answer} or 11")
    (said,) = found(write, replay)
    assert "does not read as its label" in said
    with pytest.raises(TaskError, match="write_steps of parity"):
        found(lambda task, question: [*write(task, question)][::-1], replay)


def test_a_sentence_reads_what_it_writes():
    takes = Sentence("{} takes {} to {}.")
    assert takes.read(takes("a b", 1, "c.")) == ("a b", "1", "c.")
    with pytest.raises(ValueError, match="is not of the form"):
        takes.read("a takes b.")


def test_a_last_remainder_of_a_root_has_binary_digits():
    task = synthbench.task("chomsky", "compute-sqrt", level="easy")
    _, replay = worked_functions(type(task))
    steps = worked_steps(task, {"text": "1", "label": "1"})
    (place,) = (place for place, step in enumerate(steps) if step.endswith(" - 1 = 0."))
    steps[place] = steps[place].replace("= 0.", "= 62.")
    with pytest.raises(ValueError, match="62"):
        replay(task, "1", steps)
