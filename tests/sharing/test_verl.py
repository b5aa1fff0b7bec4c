"""verl's own loader and reward manager take the exported files; SkyRL's environment, too."""

import importlib.util
import json

import pyarrow.parquet as pq
import pytest

import synthbench
from synthbench.errors import UsageError
from synthbench.llm import verl as scoring
from synthbench.sharing.export import export
from synthbench.sharing.verl import data_source
from synthbench.tasks import registry
from tests.llm.test_rewards import TEXTS
from tests.llm.tiny_model import bytes_tokenizer


def rows_of(file):
    return pq.read_table(file).to_pylist()


def score(row, solution, **others):
    return scoring.compute_score(
        row["data_source"],
        solution,
        row["reward_model"]["ground_truth"],
        row["extra_info"],
        **others,
    )


def test_every_row_names_its_bucket_and_is_judged_from_what_it_carries(tiny, tmp_path):
    for name in TEXTS:
        out = tmp_path / name
        export(tiny(name), "verl", out, splits=["test"])
        dataset = synthbench.DatasetDirectory.open(tiny(name))
        for variant in dataset.manifest.variants:
            task, rows = dataset.make_task(variant), list(dataset.rows(variant, "test"))
            for row, made in zip(rows, rows_of(out / variant / "test.parquet"), strict=True):
                answer = task.answer.format_answer(row["label"])
                assert made["reward_model"] == {"style": "rule", "ground_truth": answer}
                assert (made["ability"], made["extra_info"]["id"]) == (name, row["id"])
                bucket = row.get(task.bucket_name, "")
                assert made["data_source"].startswith(f"synthbench/{name}")
                if any(bucket in split.buckets for split in task.splits):  # else a band has it
                    assert str(bucket) in made["data_source"]
                assert score(made, f"Answer: {answer}", unasked=1) == 1.0
                assert score(made, "I cannot say.") == 0.0


def test_the_source_of_a_row_with_a_bucket_of_words():
    task = registry.task("listops", balance="label")
    bucket = task.split("train").buckets[0]
    assert data_source(task, bucket) == "synthbench/listops/dependency_depth1-MIN-0"
    assert data_source(registry.task("parity"), 0) == "synthbench/parity"


def test_what_verl_adds_does_no_harm_and_other_rows_are_refused(tiny, tmp_path):
    export(tiny("parity"), "verl", tmp_path / "out", splits=["test"])
    row = rows_of(tmp_path / "out/default/test.parquet")[0]
    row["extra_info"] |= {"num_turns": 2, "rollout_reward_scores": {}}
    assert score(row, row["reward_model"]["ground_truth"]) == 1.0
    for extra in (None, {}, {"task": "parity", "row": "{"}, {"task": "parity", "row": 1}):
        with pytest.raises(UsageError, match=r"extra_info|Expected 'task' and 'row'"):
            scoring.compute_score("synthbench/parity", "7", "7", extra)


def test_several_datasets_take_turns_in_one_file(tiny, tmp_path):
    export({str(tiny("listops")): 2, str(tiny("parity")): 1}, "verl", tmp_path / "out")
    rows = rows_of(tmp_path / "out/mixture/test.parquet")
    assert len(rows) == 60
    assert [row["ability"] for row in rows[:3]] == ["listops", "parity", "listops"]
    assert [row["extra_info"]["index"] for row in rows] == list(range(60))
    told = json.loads((tmp_path / "out/export.json").read_text("utf-8"))
    assert (told["weights"], [one["task"] for one in told["mixture"]]) == (
        [2, 1],
        ["listops", "parity"],
    )
    for to in ("jsonl", "chat", "skyrl"):
        export([str(tiny("ctl")), str(tiny("mqar"))], to, tmp_path / to, splits=["test"])
        assert (tmp_path / to / "mixture").is_dir()


def test_rows_of_a_mixture_are_asked_as_the_options_say(tiny, tmp_path):
    datasets = {tiny("listops"): 2, tiny("parity"): 1}
    export(datasets, "verl", tmp_path / "all", splits=["test"])
    options = {"splits": ["test"], "offset": 2, "limit": 5, "shots": 1, "system": "Be brief."}
    export(datasets, "verl", tmp_path / "some", **options)
    whole, some = (rows_of(tmp_path / name / "mixture/test.parquet") for name in ("all", "some"))
    ids = [row["extra_info"]["id"] for row in whole]
    assert [row["extra_info"]["id"] for row in some] == ids[2:7]
    for row in some:
        roles = [message["role"] for message in row["prompt"]]
        assert roles == ["system", "user", "assistant", "user"]
    with pytest.raises(UsageError, match="behind the offset 9,999"):
        export(datasets, "verl", tmp_path / "none", splits=["test"], offset=9_999)
    assert not (tmp_path / "none").exists()


def test_mixtures_that_cannot_be_exported_are_refused_before_anything_is_written(tiny, tmp_path):
    listops, parity, ctl = (str(tiny(name)) for name in ("listops", "parity", "ctl"))
    for given, to, options, said in (
        ([listops, parity], "tsv", {}, "Format 'tsv' takes one dataset. Several can be exported"),
        ([ctl, parity], "verl", {"variants": ["forward"]}, "the first variant of each"),
        (
            [listops, parity],
            "verl",
            {"splits": ["iid"]},
            "Unknown split in .*'iid'",
        ),
        ({listops: 41, parity: 1}, "verl", {"splits": ["test"]}, "too few for the weights 41, 1"),
        (str(tiny("composites")), "verl", {}, "its rows are images"),
    ):
        with pytest.raises(UsageError, match=said):
            export(given, to, tmp_path / "out", **options)
        assert not (tmp_path / "out").exists()


@pytest.mark.dev
def test_skyrls_own_gym_makes_the_environment_of_a_row(tiny, tmp_path):
    if importlib.util.find_spec("skyrl_gym") is None:
        pytest.skip("skyrl_gym is not installed: pip install skyrl-gym")
    import skyrl_gym

    export([str(tiny("listops")), str(tiny("parity"))], "skyrl", tmp_path / "out")
    skyrl_gym.register(id="synthbench", entry_point="synthbench.llm.skyrl:SynthbenchEnv")
    for row in rows_of(tmp_path / "out/mixture/test.parquet")[:6]:
        prompt, truth = row.pop("prompt"), row["reward_spec"]["ground_truth"]
        for said, expected in ((f"Answer: {truth}", 1.0), ("no idea", 0.0)):
            environment = skyrl_gym.make(row["env_class"], env_config={}, extras=row)
            assert environment.init(prompt) == (prompt, {})
            step = environment.step(said)
            assert (step["reward"], step["done"], step["observations"]) == (expected, True, [])
    with pytest.raises(UsageError, match="Expected 'task' and 'row'"):
        skyrl_gym.make("synthbench", extras={})


@pytest.mark.dev
@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_verls_own_dataset_and_reward_manager_read_the_file(tiny, tmp_path):
    if importlib.util.find_spec("verl") is None:
        pytest.skip("verl is not installed: pip install verl")
    import numpy as np
    import torch
    from omegaconf import OmegaConf
    from verl import DataProto
    from verl.trainer.ppo.reward import load_reward_manager
    from verl.utils.dataset.rl_dataset import RLHFDataset

    export([str(tiny("listops")), str(tiny("parity"))], "verl", tmp_path / "out")
    tokenizer = bytes_tokenizer()
    config = {"cache_dir": str(tmp_path / "cache"), "max_prompt_length": 4_000}
    config["filter_overlong_prompts_workers"] = 1
    file = str(tmp_path / "out/mixture/test.parquet")
    rows = RLHFDataset(file, tokenizer, OmegaConf.create(config))
    assert len(rows) == 80

    chosen = {
        "custom_reward_function": {"path": "pkg://synthbench.llm.verl", "name": "compute_score"},
        "reward_manager": {"source": "register", "name": "naive"},
    }
    manager = load_reward_manager(OmegaConf.create({"reward": chosen}), tokenizer)
    for row in (rows[0], rows[1]):
        for said, expected in ((row["reward_model"]["ground_truth"], 1.0), ("no idea", 0.0)):
            ids = torch.tensor([tokenizer.encode(f"Answer: {said}")])
            data = DataProto.from_dict(
                tensors={"responses": ids, "attention_mask": torch.ones_like(ids)},
                non_tensors={
                    name: np.array([row[name]], dtype=object)
                    for name in ("data_source", "reward_model", "extra_info")
                },
            )
            found = manager.loop.run_until_complete(manager.run_single(data))
            assert found == {"reward_score": expected, "reward_extra_info": {"acc": expected}}
