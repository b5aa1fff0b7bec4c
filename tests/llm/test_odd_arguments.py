"""Arguments of any type: a result that makes sense, or an error of ours that says what is wrong."""

import json

from hypothesis import given
from hypothesis import strategies as st

from synthbench import llm
from synthbench.dataset.files import read_json
from synthbench.errors import SynthbenchError
from synthbench.evaluation.report import Report
from synthbench.llm.request_fields import check_request_fields
from tests.odd import MANY, odd, refused, words

ROW = {"text": "3 4 7 2 =", "label": 7}


def is_reward(value):
    return isinstance(value, SynthbenchError) or value in (0.0, 1.0)


@MANY
@given(odd, st.sampled_from(words("task row completion label")))
def test_score(drawn, argument):
    value = drawn.value
    arguments = {"task": "parity", "row": ROW, "completion": "Answer: 7"}
    if argument == "label":
        arguments["row"] = {"label": value}
    else:
        arguments[argument] = value
    assert is_reward(refused(llm.score, **arguments))


@MANY
@given(odd, st.sampled_from(words("task completions label a prompts")))
def test_trl_reward(drawn, argument):
    value = drawn.value
    if argument == "task":
        found = refused(llm.trl_reward, value)
        assert isinstance(found, SynthbenchError) or callable(found)
        return
    arguments = {"completions": ["Answer: 7", "8"], "label": [7, 7], argument: value}
    found = refused(llm.trl_reward("parity"), **arguments)
    assert isinstance(found, SynthbenchError) or (
        isinstance(found, list) and all(map(is_reward, found))
    )


@MANY
@given(odd, st.sampled_from(["task", "data", "completions", "a completion", "label"]))
def test_evaluate(drawn, argument):
    value = drawn.value
    rows = [{"id": "a", **ROW}, {"id": "b", **ROW}]
    arguments = {"task": "parity", "data": rows, "completions": ["Answer: 7", "8"]}
    if argument == "a completion":
        arguments["completions"] = ["7", value]
    elif argument == "label":
        arguments["data"] = [rows[0], {**rows[1], "label": value}]
    else:
        arguments[argument] = value
    assert isinstance(refused(llm.evaluate, **arguments), SynthbenchError | Report)


@MANY
@given(
    odd,
    st.sampled_from(words("task split limit preset rows shots")),
)
def test_prompts(drawn, argument):
    value = drawn.value
    arguments = {"task": "parity", "limit": 1, "preset": "small", argument: value}
    found = refused(llm.prompts, **arguments)
    assert isinstance(found, SynthbenchError) or len(found) >= 1


@MANY
@given(
    odd,
    st.sampled_from(words("task levels split seed up down window state")),
)
def test_a_curriculum(drawn, argument):
    value = drawn.value
    if argument == "state":
        curriculum = llm.Curriculum("parity")
        found = refused(curriculum.load_state_dict, value)
        assert isinstance(found, SynthbenchError)
        assert curriculum.state_dict() == llm.Curriculum("parity").state_dict()
        return
    made = refused(llm.Curriculum, **{"task": "parity", argument: value})
    assert isinstance(made, SynthbenchError) or "prompt" in next(iter(made))


curriculum = llm.Curriculum("parity")
START = curriculum.state_dict()


@MANY
@given(odd, st.sampled_from(words("completions level label a")))
def test_the_reward_of_a_curriculum(drawn, argument):
    value = drawn.value
    curriculum.load_state_dict(START)
    columns = {"label": [4, 4], "level": ["easy", "easy"], "completions": ["4", "5"]}
    found = refused(curriculum.reward, **{**columns, argument: value})
    assert isinstance(found, SynthbenchError) or all(map(is_reward, found))
    kept = 0 if isinstance(found, SynthbenchError) else len(found)
    assert len(curriculum.state_dict()["rewards"]) == kept


@MANY
@given(odd)
def test_a_field_of_a_request(drawn):
    fields = {"field": drawn.value}
    found = refused(check_request_fields, fields, "ask")
    assert isinstance(found, SynthbenchError) or read_json(json.dumps(fields).encode())


@MANY
@given(odd, st.sampled_from(words("task split limit preset rows")))
def test_demonstrations(drawn, argument):
    value = drawn.value
    arguments = {"task": "parity", "limit": 1, "preset": "small", argument: value}
    found = refused(llm.sft_examples, **arguments)
    assert isinstance(found, SynthbenchError) or len(found) >= 1
