"""An audit finds what is planted in a dataset, and nothing in one that is clean."""

import importlib.util
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from synthbench.auditing.sections import leaked, variant_sections
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import UsageError
from tests.auditing.planting import (
    accuracy,
    audited,
    look,
    make,
    marked,
    only,
    planted_task,
    rewrite,
    score,
)
from tests.making import make as make_real
from tests.tasks.tiny_sources import write_sources

GENERAL = {
    "majority label",
    "first token",
    "last token",
    "rarest token",
    "number of tokens",
    "bag of tokens and pairs",
    "1- to 3-grams",
    "nearest row",
}
#: The shortcuts that weigh every token and its neighbours.
BAGS = {"bag of tokens and pairs", "1- to 3-grams"}


# Shortcuts.


@pytest.mark.slow
def test_3_grams_are_the_best_shortcut_of_parity_at_its_hard_level(tmp_path):
    make_real(tmp_path / "parity", task="parity", parameters={"n_values": 20})
    found = only(look(tmp_path / "parity"))
    scores = {one.name: accuracy(found, one.name) for one in found.shortcuts}
    assert max(scores, key=scores.__getitem__) == "1- to 3-grams"
    assert scores["1- to 3-grams"] == pytest.approx(0.666, abs=0.01)
    assert not marked(found)


def test_of_a_clean_dataset_no_shortcut_is_better_than_chance_and_none_is_marked():
    found = audited()
    assert {one.name for one in found.shortcuts} == GENERAL | {"half of it", "sum of long rows"}
    for shortcut in GENERAL:
        assert accuracy(found, shortcut) == pytest.approx(0.25, abs=0.08)
    assert accuracy(found, "half of it") == pytest.approx(0.5, abs=0.08)
    assert marked(found) == marked(found, "train") == {"sum of long rows"}


@pytest.mark.parametrize(
    ("plant", "finders"),
    [
        # A bag has it too: a token that is in fewer pairs as the second one stands first.
        ("first", {"first token", *BAGS}),
        ("last", {"last token", *BAGS}),
        ("marker", {"rarest token", "nearest row", *BAGS}),
    ],
)
def test_a_planted_shortcut_is_found_and_marked_and_others_are_not(plant, finders):
    found = audited(plant=plant)
    for split in ("train", "test"):
        assert marked(found, split) == finders | {"sum of long rows"}
        for shortcut in finders:
            assert accuracy(found, shortcut, split) > 0.85
            text = f"{split}: {shortcut} comes near solving it"
            assert any(one.startswith(text) for one in found.findings)


def test_a_shortcut_that_solves_one_level_is_marked_there_alone():
    found = audited(plant="first", planted_lengths=(8,))
    (first,) = (one for one in found.shortcuts if one.name == "first token")
    assert not first.splits["test"].near
    assert {level: one.near for level, one in first.levels["test"].items()} == {
        "8": True,
        "9": False,
    }
    assert any(one.startswith("test, length 8: first token comes near") for one in found.findings)


def test_levels_that_are_only_cases_of_a_rule_are_not_marked():
    found = audited(plant="first", planted_lengths=(8,), hard=False)
    (first,) = (one for one in found.shortcuts if one.name == "first token")
    assert first.levels["test"]["8"].figures["accuracy"].mean > 0.95
    assert not first.levels["test"]["8"].near


def test_a_shortcut_is_scored_only_on_rows_that_it_applies_to():
    found = audited()
    assert score(found, "sum of long rows").figures["accuracy"].rows == 200
    (long,) = (one for one in found.shortcuts if one.name == "sum of long rows")
    assert list(long.levels["test"]) == ["9"]


def test_train_is_scored_on_rows_that_nothing_was_fitted_on():
    found = audited()
    assert found.fitted == 2_400
    assert {name: (one.rows, one.scored) for name, one in found.splits.items()} == {
        "train": (3_000, 600),
        "test": (400, 400),
    }
    assert accuracy(found, "nearest row", "train") < 0.4  # 1.0 on rows it was fitted on


def test_a_nearest_row_gives_a_near_copy_away(tmp_path):
    out = make(tmp_path / "planted")
    with planted_task():
        train = list(DatasetDirectory.open(out).rows("default", "train"))[:400]

    def copied(table):
        # The letters backwards: another row with the same tokens, and so with the same label.
        texts = [" ".join(reversed(row["text"].split())) for row in train]
        for name, values in (
            ("text", texts),
            ("label", [row["label"] for row in train]),
            ("length", [row["length"] for row in train]),
        ):
            place = table.column_names.index(name)
            table = table.set_column(place, name, pa.array(values, table.schema.field(name).type))
        return table

    rewrite(out, "test", copied)
    found = only(look(out))
    kin = found.leaks["test"].near_duplicates["the same letters in another order"]
    assert kin.share > 0.99
    assert any("have a near duplicate in train" in text for text in found.findings)
    assert found.leaks["test"].wrong_ids == 400


# Leaks.


def test_a_clean_dataset_leaks_nothing():
    for leaks in audited().leaks.values():
        assert leaks.repeated == leaks.wrong_ids == leaks.repeated_ids == leaks.images == 0
        assert not any(leaks.shared.values()) and not any(leaks.shared_images.values())
    assert not any(
        "repeat" in text or "also" in text or " id " in text for text in audited().findings
    )


def test_a_row_that_stands_twice_is_found_in_its_split_and_in_another(tmp_path):
    out = make(tmp_path / "planted")
    with planted_task():
        stolen = next(iter(DatasetDirectory.open(out).batches("default", "train"))).slice(5, 3)

    def plant(table):
        again = pa.Table.from_batches([stolen]).cast(table.schema)
        return pa.concat_tables([table.slice(0, 396), table.slice(0, 1), again])

    rewrite(out, "test", plant)
    found = only(look(out))
    test, train_leaks = found.leaks["test"], found.leaks["train"]
    assert (test.rows, test.repeated, test.shared) == (400, 1, {"train": 3})
    assert (train_leaks.repeated, train_leaks.shared) == (0, {"test": 3})
    assert (train_leaks.repeated_ids, test.repeated_ids) == (0, 4)
    assert test.wrong_ids == 0
    assert "test: rows that also occur in train: 3" in found.findings
    assert "test: rows that repeat an earlier row of the split: 1" in found.findings
    assert [str(one) for one in leaked(found)] == ["test: leak: 3 of 400 rows also occur in train"]
    said = [str(one) for one in variant_sections(found)[0].items]
    assert said[0] == "test: leak: 3 of 400 rows also occur in train"


def test_ids_that_are_not_their_rows_are_counted_whatever_their_form(tmp_path):
    out = make(tmp_path / "planted")

    def plant(table):
        ids = table["id"].to_pylist()
        ids[3], ids[4], ids[5] = "7", "7", "no number"
        return table.set_column(0, "id", pa.array(ids))

    rewrite(out, "test", plant)
    found = only(look(out))
    leaks = found.leaks["test"]
    assert (leaks.wrong_ids, leaks.repeated_ids, leaks.repeated) == (3, 1, 0)
    said = [str(one) for one in leaked(found)]
    assert said == ["test: leak: 1 of 400 rows have the id of an earlier row"]

    # Beside an id that is none, the others are still read as ids.
    (train,) = (out / "data" / "default").glob("train-*")
    first = pq.read_table(train)["id"][0].as_py()
    rewrite(out, "test", lambda table: _with_id(table, 6, first))
    assert only(look(out)).leaks["test"].repeated_ids == 2


def _with_id(table, row, text):
    ids = table["id"].to_pylist()
    ids[row] = text
    return table.set_column(0, "id", pa.array(ids))


@pytest.fixture
def composites(tmp_path, monkeypatch):
    """A small dataset of images, to be audited without PyTorch, which would take its time."""
    find_spec = importlib.util.find_spec

    def find(name, package=None):
        return None if name == "torch" else find_spec(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find)
    monkeypatch.setenv("SYNTHBENCH_DATA", str(write_sources(tmp_path / "sources")))
    rows = {"train": 60, "validation": 20, "test": 20}
    make_real(tmp_path / "composites", "composites", rows=rows)
    return tmp_path / "composites"


def test_shared_source_images_are_found_and_a_clean_dataset_has_none(composites):
    found = only(look(composites))
    assert all(one.images for one in found.leaks.values())
    assert not any(any(one.shared_images.values()) for one in found.leaks.values())
    stolen = next(iter(DatasetDirectory.open(composites).batches("main", "train"))).slice(0, 1)

    def plant(table):
        row = pa.Table.from_batches([stolen]).cast(table.schema)
        return pa.concat_tables([table.slice(0, 19), row])

    rewrite(composites, "test", plant, "main")
    found = only(look(composites))
    assert 1 <= found.leaks["test"].shared_images["train"] <= 4
    assert found.leaks["test"].shared == {"train": 1, "validation": 0}
    assert any("source images that are also used in train" in text for text in found.findings)


# Balance and claims.


def test_labels_and_levels_are_counted_in_all_rows_and_distributions_in_those_scored():
    found = audited(plant="first")
    counted = {distribution.name: distribution for distribution in found.balance}
    assert list(counted) == ["label", "length", "number of tokens", "tokens", "first letter"]
    assert counted["length"].counts == {"train": [1_500, 1_500], "test": [200, 200]}
    assert sum(counted["label"].counts["train"]) == 3_000
    assert counted["number of tokens"].values == ["8", "9"]
    assert sum(counted["tokens"].counts["test"]) == 200 * (8 + 9)
    assert counted["first letter"].values == list("abcdefgh")
    assert sum(counted["first letter"].counts["train"]) == 600


def test_rows_that_need_less_than_they_claim_are_counted_by_claim():
    found = audited()
    (claim,) = found.claims
    without_a = {"8": (7 / 8) ** 8, "9": (7 / 8) ** 9}
    for value, share in without_a.items():
        assert claim.claims["test"][value].mean == pytest.approx(1 - share, abs=0.1)
    assert any("need less than their length says" in text for text in found.findings)


def test_what_first_ties_would_have_let_through(tmp_path):
    """NDR's published generator keeps the first of equal arguments; strict keeps the shallowest."""
    rows, claims = {"train": 200, "iid": 1_000, "validation": 20, "test": 20}, {}
    for ties in ("strict", "first"):
        make_real(tmp_path / ties, "listops", rows=rows, parameters={"ties": ties})
        found = only(look(tmp_path / ties))
        (claims[ties],) = found.claims
        assert any("need less" in text for text in found.findings) == (ties == "first")
    assert {one.mean for one in claims["strict"].claims["iid"].values()} == {0.0}
    shares = {value: one.mean for value, one in claims["first"].claims["iid"].items()}
    assert shares["1"] == 0.0
    # Measured on 100,000 rows: 0.09, 0.15, 0.21 and 0.29.
    for value, about in {"2": 0.09, "3": 0.16, "4": 0.22, "5": 0.28}.items():
        assert shares[value] == pytest.approx(about, abs=0.08)
    assert claims["first"].splits["iid"].mean > 0.05


# The whole.


def test_an_audit_is_always_the_same_and_leaves_the_global_random_state_alone(tmp_path):
    out = make(tmp_path / "planted")
    state = np.random.get_state()[1].tolist()  # type: ignore[union-attr]
    assert look(out).to_dict() == look(out).to_dict()
    assert np.random.get_state()[1].tolist() == state  # type: ignore[union-attr]


def test_an_audit_as_json_values_says_what_near_means_and_has_every_figure(tmp_path):
    found = look(make(tmp_path / "planted", parameters={"plant": "last"}))
    values = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert values == found.to_dict()
    assert (values["task"], values["seed"], values["near"]) == ("planted", 0, 0.75)
    assert values["parameters"]["plant"] == "last"
    variant = values["variants"]["default"]
    last = next(one for one in variant["shortcuts"] if one["name"] == "last token")
    figure = last["splits"]["test"]["figures"]["accuracy"]
    assert figure == {"rows": 400, "mean": 1.0, "low": pytest.approx(0.99, abs=0.01), "high": 1.0}
    assert last["splits"]["test"]["near"] is True
    assert variant["splits"]["test"]["reference"]["chance"] == {"accuracy": 0.25}


def test_an_audit_prints_every_shortcut_leak_claim_and_finding(tmp_path):
    found = look(make(tmp_path / "planted", parameters={"plant": "first"}))
    text = " ".join(str(found).split())
    for name in [*GENERAL, "half of it", "needs less than length", "most frequent", "chance"]:
        assert name in text
    assert "fitted on 2,400 rows of train" in text
    assert all(f"- {one}" in text for one in only(found).findings)
    (line,) = (line for line in str(found).splitlines() if line.startswith("first token"))
    assert line.count("*") == 2
    assert str(found).splitlines()[2:4] == [
        "Verdict",
        "- test: best shortcut 1.00, chance 0.25, solver 1.00 (best: first token)",
    ]
    assert found.findings == [f"default, {one}" for one in only(found).findings]


def test_without_train_only_what_needs_no_fitting_is_tried(tmp_path):
    make_real(tmp_path / "clusters", "clusters", variant="all", rows={"test": 30})
    found = look(tmp_path / "clusters")
    assert list(found.variants) == ["balanced", "unbalanced"]
    for variant in found.variants.values():
        assert [one.name for one in variant.shortcuts] == ["collapse"]
        assert variant.fitted == 0
        assert variant.leaks["test"].near_duplicates == {}
        assert variant.splits["test"].reference.solution["separated"] == 1.0
        assert not variant.findings
    assert "scored on rows: 30 of 30 in test." in str(found)


def test_one_variant_can_be_chosen(tmp_path):
    rows = {"train": 600, "iid": 50, "validation": 50, "test": 50}
    make_real(tmp_path / "ctl", "ctl", variant="all", rows=rows)
    assert list(look(tmp_path / "ctl", variants=["backward"]).variants) == ["backward"]
    with pytest.raises(UsageError, match=r"Unknown variant in .* 'backwards'. .*'backward'\?"):
        look(tmp_path / "ctl", variants=["backwards"])


def test_without_torch_the_network_is_left_out_and_the_audit_says_so(composites):
    found = look(composites)
    assert "PyTorch is not installed" in only(found).left_out["small network on the pixels"]
    assert "small network on the pixels" not in {one.name for one in only(found).shortcuts}
    printed = " ".join(str(found).split())
    assert "Left out: small network on the pixels; PyTorch is not installed" in printed
