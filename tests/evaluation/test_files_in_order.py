"""Files of predictions without ids, in the order of rows."""

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthbench
from synthbench.errors import DatasetError
from synthbench.evaluation.predictions import read_predictions
from synthbench.tasks.numeric import read_class
from tests.evaluation.test_prediction_files import refusal, write, written


def saved(path, array):
    """Save an array as the ending of the path says. A text file as `numpy.savetxt` writes it."""
    if path.suffix == ".npy":
        np.save(path, array)
    elif path.suffix == ".npz":
        np.savez(path, array)
    else:
        np.savetxt(path, array, delimiter="," if path.suffix == ".csv" else " ")
    return path


@given(st.lists(st.integers(0, 9), min_size=2, max_size=9), st.data())
@settings(max_examples=60, deadline=None)
def test_an_array_in_a_file_is_read_as_the_array(tmp_path_factory, answers, data):
    task = synthbench.task("listops")
    one_hot = np.eye(10, dtype=data.draw(st.sampled_from(["int8", "int64", "bool", "uint8"])))
    form, read_as = data.draw(
        st.sampled_from(
            [
                (np.array(answers), "value"),
                (np.array(answers, "float32")[:, None], "value"),
                (np.eye(10)[answers] + 0.25, "argmax of scores"),
                (one_hot[answers], "one-hot"),
            ]
        )
    )
    kind = data.draw(st.sampled_from([".npy", ".npz", ".txt", ".csv"]))
    found = read_predictions(saved(tmp_path_factory.mktemp("arrays") / f"p{kind}", form), task=task)
    if read_as == "value":
        assert [read_class(one, task.labels) for one in found.in_order] == answers
    else:
        assert found.in_order == answers
    if kind not in (".txt", ".csv"):  # where every number is a float
        assert found.read_as == read_as


def test_tables_without_ids_are_read_in_order(tmp_path):
    for name in ("prediction", "pred", "model_output", "response", "completion"):
        lines = write(tmp_path / "p.jsonl", *({name: one, "label": 9} for one in (3, None, "x")))
        assert read_predictions(lines).in_order == [3, None, "x"]
        cells = written(tmp_path / "p.csv", f",{name},split\n0,3,iid\n1,,test\n2,x,test\n")
        assert read_predictions(cells, "test").in_order == ["", "x"]
        assert read_predictions({name: np.array([1, 2]), "label": [0, 0]}).in_order == [1, 2]
        assert read_predictions([{name: 1}, {name: 2}]).in_order == [1, 2]
    assert read_predictions(write(tmp_path / "p.jsonl", 3, '"a"', None)).in_order == [3, "a", None]
    assert read_predictions(written(tmp_path / "p.csv", "3\n7\n")).in_order == ["3", "7"]
    assert read_predictions(written(tmp_path / "p.txt", "3\r\n\n7 a\n")).in_order == [
        "3",
        "",
        "7 a",
    ]


class Code:
    """An object whose reading would run code."""

    def __reduce__(self):
        return print, ("run",)


@pytest.mark.parametrize("kind", [".npy", ".npz"])
def test_a_file_that_could_run_code_is_refused(tmp_path, kind, capsys):
    path = tmp_path / f"p{kind}"
    objects = np.array([Code()], dtype=object)
    (np.save if kind == ".npy" else np.savez)(path, objects)
    assert refusal(path, DatasetError).startswith(f"{path} cannot be read")
    for damaged in (b"no archive", b"PK\x03\x04 no archive"):
        path.write_bytes(damaged)
        assert refusal(path, DatasetError).startswith(f"{path} cannot be read")
        gc.collect()  # an open file would be reported here
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("p.csv", "1,2\n3\n", ": no names of columns; expected 2 numbers in each line"),
        ("p.csv", "1,2\n3,x\n", ": no names of columns; expected 2 numbers in each line"),
        ("p.csv", "label\n3\n", ": no 'prediction'; 'label' is a name of right answers."),
        ("p.txt", "\n\n", " is empty: it holds no predictions."),
        ("p.txt", "", " is empty: it holds no predictions."),
        ("p.jsonl", '3\n{"prediction": 4}\n', ", line 2: an object, but the lines before are"),
    ],
)
def test_files_without_ids_that_cannot_be_read_are_refused(tmp_path, name, text, expected):
    assert refusal(written(tmp_path / name, text), DatasetError).startswith(
        f"{tmp_path / name}{expected}"
    )
