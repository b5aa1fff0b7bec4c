"""Seeds of requests: another for each row and sample, the same in every call."""

import hashlib
import itertools
import json

import numpy as np
import pytest

import synthbench
from synthbench import llm
from synthbench.errors import UsageError
from synthbench.llm.request_fields import fields_of_sample
from synthbench.sharing.export import export
from tests.llm.server import serve

pytest.importorskip("httpx", reason="the extras ask, all and test have httpx")
PARITY = synthbench.task("parity", level="easy")


def seeds_asked(samples, limit=3, **options):
    """The seeds that a server gets, sorted, and the report on its replies."""
    requests = []
    with serve(lambda messages: "Answer: 3", requests=requests) as url:
        report = llm.ask(
            PARITY, "tiny", url, limit=limit, samples=samples, progress=False, api_key="", **options
        )
    return sorted(one["seed"] for one in requests), report


def test_every_row_and_sample_has_a_seed_of_its_own_by_the_rule_that_the_guide_states():
    rows = llm.prompts(PARITY, limit=3)["id"]
    for samples in (1, 8):
        for seed in (0, 1, 2**64 - 1):
            seeds, _ = seeds_asked(samples, request={"seed": seed, "temperature": 0.7})
            ruled = [
                int.from_bytes(hashlib.sha256(f"{seed} {row} {sample}".encode()).digest()[:4])
                for row, sample in itertools.product(rows, range(samples))
            ]
            assert seeds == sorted(one >> 1 for one in ruled)
            assert len(set(seeds)) == 3 * samples
            assert 0 <= seeds[0] <= seeds[-1] < 2**31


def test_numbers_of_numpy_are_fields_like_any_other():
    plain, _ = seeds_asked(2, request={"seed": 6, "max_tokens": 64, "temperature": 0.5})
    numbers = {"seed": np.int64(6), "max_tokens": np.int32(64), "temperature": np.float32(0.5)}
    assert seeds_asked(2, request=numbers)[0] == plain


def test_two_seeds_have_no_sample_in_common():
    drawn = [
        {fields_of_sample({"seed": seed}, "1f", sample)["seed"] for sample in range(100)}
        for seed in range(10)
    ]
    assert len(set().union(*drawn)) == 1000


def test_a_call_that_goes_on_asks_with_the_seeds_of_one_that_was_whole(tmp_path):
    options = {"request": {"seed": 5}}
    whole, _ = seeds_asked(4, limit=4, **options)
    parts = [
        seeds_asked(samples, limit, out=tmp_path / "out", **options)[0]
        for samples, limit in ((1, 2), (3, 2), (3, 4), (4, 4), (4, 4))
    ]
    assert [len(part) for part in parts] == [2, 4, 6, 4, 0]
    assert sorted(itertools.chain(*parts)) == whole
    with pytest.raises(UsageError, match=r"request is {'seed': 5} there and {'seed': 6} here"):
        seeds_asked(4, out=tmp_path / "out", request={"seed": 6})


def test_a_batch_has_the_seeds_of_ask(tiny, tmp_path):
    directory = tiny("parity")
    export(directory, "openai-batch", tmp_path / "out", model="tiny", limit=5, request={"seed": 1})
    (file,) = (tmp_path / "out").rglob("*.jsonl")
    for line in map(json.loads, file.read_text("utf-8").splitlines()):
        assert line["body"]["seed"] == fields_of_sample({"seed": 1}, line["custom_id"], 0)["seed"]


def test_requests_without_a_seed_get_none():
    for fields in ({}, {"temperature": 1.0}, {"seed": None}):
        assert fields_of_sample(fields, "1f", 3) == fields


def test_what_is_no_seed_is_refused_before_a_request():
    for wrong in (-1, 1.5, "1", True, [1], {}, 1e300):
        with pytest.raises(UsageError, match=r"Request field 'seed' .*whole numbers from 0"):
            seeds_asked(1, request={"seed": wrong})
    for cold in (0, 0.0, -0.0):
        with pytest.raises(UsageError, match="with temperature 0 all replies"):
            seeds_asked(2, request={"seed": 1, "temperature": cold})


def test_equal_replies_are_reported():
    numbers = itertools.count()
    requests = {"request": {"temperature": 0.7, "seed": 1}}
    _, report = seeds_asked(8, **requests)
    assert (report.alike, report.to_dict()["alike"]) == (3, 3)
    assert "3 of 3 rows have 8 equal replies. The server may ignore temp" in str(report)
    _, report = seeds_asked(1, **requests)
    assert (report.alike, "equal replies" in str(report)) == (0, False)
    with serve(lambda messages: f"Answer: {max(3, next(numbers))}") as url:
        report = llm.ask(PARITY, "tiny", url, limit=2, samples=4, concurrency=1, progress=False)
    assert report.alike == 1  # the numbers are 0, 1, 2, 3 and 4, 5, 6, 7
    assert "1 of 2 rows have 4 equal replies\n" in f"{report}\n"
