"""Task files for EleutherAI's lm-evaluation-harness, one for each variant and split.

    lm_eval --model ... --include_path PATH --tasks synthbench_ctl_forward

A task file gives the model the rule and a few rows of train, and compares its reply with the answer
in two ways. `tolerant` compares the answer that `synthbench.answers.find_answer` finds, by a
copy of its modules beside the task files. `strict` compares the whole reply. Sequences are compared
token by token, except at positions that are not asked (`_`). Answers to checked tasks are
judged by synthbench itself: `tolerant` reads every reply, and `strict` only replies of a single
line. Beside `exact_match` of all rows there is a metric for each depth or length, such as
`exact_match_dependency_depth_7`.

Task files have the tags `synthbench_tasks` and `synthbench_TASK_tasks`. The group `synthbench` has
all tasks with the former: if several exports lie in one directory, the tasks of all of them.

The directory holds copies of the shards that it needs, so it can be moved. The harness resolves
relative paths against the working directory, so `rows.py`, which the task files name, opens the
shards relative to itself. Generation stops where the model begins a next example. Reasoning models
need more room: `--gen_kwargs max_gen_toks=16384`.
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
from synthbench.evaluation import value
from synthbench.evaluation.final_answer import kind_of
from synthbench.llm.conversations import TEXT
from synthbench.sharing.parts import BATCH_ROWS, ExportPart
from synthbench.tasks.base import LABEL, Breakdown
from synthbench.tasks.spec import task_spec

#: The default split. Only its task file lacks a split in its name.
SPLIT = "test"
#: Rows of train shown before each question by default, if there are so many.
_SHOTS = 5
#: The most tokens that a model may write, besides an answer of many tokens.
_ROOM_TOKENS = 512
#: Beside the task files, the Python file that the harness calls to open the rows.
_LOADER_FILE = "rows.py"
#: Stands for the function of `rows.py` that finds answers.
_FIND = "FUNCTION-THAT-FINDS-ANSWERS"
#: The group of all tasks, by their common tag. Every export has the same file.
_GROUP_FILE = "synthbench.yaml"
_GROUP = {
    "group": "synthbench",
    "task": ["synthbench_tasks"],
    "aggregate_metric_list": [{"metric": "exact_match", "filter_list": ["tolerant", "strict"]}],
    "metadata": {"version": 1.0},
}


def write(parts: Sequence[ExportPart], directory: Path) -> None:
    """Write a task file for each part, the shards that it names, and the code that opens them.

    Raises:
        DatasetError: a shard is missing, or is not the file that the manifest describes.
    """
    import yaml

    loader = Path(__file__).with_name("lm_eval_rows.py.template").read_text("utf-8")
    (directory / _LOADER_FILE).write_text(loader, encoding="utf-8", newline="\n")
    _write_reader(directory / "reader")
    group = yaml.safe_dump(_GROUP, sort_keys=False)
    (directory / _GROUP_FILE).write_text(group, encoding="utf-8", newline="\n")
    for part in parts:
        shards = _shards(part)
        for shard in itertools.chain(*shards.values()):
            _copy(part, shard, directory)
        values = task_file(part, shards)
        text = yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=100)
        # `!function` is the harness's own tag, which `safe_dump` cannot write.
        module = Path(_LOADER_FILE).stem
        text = text.replace(_FIND, f"!function {module}.find")
        text += f"custom_dataset: !function {module}.load\n"
        text += f"process_results: !function {module}.score\n"
        file = directory / f"{values['task']}.yaml"
        file.write_text(text, encoding="utf-8", newline="\n")
        part.advance(part.size)


def _write_reader(directory: Path) -> None:
    """Copy the modules that find answers, which need no other module of this package."""
    directory.mkdir(exist_ok=True)
    source = Path(value.__file__).parent
    (directory / "__init__.py").write_text(
        '"""Finds answers in replies."""\n', "utf-8", newline="\n"
    )
    for name in ("message", "mark", "plain", "value"):
        text = (source / f"{name}.py").read_text("utf-8")
        text = text.replace("synthbench.evaluation.", "synthbench_reader.")
        (directory / f"{name}.py").write_text(text, "utf-8", newline="\n")


def task_file(part: ExportPart, shards: dict[str, list[Shard]]) -> dict[str, Any]:
    """The values of a task file, except for the functions of `rows.py`.

    Args:
        part: the split.
        shards: the shards to name, by split; `_shards` gives them.
    """
    task, prompts = part.task, part.prompts
    names = task.labels
    files = {split: [shard.file for shard in each] for split, each in shards.items()}
    trained = [split for split in shards if split != part.split]
    there = sum(shard.rows for split in trained for shard in shards[split])
    shots = min(_SHOTS, there) if prompts.shots is None else prompts.shots
    buckets = _buckets(part)
    options: dict[str, Any] = {"data_files": files, "names": names and list(names)}
    options["answers"] = {
        name: value if isinstance(value, str) else list(value)
        for name, value in kind_of(task.answer).items()
    }
    if (vocabulary := task.answer.vocabulary) is not None:
        options["sequence"] = {
            "separator": vocabulary.separator,
            "ignored": task.answer.ignored or "",
            "number": task.answer.is_number,
        }
    tolerant = {"function": "custom", "filter_fn": _FIND}
    strict = {"function": "remove_whitespace"}
    if task.is_checked:
        options["task"] = task_spec(task)
        tolerant = {"function": "regex", "regex_pattern": r"(?s).+"}
        strict = {"function": "regex", "regex_pattern": r"\A\s*(\S[^\n]*)\s*\Z"}
    if buckets:
        options |= {"bucket": buckets.column, "width": buckets.width}
    if prompts.offset or prompts.limit:
        options["only"] = {part.split: [prompts.offset, prompts.offset + part.size]}
    return {
        "task": task_name(part),
        "tag": ["synthbench_tasks", f"synthbench_{task.name}_tasks"],
        "dataset_kwargs": options,
        "test_split": part.split,
        **({"fewshot_split": trained[0], "num_fewshot": shots} if trained and shots else {}),
        "output_type": "generate_until",
        "description": "".join(
            f"{_literal(text)}\n\n" for text in (prompts.system, task.instruction) if text
        ),
        "doc_to_text": f"Question: {{{{{TEXT}}}}}\nAnswer:",
        "doc_to_target": "{{answer}}",
        "generation_kwargs": {
            "until": ["\n\nQuestion:"],
            "max_gen_toks": _ROOM_TOKENS + (_longest(part) if names is None else 0),
            "do_sample": False,
            "temperature": 0.0,
        },
        "filter_list": [  # `evaluate` reads the first filter from the harness's log
            _filter("tolerant", **tolerant),
            _filter("strict", **strict),
        ],
        "metric_list": [_metric("exact_match"), *map(_metric, _bucket_metrics(part, buckets))],
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


def _buckets(part: ExportPart) -> Breakdown | None:
    """The breakdown by the column that a split is balanced over, such as a depth, or None."""
    task = part.task
    return next(
        (breakdown for breakdown in task.group_by if breakdown.column == task.bucket_name), None
    )


def _literal(text: str) -> str:
    """A text that the harness, which fills in templates of Jinja, leaves as it is."""
    has_signs = any(sign in text for sign in ("{{", "{%", "{#"))
    return f"{{% raw %}}{text}{{% endraw %}}" if has_signs else text


def _bucket_metrics(part: ExportPart, buckets: Breakdown | None) -> list[str]:
    """The metrics of the buckets that a split has, as `rows.py` names them."""
    if buckets is None:
        return []
    column, width = buckets.column, buckets.width
    batches = part.dataset.batches(part.task.variant, part.split, [column], BATCH_ROWS)
    values = sorted({value for batch in batches for value in batch[column].to_pylist()})
    firsts = dict.fromkeys((value - 1) // width * width + 1 if width else value for value in values)
    ends = (f"{first}..{first + width - 1}" if width else str(first) for first in firsts)
    return [f"exact_match_{column}_{end}" for end in ends]


def _longest(part: ExportPart) -> int:
    """The most bytes of an answer in the split. No tokenizer makes more tokens of it."""
    batches = part.dataset.batches(part.task.variant, part.split, [LABEL], BATCH_ROWS)
    labels = itertools.chain.from_iterable(batch[LABEL].to_pylist() for batch in batches)
    return max((len(str(label).encode()) for label in labels), default=0)


def _metric(name: str) -> dict[str, Any]:
    return {"metric": name, "aggregation": "mean", "higher_is_better": True}


def _shards(part: ExportPart) -> dict[str, list[Shard]]:
    """The shards of a split, and as many of train as have the example rows, by split."""
    shards = {part.split: list(part.record.shards)}
    splits = part.dataset.manifest.variants[part.task.variant]
    for split in part.task.splits:
        if not split.evaluation and split.name in splits and split.name != part.split:
            wanted = part.prompts.shots or _SHOTS
            return {**shards, split.name: _first_shards(splits[split.name].shards, wanted)}
    return shards


def _first_shards(shards: Sequence[Shard], rows: int) -> list[Shard]:
    """As many shards as have so many rows, from 1 row. All if together they have fewer."""
    before = itertools.accumulate((shard.rows for shard in shards), initial=0)
    return [shard for shard, number in zip(shards, before, strict=False) if number < rows]


def _copy(part: ExportPart, shard: Shard, directory: Path) -> None:
    """Copy a shard, unless another part has copied it. Its relative path stays the same."""
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
