"""An environment for OpenEnv, whose `reset(seed)` is a pure function of the seed.

    # app.py: uvicorn app:app
    from synthbench.llm.openenv import make_app

    app = make_app({"listops": 2, "parity": 1})

The same seed gives the same question on every machine and in every session.

Over the WebSocket a session has an environment of its own: `reset`, then `step`. Over HTTP each
request has a new environment, so that a step names the seed of its row:

    POST /reset {"seed": 3}
    POST /step {"action": {"message": "Answer: 7"}, "seed": 3}
"""

from __future__ import annotations

import functools
import secrets
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State

from synthbench.errors import SynthbenchError, UsageError
from synthbench.evaluation.chat_replies import is_truncated
from synthbench.llm.conversations import question
from synthbench.llm.scoring import reward_of
from synthbench.llm.seeded import row_of_seed, text_tasks
from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.mixture import Sources
from synthbench.tasks.spec import task_spec


class SynthbenchAction(Action):
    """The model's reply.

    Attributes:
        message: the reply.
        finish_reason: the reason why it ended, such as `length` at the limit of tokens.
    """

    message: str
    finish_reason: str | None = None


class SynthbenchObservation(Observation):
    """The model's view of a row.

    Attributes:
        seed: the row's seed.
        prompt: the rule, the question and the form of the answer. Empty after the reply.
        answer: the right answer. Empty before the reply.
    """

    seed: int
    prompt: str = ""
    answer: str = ""


class SynthbenchState(State):
    """The row that is asked.

    Attributes:
        task: the task, as `synthbench.tasks.spec.task_of` reads it.
        seed: the row's seed; `reset` with this seed asks the row again. None before a `reset`.
        id: the row's id.
    """

    task: str = ""
    seed: int | None = None
    id: str = ""


class SynthbenchEnvironment(Environment[SynthbenchAction, SynthbenchObservation, SynthbenchState]):
    """One row in each episode, answered in one step.

    Args:
        task: a task, its name, or several of them with weights, as in `synthbench.llm.prompts`.
        split: name of the split. An evaluation split gives held-out rows.

    Raises:
        UsageError: an unknown name, or a task whose rows are not texts with one right answer.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, task: Sources = "listops", split: str = "train") -> None:
        super().__init__()
        self._tasks, self._split = text_tasks(task, split), split
        self._asked: tuple[Task, dict[str, Any]] | None = None
        self._state = SynthbenchState()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **others: Any
    ) -> SynthbenchObservation:
        """Ask the row of a seed. Without a seed one at random, which `state` names."""
        seed = secrets.randbits(53) if seed is None else seed
        task, row = self._asked = row_of_seed(self._tasks, self._split, seed)
        self._state = SynthbenchState(
            episode_id=episode_id, step_count=0, task=task_spec(task), seed=seed, id=row["id"]
        )
        return SynthbenchObservation(seed=seed, prompt=question(task, row["text"]))

    def step(
        self,
        action: SynthbenchAction,
        timeout_s: float | None = None,
        *,
        seed: int | None = None,
        **others: Any,
    ) -> SynthbenchObservation:
        """Reward the reply with 1.0 or 0.0, and end the episode.

        Args:
            action: the reply.
            timeout_s: not needed.
            seed: the seed of the row, as if `reset` had asked it. Requests over HTTP need it.
            others: not needed.

        Raises:
            UsageError: neither `reset` nor a seed says which row was asked, or the seed is not a
                whole number from 0.
        """
        if seed is not None:
            self.reset(seed)
        if self._asked is None:
            raise UsageError(
                "No row is asked: call reset before every step. Over HTTP, give the seed that "
                'reset has answered: {"action": {"message": ...}, "seed": 3}.'
            )
        task, row = self._asked
        self._asked, self._state.step_count = None, 1
        return SynthbenchObservation(
            seed=self._state.seed,
            done=True,
            reward=reward_of(
                task, row, action.message, truncated=is_truncated(action.finish_reason)
            ),
            answer=task.answer.format_answer(row[LABEL]),
        )

    @property
    def state(self) -> SynthbenchState:
        """The row that is asked, or was asked last."""
        return self._state


def make_app(task: Sources = "listops", split: str = "train", *, sessions: int = 64) -> FastAPI:
    """The server of an environment, over HTTP and WebSocket.

    OpenEnv's routes for lists of tasks are removed, because an environment has a row for every
    seed. A request that is refused has status 422 and says why.

    Args:
        task: as in `SynthbenchEnvironment`.
        split: likewise.
        sessions: the most sessions at a time.

    Raises:
        UsageError: as `SynthbenchEnvironment`.
    """
    SynthbenchEnvironment(task, split)  # a wrong name is an error before the server starts
    app: FastAPI = create_app(
        functools.partial(SynthbenchEnvironment, task, split),
        SynthbenchAction,
        SynthbenchObservation,
        env_name="synthbench",
        max_concurrent_envs=sessions,
        state_cls=SynthbenchState,
    )
    app.router.routes[:] = [
        route for route in app.router.routes if not _lists_tasks(getattr(route, "path", ""))
    ]
    app.add_exception_handler(SynthbenchError, _refuse)
    return app


def _lists_tasks(path: str) -> bool:
    return path.startswith("/{env_name}/")


def _refuse(_: Request, error: Exception) -> JSONResponse:
    """The response to a request that the environment refuses."""
    return JSONResponse({"detail": str(error)}, status_code=422)
