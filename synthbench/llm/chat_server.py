"""A server that speaks OpenAI's chat interface, asked many times at once, with retries."""

from __future__ import annotations

import asyncio
import contextlib
import email.utils
import json
import os
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

import httpx

from synthbench.dataset.files import read_json
from synthbench.errors import SynthbenchError, UsageError, unknown_name
from synthbench.evaluation.chat_replies import ChatReply, read_chat_reply
from synthbench.text.lines import one_line, short

#: The longest wait between two tries, and the longest that a server may ask for, in seconds.
_LONGEST_BACKOFF, _LONGEST_WAIT = 60.0, 600.0
#: The largest response that is read, in bytes.
_LARGEST = 1 << 24
#: Responses that may be different another time, other than those from 500 on.
_PASSING = {408, 409, 425, 429}
_COMPLETIONS = "chat/completions"
_REMEDIES = {
    **dict.fromkeys(
        (301, 302, 303, 307, 308), "Redirects are not followed: give the address to which it leads."
    ),
    401: "The server does not accept the key: set OPENAI_API_KEY, or give api_key.",
    403: "The key may not use this model or server.",
    404: "The URL of most servers ends in /v1.",
}


class NoReplyError(Exception):
    """A request that got no reply.

    Attributes:
        status: of the response; None without a response.
        passing: whether another try may succeed.
        wait: how many seconds the server asks to wait; None if it does not say.
    """

    def __init__(
        self,
        text: str,
        status: int | None = None,
        *,
        passing: bool = True,
        wait: float | None = None,
    ) -> None:
        super().__init__(text)
        self.status, self.passing, self.wait = status, passing, wait


class ChatServer:
    """A server. To be used in an `async with` block.

    Args:
        base_url: its address, such as `http://127.0.0.1:8000/v1`.
        api_key: the key, or None.
        timeout: seconds that one try may take.
        retries: how often a request is tried again.

    Raises:
        UsageError: a wrong address, a key that cannot be sent, or environment variables of a
            proxy or of certificates that httpx cannot use.
        SynthbenchError: a SOCKS proxy without the package that it needs.
    """

    def __init__(self, base_url: str, api_key: str | None, timeout: float, retries: int) -> None:
        _check_url(base_url)
        if api_key is not None and not (api_key.isascii() and api_key.isprintable()):
            raise UsageError("The key has characters that cannot be sent. Is it the whole key?")
        self._url, self._key = base_url.rstrip("/"), api_key
        self._client = _client(api_key)
        self._timeout, self._retries = timeout, retries
        self._resume = 0.0  # the time until which the server wants no requests
        self._reached = False  # whether it has ever responded

    async def __aenter__(self) -> ChatServer:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def first_reply(self, body: Mapping[str, Any]) -> ChatReply:
        """The reply to the first request of all, which shows what is wrong with the server.

        Raises:
            UsageError: the server lacks the model or refuses what is asked.
            SynthbenchError: it cannot be reached, refuses the key, or fails.
        """
        try:
            return await self.reply(body)
        except NoReplyError as error:
            failed = error
        raise await self._explained(failed, body["model"]) from None

    async def reply(self, body: Mapping[str, Any]) -> ChatReply:
        """The reply to a request, tried again after failures that may pass.

        Raises:
            NoReplyError: the last try failed, too.
        """
        for attempt in range(self._retries + 1):
            await asyncio.sleep(self._resume - time.monotonic())
            try:
                return await self._try(body)
            except NoReplyError as error:
                wait = max(min(2.0**attempt, _LONGEST_BACKOFF), error.wait or 0.0)
                if not error.passing or attempt == self._retries or wait > _LONGEST_WAIT:
                    raise
                if error.wait is not None:  # a limit that all requests share
                    self._resume = max(self._resume, time.monotonic() + error.wait)
            await asyncio.sleep(wait)
        raise AssertionError("unreachable")

    async def _try(self, body: Mapping[str, Any]) -> ChatReply:
        try:
            async with asyncio.timeout(self._timeout):
                status, headers, data = await self._send("POST", _COMPLETIONS, body)
        except TimeoutError:
            raise NoReplyError(f"no reply in {self._timeout:g} seconds") from None
        except httpx.ConnectError as error:
            raise NoReplyError(self._told(error), passing=self._reached) from None
        except httpx.HTTPError as error:
            raise NoReplyError(self._told(error)) from None
        except httpx.InvalidURL as error:  # httpx builds the request of a redirect at once
            text = f"it redirects to an address that is not valid: {self._quoted(str(error))}"
            raise NoReplyError(text, passing=False) from None
        if not 200 <= status < 300:
            text = f"status {status}: {self._quoted(_message(data)) or 'no message'}"
            if 300 <= status < 400 and "Location" in headers:
                text = f"status {status}: it redirects to {self._target(headers['Location'])}"
            passing = status in _PASSING or status >= 500
            raise NoReplyError(text, status, passing=passing, wait=_wait(headers))
        try:
            return read_chat_reply(read_json(data, constants=True))
        except ValueError as error:
            got = short(self._without_key(data.decode("utf-8", "replace"))[:200])
            raise NoReplyError(f"the response is not a chat completion: {error}: {got}") from None

    async def _send(
        self, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> tuple[int, httpx.Headers, bytes]:
        """Status, headers and body of the response to one request."""
        pieces, size = [], 0
        content = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        async with self._client.stream(
            method, f"{self._url}/{path}", content=content, headers=headers
        ) as response:
            self._reached = True
            async for piece in response.aiter_bytes():
                pieces.append(piece)
                size += len(piece)
                if size > _LARGEST:
                    raise NoReplyError(f"the response has more than {_LARGEST:,} bytes")
            return response.status_code, response.headers, b"".join(pieces)

    def _target(self, location: str) -> str:
        """The address of the server to which a redirect leads, as users give it."""
        with contextlib.suppress(httpx.InvalidURL, ValueError):
            location = str(httpx.URL(f"{self._url}/{_COMPLETIONS}").join(location))
        return self._quoted(location.removesuffix(f"/{_COMPLETIONS}"))

    def _told(self, error: httpx.HTTPError) -> str:
        return self._quoted(str(error)) or type(error).__name__

    def _quoted(self, text: str) -> str:
        """The beginning of a text that is not ours, on one line."""
        return one_line(self._without_key(text).strip()[:300])

    def _without_key(self, text: str) -> str:
        """A whole text without the key. In a truncated text, half of the key could remain."""
        return text.replace(self._key, "***") if self._key else text

    async def _explained(self, error: NoReplyError, model: str) -> SynthbenchError:
        """The error for people if the first request fails."""
        refused = error.status in (
            400,
            404,
            422,
        )  # servers differ in their status for an unknown model
        names = await self._models() if refused else []
        if names and model not in names:
            # Some servers do not list all names of a model, and refused something else.
            unknown = unknown_name("model", model, names)
            return UsageError(f"{unknown}\nThe server says: {one_line(str(error))}")
        text = f"{self._url} gives no reply: {one_line(str(error))}"
        if error.status in _REMEDIES:
            text += f"\n{_REMEDIES[error.status]}"
        return UsageError(text) if refused else SynthbenchError(text)

    async def _models(self) -> list[str]:
        """The names of the server's models, as far as it reports them."""
        try:
            async with asyncio.timeout(min(self._timeout, 10.0)):
                _, _, data = await self._send("GET", "models")
            names = [model["id"] for model in read_json(data)["data"]]
            return [one_line(name) for name in names if isinstance(name, str)]
        except (
            *(httpx.HTTPError, httpx.InvalidURL, NoReplyError, TimeoutError),
            *(ValueError, LookupError, TypeError),
        ):
            return []


def _check_url(url: str) -> None:
    expected = "expected the address of a server, such as http://127.0.0.1:8000/v1"
    try:
        parsed = httpx.URL(url)
        host, port = parsed.host, parsed.port
    except (httpx.InvalidURL, ValueError) as error:  # ValueError: Punycode that stands for no name
        raise UsageError(f"Server {short(url)}: {expected} ({error}).") from None
    if parsed.scheme not in ("http", "https") or not host:
        raise UsageError(f"Server {short(url)}: {expected}.")
    if port is not None and not 0 < port < 1 << 16:
        raise UsageError(f"Server {short(url)}: {expected} (allowed ports: 1 to 65535).")


def _client(key: str | None) -> httpx.AsyncClient:
    """A client that sends the key, with the proxy and certificates that the environment names."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    proxies = {name: url for name, url in getproxies().items() if name != "no"}
    try:
        for url in proxies.values():
            urlsplit(url).port  # noqa: B018  # raises an error if it is out of range
        return httpx.AsyncClient(headers=headers, limits=limits, timeout=None)
    except ImportError:
        raise SynthbenchError(
            "A SOCKS proxy, as ALL_PROXY may name it, needs socksio: pip install 'httpx[socks]'."
        ) from None
    except (httpx.InvalidURL, ValueError) as error:
        raise UsageError(
            f"ALL_PROXY, HTTP_PROXY, HTTPS_PROXY, NO_PROXY: expected addresses ({error})."
        ) from None
    except OSError as error:
        if (file := os.environ.get("SSL_CERT_FILE")) is None:
            raise
        raise UsageError(
            f"SSL_CERT_FILE {short(file)}: expected a file with certificates "
            f"({error.strerror or error})."
        ) from None


def _message(data: bytes) -> str:
    """The message of an error's body, in any of the usual places."""
    try:
        message = read_json(data)
        for name in ("error", "message", "detail"):
            if isinstance(message, Mapping) and message.get(name):
                message = message[name]
        return message if isinstance(message, str) else json.dumps(message)
    except ValueError:
        return data.decode("utf-8", "replace")


def _wait(headers: httpx.Headers) -> float | None:
    """The seconds that the header Retry-After asks for."""
    if (retry_after := headers.get("Retry-After")) is None:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (ValueError, OverflowError, OSError):  # not a date, or out of the range of times
        return None
