"""The reward of verl's trainer for rows that `synthbench export --to verl` has written.

    reward.custom_reward_function.path=pkg://synthbench.llm.verl
    reward.custom_reward_function.name=compute_score

verl averages the scores of validation rows by `data_source`, in which the export names the row's
bucket (`synthbench/listops/dependency_depth7`), so a run's logs have the accuracy at each depth.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synthbench.llm.mixtures import carried_row
from synthbench.llm.scoring import reward_of


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    **others: Any,
) -> float:
    """1.0 if a response gives the right answer to its row, else 0.0.

    Args:
        data_source: where the row is from. Not needed.
        solution_str: the response.
        ground_truth: the right answer. Not needed.
        extra_info: the fields of the export, and others that verl adds.
        others: other arguments that verl or its configuration passes. Not needed.

    Returns:
        The score.

    Raises:
        UsageError: the row is not one of the export.
    """
    return reward_of(*carried_row(extra_info), solution_str)
