"""What differs from the paper is told."""

from synthbench.training.paper_size import (
    at_paper_size,
    data_differences,
    other_departures,
)


def comparison(task="arithmetic", profile="cpu", parameters=(), rows=(), variants=(None,), **data):
    data = {"parameters": dict(parameters), "rows": dict(rows), "stream": False, **data}
    lines = [{"variant": variant} for variant in variants]
    return {"task": task, "study": "main", "profile": profile, "data": data, "models": lines}


def test_parameters_rows_and_fresh_rows_are_named_with_the_papers():
    made = comparison(
        parameters={"modulus": 5, "test_depths": [4]}, rows={"train": 9, "test": 50}, stream=True
    )
    assert data_differences(made) == [
        "`test_depths` 4 (paper: 7,8)",
        "`modulus` 5 (paper: 10)",
        "fresh rows in every step (paper: its train split)",
        "50 rows of test (profile `paper`: 1,000)",
    ]
    made["data"]["stream"] = False
    assert "9 rows of train (profile `paper`: 100,000)" in data_differences(made)


def test_names_and_lengths_are_shown_as_on_the_command_line():
    made = comparison("listops", parameters={"operators": ["MAX", "MIN", "SM"]})
    assert data_differences(made)[0] == "`operators` MAX,MIN,SM (paper: MIN,MAX,MED,SM)"


def test_the_papers_own_parameters_and_stream_are_no_difference():
    made = comparison("grid-count", "paper", {"colored_limit": 999}, stream=True)
    assert data_differences(made) == []
    assert at_paper_size(made)
    assert not at_paper_size({**made, "profile": "cpu"})
    assert not at_paper_size(comparison("grid-count", "paper", {"colored_limit": 0}, stream=True))
    assert at_paper_size(comparison("parity")), "its recipes of the profile cpu are the paper's"


def test_what_is_neither_data_nor_size_is_told_and_does_not_change_the_size():
    made = comparison("parity", "paper")
    assert "Nanda" in other_departures(made)[0]
    assert at_paper_size(made)
    assert any("first column" in one for one in other_departures(comparison("ctl")))
    assert other_departures({**comparison(), "study": "mine"}) == ()


def test_a_study_of_no_paper_has_no_differences():
    made = {**comparison(parameters={"modulus": 5}, stream=True), "study": "mine"}
    assert data_differences(made) == []
    assert not at_paper_size({**made, "task": "my-task"})


def test_a_study_of_ours_is_compared_with_the_papers_main_one_and_lengths_are_shown_as_a_range():
    made = comparison("state-tracking", parameters={"train_lengths": list(range(1, 17))})
    found = data_differences({**made, "study": "short"})
    assert found == [
        "`train_lengths` 1..16 (paper: 2,20)",
        "114,814 rows of train (profile `paper`: 803,600)",
    ]


def test_parameters_and_rows_that_the_paper_does_not_have_are_called_ours():
    found = data_differences(comparison("mqar", parameters={"pairs": 8, "test_pairs": [8, 16]}))
    assert found == [
        "`pairs` 8 (paper: 4)",
        "`test_pairs` 8,16 (profile `paper`: 4,8,16)",
        "2,500 rows of test (profile `paper`: 4,000)",
    ]
    tested = other_departures(comparison("mqar"))[-1]
    assert tested == "tested on more pairs and places, too (paper: at the trained size)"


def test_rows_are_those_that_exist_in_every_variant_also_where_no_number_was_asked_for():
    made = comparison(
        "state-tracking", parameters={"train_lengths": list(range(1, 17))}, variants=("Z2", "A5")
    )
    assert (
        data_differences(made)[1] == "114,814 to 200,000 rows of train (profile `paper`: 803,600)"
    )
    shallow = comparison(parameters={"train_depths": [1, 2]}, stream=False)
    assert data_differences(shallow)[1] == "77,154 rows of train (profile `paper`: 100,000)"
