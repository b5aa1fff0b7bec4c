"""Task files of lm-evaluation-harness, run by the harness itself."""

from __future__ import annotations

import json
import re
import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

import synthbench
from synthbench import llm
from synthbench.errors import DatasetError
from synthbench.sharing.export import MARKER, export
from synthbench.tasks import registry
from synthbench.tasks.registry import task as make_task
from tests.planted.task import Reversal
from tests.support import CLASSES

pytestmark = pytest.mark.slow


#: What a model may write for an answer {}, and which of the two filters find it.
FORMS = [
    ("{}", True, True),
    ("\n{}\n\n", True, True),
    ("The answer is **{}**.", False, True),
    (r"First 3, then 4. \boxed{{{}}}", False, True),
    ("{}1", False, False),
    ("{}.5", False, False),
    ("{} or 2222", False, False),
    ("I cannot say.", False, False),
]


@pytest.fixture
def evaluate(tmp_path, monkeypatch):
    """Lets the harness run an exported task with one of its models, or with one given."""
    pytest.importorskip("lm_eval", reason="lm-evaluation-harness is not installed")
    import datasets
    from lm_eval import evaluator
    from lm_eval.tasks import TaskManager

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    # It describes the machine, for which it starts pip, in every evaluation.
    monkeypatch.setattr(evaluator, "add_env_info", lambda results: None)

    def run(model, name):
        manager = TaskManager(include_path=str(tmp_path / "out"), include_defaults=False)
        options = {"task_manager": manager, "bootstrap_iters": 0, "limit": len(FORMS)}
        outcome: dict[str, Any] = evaluator.simple_evaluate(model=model, tasks=[name], **options)
        return outcome

    return run


def model(solve):
    """A model that answers every question by a function, and keeps what it was asked."""
    from lm_eval.api.model import LM

    class Model(LM):  # type: ignore[misc]
        prompts: list[str]

        def generate_until(self, requests, **_):
            self.prompts = [request.args[0] for request in requests]
            return [solve(re.findall(r"Question: (.*)\nAnswer:$", one)[-1]) for one in self.prompts]

        def loglikelihood(self, requests, **_):
            raise AssertionError("our tasks ask for texts, never for likelihoods")

        loglikelihood_rolling = loglikelihood

    return Model()


@pytest.mark.filterwarnings("ignore")  # of the harness and what it loads
@pytest.mark.parametrize("name", CLASSES)
def test_a_model_that_is_always_right_gets_everything(name, evaluate, tiny, tmp_path):
    export(tiny(name), "lm-eval", tmp_path / "out")
    task = make_task(name)
    title = f"synthbench_{name}" + (f"_{task.variant}" if len(task.variants) > 1 else "")
    solver = model(lambda question: f" {task.solve(question)}")
    results = evaluate(solver, title)["results"][title]
    assert results["exact_match,strict"] == results["exact_match,tolerant"] == 1.0
    assert len(solver.prompts) == len(FORMS)
    rows = synthbench.DatasetDirectory.open(tiny(name)).rows(task.variant, "train")
    trained = {row["text"] for row in rows}
    for prompt in solver.prompts:
        assert prompt.startswith(task.instruction)
        *shots, question = re.findall(r"^Question: (.*)$", prompt, re.MULTILINE)
        assert len(shots) == 5
        assert set(shots) <= trained
        assert question not in trained
        answers = re.findall(r"^Answer: (.*)$", prompt, re.MULTILINE)
        assert answers == [str(task.solve(shot)) for shot in shots]


@pytest.mark.filterwarnings("ignore")
def test_the_group_has_all_exports_and_accuracy_stands_beside_depth(evaluate, tiny, tmp_path):
    for name in ("listops", "parity"):
        export(tiny(name), "lm-eval", tmp_path / "out" / name)
    right = {
        row["text"]: row["answer"]
        for name in ("listops", "parity")
        for row in llm.prompts(tiny(name))
        if row.get("dependency_depth") != 8
    }
    results = evaluate(model(lambda question: right.get(question, "no")), "synthbench")["results"]
    assert results.keys() == {"synthbench", "synthbench_listops", "synthbench_parity"}
    listops = results["synthbench_listops"]
    for way in ("strict", "tolerant"):
        assert results["synthbench_parity"][f"exact_match,{way}"] == 1.0
        assert listops[f"exact_match_dependency_depth_7,{way}"] == 1.0
        assert listops[f"exact_match_dependency_depth_8,{way}"] == 0.0
        assert 0 < listops[f"exact_match,{way}"] < 1
        mean = (1.0 + listops[f"exact_match,{way}"]) / 2
        assert results["synthbench"][f"exact_match,{way}"] == pytest.approx(mean)


@pytest.mark.filterwarnings("ignore")
def test_options_change_examples_system_message_and_rows(evaluate, tiny, tmp_path):
    system = "Be brief: {{answer}}{# or not #}"  # a template as any text
    options = {"shots": 2, "system": system, "offset": 3, "limit": 4}
    export(tiny("ctl"), "lm-eval", tmp_path / "out", variants=["forward"], **options)
    solver = model(lambda question: str(make_task("ctl").solve(question)))
    results = evaluate(solver, "synthbench_ctl_forward")["results"]["synthbench_ctl_forward"]
    assert results["exact_match,strict"] == 1.0
    asked = [re.findall(r"^Question: (.*)$", one, re.MULTILINE) for one in solver.prompts]
    assert [one[-1] for one in asked] == llm.prompts(tiny("ctl"), limit=4, offset=3)["text"][:]
    assert {len(one) for one in asked} == {3}
    assert all(one.startswith(f"{system}\n\nThe line") for one in solver.prompts)
    export(tiny("ctl"), "lm-eval", tmp_path / "none", variants=["forward"], shots=0)
    assert "num_fewshot" not in task_file(tmp_path / "none/synthbench_ctl_forward.yaml")


@pytest.mark.filterwarnings("ignore")
def test_what_is_written_around_an_answer_costs_nothing_but_another_answer_does(
    evaluate, tiny, tmp_path
):
    export(tiny("ctl"), "lm-eval", tmp_path / "out")
    task, forms = make_task("ctl"), iter(FORMS)
    answering = model(lambda question: next(forms)[0].format(task.solve(question)))
    samples = evaluate(answering, "synthbench_ctl_forward")["samples"]["synthbench_ctl_forward"]
    for name, column in (("strict", 1), ("tolerant", 2)):
        found = {
            one["doc_id"]: bool(one["exact_match"]) for one in samples if one["filter"] == name
        }
        assert [found[number] for number in sorted(found)] == [form[column] for form in FORMS]
    # `evaluate` reads what the harness logs of them, and comes to the same.
    log = tmp_path / "samples.jsonl"
    log.write_text("\n".join(json.dumps(one, default=str) for one in samples), "utf-8")
    report = synthbench.evaluate(tiny("ctl"), log, split="test")
    assert report.accuracy * 40 == sum(form[2] for form in FORMS)
    assert len(report.missing) == 40 - len(FORMS)


@pytest.mark.filterwarnings("ignore")
def test_labels_may_be_any_text(evaluate, tmp_path, monkeypatch):
    monkeypatch.setitem(registry._registered, Reversal.name, Reversal)
    synthbench.generate("reversal", out=tmp_path / "made", workers=1, progress=False)
    export(tmp_path / "made", "lm-eval", tmp_path / "out")
    forms = {"{}": (True, True), "I turn it round.\n\n{}\n": (False, True), "{}x": (False, False)}
    for form, (strict, tolerant) in forms.items():
        solver = model(lambda question, form=form: form.format(question[::-1]))  # type: ignore[misc]
        outcome = evaluate(solver, "synthbench_reversal")
        results = outcome["results"]["synthbench_reversal"]
        assert results["exact_match,strict"] == float(strict)
        assert results["exact_match,tolerant"] == float(tolerant)
        log = tmp_path / "samples.jsonl"
        lines = outcome["samples"]["synthbench_reversal"]
        log.write_text("\n".join(json.dumps(one, default=str) for one in lines), "utf-8")
        assert synthbench.evaluate(tmp_path / "made", log).parsed.accuracy == float(tolerant)


@pytest.mark.filterwarnings("ignore")
def test_the_dummy_model_of_the_harness_gets_nothing(evaluate, tiny, tmp_path):
    export(tiny("parity"), "lm-eval", tmp_path / "out")
    results = evaluate("dummy", "synthbench_parity")["results"]["synthbench_parity"]
    assert results["exact_match,strict"] == results["exact_match,tolerant"] == 0.0


@pytest.mark.filterwarnings("ignore")
def test_an_export_that_was_moved_is_run_from_another_directory_without_the_dataset(
    evaluate, tiny, tmp_path, monkeypatch
):
    dataset = shutil.copytree(tiny("ctl"), tmp_path / "ctl")
    export(dataset, "lm-eval", tmp_path / "exported")
    (tmp_path / "exported").rename(tmp_path / "out")
    shutil.rmtree(dataset)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    solver = model(lambda question: str(make_task("ctl").solve(question)))
    results = evaluate(solver, "synthbench_ctl_forward")["results"]["synthbench_ctl_forward"]
    assert results["exact_match,strict"] == 1.0


# The files themselves.


def task_file(file):
    """The values of a task file; those with the harness's tag `!function` as text."""

    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("!function", Loader.construct_yaml_str)
    return yaml.load(file.read_text("utf-8"), Loader)


def test_there_is_a_file_for_each_variant_and_for_each_split_that_is_named(tiny, tmp_path):
    def titles(**chosen):
        made = export(tiny("ctl"), "lm-eval", tmp_path / "out", overwrite=True, **chosen)
        assert {MARKER, "rows.py"} <= set(made)
        return {Path(file).stem for file in made if file.endswith(".yaml")} - {"synthbench"}

    assert titles() == {"synthbench_ctl_forward", "synthbench_ctl_backward"}
    assert titles(variants=["backward"], splits=["iid", "test"]) == {
        "synthbench_ctl_backward",
        "synthbench_ctl_backward_iid",
    }


def test_a_file_names_the_rows_that_were_copied_beside_it(tiny, tmp_path):
    directory, out = tiny("parity"), tmp_path / "out"
    made = export(directory, "lm-eval", out, splits=["test", "train"])
    values = task_file(out / "synthbench_parity.yaml")
    test, train = (
        [f"data/default/{split}-0000{number}-of-00002.parquet" for number in range(2)]
        for split in ("test", "train")
    )
    assert values["custom_dataset"] == "rows.load"
    assert values["dataset_kwargs"]["data_files"] == {"test": test, "train": train[:1]}
    assert {name for name in made if name.endswith(".parquet")} == {*test, *train}
    for name in (*test, *train):
        assert (out / name).read_bytes() == (directory / name).read_bytes()
    for name in made:
        assert str(tmp_path).encode() not in (out / name).read_bytes()
        assert str(directory.parent).encode() not in (out / name).read_bytes()
    assert values["metadata"]["digest"] == (
        synthbench.DatasetDirectory.open(directory).split("default", "test").digest
    )
    # What is trained on is not shown before what is asked of it.
    assert "fewshot_split" not in task_file(out / "synthbench_parity_train.yaml")


def test_examples_come_from_as_many_shards_of_train_as_have_them(tiny, tmp_path):
    for shots, shards in ((0, 1), (25, 1), (26, 2), (40, 2)):  # a shard has 25 rows of the 40
        out = tmp_path / str(shots)
        made = export(tiny("parity"), "lm-eval", out, shots=shots)
        values = task_file(out / "synthbench_parity.yaml")
        train = values["dataset_kwargs"]["data_files"]["train"]
        assert train == [
            f"data/default/train-0000{number}-of-00002.parquet" for number in range(shards)
        ]
        assert set(train) <= made.keys()
        assert values.get("num_fewshot", 0) == shots


def test_by_default_there_are_no_more_examples_than_train_has(tmp_path):
    rows = {"train": 3, "test": 5}
    synthbench.generate("parity", out=tmp_path / "made", rows=rows, workers=1, progress=False)
    export(tmp_path / "made", "lm-eval", tmp_path / "out")
    assert task_file(tmp_path / "out/synthbench_parity.yaml")["num_fewshot"] == 3


def loaded(out, name):
    """The function of an export's `rows.py` that scores, and its rows of test."""
    module = runpy.run_path(str(out / "rows.py"))
    values = task_file(out / f"{name}.yaml")
    return module["score"], module["load"](**values["dataset_kwargs"])["test"]


@pytest.mark.parametrize(
    ("name", "variant"),
    [("chomsky", "stack-manipulation"), ("chomsky", "binary-addition"), ("chomsky", "parity-check"),
     ("chomsky", "reverse-string"), ("mqar", None), ("addition", "addition"),
     ("state-tracking", "Z60")],
)  # fmt: skip
def test_sequences_are_judged_as_everywhere(name, variant, tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    task, sizes = synthbench.task(name, variant, level="easy"), {"train": 5, "test": 12}
    synthbench.generate(task, out=tmp_path / "made", rows=sizes, workers=1, progress=False)
    export(tmp_path / "made", "lm-eval", tmp_path / "out")
    (file,) = (tmp_path / "out").glob("synthbench_*.yaml")
    score, rows = loaded(tmp_path / "out", file.stem)
    judged = set()
    for row in rows:
        answer, tokens = row["answer"], row["answer"].split(" ")
        padded = " ".join(token for token in tokens if token != "_")
        for reply in (
            answer, padded, answer.rstrip("_ "), f"{answer} _", f"{answer} _ _", f"{answer} 1",
            f"{answer} end", answer.replace("_", tokens[-1]), answer.replace("_", "and"),
            answer.replace(" ", ""), answer.replace(" ", "  "), " ".join(tokens[::-1]),
            " ".join(tokens[1:]) or "x", "[invalid]", f"{answer} or {answer}",
        ):  # fmt: skip
            judged.add(right := synthbench.score(task, row, reply))
            assert score(row, [reply])["exact_match"] == right, reply
    assert judged == {0.0, 1.0}


def test_a_model_may_write_as_much_as_the_longest_answer_needs(tiny, tmp_path):
    export(tiny("parity"), "lm-eval", tmp_path / "short")
    values = task_file(tmp_path / "short/synthbench_parity.yaml")
    assert values["generation_kwargs"]["max_gen_toks"] == 512
    task, sizes = synthbench.task("chomsky", "duplicate-string"), {"train": 5, "test": 94}
    synthbench.generate(task, out=tmp_path / "made", rows=sizes, workers=1, progress=False)
    export(tmp_path / "made", "lm-eval", tmp_path / "out")
    values = task_file(tmp_path / "out/synthbench_chomsky_duplicate-string.yaml")
    # 500 symbols twice; a symbol and the space before it may be a token each.
    assert values["generation_kwargs"]["max_gen_toks"] == 512 + 2 * 1000 - 1


def test_a_shard_of_another_dataset_is_noticed(tiny, tmp_path):
    dataset = shutil.copytree(tiny("parity"), tmp_path / "parity")
    shards = sorted((dataset / "data/default").glob("test-*"))
    shards[0].write_bytes(shards[0].read_bytes()[::-1])
    with pytest.raises(DatasetError, match="is not the file that the manifest describes"):
        export(dataset, "lm-eval", tmp_path / "out")
    assert not (tmp_path / "out").exists()
