"""Tensors of PyTorch as predictions, labels and files are read as the values that they hold."""

from __future__ import annotations

import datasets
import numpy as np
import pytest
import torch

import synthbench
from synthbench import llm
from synthbench.errors import DatasetError, SynthbenchError, UsageError
from synthbench.evaluation.evaluate import evaluate
from synthbench.evaluation.predictions import read_predictions
from synthbench.evaluation.report import Report
from synthbench.evaluation.single_rows import score
from synthbench.tasks.base import read_class
from synthbench.tasks.features import list_of, value
from tests.evaluation.asked import asked, scores, table
from tests.evaluation.making import SIZES
from tests.evaluation.test_files_in_order import Code
from tests.odd import refused


def test_predictions_may_be_tensors(case):
    ids, answers = case.shuffled()
    dataset = datasets.Dataset(table(ids, answers))
    assert case.evaluate(dataset.with_format("torch", columns=["prediction"])) == case.expected
    assert case.evaluate([torch.tensor(answer) for answer in case.answers]) == case.expected
    if case.uniform:
        whole = torch.tensor(case.answers)
        assert case.evaluate(whole) == case.expected
        assert case.evaluate(whole.float().requires_grad_()) == case.expected
    if case.classes is not None:
        short = [torch.tensor(answer, dtype=torch.bfloat16) for answer in case.answers]
        assert case.evaluate(short) == case.expected
        assert score(case.task, case.rows[1], short[1]) == 1.0


def test_scores_may_be_tensors(case):
    for form in (
        torch.tensor,
        lambda values: torch.tensor(values, dtype=torch.bfloat16, requires_grad=True),
    ):
        if case.classes is None:
            with pytest.raises(UsageError):  # as other numbers of another shape
                case.evaluate(form(np.random.default_rng(0).normal(size=(12, 77))))
            continue
        report = case.evaluate(form(scores(case)))
        assert (report.accuracy, report.parsed_as) == (11 / 12, {"argmax of scores": 12})
        ids, order = case.ids[::-1], form(np.ascontiguousarray(scores(case)[::-1]))
        assert case.evaluate({"id": ids, "prediction": order}) == report


def test_scores_in_a_list_are_refused_with_the_form_that_is_read():
    case = asked("listops", "default")
    with pytest.raises(UsageError) as caught:
        case.evaluate(list(torch.tensor(scores(case))))
    text = str(caught.value)
    assert text.startswith("No prediction is an answer: got tensor([")
    assert f" of type Tensor for id '{case.ids[0]}'. Expected a class (0, 1, 2" in text
    assert text.endswith(" Scores are given as one floating array (rows, classes).")


def test_a_tensor_without_values_is_refused_with_its_own_words():
    with pytest.raises(UsageError, match=r"Predictions of type Tensor: .*meta"):
        read_predictions(torch.zeros(3, device="meta"))


def test_rows_in_the_format_of_pytorch_are_evaluated(made, tmp_path):
    loaded = datasets.load_dataset(str(made.path), cache_dir=str(tmp_path), split="test")
    rows, zeros = loaded.with_format("torch"), torch.zeros(SIZES["test"])
    right = sum(row["label"] == 0 for row in made.rows["test"]) / SIZES["test"]
    assert evaluate(rows, zeros, task="listops").accuracy == right


# Files.


def test_a_pt_file_holds_an_array_a_list_or_predictions_by_id(tmp_path):
    path, task, answers = tmp_path / "p.pt", synthbench.task("listops"), [3, 0, 9]
    for array in (answers, np.array(answers, "float32")[:, None]):
        torch.save(torch.tensor(array), path)
        found = read_predictions(path, task=task)
        assert [read_class(one, task.labels) for one in found.in_order] == answers
        assert found.read_as == "value"
    one_hot = np.eye(10)[answers]
    for array, read_as in ((one_hot + 0.25, "argmax of scores"), (one_hot.astype(int), "one-hot")):
        torch.save(torch.tensor(array), path)
        found = read_predictions(path, task=task)
        assert (found.in_order, found.read_as) == (answers, read_as)
    torch.save([3, "x"], path)
    assert read_predictions(path).in_order == [3, "x"]
    torch.save({"a": 3, "b": torch.tensor([1, 2])}, path)
    by_id = read_predictions(path).by_id
    assert by_id["a"] == 3 and by_id["b"].tolist() == [1, 2]


def test_a_pt_file_that_could_run_code_is_refused(tmp_path, capsys):
    path = tmp_path / "p.pt"
    torch.save([Code()], path)
    for _ in range(2):
        with pytest.raises(DatasetError, match="cannot be read"):
            read_predictions(path)
        path.write_bytes(b"no archive")
    assert capsys.readouterr().out == ""


# Single rows.


def test_a_label_or_a_class_may_be_a_tensor():
    reward, row = llm.trl_reward("listops"), {"label": torch.tensor(3)}
    assert (score("listops", row, 3), score("listops", row, 4)) == (1.0, 0.0)
    assert llm.score("listops", row, "Answer: 3") == 1.0
    assert reward(["Answer: 3", "Answer: 4"], label=torch.tensor([3, 3])) == [1.0, 0.0]
    assert evaluate([row], [3], task="listops").accuracy == 1.0
    digits = tuple("0123456789")
    for three in (torch.tensor(3), torch.tensor(3.0), torch.tensor(3, dtype=torch.bfloat16)):
        read = read_class(three, digits)
        assert (read, type(read)) == (3, int)
    for other in (torch.tensor(True), torch.tensor([3])):
        assert read_class(other, digits) is None
    with pytest.raises(UsageError, match="of type Tensor: expected a class"):
        score("listops", {"label": 3}, torch.zeros(10))


def test_numbers_in_lists_may_be_tensors():
    grid, label = [[1, 0], [0, 1]], [[2, 0], [0, 2]]
    row = {"grid": torch.tensor(grid), "label": torch.tensor(label)}
    assert score("grid-count", row, label) == 1.0
    column, lists = list_of(list_of(value("int8"))), [[], [5], [5, 5]]
    tensors = [torch.zeros(0), torch.tensor([5]), torch.tensor([5, 5])]
    assert column.measure(lists, column.read(tensors, lists)) == {"accuracy": 1.0}
    assert column.from_row(tensors) in (lists, tensors)


@pytest.mark.parametrize("odd", [torch.tensor(7), torch.tensor([7, 8]), torch.zeros(2, 2)], ids=str)
def test_a_tensor_in_any_place_is_read_or_refused(odd):
    rows = [{"id": "a", "text": "3 4 7 2 =", "label": 7}, {"id": "b", "label": 7}]
    for argument in ("data", "predictions", "task", "split", "read"):
        arguments = {"data": rows, "predictions": [7, 8], "task": "parity", argument: odd}
        assert isinstance(refused(evaluate, **arguments), SynthbenchError | Report)
    for argument in ("data", "completions", "task", "split"):
        arguments = {"data": rows, "completions": ["7", "8"], "task": "parity", argument: odd}
        assert isinstance(refused(llm.evaluate, **arguments), SynthbenchError | Report)
    for argument in ("task", "row", "answer"):
        arguments = {"task": "parity", "row": rows[0], "answer": 7, argument: odd}
        assert isinstance(refused(score, **arguments), SynthbenchError | float)
    for name in ("id", "text", "label"):
        spoiled = [{**rows[0], name: odd}]
        assert isinstance(refused(evaluate, spoiled, [7], "parity"), SynthbenchError | Report)
