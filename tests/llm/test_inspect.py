"""Inspect runs our tasks with its mock model."""

import importlib.util

import pytest

import synthbench
from synthbench import llm
from tests.support import start

# Not imported before a test runs: that takes seconds.
if importlib.util.find_spec("inspect_ai") is None:
    pytest.skip("the extras inspect and dev have inspect_ai", allow_module_level=True)

# A framework's own warnings are not ours.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


def evaluated(task, answers, place):
    """The scores of a run by sample, for a mock model that answers the task's samples so."""
    import inspect_ai
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    inputs = [sample.input for sample in task.dataset]
    prompts = [one if isinstance(one, str) else one[0].text for one in inputs]

    def outputs(messages, *_):
        output = ModelOutput.from_content("mockllm", answers[prompts.index(messages[0].text)])
        # Without usage, tokens would be counted with a tokenizer from the internet.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(place), display="none")
    assert log.status == "success", log.error
    return {sample.id: sample.scores["right_answer"] for sample in log.samples}


def test_right_answers_score_1_and_wrong_ones_0(tmp_path):
    task = llm.inspect_task("parity", split="test", limit=4, preset="small")
    targets = [sample.target for sample in task.dataset]
    answers = [f"Let me see.\nAnswer: {target}" for target in targets[:3]] + ["I cannot say."]
    scores = evaluated(task, answers, tmp_path)
    assert [scores[sample.id].value for sample in task.dataset] == [1.0, 1.0, 1.0, 0.0]
    assert [scores[sample.id].answer for sample in task.dataset] == [*targets[:3], None]
    unread = [scores[sample.id].metadata["unread"] for sample in task.dataset]
    assert unread == [None, None, None, "no answer"]
    explained = [scores[sample.id].explanation for sample in task.dataset]
    assert explained == [*answers[:3], "Not read: no answer.\n\nI cannot say."]


def test_options_are_those_of_prompts():
    options = {"limit": 3, "offset": 2, "shots": 2, "system": "Be brief.", "preset": "small"}
    task, rows = llm.inspect_task("ctl", **options), llm.prompts("ctl", **options)
    for sample, row in zip(task.dataset, rows, strict=True):
        said = [{"role": one.role, "content": one.text} for one in sample.input]
        assert (sample.id, said) == (row["id"], row["prompt"])


def test_evaluate_reads_the_log_as_inspect_scores_it(tmp_path):
    from inspect_ai.log import read_eval_log

    task = llm.inspect_task("parity", split="test", limit=8, preset="small")
    answers = [f"Answer: {one.target}" if n % 4 else "No." for n, one in enumerate(task.dataset)]
    evaluated(task, answers, tmp_path)
    (log,) = tmp_path.glob("*.eval")
    dumped = tmp_path / "log.json"
    dumped.write_text(read_eval_log(str(log)).model_dump_json(), encoding="utf-8")
    dataset = tmp_path / "parity"
    synthbench.generate("parity", out=dataset, preset="small", workers=1, progress=False)
    for path in (log, dumped):
        report = synthbench.evaluate(dataset, path, answered_only=True)
        assert (report.rows, report.accuracy, report.parsed_as) == (8, 0.75, {"text": 6})


def test_composites_are_images_for_vision_models(tiny, tmp_path):
    task = llm.inspect_task(tiny("composites"), limit=1)
    picture, text = task.dataset[0].input[0].content
    assert picture.type == "image"
    assert picture.image.startswith("data:image/png;base64,")
    assert "four quadrants" in text.text
    (score,) = evaluated(task, [f"Answer: {task.dataset[0].target}."], tmp_path).values()
    assert score.value == 1.0


def test_inspect_finds_the_tasks_by_their_entry_point(tmp_path):
    # The mock model counts tokens with a tokenizer from the internet; here it counts words.
    program = """
import tiktoken
class Words:
    def encode(self, text, **_):
        return text.split()
tiktoken.get_encoding = lambda name: Words()
from inspect_ai._cli.main import main
main()
"""
    words = "eval synthbench/parity --model mockllm/model --display plain"
    options = "--limit 3 -T preset=small -T n_values=12 -T seed=3"
    arguments = [*words.split(), *options.split()]
    done = start("-c", program, *arguments, cwd=tmp_path, PYTHONWARNINGS="ignore")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "accuracy" in done.stdout
    (log,) = (tmp_path / "logs").glob("*.eval")
    from inspect_ai.log import read_eval_log

    read = read_eval_log(str(log))
    assert {"preset": "small", "n_values": 12, "seed": 3}.items() <= read.eval.task_args.items()
    assert len(read.samples or []) == 3


def test_a_mixture_scores_the_rows_of_each_task(tmp_path):
    import inspect_ai
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    task = llm.inspect_task(["parity", "ctl"], split="test", limit=6, preset="small")
    targets = {sample.input: sample.target for sample in task.dataset}

    def outputs(messages, *_):
        text = messages[0].text
        said = targets[text] if "four numbers" in text else "I cannot say."
        output = ModelOutput.from_content("mockllm", f"Answer: {said}")
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    measured = {
        name: one.value for score in log.results.scores for name, one in score.metrics.items()
    }
    assert measured["accuracy"] == 0.5
    assert (measured["parity"], measured["ctl"]) == (1.0, 0.0)
