"""The dataset card: front matter that opens the dataset, a command that makes it again, prose."""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import math
import re
import shlex
import shutil
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest
from huggingface_hub import DatasetCard, DatasetCardData

import synthbench
from synthbench.cli.main import main
from synthbench.dataset.card import _size_category, citations
from synthbench.tasks.registry import list_tasks
from synthbench.tasks.registry import task as make_task
from tests.making import make
from tests.support import card_sections, digests
from tests.tasks.tiny_sources import write_sources

#: One dataset of each kind of setting: parameters of every type, several variants, small shards.
COMMANDS: dict[str, dict[str, Any]] = {
    "plain": {"task": "parity", "preset": "small"},
    "variants": {"task": "ctl", "variant": ["backward", "forward"], "preset": "small", "seed": 11},
    "parameters": {
        "task": "ctl",
        "parameters": {"symbols": 4, "train_lengths": [1, 3], "test_lengths": "5..6"},
        "rows": {"train": 120, "iid": 20, "validation": 30, "test": 40},
        "shard_rows": 50,
    },
    "names and numbers": {
        "task": "listops",
        "parameters": {"operators": "MAX,MIN", "ties": "first", "p_op": 0.25, "test_depths": 7},
        "rows": {"train": 100, "iid": 50, "validation": 20, "test": 20},
    },
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("cards")
    for name, command in COMMANDS.items():
        make(root / name, **command)
    return {name: root / name for name in COMMANDS}


every_dataset = pytest.mark.parametrize("name", COMMANDS)


def front_matter(directory):
    loaded: dict[str, Any] = DatasetCard.load(directory / "README.md").data.to_dict()
    return loaded


def card_of(directory):
    return (directory / "README.md").read_text(encoding="utf-8")


def section(directory, title):
    return card_sections(card_of(directory))[title]


def manifest_of(directory):
    return synthbench.DatasetDirectory.open(directory).manifest


# Front matter.


@every_dataset
def test_the_front_matter_is_read_by_huggingface_hub(name, made):
    front, task = front_matter(made[name]), make_task(COMMANDS[name]["task"])
    assert front["pretty_name"] == task.title
    assert front["license"] == "apache-2.0"
    assert front["size_categories"] == ["n<1K" if name != "variants" else "1K<n<10K"]
    assert front["task_categories"] == list(task.categories)
    assert front["language"] == ["en"]
    assert front["annotations_creators"] == front["language_creators"] == ["machine-generated"]
    assert front["multilinguality"] == ["monolingual"]
    assert front["source_datasets"] == ["original"]
    assert {"synthbench", "benchmark", task.name} <= set(front["tags"])
    known = {*inspect.signature(DatasetCardData).parameters, "tags", "configs", "dataset_info"}
    assert set(front) <= known


@every_dataset
def test_every_glob_finds_just_the_shards_of_its_split(name, made):
    manifest, configs = manifest_of(made[name]), front_matter(made[name])["configs"]
    assert [config["config_name"] for config in configs] == list(manifest.variants)
    assert [config.get("default", False) for config in configs] == [
        True,
        *[False] * (len(configs) - 1),
    ]
    for config in configs:
        splits = manifest.variants[config["config_name"]]
        assert [one["split"] for one in config["data_files"]] == list(splits)
        for one in config["data_files"]:
            # Not 'test*': it would swallow the files of a split named test_depth_7.
            assert one["path"] == f"data/{config['config_name']}/{one['split']}-*.parquet"
            found = sorted(made[name].glob(one["path"]))
            assert found == [made[name] / shard.file for shard in splits[one["split"]].shards]


@every_dataset
def test_rows_and_features_agree_with_the_files(name, made):
    front = front_matter(made[name])
    for info, config in zip(front["dataset_info"], front["configs"], strict=True):
        assert info["config_name"] == config["config_name"]
        features = datasets.Features._from_yaml_list(info["features"])
        sizes = []
        for split, files in zip(info["splits"], config["data_files"], strict=True):
            shards = sorted(made[name].glob(files["path"]))
            assert split["name"] == files["split"]
            assert split["num_examples"] == sum(pq.read_metadata(one).num_rows for one in shards)
            for shard in shards:
                assert datasets.Features.from_arrow_schema(pq.read_schema(shard)) == features
            sizes.append(sum(one.stat().st_size for one in shards))
            assert split["num_bytes"] == sizes[-1]
        assert info["download_size"] == info["dataset_size"] == sum(sizes)


def test_the_description_changes_with_the_content_and_with_nothing_else(tmp_path, made):
    def description(name, **options):
        rows = {"train": 40, "test": 40}
        make(tmp_path / name, "parity", rows=rows, **options)
        (config,) = front_matter(tmp_path / name)["configs"]
        return str(config["description"])

    first = description("a", workers=1)
    assert re.fullmatch(r"content sha256:[0-9a-f]{64}", first)
    assert description("b", workers=2, shard_rows=7) == first
    assert description("c", workers=1, seed=1) != first
    assert description("d", workers=1, parameters={"n_values": 12}) != first
    forward, backward = front_matter(made["variants"])["configs"]
    assert forward["description"] != backward["description"]


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        (1, "n<1K"), (999, "n<1K"), (1_000, "1K<n<10K"), (99_999, "10K<n<100K"),
        (1_003_000, "1M<n<10M"), (10**7, "10M<n<100M"), (10**8, "100M<n<1B"), (10**9, "1B<n<10B"),
        (10**13, "n>1T"),
    ],
)  # fmt: skip
def test_the_size_is_one_of_the_hubs_categories(rows, name):
    assert _size_category(rows) == name


# The text below it.


@every_dataset
def test_the_command_in_the_card_makes_the_same_dataset_again(name, made, tmp_path):
    card = card_of(made[name])
    (command,) = re.findall(r"^```\n(synthbench generate .*)\n```$", card, re.MULTILINE)
    program, *words = shlex.split(command)
    assert program == "synthbench"
    with pytest.raises(SystemExit) as ended:
        main([*words, "--out", str(tmp_path / "again"), "--quiet", "--workers", "1"])
    assert ended.value.code == 0
    again, first = manifest_of(tmp_path / "again"), manifest_of(made[name])
    assert again == first
    assert digests(again) == digests(first)


@every_dataset
def test_the_card_shows_splits_buckets_parameters_and_how_to_load(name, made):
    card = card_of(made[name])
    manifest = manifest_of(made[name])
    for splits in manifest.variants.values():
        for split, record in splits.items():
            buckets = ", ".join(f"{key}: {count:,}" for key, count in record.buckets.items())
            assert f"| {split} | {record.rows:,} | {buckets} | `{record.digest[:16]}` |" in card
    for key in manifest.parameters:
        assert f"| `{key}` | `" in card
    assert f"synthbench {synthbench.__version__}" in card


def test_the_code_in_the_card_opens_the_rows_and_checks_what_is_held_out(
    made, tmp_path, monkeypatch
):
    monkeypatch.setenv("SYNTHBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for name in ("variants", "parameters"):
        shutil.copytree(made[name], tmp_path / "ctl", dirs_exist_ok=True)
        names: dict[str, Any] = {}
        opened = []
        for statement in ast.parse(code_block(section(made[name], "Loading"))).body:
            exec(ast.unparse(statement), names)
            if isinstance(statement, ast.Assign):
                opened.append({split: rows[:] for split, rows in names["dataset"].items()})
        assert len(opened) == 2
        assert opened[0] == opened[1]
        checks = code_block(section(made[name], "Held-out rows")).splitlines()
        assert len(checks) == 5
        assert all(eval(check, names) for check in checks)
        shutil.rmtree(tmp_path / "ctl")


@pytest.mark.dev
def test_the_query_in_the_card_says_that_test_is_held_out(made, monkeypatch):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: the extra dev has it")
    (query,) = re.findall(r"`(SELECT .*)`", section(made["plain"], "Held-out rows"))
    monkeypatch.chdir(made["plain"])
    assert duckdb.sql(query).fetchall() == [(True,)]


def code_block(section):
    (block,) = re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    return str(block)


def test_the_card_of_ctl_has_the_tables_of_its_functions(made):
    card = card_of(made["variants"])
    tables = manifest_of(made["variants"]).tables
    assert list(tables) == list("abcdefghi")
    for function, symbols in tables.items():
        assert sorted(symbols) == [f"{symbol:03b}" for symbol in range(8)]
        assert f"| `{function}` | {' '.join(symbols)} |" in card


# Rows, limits, and what others have a right to.


@pytest.mark.parametrize("name", list_tasks())
def test_rows_or_a_picture_are_shown_before_anything_else(name, tiny):
    dataset = synthbench.DatasetDirectory.open(tiny(name))
    card = card_of(dataset.path)
    top = card.split("\n## ")[0]
    variant, splits = next(iter(dataset.manifest.variants.items()))
    task = dataset.manifest.make_task(variant)
    if task.image_column:
        (picture,) = re.findall(r"^!\[.+\]\((.+)\)$", top, re.MULTILINE)
        assert (dataset.path / picture).is_file()
        return
    wanted = []
    for split in splits:
        for row in itertools.islice(dataset.rows(variant, split), math.ceil(3 / len(splits))):
            if task.labels:
                row["label"] = task.labels[row["label"]]
            for key in ("text", "label"):
                if isinstance(row.get(key), str) and not task.labels:
                    row[key] = task.columns[key].show(row[key]).replace("\n", " ")
            wanted.append([split, *row.values()])
    shown = [line for line in top.splitlines() if line.startswith(tuple(f"| {s} " for s in splits))]
    assert len(shown) == len(wanted) >= 3
    for line, values in zip(shown, wanted, strict=True):
        cells = [cell.strip(" `") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        cells = [cell.replace("\\|", "|") for cell in cells]
        assert cells[0] == values[0]
        for cell, value in zip(cells[1:], values[1:], strict=True):
            text = value if isinstance(value, str) else json.dumps(value)
            assert cell == text or (text.startswith(cell.rstrip("…")) and len(cell) == 121)


def test_the_limits_name_what_a_figure_of_this_size_cannot_tell(made):
    limits = section(made["parameters"], "Known limits")
    assert "On the 20 rows of iid an accuracy is known to within 21.9 points" in limits
    # 4 symbols and 9 functions have 36 rows of one function.
    assert (
        "train is unbalanced: length 1 has only 36 rows, because no more distinct rows exist"
        in limits
    )
    assert "unbalanced" not in section(made["plain"], "Known limits")


def test_one_row_less_than_others_is_the_rest_of_a_division(tmp_path):
    make(tmp_path / "made", "listops", rows={"train": 100, "iid": 7, "validation": 10, "test": 3})
    assert "unbalanced" not in section(tmp_path / "made", "Known limits")


def test_prose_with_figures_of_the_defaults_says_that_a_dataset_is_another(tmp_path):
    make(tmp_path / "made", "parity", parameters={"n_values": 4}, rows={"train": 30, "test": 20})
    said = (
        "> This describes the task with its defaults. This dataset has n_values 4, 30 rows of "
        "train, 20 rows of test."
    )
    for title in ("Results", "How rows are drawn"):
        assert section(tmp_path / "made", title).startswith(said)
    rows = {split.name: split.rows for split in make_task("parity").splits}
    make(tmp_path / "whole", "parity", rows=rows)
    assert "with its defaults" not in card_of(tmp_path / "whole")


@pytest.mark.parametrize(
    ("variant", "licenses", "keys"),
    [
        ("main", ["apache-2.0", "cc-by-sa-3.0", "mit"], ["lecun2010mnist", "xiao2017fashion"]),
        ("same-color", ["apache-2.0", "cc-by-sa-3.0"], ["lecun2010mnist"]),
        (
            "cifar",
            ["apache-2.0", "unknown", "mit", "cc-by-sa-3.0"],
            ["krizhevsky2009learning", "xiao2017fashion", "lecun2010mnist"],
        ),
    ],
)
def test_the_terms_of_the_pictures_are_those_of_their_sources(
    variant, licenses, keys, tmp_path, monkeypatch
):
    monkeypatch.setenv("SYNTHBENCH_DATA", str(write_sources(tmp_path / "sources")))
    rows = {"train": 20, "validation": 20, "test": 20}
    synthbench.generate(
        synthbench.task("composites", variant),
        out=tmp_path / "made",
        rows=rows,
        workers=1,
        progress=False,
    )
    front = front_matter(tmp_path / "made")
    assert front["license"] == licenses
    assert front["source_datasets"] == ["extended"]
    told = section(tmp_path / "made", "Sources and licences")
    assert re.findall(r"^@\w+\{(\w+),$", told, re.MULTILINE) == keys
    assert citations(make_task("composites", variant)).count("@") == len(keys) + 1


def test_pictures_of_ones_own_have_terms_of_their_own():
    parameters = {"target_source": "folder:somewhere"}
    (_, own) = make_task("composites", "main", **parameters).origins
    assert own.license == "other"
    assert own.citation == ""


@every_dataset
def test_a_card_opens_with_what_a_reader_needs_and_folds_the_rest(name, made):
    text = DatasetCard.load(made[name] / "README.md").text
    top, *folded = text.split("<details>\n")
    top = re.sub(r"^```.*?^```", "", top, flags=re.MULTILINE | re.DOTALL)
    title, *headings = re.findall(r"^#+ .+$", top, re.MULTILINE)
    assert title.startswith("# ")
    assert headings == ["## Loading", "## Splits", "## Results", "## Held-out rows"]
    # Markdown inside is rendered only between blank lines.
    form = r"<summary>[^<]+</summary>\n\n\S.*\n\n</details>\n*"
    assert all(re.fullmatch(form, part, re.DOTALL) for part in folded)
