"""Task files for EleutherAI's lm-evaluation-harness, one for each variant and split.

    lm_eval --model ... --include_path PATH --tasks synthbench_ctl_forward

A task file tells the model what a row asks, shows it a few rows of train, and compares what it
writes with the answer in two ways: `tolerant`, where its last number must be the answer, and
`strict`, where all of it must. The rows are read from the dataset itself, whose place stands in the
file in full: export again when it has moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import synthbench
from synthbench.answers import LABEL, word_pattern
from synthbench.features import label_names
from synthbench.formats import tsv
from synthbench.formats.parts import Part
from synthbench.tasks.base import Task

#: The split that is asked unless others are named; only its file has no split in its name.
SPLIT = "test"
#: Rows of train that stand before a question.
_SHOTS = 5
#: Room to think aloud, in tokens.
_MOST_TOKENS = 512


def obstacle(task: Task) -> str | None:
    """Why rows of a task cannot be asked, None if they can."""
    return tsv.obstacle(task)


def write(parts: Sequence[Part], directory: Path) -> None:
    """Write a task file for each part."""
    import yaml

    for part in parts:
        values = task_file(part)
        text = yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=100)
        file = directory / f"{values['task']}.yaml"
        file.write_text(text, encoding="utf-8", newline="\n")
        part.advance(part.record.rows)


def task_file(part: Part) -> dict[str, Any]:
    """What the harness has to know of a split."""
    task, shots = part.task, _shots(part)
    names = label_names(task.columns[LABEL]) or []
    files = {part.split: [_place(part, shard.file) for shard in part.record.shards], **shots}
    return {
        "task": task_name(part),
        "dataset_path": "parquet",
        "dataset_kwargs": {"data_files": files},
        "test_split": part.split,
        **({"fewshot_split": next(iter(shots)), "num_fewshot": _SHOTS} if shots else {}),
        "output_type": "generate_until",
        "description": f"{task.instruction}\n\n",
        "doc_to_text": f"Question: {{{{{tsv.TEXT}}}}}\nAnswer:",
        "doc_to_target": f"{{{{{names}[{LABEL}]}}}}",
        "generation_kwargs": {
            "until": ["Question:"],
            "max_gen_toks": _MOST_TOKENS,
            "do_sample": False,
            "temperature": 0.0,
        },
        "filter_list": [  # `evaluate` reads the first from the harness's log
            _filter(
                "tolerant",
                {
                    "function": "regex",
                    "regex_pattern": f"(?i){word_pattern(tuple(names)).pattern}",
                    "group_select": -1,
                },
            ),
            _filter("strict", {"function": "remove_whitespace"}),
        ],
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
        "metadata": {
            "version": 1.0,
            "synthbench": synthbench.__version__,
            "seed": part.dataset.manifest.seed,
            "digest": part.record.digest,
        },
    }


def task_name(part: Part) -> str:
    """The name that the harness knows a split by: `synthbench_ctl_forward`."""
    names = ["synthbench", part.task.name]
    if len(part.task.variants) > 1:
        names.append(part.task.variant)
    if part.split != SPLIT:
        names.append(part.split)
    return "_".join(names)


def _shots(part: Part) -> dict[str, list[str]]:
    """The first shard of the split that is trained on, if that is not what is asked."""
    splits = part.dataset.manifest.variants[part.task.variant]
    for split in part.task.splits:
        if not split.evaluation and split.name in splits and split.name != part.split:
            return {split.name: [_place(part, splits[split.name].shards[0].file)]}
    return {}


def _place(part: Part, file: str) -> str:
    return str((part.dataset.path / file).resolve())


def _filter(name: str, first: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "filter": [first, {"function": "take_first"}]}
