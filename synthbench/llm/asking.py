"""Ask a model behind a server: prompts to it, its replies to a file, a report on them."""

from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import contextlib
import dataclasses
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synthbench.arguments import checked
from synthbench.checks import check_whole_number, needs
from synthbench.errors import SynthbenchError, UsageError
from synthbench.evaluation.chat_replies import ChatReply
from synthbench.llm.ask_report import AskReport
from synthbench.llm.conversations import Conversation
from synthbench.llm.kept_replies import REPLIES, KeptReplies
from synthbench.llm.prompts import askable, open_rows
from synthbench.llm.request_fields import check_request_fields, fields_of_sample, request_fields
from synthbench.tasks.base import Task
from synthbench.text.progress import Bar, progress_bar

if TYPE_CHECKING:
    from synthbench.llm.chat_server import ChatServer

#: After so many failed requests without a success between them, nothing more is asked.
_MOST_FAILURES = 10
#: Where the key is looked for by default.
KEY_VARIABLE = "OPENAI_API_KEY"


@checked
def ask(
    task: str | Task | PathLike[str],
    model: str,
    base_url: str,
    *,
    split: str = "test",
    limit: int | None = 100,
    offset: int = 0,
    preset: str = "paper",
    shots: int = 0,
    system: str | None = None,
    samples: int = 1,
    request: Mapping[str, Any] | None = None,
    out: str | PathLike[str] | None = None,
    api_key: str | None = None,
    concurrency: int = 16,
    retries: int = 8,
    timeout: float = 300.0,
    progress: bool = True,
) -> AskReport:
    """Ask a model behind a server that speaks OpenAI's chat interface, and score its replies.

    vLLM, llama.cpp, Ollama, `transformers serve` and hosted services speak it. Requests that fail
    for reasons that may pass (no connection, no reply in time, statuses 408, 409, 425, 429 and from
    500 on, a malformed response) are tried again, after 1, 2, 4, ... up to 60 seconds, or as
    long as the server asks for.

    Args:
        task: a task, its name, or a dataset directory, as in `prompts`.
        model: the model's name at the server.
        base_url: the server's address, such as `http://127.0.0.1:8000/v1`.
        split: the split.
        limit: how many rows; None for all.
        offset: leave out so many rows before the first.
        preset: "paper" or "small". Not allowed with a directory.
        shots: worked examples before each question, as in `prompts`.
        system: a system message.
        samples: how many replies to each row.
        request: further fields of every request, such as `{"temperature": 0, "max_tokens": 64}`;
            what is not given is the server's choice. With a `seed` each request has a seed of its
            own: 31 bits of the SHA-256 of the seed, the row's id and the number of the sample.
        out: a directory where replies are kept, each as it comes. The same call with it continues
            where it stopped, and may ask for more rows or samples. Default: they are not kept.
        api_key: the key. Default: the environment variable OPENAI_API_KEY, if it is set.
        concurrency: how many requests are under way at once.
        retries: how often a request is tried again.
        timeout: seconds that one try may take.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        The report. A row counts if it has all its samples.

    Raises:
        UsageError: an unknown name, an option or an address that is not allowed, a model that the
            server does not have, or a directory with replies to another request.
        SynthbenchError: httpx is not installed, or socksio, which SOCKS proxies need, or the
            server cannot be reached, refuses the key or fails too often. Replies until then are
            kept.
    """
    with needs("ask", "httpx", "ask"):
        from synthbench.llm.chat_server import ChatServer
    fields = request_fields(request)
    _check_options(model, samples, fields, concurrency, retries, timeout)
    key = os.environ.get(KEY_VARIABLE) if api_key is None else api_key
    server = ChatServer(base_url, key, timeout, retries)
    asked_rows = open_rows(askable(task), split, limit, offset=offset, preset=preset)
    task, conversation = asked_rows.task, asked_rows.conversation(shots, system)
    rows = list(asked_rows.rows())
    identity = {
        "task": task.name,
        "variant": task.variant,
        "seed": task.seed,
        "parameters": task.parameters.to_dict(),
        "model": model,
        "request": fields,
        "prompt": conversation.ask(None),  # what all prompts share
    }
    directory = None if out is None else Path(out)
    with KeptReplies(directory, identity) as kept:
        places = [(row, sample) for row in rows for sample in range(samples)]
        missing = [place for place in places if (place[0]["id"], place[1]) not in kept.replies]
        title = f"ask {task.name}"
        done = len(places) - len(missing)
        with progress_bar(progress, title, "replies", len(places), done) as bar:
            run = _Run(server, model, fields, conversation, kept, bar)
            if missing:
                run.ask_all(missing, concurrency)
        return AskReport.of(
            task,
            split,
            rows,
            kept.replies,
            samples=samples,
            model=model,
            file=None if directory is None else str(directory / REPLIES),
            failures=tuple(run.failures),
            asked=len(missing) - len(run.failures),
            seconds=run.seconds,
        )


def _check_options(
    model: str,
    samples: int,
    fields: Mapping[str, Any],
    concurrency: int,
    retries: int,
    timeout: float,
) -> None:
    if not model:
        raise UsageError("Model '': expected the model's name at the server.")
    check_whole_number("Samples", samples, least=1, most=10_000)
    check_whole_number("Concurrency", concurrency, least=1, most=1_024)
    check_whole_number("Retries", retries, least=0, most=100)
    if not 0 < timeout < float("inf"):
        raise UsageError(f"Timeout {timeout:g}: expected a number of seconds above 0.")
    check_request_fields(fields, "ask")
    if samples > 1 and fields.get("temperature") == 0:
        raise UsageError(f"Samples {samples}: with temperature 0 all replies to a row are alike.")


@dataclasses.dataclass
class _Run:
    """The requests of one call.

    Attributes:
        failures: why requests got no reply, one text for each.
        seconds: how long it took.
    """

    server: ChatServer
    model: str
    fields: Mapping[str, Any]
    conversation: Conversation
    kept: KeptReplies
    bar: Bar
    failures: list[str] = dataclasses.field(default_factory=list)
    seconds: float = 0.0
    _in_a_row: int = 0
    _tokens: int = 0

    def ask_all(self, places: Sequence[tuple[Mapping[str, Any], int]], concurrency: int) -> None:
        """Ask rows, each for one sample.

        The event loop runs in a thread of its own, because a notebook's thread has one already.
        """
        loop = asyncio.new_event_loop()
        todo = collections.deque(places)
        main = loop.create_task(self._work_off(todo, concurrency))
        begun = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            running = pool.submit(_run_to_its_end, loop, main)
            try:
                running.result()
            except BaseException:
                if not running.done():
                    loop.call_soon_threadsafe(main.cancel)
                raise
            finally:
                concurrent.futures.wait([running])
                loop.close()
                self.seconds = time.monotonic() - begun

    async def _work_off(
        self, todo: collections.deque[tuple[Mapping[str, Any], int]], concurrency: int
    ) -> None:
        from synthbench.llm.chat_server import NoReplyError

        async with self.server as server:

            async def work() -> None:
                while todo:
                    row, sample = todo.popleft()
                    try:
                        await self._ask(server.reply, row, sample)
                    except NoReplyError as error:
                        self._failed(error)

            # One request alone shows whether address, key and model are right.
            await self._ask(server.first_reply, *todo.popleft())
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(concurrency, len(todo))):
                        group.create_task(work())
            except BaseExceptionGroup as errors:
                raise errors.exceptions[0] from None

    async def _ask(
        self,
        reply_to: Callable[[Mapping[str, Any]], Awaitable[ChatReply]],
        row: Mapping[str, Any],
        sample: int,
    ) -> None:
        messages = self.conversation.messages(row)
        fields = fields_of_sample(self.fields, row["id"], sample)
        reply = await reply_to({"model": self.model, "messages": messages, **fields})
        self.kept.add(row["id"], sample, reply)
        self._in_a_row = 0
        self._tokens += reply.completion_tokens or 0
        self.bar.update(1, now=self.bar.rate(self._tokens, "tokens") if self._tokens else None)

    def _failed(self, error: Exception) -> None:
        self.failures.append(str(error))
        self._in_a_row += 1
        if self._in_a_row == _MOST_FAILURES:
            raise SynthbenchError(
                f"{self._in_a_row} requests in a row got no reply, the last: {error}.\n"
                f"{len(self.kept.replies):,} replies are there. The same call asks for the others."
            )


def _run_to_its_end(loop: asyncio.AbstractEventLoop, main: asyncio.Task[None]) -> None:
    """Run a task, then whatever it leaves open. Asyncio complains of what ends with the loop."""
    try:
        loop.run_until_complete(main)
    finally:
        if not main.done():  # an interrupt in a task stops the loop while other tasks still run
            main.cancel()
            with contextlib.suppress(asyncio.CancelledError, KeyboardInterrupt):
                loop.run_until_complete(main)
        loop.run_until_complete(loop.shutdown_asyncgens())
