"""The environment of SkyRL for rows that `synthbench export --to skyrl` has written.

SkyRL makes an environment for each row, by the name in its column `env_class`. Register it once,
in the process that makes environments:

    import skyrl_gym
    skyrl_gym.register(id="synthbench", entry_point="synthbench.llm.skyrl:SynthbenchEnv")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from synthbench.llm.mixtures import carried_row
from synthbench.llm.scoring import reward_of


class SynthbenchEnv(BaseTextEnv):
    """One row, answered in one turn.

    Args:
        env_config: SkyRL's configuration of the environment. Not needed.
        extras: the row's columns beside its prompt, with `extra_info`.

    Raises:
        UsageError: the row is not one of the export.
    """

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        record = extras.get("extra_info") if isinstance(extras, Mapping) else extras
        self._task, self._row = carried_row(record)

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Reward the model's answer with 1.0 or 0.0, and end the episode."""
        reward = reward_of(self._task, self._row, action)
        return BaseTextEnvStepOutput(observations=[], reward=reward, done=True, metadata={})
