"""Countdown: drawn equations, the checker beside Python's own arithmetic, the published reward."""

import ast
import collections
import itertools
import re
import time
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthbench
from synthbench import llm
from synthbench.auditing.variant import audit_spec_of
from synthbench.decontamination.search import Search
from synthbench.errors import ParameterError
from synthbench.seeding import Draws
from synthbench.tasks.countdown import solver
from synthbench.tasks.countdown.task import Countdown
from synthbench.tasks.describe import draw_row
from synthbench.tasks.row_ids import fingerprints
from tests.tasks.agreement import assert_uniform
from tests.tasks.blocks import rows_of

ROW = {"text": "3 7 25 100 -> 46"}
VARIANTS = ("all", "some")


def drawn(variant="all", count=4, rows=500, **parameters):
    task = Countdown(variant, {"numbers": [count], **parameters})
    return task, rows_of(task, task.propose(Draws({"test": count}), rows, task.splits[0], count))


def value_of(equation):
    """Python's own value of a label, with exact division."""
    return eval(re.sub(r"(\d+)", r"Fraction(\1)", equation), {"Fraction": Fraction})


# Rows.


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_label_is_right_by_pythons_arithmetic_and_has_whole_steps(variant):
    for count in (3, 4, 5, 6):
        task, rows = drawn(variant, count)
        for row in rows:
            words, given = row["label"].split(" "), collections.Counter(row["numbers"])
            used = collections.Counter(int(word) for word in words if word.isdecimal())
            assert used == given if variant == "all" else used <= given
            assert value_of(row["label"]) == row["target"]
            assert row["text"] == f"{' '.join(map(str, row['numbers']))} -> {row['target']}"
            assert all(1 <= number <= 100 for number in row["numbers"])
            assert variant == "all" or row["target"] not in row["numbers"]
            steps = re.findall(r" = (\S+)", str(draw_row(task, row)))
            assert all(int(step) >= 1 for step in steps)


def test_brackets_are_only_where_they_are_needed():
    for count in (3, 6):
        for row in drawn(count=count)[1]:
            written = row["label"].replace("( ", "(").replace(" )", ")")
            assert ast.unparse(ast.parse(written, mode="eval")) == written


def test_targets_are_uniform_and_operations_as_they_are_asked_for():
    _, rows = drawn(rows=20_000)
    assert_uniform([row["target"] for row in rows], range(10, 100))
    for operations in ("+", "-", "+*", "-/", "*-"):
        for row in drawn(operations=operations)[1]:
            assert set(row["label"]) & set("+-*/") <= set(operations)
    for wrong, nearest in (("*", "[+][*]"), ("", "[+]"), ("++", "[+]"), ("+^", "[+]")):
        with pytest.raises(ParameterError, match=f"operations='.*such as '{nearest}'"):
            Countdown("all", {"operations": wrong})


def test_rows_are_drawn_fast():
    """A bound far from the million rows a second of one core, whatever else it does."""
    task = Countdown("all", {"numbers": [4]})
    begun = time.process_time()
    block = task.propose(Draws({"test": 1}), 50_000, task.splits[0], 4)
    assert len(block) / (time.process_time() - begun) > 20_000


def test_the_order_of_numbers_decides_neither_key_nor_side():
    task = Countdown()
    texts = [f"{' '.join(order)} -> 46" for order in itertools.permutations(("3", "7", "25", "7"))]
    keys = task.problem(task.parse({"text": pa.array(texts)}))
    assert len(set(keys.tolist())) == 1
    others = ["3 7 25 7 -> 47", "3 7 25 8 -> 46", "3 7 25 -> 46", "3 3 7 25 7 -> 46"]
    keys = task.problem(task.parse({"text": pa.array([*others, texts[0]])}))
    assert len(set(keys.tolist())) == 5
    ids = [fingerprints(one, one.parse({"text": pa.array(texts)})) for one in (
        task, Countdown("some"), Countdown("all", {"numbers": [6], "largest": 200}),
    )]  # fmt: skip
    assert all(np.array_equal(one, ids[0]) for one in ids)
    assert len(set(ids[0].tolist())) == len(set(texts))


def test_texts_that_are_no_rows_are_refused_alike():
    task = Countdown()
    for text in (
        "", "3 7 -> 46", "3 7 25 100 46", "3 7 25 100 -> 9", "3 7 25 -> 100", "3 7 25 -> 46 ",
        "0 3 7 -> 46", "3 7 25 201 -> 46", "1 2 3 4 5 6 7 -> 46", "3 7 -> 25 -> 46", "03 7 9 -> 46",
        "3 7 \u0665 -> 46", "3  7 25 -> 46",
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"countdown|expected|token"):
            task.parse({"text": pa.array([text])})
        with pytest.raises(ValueError, match="expected 3 to 6 numbers"):
            task.solve(text)
    with pytest.raises(ValueError, match="no equation of 1 1 1 has the value 46"):
        task.solve("1 1 1 -> 46")


# The solver, which shares no code with the generator.


def reachable(numbers):
    """All values of equations of all the numbers, by merging two of them at a time."""
    if len(numbers) == 1:
        return {numbers[0]}
    found = set()
    for i, j in itertools.permutations(range(len(numbers)), 2):
        rest = [one for place, one in enumerate(numbers) if place not in (i, j)]
        a, b = numbers[i], numbers[j]
        for value in {a + b, a - b, a * b, *([a / b] if b else [])}:
            found |= reachable([*rest, value])
    return found


@settings(max_examples=40)
@given(st.lists(st.integers(1, 12), min_size=3, max_size=4), st.integers(10, 99))
def test_the_solver_finds_an_equation_where_there_is_one(numbers, target):
    task = Countdown()
    text = f"{' '.join(map(str, numbers))} -> {target}"
    if target in reachable(list(map(Fraction, numbers))):
        assert task.check({"text": text}, task.solve(text))
    else:
        with pytest.raises(ValueError, match="no equation"):
            task.solve(text)


def test_the_solver_finds_what_only_fractions_negatives_and_zeros_reach():
    for text in ("8 3 8 3 -> 24", "1 3 4 6 -> 24", "5 5 5 1 -> 24", "7 7 9 40 40 -> 16"):
        assert synthbench.score("countdown", {"text": text}, Countdown().solve(text)) == 1.0


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_solver_solves_every_row(variant):
    for count, rows in ((3, 300), (4, 200), (5, 60), (6, 40)):
        task, found = drawn(variant, count, rows)
        for row in found:
            assert task.check(row, task.solve(row["text"])), row


# Answers.

RIGHT = [
    "100 + 3 * (7 - 25)", "100+3*(7-25)", "100 + 3 × (7 − 25)", "100 + 3·(7–25)", "(7-25)*3+100",
    "100 + 3 * (7 - 25) = 46", "46 = 100 + 3 * (7 - 25)", "100 - 3 * (25 - 7).",
    "[100 + {3} x (7-25)]",
    "-(25 - 7) * 3 + 100", "100 - -(7 - 25) * 3", "((((100)))) + 3 * ( 7 - 25 )\n= 46",
    "100 + 3 * (7 - 25) = 46.", "100 + 3 ∗ (7 － 25)", "100 + 3 ⨯ (7 - 25)", "100+3✖\ufe0f(7-25)",
    "100 + 3 * (7 - 25) -> 46", "100 + 3 * (7 - 25) → 46", "100 + 3 * (7 - 25) = 46.0",
    "100 + 3 * (7 - 25) = 100 + 3 * (-18) = 100 - 54\n= 46", "46 = 0 + 46 = 100 + 3 * (7 - 25)",
    "$100+3*(7-25)$", "`100 + 3 * (7 - 25) = (46)` ✓", "100 ➕ 3 × (7 ➖ 25) ≡ 46;",
    "100~+~3~*~(7~-~25) &= 46",
]  # fmt: skip
WRONG = [
    "25 + 3 * 7", "100 + 3 * (7 - 25) = 45", "100 + 3 * (7 - 25) = 45 = 46", "46", "46 = 46",
    "100 + 3 * (7 - 25) = 2 * 23", "46 = 2 * 23", "100 - 54 = 46", "2 * 23 = 100 - 54 = 46",
    "100 + 3 * (7 - 25) = 46 = 100 - 54", "100 + 3 * (7 - 25) = = 46", "46 = 46 = 46", "",
    "100 + 3 * (7 - 25", "100 + 3 * 7 - 25)", "100 + 3 * (7 - 25]", "100 + 3 (7 - 25)",
    "100 + 3 * - 18",
    "100 ++ 3 * (7 - 25)", "100 + 3 * (7 - 25) ^ 1", "100 + 3 ** (7 - 25)", "100 + 03 * (7 - 25)",
    "100 + ٣ * (7 - 25)", "100 + 3.0 * (7 - 25)", "100 + 3 * (7 - 25) or 3", "1 0 0 + 3 * (7 - 25)",
    "100 + 3 * (7 - 25) / (3 - 3)", "100 + 3 // (7 - 25)", "46 + 100 + 3 * (7 - 25) - 46",
    "3 7 25 100", "100 + 3 * (7 - 25) =", "= 46", "--(25 - 7) * 3 + 100", "() 100 + 3 * (7 - 25)",
    "100 + 3 * (7 - 25) = 46.5", "100 + 3 * (7 - 25) = 4.60", "100 + 3 * (7 - 25) > 45", "-> 46",
    "x", "45 = 100 + 3 * (7 - 25)", "100 + 3 * (7 - 25) == 46",
]  # fmt: skip


def test_right_answers_in_every_usual_notation_and_no_others():
    task = Countdown()
    for answer in RIGHT:
        assert task.check(ROW, answer), answer
        assert task.score(ROW, answer) == 1.0, answer
    for answer in WRONG:
        assert not task.check(ROW, answer), answer
        assert task.score(ROW, answer) == 0.0, answer
    some = Countdown("some")
    for answer in ("25 + 3 * 7", "25 + 7×3 = 46", *RIGHT):
        assert some.check(ROW, answer), answer
    for answer in ("25 + 7 + 7 + 7", "46", "23 * 2", *WRONG[1:]):
        assert not some.check(ROW, answer), answer
    assert some.check({"text": "46 7 25 -> 46"}, "46")
    without = Countdown("all", {"operations": "+-"})
    assert not without.check(ROW, RIGHT[0])
    assert without.check({"text": "3 7 50 -> 46"}, "-7 + 3 + 50")


def test_replies_are_read_and_judged():
    for reply in (
        "So 3 * 18 = 54.\nAnswer: 100 + 3 * (7 - 25)", r"\boxed{100 + 3 \times (7 - 25)}",
        "<think>25 + 21</think><answer>100 + 3 * (7 - 25) = 46</answer>\nThat is it.",
        "**Answer:** `100 - 3 * (25 - 7)`", r"Answer: $100 + 3 \cdot \left(7 - 25\right) = 46$",
    ):  # fmt: skip
        assert llm.score("countdown", {**ROW, "label": "25"}, reply) == 1.0, reply
    row = {"text": "6 4 7 9 -> 10", "label": ""}
    for reply in (
        r"\[ \frac{6 \times 4}{9 - 7} - 2 \]", r"Answer: \frac{6}{9 - 7} + \dfrac{4}{1}",
        r"\boxed{\dfrac{7 + \frac{9}{6 - 4}}{2}}", "Answer: " + r"\frac{" * 9_000 + "1}{2}" * 9_000,
    ):  # fmt: skip
        assert llm.score("countdown", row, reply) == 0.0, reply
    row = {"text": "6 4 7 9 -> 12", "label": ""}
    for reply in (
        r"\[ \frac{6 \times 4}{9 - 7} = 12 \]", r"Answer: \dfrac{6}{\tfrac{9 - 7}{4}} = 12",
        r"\boxed{\frac{6}{9 - 7} \cdot 4}", r"Answer: $4 \cdot \left(\frac{6}{9 - 7}\right)$",
    ):  # fmt: skip
        assert llm.score("countdown", row, reply) == 1.0, reply
    for reply in ("Answer: 46", "Answer: 100 + 3 * (25 - 7)", "100 + 3 * (7 - 25) is 46, I think"):
        assert llm.score("countdown", {**ROW, "label": "25"}, reply) == 0.0, reply


terms = st.recursive(
    st.integers(1, 30).map(str),
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(
        lambda parts: f"({' '.join(parts)})"
    ),
    max_leaves=6,
)


@settings(max_examples=200)
@given(terms, st.sampled_from(["", "[]", " ", "−", "×"]))
def test_the_grammar_agrees_with_pythons(expression, change):
    numbers = list(map(int, re.findall(r"\d+", expression)))
    try:
        value = value_of(expression)
    except ZeroDivisionError:
        value = None
    written = expression.translate(str.maketrans({
        "[]": {"(": "[", ")": "]"}, " ": {" ": None}, "−": {"-": "−"}, "×": {"*": "×"},
    }.get(change, {})))  # fmt: skip
    if len(numbers) < 3 or len(numbers) > 6:
        return
    for target in {*range(10, 14), value} if value is not None else {10}:
        if target.denominator == 1 and 10 <= target <= 99:
            row = {"text": f"{' '.join(map(str, sorted(numbers)))} -> {target}"}
            assert Countdown().check(row, written) == (value == target)


@settings(max_examples=200)
@given(st.text(st.sampled_from("1237+-*/()[]= \u0663×^.\n"), max_size=40))
def test_any_text_gets_a_verdict(answer):
    for variant in VARIANTS:
        assert Countdown(variant).score(ROW, answer) in (0.0, 1.0)


def test_long_deep_and_huge_answers_are_wrong_and_never_slow():
    task, begun = Countdown(), time.process_time()
    for answer in (
        "9 ** 9 ** 9 ** 9", "9^999999999", "(" * 50_000, "(" * 490 + "1" + ")" * 490, "-" * 99_999,
        "1 + " * 20_000, "9" * 99_999, " " * 99_999, "1" + " " * 99_998, "= " * 40_000,
        *("9 * " * length + "9" for length in (50, 200, 240)),
    ):  # fmt: skip
        assert not task.check(ROW, answer)
        assert task.score(ROW, answer) == 0.0
    assert time.process_time() - begun < 1


# The published reward, written anew from its rule.


def published_reward(reply, numbers, target):
    """TinyZero's: the last line's answer tag, each number exactly once, the value within 1e-5."""
    tags = re.findall("<answer>(.*?)</answer>", reply.split("\n")[-1])
    if not tags:
        return 0.0
    equation = tags[-1].strip()
    if sorted(map(int, re.findall(r"\d+", equation))) != sorted(numbers):
        return 0.1
    if not re.fullmatch(r"[\d+\-*/().\s]+", equation):
        return 0.1
    try:
        value = eval(equation, {"__builtins__": {}})
    except Exception:
        return 0.1
    return 1.0 if abs(value - target) < 1e-5 else 0.1


def test_our_reward_beside_the_published_rule():
    """Counts of 400 rows, for each way to write a right equation, and for a wrong equation."""
    task, rows = drawn(count=4, rows=420)
    rows, paid = rows[:400], collections.Counter()
    assert len(rows) == 400
    for row in rows:
        for name, reply in {
            "the label": f"<answer>{row['label']}</answer>",
            "= target behind it": f"<answer>{row['label']} = {row['target']}</answer>",
            "usual signs": f"<answer>{row['label'].replace('*', '×').replace('-', '−')}</answer>",
            "text behind it": f"<answer>{row['label']}</answer>\nI have used each number once.",
            "whole division": f"<answer>{row['label'].replace('/', '//')}</answer>",
            "one too few": f"<answer>{row['label']} - 1 + 1</answer>",
        }.items():
            ours = llm.score(task, row, reply)
            published = published_reward(reply, row["numbers"], row["target"]) == 1.0
            paid[name, ours == 1.0, published] += 1
    differ = {name: n for (name, ours, published), n in paid.items() if ours != published}
    assert differ == {
        "= target behind it": 400, "usual signs": 366, "text behind it": 400,  # refused there
        "whole division": 208,  # paid there, for every label that divides
    }  # fmt: skip
    agree = {name: n for (name, ours, published), n in paid.items() if ours == published}
    assert agree["the label"] == agree["one too few"] == 400


def test_right_equations_of_fewer_numbers_which_the_published_rule_refuses():
    """Its prompt allows each number at most once; its reward wants every number."""
    task, rows = drawn("all", 4, 320)
    fewer = 0
    for row in rows[:300]:
        try:
            answer = Countdown("some").solve(row["text"])
        except ValueError:
            continue
        if sorted(map(int, re.findall(r"\d+", answer))) != sorted(row["numbers"]):
            fewer += 1
            assert not task.check(row, answer)
            assert (
                published_reward(f"<answer>{answer}</answer>", row["numbers"], row["target"]) == 0.1
            )
    assert fewer == 120


# People, audits, corpora.


def test_prompts_say_which_numbers_must_be_used():
    assert "every number exactly once" in Countdown().instruction
    assert "may leave out some" in Countdown("some").instruction
    assert "+ and -." in Countdown("all", {"operations": "+-"}).instruction
    for row in llm.prompts(synthbench.task("countdown", level="easy"), limit=3):
        assert row["answer"] == row["label"]
        assert row["text"] in row["prompt"][0]["content"]


def test_a_row_is_drawn_with_its_calculations():
    row = {**ROW, "label": "100 - 3 * ( 25 - 7 )", "numbers": [3, 7, 25, 100], "target": 46}
    assert str(draw_row(Countdown(), row)).splitlines() == [
        "[3] [7] [25] [100] -> 46",
        "100 - 3 * ( 25 - 7 ) = 46",
        "    25 - 7 = 18",
        "    3 * 18 = 54",
        "    100 - 54 = 46",
    ]


@pytest.mark.parametrize("variant", VARIANTS)
def test_shortcuts_answer_where_they_can_and_are_right_there(variant):
    task, rows = drawn(variant, 4, 600)
    columns = {
        name: pa.array([row[name] for row in rows], column.arrow)
        for name, column in task.columns.items()
    }
    spec = audit_spec_of(task)
    for shortcut in spec.shortcuts:
        answers = shortcut.fit(columns)(columns)
        for row, answer in zip(rows, answers, strict=True):
            assert not answer or task.score(row, answer) == 1.0, (row, answer)
            is_sum = not set(row["label"]) & set("*/")
            assert answer or not (is_sum and shortcut.name == "+ and - alone"), row
        assert 0.1 < np.mean(list(map(bool, answers))) < 0.8
    pairs = spec.distributions["two of the numbers reach the target"](columns)
    for row, found in zip(rows, pairs, strict=True):
        some = {value for pair in itertools.permutations(row["numbers"], 2)
                for value in reachable(list(map(Fraction, pair)))}  # fmt: skip
        assert (found == "yes") == (row["target"] in some)


def test_reports_have_the_accuracy_by_count_of_numbers():
    rows = synthbench.load_dataset("countdown", "test", rows={"train": 10, "test": 40})
    report = synthbench.evaluate(rows, {row["id"]: row["label"] for row in rows}, "countdown")
    assert report.accuracy == 1.0
    assert sorted(report.by["numbers"]) == [3, 4]


def test_held_out_rows_are_found_in_texts():
    task = synthbench.task("countdown")
    batch = next(synthbench.stream(task, split="test", batch_size=40))
    rows = batch["text"].tolist()
    search = Search(["countdown"])
    found = search.find([f"Use the numbers.\n\n{row}\n\nAnswer: 1 + 2" for row in rows])
    assert [one.row for (one,) in found] == rows
    trained = next(synthbench.stream(task, split="train", batch_size=200))["text"].tolist()
    assert not any(search.find(trained))
    assert not any(search.find(["1 2 3 -> 99", "a -> 4 5 6 -> 12", "5 6 7 8 9 10 11 -> 12"]))
    assert solver.read(rows[0])
