"""The resources server of NeMo Gym for rows that `synthbench export --to nemo-gym` has written.

The exported `app.py` runs it. A request carries its row, so the server keeps nothing.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseVerifyRequest,
    BaseVerifyResponse,
    SimpleResourcesServer,
)

from synthbench.evaluation.chat_replies import is_truncated
from synthbench.llm.mixtures import carried_row
from synthbench.llm.scoring import reward_of


class SynthbenchVerifyRequest(BaseVerifyRequest):
    """A reply to judge, with the fields that the export has written.

    Attributes:
        task: the task, as `synthbench.tasks.spec.task_of` reads it.
        row: the row's columns as JSON.
    """

    task: str
    row: str


class SynthbenchVerifyResponse(BaseVerifyResponse):
    """The request with its reward."""

    task: str
    row: str


class SynthbenchResourcesServer(SimpleResourcesServer):
    """Rewards replies with 1.0 or 0.0."""

    config: BaseResourcesServerConfig

    async def verify(self, body: SynthbenchVerifyRequest) -> SynthbenchVerifyResponse:  # type: ignore[override, unused-ignore]
        """Judge the last message of a reply.

        Raises:
            UsageError: the row is not one of the export.
        """
        carries = {"task": body.task, "row": body.row}
        task, row = carried_row(carries)
        message, truncated = _last_message(body.response), _is_truncated(body.response)
        reward = reward_of(task, row, message, truncated=truncated)
        return SynthbenchVerifyResponse(**body.model_dump(), reward=reward)


def _last_message(response: Any) -> str | None:
    """The text of the last message in a response; None without a message."""
    messages = [output.content for output in response.output if output.type == "message"]
    if not messages:
        return None
    last = messages[-1]
    if isinstance(last, str):
        return last
    return "".join(part.text for part in last if part.type == "output_text")


def _is_truncated(response: Any) -> bool:
    """True if the response ended at its limit of tokens."""
    details = getattr(response, "incomplete_details", None)
    return is_truncated(None if details is None else details.reason)


def _server() -> SynthbenchResourcesServer:
    """A server that only judges, without a place in the network."""
    config = BaseResourcesServerConfig(host="127.0.0.1", port=0, entrypoint="app.py", name="")
    server: SynthbenchResourcesServer
    server = SynthbenchResourcesServer.model_construct(config=config, server_client=None)
    return server


def verifier_fixture(cases: Path) -> Any:
    """The cases with which NeMo Gym exercises the server; None before versions that do so.

    Args:
        cases: the file that the export has written.
    """
    for name in ("nemo_gym.verification.verifier_fixture", "nemo_gym.verifier_fixture"):
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        return module.VerifierFixture(
            server_factory=_server,
            request_model=SynthbenchVerifyRequest,
            cases_path=cases,
        )
    return None
