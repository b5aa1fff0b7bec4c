"""Generators of other packages: tasks of reasoning-gym and reasoning-core, verifiers environments.

Each is loaded in the process that draws rows, and never in that of the user.
"""

from __future__ import annotations

import asyncio
import dataclasses
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from synthbench.errors import SynthbenchError, UsageError, unknown_name

#: The key of a row under which a generator keeps its own object for its scorer.
RAW = "_raw"
#: The seconds that reasoning-core may try to find a row. By default it gives up after 10, so that
#: the speed of the machine would decide which rows come.
_PATIENCE = 50


@dataclasses.dataclass(frozen=True)
class Generator:
    """A generator of rows.

    Attributes:
        rows: given a seed, a split and the most rows that are wanted, the rows.
        score: the reward of an answer to a row, if the generator has a scorer of its own.
    """

    rows: Callable[[int, str, int], Any]
    score: Callable[[str, Mapping[str, Any]], Any] | None = None


@dataclasses.dataclass(frozen=True)
class Traits:
    """The traits of a kind of generator.

    Attributes:
        load: the generator of a name.
        has_splits: whether it has several splits.
        has_seeds: whether it takes a seed.
        own_state: whether it draws from the global random state by design, and says so.
        question: the columns of the question, or an empty tuple to guess them.
        has_scorer: whether it has a scorer of its own.
        reads_replies: whether this scorer reads whole replies.
    """

    load: Callable[[str], Generator]
    has_splits: bool = False
    has_seeds: bool = True
    own_state: bool = False
    question: tuple[str, ...] = ()
    has_scorer: bool = False
    reads_replies: bool = False


def _reasoning_gym(name: str) -> Generator:
    with _installed("reasoning-gym"):
        import reasoning_gym
        from reasoning_gym.factory import DATASETS
        from reasoning_gym.utils import extract_answer
    if name not in DATASETS:
        raise unknown_name("task of reasoning-gym", name, sorted(DATASETS))
    scorer = reasoning_gym.create_dataset(name, seed=0, size=1)

    def rows(seed: int, split: str, most: int) -> Iterator[Any]:
        dataset = reasoning_gym.create_dataset(name, seed=seed, size=most)
        return (dataset[number] for number in range(len(dataset)))

    def score(answer: str, row: Mapping[str, Any]) -> Any:
        return scorer.score_answer(extract_answer(f"<answer>{answer}</answer>"), row)

    return Generator(rows, score)


def _reasoning_core(name: str) -> Generator:
    with _installed("reasoning-core"):
        import reasoning_core
    known = sorted(reasoning_core.list_tasks())
    if name not in known:
        raise unknown_name("task of reasoning-core", name, known)
    task = reasoning_core.get_task(name)
    task.timeout = _PATIENCE
    task.generate_example()  # imports libraries, which may draw

    def rows(seed: int, split: str, most: int) -> Iterator[Any]:
        random.seed(seed)
        np.random.seed(seed)
        for _ in range(most):
            example = task.generate_example()
            yield {"prompt": str(example.prompt), "answer": example.answer, RAW: example}

    def score(answer: str, row: Mapping[str, Any]) -> Any:
        return task.score_answer(answer, row[RAW])

    return Generator(rows, score)


def _verifiers(name: str) -> Generator:
    """A taskset of verifiers from 0.4 on, whose configuration may have `seed` and `split`."""
    with _installed("verifiers"):
        from verifiers.v1.configs.taskset import TasksetConfig
        from verifiers.v1.utils.generic import concrete_type
        from verifiers.v1.utils.loaders import taskset_class

    try:
        taskset_type = taskset_class(name)
    except (ModuleNotFoundError, AttributeError, TypeError) as error:
        raise UsageError(f"verifiers:{name}: {error}") from None
    configuration = concrete_type(taskset_type, TasksetConfig) or TasksetConfig
    usual = {"seed": 0, "split": "train"}

    def rows(seed: int, split: str, most: int) -> Iterator[Any]:
        known = configuration.model_fields
        options = {"seed": seed, "split": split}
        if any(options[option] != usual[option] and option not in known for option in usual):
            return  # such rows do not exist
        settings = {option: options[option] for option in options if option in known}
        taskset = taskset_type(configuration(id=name, **settings))
        for task in taskset:
            values = task.data.model_dump(exclude_none=True)
            yield {**values, "prompt": task.data.prompt_text, RAW: task}

    return Generator(rows, lambda answer, row: asyncio.run(_reward(row[RAW], answer)))


async def _reward(task: Any, reply: str) -> float:
    """The reward of a reply as the only turn of a conversation."""
    from verifiers.v1.graph import MessageNode
    from verifiers.v1.trace import Trace, TraceTask
    from verifiers.v1.types import AssistantMessage

    node = MessageNode(message=AssistantMessage(content=reply), sampled=True)
    about = TraceTask(type=type(task).__name__, data=task.data)
    # Constructed, because the agent that a trace names never ran.
    trace = Trace.model_construct(task=about, nodes=[node])
    await task.score(trace)
    return float(trace.reward)


class _installed:  # noqa: N801
    """A `with` block that imports a peer.

    Raises:
        SynthbenchError: it is not installed.
    """

    def __init__(self, package: str) -> None:
        self._package = package

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, ImportError):
            raise SynthbenchError(
                f"{self._package} cannot be imported ({error}): pip install {self._package}."
            ) from None


#: By the word before the colon of a source.
PEERS = {
    "reasoning-gym": Traits(_reasoning_gym, question=("question",), has_scorer=True),
    "reasoning-core": Traits(
        _reasoning_core, own_state=True, question=("prompt",), has_scorer=True
    ),
    "verifiers": Traits(_verifiers, has_splits=True, has_scorer=True, reads_replies=True),
}
