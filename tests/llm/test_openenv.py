"""OpenEnv's own server and client reach our environment over a WebSocket."""

import importlib.util
import json
import threading

import pytest

if importlib.util.find_spec("openenv") is None:
    pytest.skip("openenv is not installed: pip install openenv", allow_module_level=True)

import uvicorn
from fastapi.testclient import TestClient
from openenv.core.generic_client import GenericEnvClient
from websockets.sync.client import connect

import synthbench
from synthbench.errors import UsageError
from synthbench.llm.openenv import SynthbenchAction, SynthbenchEnvironment, make_app
from synthbench.tasks.spec import task_of

pytestmark = [pytest.mark.dev, pytest.mark.filterwarnings("default")]
MIXTURE = {"listops": 2, "parity": 1}


def test_the_same_seed_asks_the_same_row_in_every_environment():
    one, other = (SynthbenchEnvironment(MIXTURE, split="test") for _ in range(2))
    names = []
    for seed in (7, 8, 9, 7):
        asked = one.reset(seed=seed, episode_id="a")
        assert asked == other.reset(seed=seed)
        assert (asked.done, asked.reward, asked.answer) == (False, None, "")
        state = one.state
        assert (state.seed, state.episode_id, state.step_count) == (seed, "a", 0)
        names.append(state.task)
        text = asked.prompt.split("\n\n")[1]
        assert synthbench.is_held_out(task_of(state.task), text)
        answer = str(synthbench.solve(state.task, text))
        judged = one.step(SynthbenchAction(message=f"Answer: {answer}"))
        assert (judged.done, judged.reward, judged.answer) == (True, 1.0, answer)
        assert other.step(SynthbenchAction(message="It is 3 or 4")).reward == 0.0
        for reason, reward in (("length", 0.0), ("stop", 1.0)):
            other.reset(seed=seed)
            truncated = SynthbenchAction(message=f"So:\n{answer}", finish_reason=reason)
            assert other.step(truncated).reward == reward
    assert names[0] == names[3]
    assert set(names) == {"listops", "parity"}


def test_without_a_seed_the_row_is_any_and_its_seed_is_told():
    environment = SynthbenchEnvironment("parity")
    asked = environment.reset()
    seed = environment.state.seed
    assert SynthbenchEnvironment("parity").reset(seed=seed) == asked
    assert environment.reset() is not None
    assert environment.state.seed != seed


def test_a_step_without_a_question_and_other_tasks_are_refused():
    environment = SynthbenchEnvironment("parity")
    with pytest.raises(UsageError, match="call reset before every step"):
        environment.step(SynthbenchAction(message="7"))
    for task, split, said in (
        ("composites", "test", "its rows are images"),
        ("parity", "tests", "Unknown split"),
        ("parit", "test", "Unknown task"),
    ):
        with pytest.raises(UsageError, match=said):
            make_app(task, split)


@pytest.fixture(scope="module")
def address():
    config = uvicorn.Config(make_app(MIXTURE), port=0, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.05)
        assert thread.is_alive()
    (port,) = (one.getsockname()[1] for one in server.servers[0].sockets[:1])
    yield f"127.0.0.1:{port}"
    server.should_exit = True
    thread.join(20)


def test_a_step_over_http_names_the_seed_of_its_row():
    with TestClient(make_app(MIXTURE)) as client:
        for seed in (0, 3, None):
            asked = client.post("/reset", json={} if seed is None else {"seed": seed})
            assert asked.status_code == 200
            asked = asked.json()["observation"]
            assert asked["seed"] == seed or seed is None
            environment = SynthbenchEnvironment(MIXTURE)
            assert environment.reset(seed=asked["seed"]).prompt == asked["prompt"]
            answer = synthbench.solve(environment.state.task, asked["prompt"].split("\n\n")[1])
            for message, reward in ((f"Answer: {answer}", 1.0), ("It is 3 or 4", 0.0)):
                step = {"action": {"message": message}, "seed": asked["seed"]}
                judged = client.post("/step", json=step)
                assert judged.status_code == 200
                judged = judged.json()
                assert (judged["reward"], judged["done"]) == (reward, True)
                assert judged["observation"]["answer"] == str(answer)
                assert judged["observation"]["seed"] == asked["seed"]


def test_requests_that_cannot_be_answered_say_why():
    with TestClient(make_app("parity")) as client:
        refused = client.post("/step", json={"action": {"message": "7"}})
        assert refused.status_code == 422
        assert "give the seed that reset has answered" in refused.json()["detail"]
        for odd in (-1, 1.5, "3", True, [], {}, [3], {"a": 1}, 10**400):
            for path, body in (
                ("/step", {"action": {"message": "7"}, "seed": odd}),
                ("/reset", {"seed": odd}),
                ("/step", {"action": {"message": odd}, "seed": 3}),
                ("/step", {"action": odd, "seed": 3}),
                ("/reset", {"seed": 3, "split": odd, "index": odd}),
            ):
                status = client.post(path, json=body).status_code
                assert status in (200, 422), (path, body)
        assert client.get("/state").json()["seed"] is None
        assert client.get("/list_environments").json() == ["synthbench"]
        for route in ("splits", "tasks", "num_tasks", "task", "task_range"):
            path = f"/synthbench/{route}"
            assert client.get(path).status_code == 404
            assert client.post(path, json={"split": "train", "index": 0}).status_code == 404
        paths = client.get("/openapi.json").json()["paths"]
        assert not [path for path in paths if "env_name" in path]


@pytest.mark.slow
def test_over_the_websocket_as_the_protocol_writes_it(address):
    def said(socket, **message):
        socket.send(json.dumps(message))
        return json.loads(socket.recv(timeout=30))["data"]

    with connect(f"ws://{address}/ws") as one, connect(f"ws://{address}/ws") as other:
        asked = said(one, type="reset", data={"seed": 7})
        assert asked == said(other, type="reset", data={"seed": 7})
        assert asked["done"] is False
        local = SynthbenchEnvironment(MIXTURE)
        assert asked["observation"]["prompt"] == local.reset(seed=7).prompt
        task = local.state.task
        answer = synthbench.solve(task, asked["observation"]["prompt"].split("\n\n")[1])
        right = said(one, type="step", data={"message": f"Answer: {answer}"})
        wrong = said(other, type="step", data={"message": "It is 3 or 4"})
        assert (right["reward"], right["done"], wrong["reward"]) == (1.0, True, 0.0)
        assert said(one, type="state")["seed"] == 7


@pytest.mark.slow
def test_openenvs_own_client(address):
    with GenericEnvClient(base_url=f"http://{address}").sync() as client:
        first = client.reset(seed=11)
        assert client.reset(seed=11).observation == first.observation
        judged = client.step({"message": "I cannot say."})
        assert (judged.reward, judged.done) == (0.0, True)
