"""What verifiers loads for `vf-eval synthbench-taskset`: it takes plugins by top-level modules."""

from synthbench.llm import load_environment
from synthbench.llm.taskset import OneTurn, OneTurnEnv, SynthbenchTaskset

__all__ = ["OneTurn", "OneTurnEnv", "SynthbenchTaskset", "load_environment"]
