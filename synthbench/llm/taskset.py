"""A taskset of verifiers over fresh rows, each answered in one turn.

    vf-eval synthbench-taskset --env.taskset.dataset listops -m MODEL -n 20

verifiers finds it by the top-level module `synthbench_taskset`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import openai
import verifiers.v1 as vf
from pydantic import Field
from verifiers.v1.dialects.chat import message_to_wire
from verifiers.v1.types import AssistantMessage, UserMessage

from synthbench.checks import check_whole_number
from synthbench.llm.conversations import metadata
from synthbench.llm.mixtures import check_mixable
from synthbench.llm.prompts import check_askable, stream_conversation
from synthbench.llm.scoring import reward_of
from synthbench.streaming.rows import StreamRows
from synthbench.tasks import registry
from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.images.source_dirs import DEFAULT_DIRS, SourceDirs, use_source_dir
from synthbench.tasks.mixture import Mixture
from synthbench.tasks.registry import task_from
from synthbench.tasks.spec import task_of

_MESSAGES = {"user": UserMessage, "assistant": AssistantMessage}


class SynthbenchConfig(vf.TasksetConfig):
    """The options of `--env.taskset.*`."""

    id: str = "synthbench-taskset"
    dataset: str = "listops"
    """Name of the task of synthbench."""
    variant: str | None = None
    split: str = "train"
    seed: int = 0
    """The task's seed."""
    stream_seed: int | None = None
    """The seed of the draws, as in `stream`. Default: the task's seed."""
    level: str | None = None
    """One of the task's levels, such as `easy`."""
    offset: int = 0
    """Rows of the stream that are left out before the first."""
    shots: int = 0
    """Worked examples before each question: rows of train, which are never asked."""
    system: str | None = None
    """A system message."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Parameters of the task that differ from the defaults, or from the level's."""
    source_dirs: SourceDirs = DEFAULT_DIRS
    """The directories of source images."""
    mixture: dict[str, int] = Field(default_factory=dict)
    """Weights of several tasks by their specs (`synthbench.tasks.spec`), instead of `dataset`."""


class SynthbenchData(vf.TaskData):
    """One row."""

    answer: str
    """The right answer as text."""
    row: dict[str, Any]
    """The row's columns, without its image."""
    source: tuple[str, str, int, dict[str, Any]]
    """The task of synthbench that judges answers: name, variant, seed, parameters."""


class SynthbenchTask(vf.Task[SynthbenchData]):
    """A row with its reward."""

    @vf.reward
    async def right_answer(self, trace: vf.Trace) -> float:
        """1.0 if the model's reply gives the right answer, else 0.0."""
        name, variant, seed, parameters = self.data.source
        task = task_from(name, variant, parameters, seed)
        truncated = trace.is_truncated
        return reward_of(task, self.data.row, trace.last_reply, truncated=truncated)


class SynthbenchTaskset(vf.Taskset[SynthbenchTask, SynthbenchConfig]):
    """Rows of `stream` from row `offset` on, without end, the same in every run."""

    INFINITE = True

    def __init__(self, config: SynthbenchConfig) -> None:
        super().__init__(config)
        tasks = _tasks_of(config)
        for task in tasks.parts:
            check_askable(task)
        if not tasks.is_single:
            check_mixable(tasks)
        check_whole_number("Offset", config.offset, least=0)
        self._conversations = {
            task: stream_conversation(task, config.split, config.shots, None)
            for task in tasks.parts
        }
        self._rows = StreamRows(tasks, config.split, config.stream_seed)

    def load(self) -> Iterator[SynthbenchTask]:
        """The rows in the stream's order, each with its prompt and answer."""
        shown = {
            row["id"]
            for conversation in self._conversations.values()
            for row in conversation.examples
        }
        for number in itertools.count(self.config.offset):
            task, row = self._rows[number]
            if row["id"] in shown:
                continue
            messages = self._conversations[task].messages(row)
            data = SynthbenchData(
                id=row["id"],
                prompt=[
                    _MESSAGES[message["role"]](content=message["content"]) for message in messages
                ],
                system_prompt=self.config.system,
                answer=task.answer.format_answer(row[LABEL]),
                row=metadata(task, row),
                source=(task.name, task.variant, task.seed, task.parameters.to_dict()),
            )
            yield SynthbenchTask(data, self.config.task)


def _tasks_of(config: SynthbenchConfig) -> Mixture[Task]:
    """The tasks of the options, with their weights."""
    if config.mixture:
        return Mixture.of({task_of(spec): weight for spec, weight in config.mixture.items()})
    with use_source_dir(config.source_dirs):
        task = registry.task(
            config.dataset,
            config.variant,
            seed=config.seed,
            level=config.level,
            **config.parameters,
        )
    return Mixture.of(task)


class OneTurn(vf.Harness[vf.HarnessConfig]):
    """Sends the prompt once. It needs no container, because the reply is never executed."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Ask the model from this process, through the endpoint that records the conversation."""
        system, prompt = self.resolve_prompt(data)
        sent: list[Any] = [{"role": "system", "content": system}] if system else []
        sent += [message_to_wire(message) for message in prompt or []]
        async with openai.AsyncOpenAI(base_url=endpoint, api_key=secret) as client:
            await client.chat.completions.create(model=ctx.model, messages=sent)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


class OneTurnConfig(vf.EnvConfig):
    """The options of `--env.*`."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class OneTurnEnv(vf.Env[OneTurnConfig]):
    """One model answers one row in one turn."""

    async def run(self, task: vf.Task[Any], agents: vf.Agents) -> None:
        """Have the model answer. The task's reward follows."""
        await agents.agent.run(task)
