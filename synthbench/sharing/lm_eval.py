"""Task files for EleutherAI's lm-evaluation-harness, one for each variant and split.

    lm_eval --model ... --include_path PATH --tasks synthbench_ctl_forward

A task file gives the model the rule and a few rows of train, and compares its reply with the answer
in two ways. `tolerant` compares the last number or class name (the last line, if labels are text),
and `strict` compares the whole reply.

The directory holds copies of the shards that it needs, so it can be moved. The harness resolves
relative paths against the working directory; therefore `rows.py`, which the task files name, opens
the shards relative to itself.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from synthbench import __version__
from synthbench.dataset.digest import file_sha256
from synthbench.dataset.files import regular_file
from synthbench.dataset.manifest import Shard
from synthbench.errors import DatasetError
from synthbench.evaluation.answer_words import word_pattern
from synthbench.llm.prompts import TEXT
from synthbench.sharing.parts import ExportPart
from synthbench.tasks.base import LABEL

#: The default split; only its task file has no split in its name.
SPLIT = "test"
#: Rows of train shown before each question.
_SHOTS = 5
#: The longest reply, in tokens.
_MOST_TOKENS = 512
#: Beside the task files, the Python file that the harness calls to open the rows.
_LOADER_FILE = "rows.py"
_LOADER = '''"""Opens the rows for lm-evaluation-harness; the task files here name this function."""

from pathlib import Path

import datasets


def load(data_files, **_):
    """The rows by split.

    Args:
        data_files: for each split its Parquet files, relative to the directory of this file.
    """
    here = Path(__file__).resolve().parent
    places = {split: [str(here / name) for name in names] for split, names in data_files.items()}
    return datasets.load_dataset("parquet", data_files=places)
'''


def write(parts: Sequence[ExportPart], directory: Path) -> None:
    """Write a task file for each part, the shards that it names, and the code that opens them.

    Raises:
        DatasetError: a shard is missing, or is not the file that the manifest describes.
    """
    import yaml

    (directory / _LOADER_FILE).write_text(_LOADER, encoding="utf-8", newline="\n")
    for part in parts:
        shards = _shards(part)
        for shard in itertools.chain(*shards.values()):
            _copy(part, shard, directory)
        values = task_file(part, shards)
        text = yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=100)
        # `!function` is the harness's own tag, which `safe_dump` cannot write.
        loader = f"custom_dataset: !function {Path(_LOADER_FILE).stem}.load\n"
        file = directory / f"{values['task']}.yaml"
        file.write_text(text + loader, encoding="utf-8", newline="\n")
        part.advance(part.record.rows)


def task_file(part: ExportPart, shards: dict[str, list[Shard]]) -> dict[str, Any]:
    """The values of a task file, except for the function that opens the rows.

    Args:
        part: the split.
        shards: the shards to name, by split; `_shards` gives them.
    """
    task = part.task
    names = task.labels
    # The last match is the answer; if labels are text, the last line.
    pattern = r"\S(?:[^\n]*\S)?" if names is None else f"(?i){word_pattern(names).pattern}"
    files = {split: [one.file for one in each] for split, each in shards.items()}
    shots = [split for split in shards if split != part.split]
    return {
        "task": task_name(part),
        "dataset_kwargs": {"data_files": files},
        "test_split": part.split,
        **({"fewshot_split": shots[0], "num_fewshot": _SHOTS} if shots else {}),
        "output_type": "generate_until",
        "description": f"{task.instruction}\n\n",
        "doc_to_text": f"Question: {{{{{TEXT}}}}}\nAnswer:",
        "doc_to_target": f"{{{{{LABEL if names is None else f'{list(names)}[{LABEL}]'}}}}}",
        "generation_kwargs": {
            "until": ["Question:"],
            "max_gen_toks": _MOST_TOKENS,
            "do_sample": False,
            "temperature": 0.0,
        },
        "filter_list": [  # `evaluate` reads the first filter from the harness's log
            _filter("tolerant", function="regex", regex_pattern=pattern, group_select=-1),
            _filter("strict", function="remove_whitespace"),
        ],
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
        "metadata": {
            "version": 1.0,
            "synthbench": __version__,
            "seed": part.dataset.manifest.seed,
            "digest": part.record.digest,
        },
    }


def task_name(part: ExportPart) -> str:
    """The name that the harness knows a split by: `synthbench_ctl_forward`."""
    names = ["synthbench", part.task.name]
    if len(part.task.variants) > 1:
        names.append(part.task.variant)
    if part.split != SPLIT:
        names.append(part.split)
    return "_".join(names)


def _shards(part: ExportPart) -> dict[str, list[Shard]]:
    """The shards of a split, and the first shard of train for the example rows, by split."""
    shards = {part.split: list(part.record.shards)}
    splits = part.dataset.manifest.variants[part.task.variant]
    for split in part.task.splits:
        if not split.evaluation and split.name in splits and split.name != part.split:
            return {**shards, split.name: [splits[split.name].shards[0]]}
    return shards


def _copy(part: ExportPart, shard: Shard, directory: Path) -> None:
    """Copy a shard, unless another part has copied it; its relative path stays the same."""
    copy = directory / shard.file
    if copy.exists():
        return
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(regular_file(part.dataset.path, shard.file), copy)
    if file_sha256(copy) != shard.sha256:
        raise DatasetError(
            f"{part.dataset.path / shard.file} is not the file that the manifest describes: its "
            "checksum differs."
        )


def _filter(name: str, **first: Any) -> dict[str, Any]:
    return {"name": name, "filter": [first, {"function": "take_first"}]}
