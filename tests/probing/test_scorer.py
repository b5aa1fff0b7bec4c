"""Scorers with a fault each, and scorers without."""

import re

import pytest

import synthbench
from synthbench.probing.columns import Chosen
from synthbench.probing.replies import FORMS, near_miss, wrong_answers
from synthbench.probing.report import FOUND, HOLDS, STATED, WRONG
from synthbench.probing.scorer import ScorerJob, _judged, adapted, score_pairs, score_rows

ROWS = [{"question": f"What is {n} times 37?", "answer": str(37 * n)} for n in range(50, 100)]
CHOSEN = Chosen(("question",), "answer")

HEAD = """
import re

def value(text):
    text = text.replace(',', '').replace(chr(0x2212), '-')
    found = re.findall(r'[+-]?[0-9]+', text)
    return int(found[-1]) if len(found) == 1 else None

def exact(reply, row):
    return float(reply.strip() == row['answer'])

def last(reply, row):
    return float(value(reply) == int(row['answer']))
"""
#: The verdict that finds the fault, what it says, and the body of `score(reply, row)`.
FAULTY = {
    "nothing": ("right", WRONG, "return 0.0"),
    "some": ("right", WRONG, "return exact(reply, row) * (int(row['answer']) % 5 > 0)"),
    "raises": ("right", WRONG, "return 1.0 if reply == row['solution'] else 0.0"),
    "only tags": ("right", WRONG, "return float(f\"<answer>{row['answer']}<\" in reply)"),
    "half": ("right", FOUND, "return exact(reply, row) * (1 - (int(row['answer']) % 5 == 0) / 2)"),
    "blanks": ("blanks", FOUND, "return float(reply == row['answer'])"),
    "everything": ("another row's", FOUND, "return 1.0"),
    "any number": ("another row's", FOUND, "return float(value(reply) is not None)"),
    "same length": ("near miss", FOUND, "return float(len(reply.strip()) == len(row['answer']))"),
    "tolerant": (
        "near miss",
        FOUND,
        "return float(value(reply) is not None and abs(value(reply) - int(row['answer'])) < 2)",
    ),
    "empty": ("empty", FOUND, "return 1.0 if not reply else last(reply, row)"),
    "prefix": ("empty", FOUND, "return float(row['answer'].startswith(reply.strip()))"),
    "echo": ("question", FOUND, "return max(exact(reply, row), reply == row['question'])"),
    "inside": ("all at once", FOUND, "return float(row['answer'] in reply)"),
    "fails": (
        "empty",
        FOUND,
        "return float(int(reply.split()[-1].strip('.')) == int(row['answer']))",
    ),
    "no replies": ("replies", FOUND, "return exact(reply, row)"),
}


def judged(tmp_path, body, reads_replies=True, head=HEAD):
    path = tmp_path / "scorer.py"
    path.write_text(f"{head}\ndef score(reply, row):\n    {body}\n", encoding="utf-8")
    job = ScorerJob(f"{path}:score", None, CHOSEN, ROWS, reads_replies)
    verdicts = [*_judged(score_rows(job), reads_replies)]
    return {one.question.removeprefix("scorer: "): one for one in verdicts}


@pytest.mark.parametrize("name", FAULTY)
def test_a_fault_is_found(tmp_path, name):
    question, result, body = FAULTY[name]
    found = judged(tmp_path, body)[question]
    assert found.result == result
    assert re.search(r"[0-9]+ of [0-9]+|no reply", found.seen)
    assert 1 <= len(found.examples) <= 2


def test_sound_scorers_are_not_blamed(tmp_path):
    for reads_replies, body in [
        (True, "return last(reply, row)"),
        (False, "return exact(reply, row)"),
        (False, "return {'score': exact(reply, row)}"),
        (False, "return exact(reply, row) * 10"),
        (False, "return [exact(reply, row)]"),
        (False, "return exact(reply, row) or 0.5 * (row['answer'] in reply)"),
    ]:
        results = {one.result for one in judged(tmp_path, body, reads_replies).values()}
        assert results <= {HOLDS, STATED}, body


def test_partial_credit_is_stated(tmp_path):
    body = "return exact(reply, row) or len(row['answer']) / len(reply) * (row['answer'] in reply)"
    found = judged(tmp_path, body, reads_replies=False)
    assert found["all at once"].result == STATED
    assert "in part (up to 0." in found["all at once"].seen


def test_a_form_that_is_not_paid_is_stated(tmp_path):
    found = judged(tmp_path, "return exact(reply, row)", reads_replies=False)
    assert found["digit groups"].result == STATED
    assert found["digit groups"].seen.startswith("0 of ")
    assert "box" not in found


def test_arguments_are_those_of_the_field():
    row = {"prompt": "1 + 1", "answer": "2", "data_source": "sums"}
    chosen = Chosen(("prompt",), "answer")

    def of_row(reply, row):
        return reply == row["answer"]

    def of_answer(completion, ground_truth):
        return completion == ground_truth

    def row_first(entry, reply):
        return reply == entry["answer"]

    def compute_score(data_source, solution_str, ground_truth, extra_info=None):
        return solution_str == ground_truth and data_source == "sums"

    def trl(completions, answer, **columns):
        return [float(one == right) for one, right in zip(completions, answer, strict=True)]

    for function in (of_row, of_answer, row_first, compute_score, trl):
        score = adapted(function, chosen)
        assert score("2", row) in (True, [1.0])
        assert score("3", row) in (False, [0.0])


def test_forms_and_near_misses():
    written = {form.name: form.write("1234") for form in FORMS}
    assert written["digit groups"] == "1,234"
    assert written["sign"] == "+1234"
    assert written["box"] == r"So it is \boxed{1234}."
    assert written["capitals"] is None
    answers = ("99", "-1", "yes", "[1, 2]", "()", "0.25", "3.5 + 2.0i", "10:09")
    assert [near_miss(one) for one in answers] == [
        *("100", "1", "yet", "[1, 3]", "()x", "0.35", "3.5 + 3.0i", "10:10"),
    ]
    wrong = wrong_answers("1 + 1", "2", ["2.0", "3", "4"])
    assert wrong["another row's"] == "3"
    assert wrong["all at once"] == "3, 2, 4"
    assert wrong_answers("1 + 1", "2", ["3", "3.0"])["all at once"] == "3.0, 2, 3.0"


def test_right_booleans_are_written_as_the_scorer_reads_them(tmp_path):
    rows = [{"question": f"Is {n} even?", "answer": n % 2 == 0} for n in range(50)]
    for name, body in [("json", "json.dumps(row['answer'])"), ("python", "str(row['answer'])")]:
        path = tmp_path / f"reads_{name}.py"  # its folder stays in sys.path
        path.write_text(
            f"import json\ndef score(reply, row):\n    return reply.strip() == {body}\n"
        )
        verdicts = _judged(score_rows(ScorerJob(f"{path}:score", None, CHOSEN, rows, False)), False)
        assert next(verdicts).result == HOLDS


@pytest.mark.parametrize(
    ("body", "paid"),
    [
        ("return float(reply.isdigit() and int(reply) % 7 == 0)", True),
        ("return exact(reply, row)", False),
        ("return 1.0", False),
    ],
)
def test_a_question_may_have_several_right_answers(tmp_path, body, paid):
    path = tmp_path / "scorer.py"
    path.write_text(f"{HEAD}\ndef score(reply, row):\n    {body}\n", encoding="utf-8")
    rows = [{"question": "Name a multiple of 7.", "answer": str(n)} for n in (7, 70)]
    job = ScorerJob(f"{path}:score", None, CHOSEN, rows, False, pairs=[(0, 1)])
    assert score_pairs(job) == [paid, paid]


@pytest.mark.slow
def test_answers_that_the_scorer_pays_do_not_contradict_each_other(tmp_path):
    path = tmp_path / "multiples.py"
    path.write_text(
        "import random\n"
        "def rows(seed, split):\n"
        "    r = random.Random(f'{seed} {split}')\n"
        "    for _ in range(100):\n"
        "        n = r.randrange(10**9)\n"
        "        for k in (1, 2):\n"
        "            yield {'question': f'A multiple of {n}?', 'answer': n * k, 'n': n}\n"
        "def score(reply, row):\n"
        "    return float(reply.strip().isdigit() and int(reply) % row['n'] == 0 < int(reply))\n"
    )
    asked = {"only": "contradictions", "progress": False}
    (alone,) = synthbench.probe(f"{path}:rows", **asked).verdicts
    (scored,) = synthbench.probe(f"{path}:rows", scorer=f"{path}:score", **asked).verdicts
    assert (alone.result, scored.result) == (WRONG, STATED)
    assert scored.seen.endswith("the scorer pays each of them.")


@pytest.mark.slow
def test_a_scorer_runs_in_a_process_of_its_own(tmp_path):
    (tmp_path / "both.py").write_text(
        "def rows(seed, split):\n"
        "    import random\n"
        "    r = random.Random(f'{seed} {split}')\n"
        "    for _ in range(60):\n"
        "        a = r.randrange(10**6)\n"
        "        yield {'question': f'Twice {a}?', 'answer': str(2 * a)}\n"
        "def none(reply, row): return 0.0\n"
        "def ends(reply, row): import os; os._exit(3)\n"
    )
    source = f"{tmp_path / 'both.py'}:rows"
    found = synthbench.probe(source, scorer=f"{tmp_path / 'both.py'}:none", only="scorer")
    assert [one.question for one in found.wrong] == ["scorer: right"]
    with pytest.raises(synthbench.SynthbenchError, match="ended with status 3"):
        synthbench.probe(ROWS, scorer=f"{tmp_path / 'both.py'}:ends", only="scorer")
    with pytest.raises(synthbench.UsageError, match="Unknown function"):
        synthbench.probe(ROWS, scorer=f"{tmp_path / 'both.py'}:other", only="scorer")
