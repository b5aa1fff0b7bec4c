"""Labels that are sequences of tokens: a target for each position, in a task that sorts digits."""

import json

import numpy as np
import pytest

import synthbench
from synthbench.cli.main import _run, commands
from synthbench.errors import UsageError
from synthbench.evaluation.final_answer import find_answer
from synthbench.sharing.export import export
from synthbench.tasks import registry
from synthbench.tasks.base import Split, TextTask
from synthbench.tasks.features import sequence, value
from synthbench.verification.conformance.check import check_task

DIGITS = tuple("0123456789")


class Sorting(TextTask):
    """The digits of a text in ascending order, each once."""

    name, title = "sorting", "Sorting"
    summary, source = "Which digits occur, in ascending order?", "No paper: a toy"
    tokens = DIGITS
    columns = {"text": value("string"), "label": sequence(DIGITS), "length": value("int8")}
    bucket_name = "length"
    splits = Split("train", 300, (3, 4), evaluation=False), Split("test", 60, (5, 6))

    def solve(self, question):
        digits = question.split(" ")
        if not set(digits) <= set(DIGITS):
            raise ValueError(f"{question!r} is not digits")
        return " ".join(sorted(set(digits)))

    def propose(self, draws, n, split, bucket):
        return {"tokens": 1 + draws.integers(10, (n, bucket))}

    def render(self, block):
        found = (block["tokens"][:, :, None] == np.arange(1, 11)).any(axis=1)
        return {"label": found * np.arange(1, 11)}  # ids of the label's tokens, zeros anywhere


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setitem(registry._registered, "sorting", Sorting)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("sorting") / "sorting"
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(registry._registered, "sorting", Sorting)
        synthbench.generate("sorting", out=place, workers=1)
    return place


def test_the_task_keeps_all_promises_of_a_task():
    assert [one for one in check_task("sorting") if one.problems] == []


ROW = {"id": "a", "text": "3 1 2", "label": "1 2 3"}


@pytest.mark.parametrize(
    ("prediction", "exact", "positions"),
    [
        ("1 2 3", 1.0, 1.0),
        ("  1  2 3\n", 1.0, 1.0),
        ([1, 2, 3], 1.0, 1.0),
        (["1", "2", "3"], 1.0, 1.0),
        (np.array([1, 2, 3]), 1.0, 1.0),
        ("1 2 4", 0.0, 2 / 3),
        ("1 2", 0.0, 2 / 3),
        ("1 2 3 4", 0.0, 3 / 4),
        ("2 3 1", 0.0, 0.0),
        ("1 2 x", 0.0, 0.0),
        ("", 0.0, 0.0),
        (None, 0.0, 0.0),
    ],
)
def test_an_answer_is_scored_as_a_whole_and_by_position(prediction, exact, positions):
    task = Sorting()
    measured = task.measure(ROW, task.read_answer(ROW, prediction))
    assert measured == {"exact_match": exact, "position_accuracy": pytest.approx(positions)}
    assert task.score(ROW, prediction) == exact


def test_what_cannot_be_an_answer_is_refused_with_what_can():
    with pytest.raises(UsageError, match=r"expected a list of tokens \(0, 1, .*\), or a text"):
        synthbench.score(Sorting(), ROW, True)


class Squares(Sorting):
    """A task whose labels are numbers as digits without separator."""

    columns = {**Sorting.columns, "label": sequence(DIGITS, "")}


def test_whole_numbers_are_read_as_their_digits(tmp_path):
    rows = [{"id": "a", "label": "57263454"}, {"id": "b", "label": "9"}, {"id": "c", "label": "10"}]
    numbers = [57263454, 9, 10]
    forms = (numbers, list(map(str, numbers)), np.array(numbers), [57263454.0, 9.0, 10.0])
    for given in forms:
        assert synthbench.evaluate(rows, given, task=Squares()).accuracy == 1.0
    table = [{"id": row["id"], "prediction": one} for row, one in zip(rows, numbers, strict=True)]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(one) + "\n" for one in table), "utf-8")
    (tmp_path / "p.csv").write_text("id,prediction\na,57263454\nb,9\nc,10\n", "utf-8")
    for name in ("p.jsonl", "p.csv"):
        assert synthbench.evaluate(rows, tmp_path / name, task=Squares()).accuracy == 1.0
    for unreadable in (7.5, -7, 10**5000, float("nan"), float("inf")):
        assert synthbench.score(Squares(), rows[1], unreadable) == 0.0


def test_a_sequence_is_found_in_a_text_that_runs_away():
    for piece in ("wait, ", "answer: ", "**5** ", "5, ", "\n5", "~~", "no, 5. "):
        find_answer(Squares(), piece * 20_000)


@pytest.mark.parametrize(
    ("tokens", "separator", "label", "texts"),
    [
        (DIGITS, "", "57263454", [
            "57263454", "57,263,454", "**57,263,454**", "The answer is 57,263,454.",
            "The answer is **57,263,454**.", "Answer: 57,263,454", r"\boxed{57{,}263{,}454}",
            "5 7 2 6 3 4 5 4", "[5, 7, 2, 6, 3, 4, 5, 4]", "7 × 8180493 + 3 = 57,263,454",
            "Answer: ５７２６３４５４",
            "The answer is **57,263,454**.\n\nLet me know if you want 3 more.",
            "Answer: 57,263,454 (by long multiplication)", '{"answer": 57263454}',
        ]),
        (DIGITS, " ", "5 7 2", ["5 7 2", "572", "5, 7, 2", "[5, 7, 2]", "Answer: 5, 7, 2."]),
        (("13204", "23140", "01234"), " ", "13204 23140", [
            "13204 23140", "[13204, 23140]", "13204, 23140", "Answer: [13204, 23140]",
            '["13204", "23140"]', "(13204; 23140)", r"\boxed{13204, 23140}",
            "The answer is 13204, 23140.", "I compose them.\n\n**13204, 23140**",
        ]),
        (("(", ")", "[", "]"), "", "([])", ["([])", "Answer: ([])", "The answer is `([])`."]),
        (tuple("ab"), " ", "a b b", ["a b b", "abb", "a, b, b", "Answer: a b b"]),
    ],
)  # fmt: skip
def test_a_sequence_is_read_however_its_tokens_are_separated(tokens, separator, label, texts):
    class Made(Sorting):
        columns = {**Sorting.columns, "label": sequence(tokens, separator)}

    for text in texts:
        found = find_answer(Made(), text)
        assert Made().answer.read(found, None) == label, text
    for text in ("I cannot say.", "", "9 x", "57,26x", "I used 3 steps.", "Error 6"):
        assert Made().answer.read(find_answer(Made(), text), None) is None, text


def test_evaluate_gives_both_metrics_and_an_interval_of_the_exact_one(made):
    rows = list(synthbench.DatasetDirectory.open(made).rows("default", "test"))
    right = synthbench.evaluate(made, {row["id"]: row["label"] for row in rows}, split="test")
    assert right.metrics == {
        "exact_match": 1.0,
        "position_accuracy": 1.0,
        "scaled_accuracy": 1.0,
    }
    lists = {row["id"]: [*row["label"].split()[:-1], "0"] for row in rows}
    report = synthbench.evaluate(made, lists, split="test")
    assert report.accuracy == report.metrics["exact_match"] == 0.0
    assert 0.6 < report.metrics["position_accuracy"] < 0.9
    assert set(report.by) == {"length", "place"}
    said = {row["id"]: f"I sort them.\n**Answer: {row['label']}**" for row in rows}
    assert synthbench.evaluate(made, said, split="test", read="text").accuracy == 1.0


def test_positions_that_nobody_asks_do_not_count():
    recall = sequence("0123456789", ignored="_")
    for answer, exact, share in (
        ("_ 7 _ 4", 1.0, 1.0),
        ("1 7 9 4", 1.0, 1.0),
        ("_ 7 _ 5", 0.0, 1 / 2),
        ("_ _ _ 4", 0.0, 1 / 2),
        ("_ 7", 0.0, 1 / 2),
        ("_ 7 _ 4 4", 0.0, 2 / 3),
        (None, 0.0, 0.0),
    ):
        expected = {"exact_match": exact, "position_accuracy": pytest.approx(share)}
        assert recall.measure("_ 7 _ 4", recall.read(answer, None)) == expected, answer
    assert recall.ids(np.array([[11, 8, 11, 5]])).tolist() == [[11, 8, 11, 5]]
    assert recall.cast(np.array([[11, 8, 11, 5]])).to_pylist() == ["_ 7 _ 4"]
    assert recall.ids(["_ 7 _ 4"]).tolist() == [[11, 8, 11, 5]]
    with pytest.raises(ValueError, match="'3' is also a token that can be asked"):
        sequence("0123", ignored="3")


def test_exports_hold_the_sequence_as_text(made, tmp_path):
    first = next(synthbench.DatasetDirectory.open(made).rows("default", "test"))
    for form in ("jsonl", "tsv", "chat", "lm-eval"):
        export(made, to=form, out=tmp_path / form)
    line = json.loads((tmp_path / "jsonl" / "default" / "test.jsonl").read_text().splitlines()[0])
    assert line["label"] == line["answer"] == first["label"]
    shown = (tmp_path / "tsv" / "default" / "basic_test.tsv").read_text().splitlines()
    assert shown[:2] == ["Source\tTarget", f"{first['text']}\t{first['label']}"]


def test_people_see_the_sequence(capsys):
    assert _run(commands, ["preview", "sorting", "-n", "1"]) == 0
    assert "label" in capsys.readouterr().out
    assert _run(commands, ["info", "sorting"]) == 0
    assert "Sequence(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "message"),
    [([["1", "x"]], "'x' is not a token"), (np.array([[11]]), "11 is not the id")],
)
def test_a_label_of_other_tokens_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        sequence(DIGITS).cast(given)


def test_the_solver_may_answer_with_a_list_of_tokens(monkeypatch):
    monkeypatch.setattr(Sorting, "solve", lambda task, text: sorted(set(text.split())))
    assert Sorting().recompute_columns({"text": "3 1 3"}) == {"label": "1 3", "length": 3}
    found = check_task("sorting")
    solved = next(one for one in found if one.statement.startswith("solve gives"))
    assert solved.problems == []
