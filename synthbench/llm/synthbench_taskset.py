"""Installed as the top-level module `synthbench_taskset`, where verifiers looks for plugins."""

from synthbench.llm import load_environment
from synthbench.llm.taskset import OneTurn, OneTurnEnv, SynthbenchTaskset

__all__ = ["OneTurn", "OneTurnEnv", "SynthbenchTaskset", "load_environment"]
