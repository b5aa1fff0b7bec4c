"""Prompts and scores of language models, which need no framework."""

import re
import sys

import pytest

import synthbench
from synthbench import llm
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import SynthbenchError, UsageError
from synthbench.evaluation.final_answer import find_answer
from synthbench.llm.conversations import answer_format
from synthbench.llm.prompts import stream_conversation, why_not_askable
from synthbench.tasks.base import TextTask
from synthbench.tasks.registry import list_tasks, task_class
from synthbench.tasks.registry import task as make_task

ROWS = {"train": 60, "test": 50}
TEXT_TASKS = [name for name in list_tasks() if issubclass(task_class(name), TextTask)]
ASKABLE = [name for name in list_tasks() if name in TEXT_TASKS or name == "composites"]


def test_tasks_with_a_text_or_image_and_a_right_answer_can_be_asked():
    assert [name for name in list_tasks() if why_not_askable(make_task(name)) is None] == ASKABLE


def test_a_prompt_has_the_rule_the_row_and_its_answer():
    task = make_task("parity", seed=2, n_values=12)
    rows = llm.prompts(task, split="test", limit=20, rows=ROWS)
    assert len(rows) == 20
    assert rows.column_names[:3] == ["id", "prompt", "answer"]
    for row in rows:
        (message,) = row["prompt"]
        assert message["role"] == "user"
        assert "exactly one of a and b is odd" in message["content"]
        assert row["text"] in message["content"]
        assert row["answer"] == str(synthbench.solve(task, row["text"]))


@pytest.mark.parametrize("name", ASKABLE)
def test_a_prompt_says_what_to_write_and_gives_no_answer_when_it_is_repeated(name):
    task = make_task(name)
    said = answer_format(task)
    assert "in the form 'Answer: ...', with " in said
    expected = {
        "parity": "with a number from 0 to 10 in place of the dots.",
        "ctl": "with one of 000, 001, 010, 011, 100, 101, 110, 111 in place of the dots.",
        "mqar": "with its tokens, separated by spaces, in place of the dots.",
    }
    assert said.endswith(expected.get(name, "in place of the dots."))
    for text in (said, f"What is asked is this.\n\n{said}"):
        assert task.read_answer({"label": ""}, find_answer(task, text)) is None


@pytest.mark.parametrize("name", ["parity", "ctl"])
def test_a_few_prompts_are_rows_of_the_dataset_and_the_first_ones_of_more(name):
    rows = {"train": 60, "iid": 30, "validation": 30, "test": 50}
    rows = {split.name: rows[split.name] for split in make_task(name).splits}
    dataset = synthbench.load_dataset(name, "test", rows=rows)
    there = {row["id"]: row for row in dataset}
    whole = llm.prompts(name, rows=rows)
    assert whole.remove_columns(["prompt", "answer"]).to_list() == dataset.to_list()
    most = llm.prompts(name, limit=40, rows=rows)
    asked = most.remove_columns(["prompt", "answer"]).to_list()
    assert asked == [there[row["id"]] for row in asked]
    assert len({row["id"] for row in asked}) == 40
    for limit in (1, 7, 20):
        assert llm.prompts(name, limit=limit, rows=rows).to_list() == most.to_list()[:limit]
    assert sorted(llm.prompts(name, limit=99, rows=rows)["id"]) == sorted(there)


@pytest.mark.parametrize("options", [{"preset": "small"}, {"rows": ROWS}])
def test_what_a_directory_has_settled_is_refused_beside_it(options, tiny):
    with pytest.raises(UsageError, match=r"is a dataset directory and has its own sizes. Leave"):
        llm.prompts(tiny("parity"), **options)


@pytest.mark.parametrize("name", ASKABLE)
def test_a_directory_gives_its_own_rows(name, tiny):
    directory = tiny(name)
    rows = llm.prompts(directory, split="test")
    dataset = DatasetDirectory.open(directory)
    ids = [row["id"] for row in dataset.rows(dataset.variant(), "test", ["id"])]
    assert rows["id"][:] == ids
    plain = rows.select_columns(
        ["answer", *dict.fromkeys(["label", *task_class(name).scored_columns])]
    )
    for row in plain:
        assert llm.score(directory, row, f"Answer: {row['answer']}") == 1.0
        assert llm.score(directory, row, "I do not know.") == 0.0


def test_composites_have_a_place_for_the_image_that_the_row_has(tiny):
    shown = llm.sft_examples(tiny("composites"), limit=1)
    assert shown.column_names == ["id", "prompt", "completion", "image"]
    row = llm.prompts(tiny("composites"), limit=1)[0]
    picture, text = row["prompt"][0]["content"]
    assert picture["type"] == "image"
    assert "four quadrants" in text["text"]
    assert row["image"].size == (56, 56)


def test_an_answer_with_thoughts_before_it_counts_and_two_answers_do_not():
    row = {"text": "3 4 7 2 =", "label": 7}
    assert llm.score("parity", row, "2? No, 3 is odd, so 7.\nAnswer: 7") == 1.0
    assert llm.score("parity", row, [{"role": "assistant", "content": "Answer: 7"}]) == 1.0
    parts = [{"type": "text", "text": "Answer: 7"}]
    assert llm.score("parity", row, [{"role": "assistant", "content": parts}]) == 1.0
    for wrong in ("7 or 2", "17", "", None, [], [{"role": "assistant", "content": None}]):
        assert llm.score("parity", row, wrong) == 0.0


def test_a_level_is_a_name_for_parameters_which_may_be_set_beside_it():
    easy = llm.prompts(synthbench.task("ctl", level="easy"), limit=3, preset="small")
    chosen = make_task("ctl", **task_class("ctl").levels["easy"])
    named = llm.prompts(chosen, limit=3, preset="small")
    assert easy.to_list() == named.to_list()
    longer = llm.prompts(
        synthbench.task("ctl", level="easy", test_lengths=[6]), limit=3, preset="small"
    )
    assert longer["length"][:] == [6, 6, 6]
    paper = llm.prompts("ctl", limit=3, preset="small")
    assert (
        llm.prompts(synthbench.task("ctl", level="medium"), limit=3, preset="small").to_list()
        == paper.to_list()
    )


def test_worked_examples_are_the_first_rows_of_train_with_the_rule_once():
    ctl, options = make_task("ctl", level="easy"), {"preset": "small", "limit": 4}
    plain = llm.prompts(ctl, **options)
    asked = llm.prompts(ctl, shots=3, **options)
    train = llm.prompts(ctl, "train", **options)
    for one, other in zip(plain, asked, strict=True):
        *worked, last = other["prompt"]
        assert last == {"role": "user", "content": one["text"]}
        assert worked[0] == train[0]["prompt"][0]
        assert [turn["content"] for turn in worked[2::2]] == train["text"][1:3]
        assert [turn["content"] for turn in worked[1::2]] == [
            f"Answer: {answer}" for answer in train["answer"][:3]
        ]
        assert [turn["role"] for turn in other["prompt"]] == [*["user", "assistant"] * 3, "user"]
        assert {**one, "prompt": 0} == {**other, "prompt": 0}


@pytest.mark.parametrize("limit", [4, None])
def test_all_rows_of_train_may_be_shown_and_no_more(limit):
    options = {"rows": {"train": 12, "test": 20}, "limit": limit}
    (*worked, _) = llm.prompts("parity", shots=12, **options)[0]["prompt"]
    assert len(worked) == 2 * 12
    with pytest.raises(UsageError, match=r"Shots 13: train has 12 rows. Allowed are .* 0 to 12"):
        llm.prompts("parity", shots=13, **options)


def test_a_directory_shows_no_more_rows_than_it_has(tiny):
    (*worked, _) = llm.prompts(tiny("parity"), limit=1, shots=40)[0]["prompt"]
    assert len(worked) == 2 * 40
    for asked in (tiny("parity"), [tiny("parity"), tiny("ctl")]):
        with pytest.raises(UsageError, match=r"Shots 9,999: train has 40 rows. Allowed are .* 40"):
            llm.prompts(asked, limit=2, shots=9_999)


def test_a_stream_of_train_has_rows_left_to_ask_beside_its_examples():
    task = make_task("state-tracking", level="easy")  # of which train has 453 rows and no more
    for split, most in (("test", 453), ("train", 452)):
        assert len(stream_conversation(task, split, most, None).examples) == most
        with pytest.raises(UsageError, match=rf"Shots {most + 1}: train has .* from 0 to {most}"):
            stream_conversation(task, split, most + 1, None)


def test_a_mixture_may_be_so_short_that_a_task_has_no_turn():
    mixture, options = {"listops": 2, "parity": 1}, {"preset": "small"}
    most = llm.prompts(mixture, limit=3, **options).to_list()
    assert [row["task"] for row in most] == ["listops", "parity", "listops"]
    for limit in (1, 2):
        assert llm.prompts(mixture, limit=limit, **options).to_list() == most[:limit]
    assert llm.prompts(mixture, limit=1, offset=2, **options).to_list() == most[2:]


def test_demonstrations_answer_as_the_prompt_asks():
    parity, options = make_task("parity", level="easy"), {"preset": "small", "limit": 4}
    rows = llm.prompts(parity, "train", **options)
    shown = llm.sft_examples(parity, **options)
    assert shown.column_names == ["id", "prompt", "completion"]
    assert shown["prompt"][:] == rows["prompt"][:]
    for row, one in zip(rows, shown, strict=True):
        assert llm.score(parity, row, one["completion"]) == 1.0


def test_completions_are_evaluated_in_order_at_the_level_of_their_rows():
    ctl = make_task("ctl", level="easy")
    rows = llm.prompts(ctl, limit=8, preset="small")
    completions = [f"So the answer is {row['answer']}." for row in rows]
    completions[3], completions[4] = "I cannot say.", None
    report = llm.evaluate(rows, completions, ctl)
    assert (report.accuracy, len(report.unparsed)) == (6 / 8, 2)
    chats = [[{"role": "assistant", "content": text}] for text in completions]
    assert llm.evaluate(rows, chats, ctl).accuracy == 6 / 8


def test_scores_and_rewards_take_the_level_of_the_rows():
    row = {"label": 15}  # which is no number of the easy level
    assert llm.score(synthbench.task("parity", level="hard"), row, "Answer: 15") == 1.0
    with pytest.raises(UsageError, match="15 is not a class"):
        llm.score(synthbench.task("parity", level="easy"), row, "Answer: 15")
    assert llm.trl_reward(synthbench.task("parity", level="hard"))(["Answer: 15"], label=[15]) == [
        1.0
    ]
    with pytest.raises(UsageError, match=r"level of parity 'esay'.* Did you mean 'easy'"):
        llm.trl_reward(synthbench.task("parity", level="esay"))


def test_a_completion_is_a_text_a_message_a_number_or_nothing():
    row = {"label": 7}
    message = {"role": "assistant", "content": "Answer: 7"}
    for text in ("7", b"7", 7, 7.0, message, [message], [{"content": "8"}, message]):
        assert llm.score("parity", row, text) == 1.0, text
    for text in (None, [], 8, 10**5000, {"content": None}):
        assert llm.score("parity", row, text) == 0.0, text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: llm.score("parity", 7, {"label": 7}), "Row 7: .*order is task, row, completion"),
        (lambda: llm.score("parity", {"label": 7}, True), "Completion True of type bool: expected"),
        (
            lambda: llm.score(["parity"], {"label": 7}, "7"),
            r"directory \['parity'\]. Allowed: list",
        ),
        (
            lambda: llm.score("parity", {"label": 7}, ["7", "8"]),
            "several completions to a row, rep",
        ),
        (lambda: llm.evaluate([{"label": 7}], ["7", "8"], "parity"), "2 completions for 1 rows"),
        (lambda: llm.evaluate([{"label": 7}], [["7", "8"]], "parity"), "several completions to a "),
        (lambda: llm.evaluate([{"label": 7}], "7", "parity"), "Completions '7': expected a list"),
        (lambda: llm.trl_reward("parity")("7", label=[7]), "Completions '7': expected a list"),
        (lambda: llm.trl_reward("parity")(["7"], label=7), "Column 'label' is 7: expected a list"),
        (lambda: llm.trl_reward("parity")(["7"], label=[7, 8]), "has 2 values for 1 completions"),
    ],
)
def test_what_is_no_completion_or_row_is_refused(call, message):
    with pytest.raises(UsageError, match=message):
        call()


def test_completions_may_be_given_by_id():
    rows = [{"id": "a", "label": 7}, {"id": "b", "label": 8}]
    assert llm.evaluate(rows, {"b": "Answer: 8", "a": "3"}, "parity").accuracy == 0.5


def test_the_seed_and_variant_matter_where_the_rule_depends_on_them():
    one, two = (
        llm.prompts(synthbench.task("ctl", seed=seed), limit=1, preset="small")[0]
        for seed in (0, 1)
    )
    rule = [row["prompt"][0]["content"].split("\n\n")[0] for row in (one, two)]
    assert rule[0] != rule[1]
    backward = llm.prompts(synthbench.task("ctl", "backward"), limit=1, preset="small")[0]
    assert "stands last" in backward["prompt"][0]["content"]


@pytest.mark.parametrize("name", list_tasks())
def test_every_instruction_says_what_is_given_and_what_the_answer_is(name):
    for variant in task_class(name).variants:
        task = make_task(name, variant)
        assert len(task.instruction.split()) >= 12
        assert re.fullmatch(r"[A-Z].*[.?]", task.instruction, re.DOTALL)
        assert "answer" in task.instruction


def test_the_instruction_of_composites_lists_answers_that_are_read():
    for variant in task_class("composites").variants:
        task = make_task("composites", variant)
        names = task.instruction.rpartition("one of: ")[2].rstrip(".").split(", ")
        label = {name: task.read_answer({}, find_answer(task, f"Answer: {name}")) for name in names}
        assert None not in label.values()
        assert set(label.values()) == set(range(len(task.label_names)))


def test_a_reward_takes_columns_as_trl_gives_them():
    reward = llm.trl_reward("parity")
    completions = ["Answer: 7", [{"role": "assistant", "content": "Answer: 8"}], "no"]
    columns = {"label": [7, 8, 9], "prompts": ["?"] * 3, "trainer_state": None, "log_metric": print}
    assert reward(completions=completions, **columns) == [1.0, 1.0, 0.0]
    assert reward.__name__ == "synthbench_parity"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: llm.prompts("grid-count"), "neither a text nor an image"),
        (lambda: llm.trl_reward("identity"), "neither a text nor an image"),
        (lambda: llm.prompts("parity", "tset"), "Did you mean 'test'"),
        (lambda: llm.prompts("parity", limit=0), "Limit 0"),
        (lambda: llm.prompts("parity", shots=-1, preset="small"), "Shots -1"),
        (lambda: llm.prompts("parity", "train", shots=2, preset="small"), "rows of train"),
        (lambda: llm.evaluate([{"id": "a", "label": 1}], [], "parity"), "0 predictions"),
        (lambda: llm.prompts("lisops"), "task or dataset directory 'lisops'.* Did you mean 'list"),
        (lambda: llm.score("no-such-thing", {}, "7"), "task or dataset directory 'no-such-thing'"),
        (lambda: llm.score("parity", {"text": "3 4 7 2 ="}, "7"), "no column 'label'"),
        (lambda: llm.trl_reward("parity")(["7"], text=["1 2 3 4 ="]), "no column 'label'"),
    ],
)
def test_what_cannot_be_asked_is_refused(call, message):
    with pytest.raises(SynthbenchError, match=message):
        call()


def test_a_framework_that_is_missing_is_named_with_its_extra(monkeypatch):
    for module in ("inspect_tasks", "taskset"):
        monkeypatch.delitem(sys.modules, f"synthbench.llm.{module}", raising=False)
    for package in ("inspect_ai", "verifiers", "verifiers.v1"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SynthbenchError, match=r"pip install 'synthbench\[inspect\]'"):
        llm.inspect_task("parity")
    with pytest.raises(SynthbenchError, match=r"pip install 'synthbench\[verifiers\]'"):
        llm.verifiers_taskset("parity")
    with pytest.raises(UsageError):
        llm.prompts("parity", preset="tiny")
