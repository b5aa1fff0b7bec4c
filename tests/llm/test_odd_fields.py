"""Fields of any type: of a server's response, of kept replies, of a framework's entry."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthbench
from synthbench import llm
from synthbench.errors import DatasetError, SynthbenchError, UsageError
from synthbench.evaluation.chat_replies import ChatReply, read_chat_reply
from synthbench.llm import chat_server
from synthbench.llm.ask_report import AskReport
from synthbench.llm.kept_replies import KeptReplies
from synthbench.llm.mixtures import carried, carried_row
from synthbench.llm.scoring import reward_of
from synthbench.llm.verl import compute_score
from synthbench.sampling.preview import sample_rows
from synthbench.tasks.registry import list_tasks, task_class
from synthbench.tasks.registry import task as make_task
from synthbench.tasks.worked import worked_functions
from tests.llm.server import serve
from tests.odd import Odd, odd, refused

pytest.importorskip("httpx", reason="the extras ask, all and test have httpx")
SOME = settings(max_examples=60, deadline=None)
PARITY = synthbench.task("parity", level="easy")
ROW = {"id": "0a", **sample_rows(PARITY, "test", 1)[0]}

_numbers = st.sampled_from([0, 1, -1, 7, 2**53, 2**64, 10**400, 10**4299, 0.5, 1e308, -0.0])
#: Any JSON value; numbers of more digits than Python reads are written by hand in the tests.
json_values = st.recursive(
    st.none()
    | st.booleans()
    | _numbers
    | st.sampled_from(["", "7", "length", "\x1b[31m", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "id", "content", "a"]), inner, max_size=3)
    ),
    max_leaves=4,
).map(Odd)


def places(value, path=()):
    """The paths to a JSON value and to everything in it."""
    yield path
    if isinstance(value, dict | list):
        keys = value if isinstance(value, dict) else range(len(value))
        for key in keys:
            yield from places(value[key], (*path, key))


def replaced(value, path, by):
    """A JSON value with another value at a path."""
    if not path:
        return by
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(copy[path[0]], path[1:], by)
    return copy


RESPONSE = {
    "id": "chatcmpl-0",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "Answer: 3"}]},
        }
    ],
    "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
}
KEPT = {"id": ROW["id"], "sample": 0, "completion": "Answer: 3", "finish_reason": "stop"}
KEPT |= {"prompt_tokens": 10, "completion_tokens": 5}


def report_on(reply):
    report = AskReport.of(
        PARITY, "test", [ROW], {(ROW["id"], 0): reply}, samples=1, model="m", file=None,
        failures=(), asked=1, seconds=1.0,
    )  # fmt: skip
    assert str(report)
    json.dumps(report.to_dict())
    return report


@SOME
@given(json_values, st.sampled_from(list(places(RESPONSE))))
def test_a_field_of_a_response(drawn, path):
    try:
        reply = read_chat_reply(replaced(RESPONSE, path, drawn.value))
    except ValueError as error:
        assert str(error)
        return
    assert isinstance(reply, ChatReply)
    report_on(reply)


def test_responses_with_odd_fields_are_replies_or_counted_failures():
    values = [None, True, 10**4299, -1, 0.5, "x", [], [[1]], {}, {"a": None}]
    bodies = [
        json.dumps(replaced(RESPONSE, path, value)).encode()
        for path in places(RESPONSE)
        for value in values
    ]
    bodies += [json.dumps(RESPONSE).replace(" 10", f" {'9' * 5_000}").encode(), b"1" * 5_000]
    right = json.dumps(RESPONSE).encode()
    bodies = [body for odd in bodies for body in (right, odd)]  # ten failures in a row would end it
    count = len(bodies)
    many = synthbench.task("parity", level="hard")
    with serve(lambda messages: bodies.pop(0) if bodies else 500) as url:
        report = llm.ask(
            many, "tiny", url, limit=count, concurrency=1, retries=0, progress=False, api_key=""
        )
    assert bodies == []
    assert report.report.rows + len(report.failures) == count
    assert report.failures
    assert "requests got no reply" in str(report)


@SOME
@given(json_values, st.sampled_from(list(KEPT)), st.data())
def test_a_field_of_a_kept_reply(drawn, field, data):
    directory = data.draw(st.builds(_directory))
    with KeptReplies(directory, {"task": "parity"}) as kept:
        kept.add("1f", 0, ChatReply("Answer: 3", "stop", 1, 1))
    line = json.dumps({**KEPT, field: drawn.value})
    with (directory / "replies.jsonl").open("a") as file:
        file.write(f"{line}\n")
    try:
        with KeptReplies(directory, {"task": "parity"}) as kept:
            for reply in kept.replies.values():
                report_on(reply)
    except DatasetError as error:
        assert "replies.jsonl, line 2: " in str(error)
        assert len(str(error).splitlines()) == 1
    rows = [{**ROW, "id": name} for name in ("1f", ROW["id"])]
    refused(synthbench.evaluate, rows, directory / "replies.jsonl", PARITY)


def _directory():
    import tempfile
    from pathlib import Path

    return Path(tempfile.mkdtemp()) / "kept"


def is_reward(found):
    return isinstance(found, SynthbenchError) or found in (0.0, 1.0)


def judge(entry):
    return reward_of(*carried_row(entry), "Answer: 3")


ENTRY = carried(PARITY, ROW)


@settings(max_examples=300, deadline=None)
@given(odd | json_values, st.sampled_from(["all", "task", "row", "column", "argument"]), st.data())
def test_a_field_of_an_entry_that_a_framework_hands_back(drawn, field, data):
    value = drawn.value
    if field == "all":
        entry = value
    elif field in ENTRY:
        entry = {**ENTRY, field: value}
    else:
        try:
            text = json.dumps(value)
        except (TypeError, ValueError):
            return
        columns = json.loads(ENTRY["row"])
        if field == "column":
            name = data.draw(st.sampled_from([*columns, "other"]))
            entry = {**ENTRY, "row": json.dumps({**columns, name: value})}
        else:
            name = data.draw(st.sampled_from(["name", "variant", "seed", "level", "n_values", "x"]))
            entry = {**ENTRY, "task": f'parity {{"{name}": {text}}}'}
    assert is_reward(refused(judge, entry))
    assert is_reward(refused(compute_score, "synthbench", "Answer: 3", "3", entry))


def test_texts_that_carry_no_task_or_row_are_refused():
    deep = "[" * 100_000
    for entry in (
        {"task": f"parity {deep}", "row": "{}"},
        {"task": "parity", "row": deep},
        {"task": "parity", "row": '{"label": ' + "9" * 5_000 + "}"},
        {"task": 'parity {"source_dir": 3}', "row": "{}"},
        {"task": 'composites {"source_dir": [{}]}', "row": "{}"},
        {},
    ):
        with pytest.raises(UsageError):
            judge(entry)


def _alike(label):
    """Other ways in which a program may hold a right label."""
    if isinstance(label, int):
        return [str(label), float(label), np.float32(label), np.int64(label)]
    return [np.str_(label)]


LABELS = ["zz", "", "7", 7, -1, 10**400, 0.5, None, True, [], [[]], {}, {"a": 1}, b"7", object()]


@pytest.mark.parametrize(
    "name", [name for name in list_tasks() if worked_functions(task_class(name))]
)
def test_a_worked_solution_of_a_row_with_a_wrong_label_is_refused(name):
    task = make_task(name)
    row = sample_rows(task, task.splits[-1].name, 1)[0]
    solved = llm.worked_solution(task, row)
    for label in LABELS:
        found = refused(llm.worked_solution, task, {**row, "label": label})
        assert found == solved or isinstance(found, UsageError), label
    for label in _alike(row["label"]):
        assert refused(llm.worked_solution, task, {**row, "label": label}) == solved


def test_a_redirect_says_where_it_leads():
    for location, target in (
        ("https://example.org/v1/chat/completions", "https://example.org/v1"),
        ("/new/v1/chat/completions", "/new/v1"),
        ("https://example.org/login?to=%2F", "https://example.org/login?to=%2F"),
    ):
        for status in (301, 302, 307, 308):
            answer = (status, {"Location": location})
            with (
                serve(lambda messages, answer=answer: answer) as url,
                pytest.raises(SynthbenchError) as found,
            ):
                llm.ask(PARITY, "tiny", url, limit=1, progress=False, api_key="")
            text = str(found.value)
            assert f"status {status}: it redirects to " in text
            assert target in text
            assert "chat/completions" not in text
            assert "Redirects are not followed: give the address" in text


@pytest.mark.parametrize(
    "location", ["javascript:1", "mailto:x", "//[", "http://[::1", "http://h:99999/", "\xff", ""]
)
def test_a_redirect_to_no_address_is_a_clear_error(location):
    with (
        serve(lambda messages: (307, {"Location": location})) as url,
        pytest.raises(SynthbenchError, match=r"redirect|Invalid URL|status 307"),
    ):
        llm.ask(PARITY, "tiny", url, limit=1, retries=0, progress=False, api_key="")


@SOME
@given(odd)
def test_token_ids_of_any_type(drawn):
    reward = llm.trl_reward(PARITY, end_tokens=[2])
    row = {"label": [ROW["label"]] * 2}
    for ids in (drawn.value, [drawn.value, [1, 2]], [[drawn.value], [1, 2]]):
        found = refused(reward, ["Answer: 3", "3"], completion_ids=ids, **row)
        assert isinstance(found, UsageError) or set(found) <= {0.0, 1.0}


def test_a_wait_that_no_clock_can_hold_is_no_wait():
    for asked in (
        "nan", "-1", "x", "", "Thu, 01 Jan 0001 00:00:00 -0000", "Mon, 01 Jan 9999 00:00:00 +2359",
        "Thu, 32 Jan 2020 00:00:00 GMT", "Thu, 01 Jan 99999999999 00:00:00 GMT",
    ):  # fmt: skip
        wait = chat_server._wait({"Retry-After": asked})
        assert wait is None or wait >= 0
