"""Rows have the ids that their inputs give, come once, and are in their split and bucket."""

import numpy as np
import pytest

from synthbench.errors import TaskError
from synthbench.generation.generate import generate
from synthbench.tasks import registry
from synthbench.tasks.base import Split
from synthbench.verification.conformance.check import check_task
from synthbench.verification.verify import verify
from tests.hostile import made as made_before
from tests.support import stored_rows
from tests.toy_task import Numbers
from tests.verification.conformance.mutations import Toy
from tests.verification.forging import forge
from tests.verification.spoiling import TEST, edit_manifest, failures, record


@pytest.fixture
def know(monkeypatch):
    """Registers a task for one test."""
    return lambda task: monkeypatch.setitem(registry._registered, task.name, task)


def made(task, out, **rows):
    generate(task.name, out=out, rows=rows or None, preset="small", workers=1, progress=False)
    return out


class DigitSum(Toy):
    """Rows of up to three digits, all counted and listed."""

    name, title = "digit-sum", "Digit sum"
    splits = (Split("train", 40_000, (1, 2, 3), evaluation=False), Split("iid", 2_000, (1, 2, 3)))

    def capacity(self, split, bucket):
        return 10**bucket


def test_listed_ids_may_be_of_any_whole_number_type(know, tmp_path):
    """Otherwise a row that is listed would get another id than the same row when it is drawn."""
    know(DigitSum)
    out = made(DigitSum, tmp_path / "rows", train=900, iid=100)
    texts = {
        split: stored_rows(out, "default", split)["text"].to_pylist() for split in ("train", "iid")
    }
    assert len(set(texts["train"])) == 900
    assert not set(texts["train"]) & set(texts["iid"])
    assert verify(out, workers=1, progress=False).ok
    assert not any(finding.problems for finding in check_task("digit-sum"))


class Leaking(Numbers):
    """Its ids depend on the type in which a row is held: the same row may be held out and not."""

    name = "leaking"

    def content(self, block):
        numbers = block["number"] if "number" in block.columns else super().content(block)
        last = np.ones((len(block), 1), np.uint8)
        return np.append(numbers.view(np.uint8).reshape(len(block), -1), last, 1)

    def enumerate_rows(self, split, bucket):
        listed = super().enumerate_rows(split, bucket).columns
        return {**listed, "number": 7 * listed["number"].astype(np.int32)}


@pytest.mark.parametrize("fast", [True, False])
def test_an_id_that_is_not_that_of_its_row_is_named(know, tmp_path, fast):
    know(Leaking)
    out = made(Leaking, tmp_path / "rows", train=100, iid=10, test=10)
    found = verify(out, fast=fast, workers=1, progress=False).failures
    assert len(found) == 3
    assert all(
        ".parquet row 0: id is '" in one and "the row's inputs give '" in one for one in found
    )


def test_a_listed_row_must_be_one_that_is_proposed(know):
    know(Leaking)
    problems = [one for finding in check_task("leaking") for one in finding.problems]
    assert any("enumerate_rows gives arrays bucket int64 " in one for one in problems)


def test_a_row_that_is_held_out_in_train_or_stands_twice_is_told_without_making_it_again(tmp_path):
    def swap(splits):
        splits["train"][3], splits["test"][2] = splits["test"][2], splits["train"][3]

    def repeat(splits):
        splits["train"][4] = splits["train"][1]

    def look(name, change):
        (tmp_path / name).mkdir()
        there = made_before.copy_of("parity", tmp_path / name)
        forge(there, change)
        return failures(there)

    place = "data/default/{}-00000-of-00001.parquet row {}:"
    assert look("swapped", swap) == [
        f"{place.format('train', 3)} the row is held out, but the split has no rows that are held "
        "out",
        f"{place.format('test', 2)} the row is not held out, but the split has only rows that are "
        "held out",
    ]
    (found,) = look("repeated", repeat)
    same = f"the same row as {place.format('train', 1).removesuffix(':')}"
    assert found.startswith(f"{place.format('train', 4)} {same} (id ")


def test_a_row_of_another_bucket_is_refused_and_the_method_is_named(know, tmp_path):
    class Wider(DigitSum):
        name = "wider"

        def capacity(self, split, bucket):
            return None

        def propose(self, draws, n, split, bucket):
            return super().propose(draws, n, split, bucket + 1)

    know(Wider)
    words = r"propose or enumerate_rows of wider was asked for length 1 and gave the row '. .' of l"
    with pytest.raises(TaskError, match=words):
        made(Wider, tmp_path / "rows", train=50, iid=5)
    assert not (tmp_path / "rows").exists()


def test_other_numbers_of_rows_by_bucket_are_told_without_making_the_rows_again(there):
    def move(manifest):
        buckets = record(manifest, TEST)[0]["buckets"]
        first, second = buckets
        buckets[first], buckets[second] = buckets[first] + 1, buckets[second] - 1

    edit_manifest(there, move)
    (found,) = failures(there)
    assert found == (
        "manifest.json: rows by dependency_depth of default/test are {'7': 11, '8': 9}, but "
        "{'7': 10, '8': 10} in the files"
    )
