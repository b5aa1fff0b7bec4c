"""Predictions in a form that has no certain meaning are refused, of a dataset and of one row."""

from __future__ import annotations

from decimal import Decimal

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from synthbench.errors import UsageError
from synthbench.evaluation.single_rows import score
from tests.evaluation.asked import asked, frame, records, scores, table

pl = pytest.importorskip("polars", reason="Polars is not installed: the extra dev has it")

pytestmark = pytest.mark.dev


# Of many rows.


def wrong_forms(case):
    ids, answers = case.shuffled()
    values = scores(case)
    return {
        "scores of another number of classes": values[:, :-1],
        "scores turned round": values.T,
        "scores in whole numbers": values.astype(int),
        "one-hot with two in a row": np.eye(case.classes, dtype=int)[answers]
        | [1] + [0] * (case.classes - 1),
        "records by another id": [{"row_id": one, "prediction": 3} for one in ids],
        "frame without ids, shuffled": pd.DataFrame(
            {"prediction": answers, "more": answers}
        ).sample(frac=1, random_state=0),
        "right answers": {"id": ids, "label": answers},
        "a column of right answers": pd.DataFrame({"answer": answers}),
        "three axes": values[:, :, None],
        "lists of scores": values.tolist(),
        "scores by id": dict(zip(ids, values, strict=True)),
        "frame of scores": pd.DataFrame(values),
        "numbered frame": pd.DataFrame({"prediction": answers}, index=range(1, 13)),
        "shuffled frame": pd.DataFrame({"prediction": answers}).sample(frac=1, random_state=0),
        "lazy frame": pl.LazyFrame({"id": ids, "prediction": answers}),
        "streamed": datasets.Dataset(table(ids, answers)).to_iterable_dataset(),
        "dict of splits": datasets.DatasetDict({"rows": datasets.Dataset(table(ids, answers))}),
        "frames by split": {"rows": frame(ids, answers)},
        "numbered series": pd.Series(answers, index=range(1, 13)),
        "shuffled series": pd.Series(answers).sample(frac=1, random_state=0),
        "series of two levels": pd.Series(answers, index=pd.MultiIndex.from_arrays([ids, ids])),
        "pairs": list(zip(ids, answers, strict=True)),
        "records by id": dict(zip(ids, records(ids, answers), strict=True)),
        "uneven columns": {"id": ids, "prediction": answers[1:]},
        "truth values": np.array(answers) == 3,
        "values of a dict": dict(zip(ids, answers, strict=True)).values(),
        "objects": [object()] * 12,
    }


@pytest.mark.parametrize("name", wrong_forms(asked("composites", "main")))
def test_what_has_no_certain_meaning_is_refused(name):
    for task in [("listops", "default"), ("ctl", "forward"), ("composites", "main")]:
        case = asked(*task)
        given = wrong_forms(case)[name]
        with pytest.raises(UsageError) as caught:
            case.evaluate(given)
        text = str(caught.value)
        assert len(text) > 40 and text.endswith("."), text
        assert ": " in text, "what was got, and what is allowed"


def test_several_numbers_of_a_form_without_meaning_are_refused(case):
    if case.classes is not None:
        return
    pairs = list(zip(case.ids, case.answers, strict=True))
    arrays = [] if not case.uniform else [np.array(case.answers)[:, :-1], np.zeros((12, 3))]
    for given in ([3] * 12, pairs, [{"a": 1}] * 12, [True] * 12, np.zeros(12), *arrays):
        with pytest.raises(UsageError):
            case.evaluate(given)


# Of one row.


@pytest.mark.parametrize(
    "given",
    [[3], np.array([3]), np.zeros(10), {"a": 3}, True, np.True_, object(),
     pd.Series([3]), pa.scalar([3]), pa.array([3]), {3}, 3 + 0j],
    ids=lambda given: type(given).__name__,
)  # fmt: skip
def test_score_refuses_what_no_class_can_be(given):
    with pytest.raises(UsageError) as caught:
        score("listops", {"label": 3}, given)
    assert f"of type {type(given).__name__}: expected a class (0, 1, 2" in str(caught.value)


@pytest.mark.parametrize("given", [None, float("nan"), "none", b"x", 3.5, 17, -1, Decimal("sNaN")])
def test_score_takes_what_a_model_may_answer_and_counts_it_as_wrong(given):
    assert score("listops", {"label": 3}, given) == 0.0


@pytest.mark.parametrize("given", [3, True, "a", {"a": 1}, [True, False]], ids=str)
def test_score_of_several_numbers(given):
    row = {"x": [1.0, 2.0], "label": [1.0, 2.0]}
    assert score("identity", row, "[1, 2]") == 0.0
    assert score("identity", row, [1, 2, 3]) == np.inf
    if isinstance(given, str):
        assert score("identity", row, given) == np.inf
    else:
        with pytest.raises(UsageError, match="expected numbers in lists"):
            score("identity", row, given)
