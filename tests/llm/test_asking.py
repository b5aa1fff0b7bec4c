"""`llm.ask` against a server that answers, fails, stalls, limits its rate and sends rubbish."""

import collections
import json
import random
import sys
import threading
import time

import numpy as np
import pytest

import synthbench
from synthbench import llm
from synthbench.errors import DatasetError, SynthbenchError, UsageError
from synthbench.llm import chat_server
from synthbench.llm.ask_report import pass_rate
from tests.llm.server import completion, serve
from tests.support import run_program

pytest.importorskip("httpx", reason="the extras ask, all and test have httpx")


@pytest.fixture
def easy():
    return synthbench.task("parity", level="easy")


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Waits between tries take no time."""
    monkeypatch.setattr(chat_server, "_LONGEST_BACKOFF", 0.01)


def solved(messages):
    """The right answer to a row of parity."""
    text = messages[-1]["content"]
    (line,) = (line for line in text.splitlines() if line.endswith(" ="))
    return f"Answer: {synthbench.solve('parity', line)}"


def ask(task, url, **options):
    chosen = {"limit": 40, "preset": "small", "progress": False, "api_key": "", **options}
    return llm.ask(task, "tiny", url, **chosen)


def test_replies_are_scored_as_evaluate_scores_them_and_kept(easy, tmp_path):
    seen = []

    def answer(messages):
        seen.append(messages)
        return solved(messages) if len(seen) % 4 else "I cannot say."

    with serve(answer) as url:
        report = ask(easy, url, shots=2, system="Be brief.", out=tmp_path / "out")
    assert report.accuracy == report.report.accuracy == 30 / 40
    assert (len(report.unread), report.unread[0].reason) == (10, "no answer")
    assert (report.prompt_tokens, report.completion_tokens, report.asked) == (400, 200, 40)
    prompts = llm.prompts(easy, limit=40, preset="small", shots=2, system="Be brief.")
    assert sorted(map(str, seen)) == sorted(map(str, prompts["prompt"]))
    lines = (tmp_path / "out/replies.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["id"] for line in lines} == set(prompts["id"])
    again = synthbench.evaluate(list(prompts), tmp_path / "out/replies.jsonl", easy)
    assert (again.accuracy, again.parsed_as) == (30 / 40, {"text": 30})
    text = str(report)
    assert "tiny: 40 replies" in text
    assert "Tokens: 400 of prompts, 200 of replies" in text
    assert "10 replies without a readable answer are wrong: no answer (10)" in text
    assert text.count("'I cannot say.'") == 3
    json.dumps(report.to_dict())


def test_the_same_call_goes_on_and_may_ask_for_more(easy, tmp_path):
    seen = collections.Counter()

    def answer(messages):
        seen[str(messages)] += 1
        return solved(messages)

    out = tmp_path / "out"
    with serve(answer) as url:
        ask(easy, url, limit=10, out=out)
        with (out / "replies.jsonl").open("a") as file:
            file.write('{"id": "half a li')
        report = ask(easy, url, out=out)
        assert (report.asked, report.report.rows, report.accuracy) == (30, 40, 1.0)
        assert set(seen.values()) == {1}
        assert ask(easy, url, out=out).asked == 0
        report = ask(easy, url, samples=3, out=out)
        assert (report.asked, sum(seen.values())) == (80, 120)
        for wrong, text in (
            ({"system": "Hello."}, "has replies to another request: prompt is "),
            ({"request": {"temperature": 1}}, "request is {} there and {'temperature': 1} here"),
        ):
            with pytest.raises(UsageError, match=text):
                ask(easy, url, out=out, **wrong)
        with pytest.raises(UsageError, match="holds other files"):
            ask(easy, url, out=tmp_path)
        lines = (out / "replies.jsonl").read_bytes()
        (out / "replies.jsonl").write_bytes(b"rubbish\n" + lines)
        with pytest.raises(DatasetError, match=r"replies.jsonl, line 1: not valid JSON"):
            ask(easy, url, out=out)
    assert sum(seen.values()) == 120


def test_a_server_that_fails_stalls_and_talks_rubbish_gets_every_request_again(easy):
    troubles = [500, 503, b"", b"rubbish", b"[1]", b'{"choices": []}', b"[" * 10**5, b"\xff\xfe"]
    troubles += [b'{"choices": [{"message": {"content": 7}}]}', (429, {"Retry-After": "0"}), 408]
    troubles += ["stall", "stall", (429, {"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"})]
    done, lock, over = collections.Counter(), threading.Lock(), threading.Event()

    def answer(messages):
        with lock:
            done["asked"] += 1
            trouble = troubles.pop() if troubles and done["asked"] > 1 else None
        if trouble == "stall":
            over.wait(30)
        return solved(messages) if trouble is None else trouble

    with serve(answer) as url:
        report = ask(easy, url, timeout=4.0)
        over.set()
    assert (report.accuracy, report.report.rows, report.failures) == (1.0, 40, ())
    assert done["asked"] >= 40 + 14


def test_a_limit_of_the_rate_is_kept_by_all_requests(easy):
    times, lock = [], threading.Lock()

    def answer(messages):
        with lock:
            times.append(time.monotonic())
            return (429, {"Retry-After": "1"}) if len(times) == 5 else solved(messages)

    with serve(answer) as url:
        assert ask(easy, url, concurrency=2).accuracy == 1.0
    assert len(times) == 41
    assert max(np.diff(times)) > 0.8
    early = [one for one in times[5:] if one < times[4] + 0.8]
    assert len(early) <= 2  # which were under way


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_the_first_request_is_tried_as_often_as_every_other(easy, retries):
    count = collections.Counter()

    def answer(messages):
        count["asked"] += 1
        return 503

    with serve(answer) as url, pytest.raises(SynthbenchError, match="gives no reply: status 503"):
        ask(easy, url, retries=retries)
    assert count["asked"] == retries + 1


def test_the_first_request_waits_as_long_as_the_server_asks(easy):
    times = []

    def answer(messages):
        times.append(time.monotonic())
        return (429, {"Retry-After": "1"}) if len(times) == 1 else solved(messages)

    # The server takes the model under a name that it does not list.
    with serve(answer, listed=["another"]) as url:
        assert ask(easy, url, limit=1, retries=1).accuracy == 1.0
    assert len(times) == 2
    assert times[1] - times[0] > 0.8


@pytest.mark.parametrize("number", [0, 2])  # the first request, and another
def test_a_server_that_wants_too_long_a_wait_is_not_waited_for(easy, monkeypatch, number):
    monkeypatch.setattr(chat_server, "_LONGEST_WAIT", 0.5)
    count = collections.Counter()

    def answer(messages):
        count["asked"] += 1
        return (429, {"Retry-After": "1"}) if count["asked"] == number + 1 else solved(messages)

    with serve(answer) as url:
        if number == 0:
            with pytest.raises(SynthbenchError, match="gives no reply: status 429: Slower, please"):
                ask(easy, url, limit=4)
        else:
            report = ask(easy, url, limit=4, concurrency=1)
            assert report.failures == ("status 429: Slower, please.",)
    assert count["asked"] == (4 if number else 1)


def test_what_fails_for_good_is_told_and_asked_again_next_time(easy, tmp_path):
    hard = llm.prompts(easy, limit=40, preset="small")["text"][7]

    def answer(messages):
        return 400 if hard in messages[-1]["content"] else solved(messages)

    with serve(answer) as url:
        report = ask(easy, url, out=tmp_path / "out")
        assert (report.report.rows, report.accuracy) == (39, 1.0)
        assert report.failures == ("status 400: The server is not well.",)
        assert "1 requests got no reply, such as: status 400" in str(report)
    with serve(solved) as url:
        report = ask(easy, url, out=tmp_path / "out")
    assert (report.asked, report.report.rows, report.failures) == (1, 40, ())


def test_a_server_that_dies_ends_the_run_and_what_it_said_is_kept(easy, tmp_path):
    count = collections.Counter()

    def answer(messages):
        count["asked"] += 1
        return solved(messages) if count["asked"] <= 12 else 500

    with (
        serve(answer) as url,
        pytest.raises(SynthbenchError, match=r"10 requests in a row got no reply.*status 500"),
    ):
        ask(easy, url, retries=1, out=tmp_path / "out")
    with serve(solved) as url:
        assert ask(easy, url, out=tmp_path / "out").asked == 28


def test_failures_between_replies_end_nothing_however_many_they_are(easy):
    count = collections.Counter()

    def answer(messages):
        count["asked"] += 1
        return solved(messages) if count["asked"] % 3 == 1 else 400

    with serve(answer) as url:
        report = ask(easy, url, concurrency=1)
    assert (len(report.failures), report.report.rows, report.accuracy) == (26, 14, 1.0)


def test_a_directory_that_was_refused_is_free_again(easy, tmp_path):
    out = tmp_path / "out"
    with serve(solved) as url:
        ask(easy, url, limit=2, out=out)
        try:
            ask(easy, url, limit=3, out=out, system="Hello.")
        except UsageError:  # which holds all that the refused call had open
            assert ask(easy, url, limit=3, out=out).asked == 1
        else:
            raise AssertionError("replies to another request were taken")


def test_a_description_that_ask_did_not_write_is_named(easy, tmp_path):
    out = tmp_path / "out"
    with serve(solved) as url:
        ask(easy, url, limit=2, out=out)
        there = json.loads((out / "ask.json").read_text("utf-8"))
        lacking = {name: value for name, value in there.items() if name != "seed"}
        for wrong, found in (
            ({**there, "note": None}, r"Found \['task', .*'prompt', 'note'\]"),
            (lacking, r"Found \['task', 'variant', 'parameters', "),
            ([], r"Found \[\]"),
        ):
            (out / "ask.json").write_text(json.dumps(wrong), "utf-8")
            text = rf"ask.json is not what ask writes: expected an object with task, .*. {found}"
            with pytest.raises(DatasetError, match=text):
                ask(easy, url, limit=3, out=out)
        (out / "ask.json").write_text(json.dumps(there), "utf-8")
        assert ask(easy, url, limit=3, out=out).asked == 1


def test_an_interrupted_run_stops_at_once_and_goes_on(easy, tmp_path, monkeypatch):
    from synthbench.llm.kept_replies import KeptReplies

    add = KeptReplies.add

    def interrupted(self, *reply):
        add(self, *reply)
        if len(self.replies) == 9:
            raise KeyboardInterrupt

    with serve(solved) as url:
        monkeypatch.setattr(KeptReplies, "add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ask(easy, url, out=tmp_path / "out")
        monkeypatch.setattr(KeptReplies, "add", add)
        report = ask(easy, url, out=tmp_path / "out")
    assert report.report.rows == 40
    assert 31 >= report.asked >= 31 - 16


def test_what_is_wrong_with_server_key_or_model_is_said_in_two_lines(easy, tmp_path):
    with serve(solved, models=["tiny", "smollm2"], key="sk-secret") as url:
        for model, key, kind, text in (
            (
                "tiny",
                "sk-wrong",
                SynthbenchError,
                r"status 401: Incorrect .*\*\*\*\nThe server ",
            ),
            ("smolm2", "sk-secret", UsageError, "model 'smolm2'. Allowed: .*mean 'smollm2'"),
            ("tiny", "schlüssel", UsageError, "The key has characters"),
        ):
            with pytest.raises(kind, match=text) as found:
                llm.ask(easy, model, url, api_key=key, preset="small", out=tmp_path / "out")
            assert "sk-wrong" not in str(found.value)
            assert len(str(found.value).splitlines()) <= 2
            assert not (tmp_path / "out").exists()
    for status in (400, 404, 422):  # servers differ in the status
        with (
            serve(lambda messages, status=status: status, listed=["smollm2"]) as url,
            pytest.raises(UsageError, match=r"model 'tiny'. Allowed: smollm2") as found,
        ):
            ask(easy, url, retries=100)
        # The server may know the model by an alias and refuse something else.
        said = f"The server says: status {status}: The server is not well."
        assert str(found.value).splitlines()[1] == said
    with (
        serve(lambda messages: 500, models=["smollm2"]) as url,
        pytest.raises(SynthbenchError, match="gives no reply: status 500: The server is not"),
    ):
        llm.ask(easy, "smollm2", url, retries=2, preset="small")
    begun = time.monotonic()
    with pytest.raises(SynthbenchError, match="gives no reply: "):
        ask(easy, url)  # where nobody listens any more
    assert time.monotonic() - begun < 5
    for wrong in (
        *("127.0.0.1:8000", "ftp://host/v1", "http://", "", "http://[::1/v1"),
        *("http://127.0.0.1:99999/v1", "http://host:0/v1", "http://xn--.example/v1"),
    ):
        with pytest.raises(UsageError, match="expected the address of a server"):
            ask(easy, wrong, out=tmp_path / "out")
        assert not (tmp_path / "out").exists()


def test_no_error_shows_the_key_or_half_of_it(easy):
    key = "sk-" + 40 * "secret"
    text = f"Your key is {key}."
    for start in (0, 50, 180, 280):  # before and across each place where texts are cut
        body = json.dumps({"message": start * "x" + text}).encode()
        with (
            serve(lambda messages, body=body: body) as url,
            pytest.raises(SynthbenchError, match="not a chat completion") as at_200,
        ):
            ask(easy, url, retries=0, api_key=key)
        with (
            serve(solved, key=start * "x") as url,
            pytest.raises(SynthbenchError, match="status 401") as at_401,
        ):
            ask(easy, url, api_key=start * "y" + key)
        assert "secret" not in f"{at_200.value} {at_401.value}"


@pytest.mark.parametrize(
    ("variable", "value", "kind", "text"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:1", SynthbenchError, r"pip install 'httpx\[socks\]'"),
        ("ALL_PROXY", "gopher://127.0.0.1:1", UsageError, "ALL_PROXY, .*gopher"),
        ("HTTP_PROXY", "http://127.0.0.1:99999", UsageError, "HTTP_PROXY, .*out of range 0-65535"),
        ("SSL_CERT_FILE", "/no/such.pem", UsageError, "SSL_CERT_FILE '/no/such.pem': expected"),
        ("SSL_CERT_FILE", __file__, UsageError, "SSL_CERT_FILE .*: expected a file with certif"),
    ],
)
def test_what_the_environment_names_and_cannot_be_used_is_told(
    easy, monkeypatch, variable, value, kind, text
):
    for name in ("all_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setitem(sys.modules, "socksio", None)  # as if it were not installed
    monkeypatch.setenv(variable, value)
    with pytest.raises(SynthbenchError, match=text) as found:
        ask(easy, "http://127.0.0.1:9/v1")
    assert type(found.value) is kind


def test_a_response_that_cannot_be_decoded_is_told_in_one_line(tmp_path):
    """In a process of its own: asyncio complains only when the objects of a loop are destroyed."""
    words = ["ask", "parity", "--model", "tiny", "--level", "easy", "--retries", "0", "-n", "1"]
    with serve(lambda messages: (200, {"Content-Encoding": "gzip"})) as url:
        done = run_program(*words, "--base-url", url, cwd=tmp_path)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"Error: {url} gives no reply: ")


def test_options_that_are_not_allowed_are_refused_before_any_request(easy):
    for options, text in (
        ({"samples": 0}, "Samples 0"),
        ({"samples": 2, "request": {"temperature": 0}}, "all replies to a row are alike"),
        ({"request": {"n": 2}}, "field 'n' is set by ask"),
        ({"request": {"temperature": float("nan")}}, "'temperature' is nan: allowed are .*finite"),
        ({"request": {"bias": {"7": [1.0, float("-inf")]}}}, "'bias' is {'7': .*-inf"),
        ({"request": {"stop": {"x"}}}, "'stop' is {'x'}: allowed are texts"),
        ({"request": {"stop": "\ud800"}}, "'stop' is '.ud800': allowed are texts"),
        ({"shots": 9_999}, "Shots 9,999: train has 100 rows. Allowed .* from 0 to 100"),
        ({"concurrency": 0}, "Concurrency 0"),
        ({"retries": -1}, "Retries -1"),
        ({"timeout": 0.0}, "Timeout 0"),
        ({"timeout": float("nan")}, "Timeout nan"),
        ({"offset": 10**6}, "Offset 1,000,000"),
        ({"split": "tset"}, "Did you mean 'test'"),
    ):
        with pytest.raises(UsageError, match=text):
            ask(easy, "http://127.0.0.1:9/v1", **options)


def test_samples_give_pass_at_k_by_bucket(tiny):
    counts, lock = collections.Counter(), threading.Lock()
    task = synthbench.DatasetDirectory.open(tiny("listops")).make_task()
    rows = llm.prompts(tiny("listops"), limit=20)
    answers = {row["text"]: row["answer"] for row in rows}

    def answer(messages):
        """Right once of four times for the even rows, and always for the others."""
        (text,) = (one for one in answers if one in messages[-1]["content"].split("\n\n"))
        with lock:
            counts[text] += 1
            right = list(answers).index(text) % 2 or counts[text] == 2
        return f"Answer: {answers[text]}" if right else "No."

    with serve(answer) as url:
        report = llm.ask(tiny("listops"), "tiny", url, limit=20, samples=4, progress=False)
    assert set(counts.values()) == {4}
    whole = report.passed["all"]["all"]
    assert whole.metrics == pytest.approx({"pass@1": 0.625, "pass@2": 0.75, "pass@4": 1.0})
    assert report.accuracy == 0.625
    low, high = whole.intervals["pass@1"]
    assert low < 0.5 < 0.625 < high  # as wide as of 20 rows, not of 80 replies
    assert sum(score.rows for score in report.passed["dependency_depth"].values()) == 20
    assert {one.column for one in task.group_by} | {"all"} == report.passed.keys()
    assert "pass@4" in str(report)
    assert report.to_dict()["pass"]["all"]["all"]["pass@2"] == pytest.approx(0.75)


def test_the_estimate_of_pass_at_k_has_no_bias():
    chance = random.Random(0)
    samples, tries, rate = 6, 3, 0.3
    drawn = [sum(chance.random() < rate for _ in range(samples)) for _ in range(20_000)]
    mean = sum(pass_rate(right, samples, tries) for right in drawn) / len(drawn)
    assert mean == pytest.approx(1 - (1 - rate) ** tries, abs=0.01)
    assert [pass_rate(right, 4, 4) for right in range(5)] == [0.0, 1.0, 1.0, 1.0, 1.0]


def test_a_server_that_does_not_count_tokens_is_believed(easy):
    def answer(messages):
        body = json.loads(completion("tiny", solved(messages)))
        body["choices"][0]["message"]["content"] = [{"type": "text", "text": solved(messages)}]
        del body["usage"]
        return json.dumps(body).encode()

    with serve(answer) as url:
        report = ask(easy, url)
    assert (report.accuracy, report.prompt_tokens) == (1.0, None)
    assert "Token usage: not reported" in str(report)


def test_images_are_sent_and_scored(tiny):
    seen = []
    answers = {row["id"]: row["answer"] for row in llm.prompts(tiny("composites"), limit=3)}

    def answer(messages):
        seen.append(messages[0]["content"])
        return f"Answer: {next(iter(answers.values()))}"

    with serve(answer) as url:
        report = llm.ask(tiny("composites"), "tiny", url, limit=3, progress=False, api_key="")
    right = sum(one == next(iter(answers.values())) for one in answers.values())
    assert report.accuracy == pytest.approx(right / 3)
    for picture, text in seen:
        assert picture["image_url"]["url"].startswith("data:image/png;base64,")
        assert "four quadrants" in text["text"]
