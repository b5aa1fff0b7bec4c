"""Export a dataset in the formats of other tools."""

from __future__ import annotations

import dataclasses
import errno
import functools
import tempfile
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from synthbench import __version__
from synthbench.arguments import checked
from synthbench.checks import check_name, check_replaceable, claim_output, usable_path
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.files import write_json
from synthbench.dataset.staging import check_whole
from synthbench.errors import SynthbenchError, UsageError
from synthbench.llm.mixtures import check_mixable
from synthbench.llm.prompts import why_not_askable, why_not_text
from synthbench.llm.request_fields import check_request_fields, request_fields
from synthbench.sharing import croissant, lm_eval, nemo_gym, tensors, text_formats, verl
from synthbench.sharing.parts import ExportPart, MixedPart, PromptOptions
from synthbench.tasks.base import Task
from synthbench.tasks.mixture import Mixture
from synthbench.text.lines import short
from synthbench.text.progress import progress_bar

_DEFAULTS = PromptOptions()
#: Describes an exported directory. Only directories with this file are replaced.
MARKER = "export.json"


@dataclasses.dataclass(frozen=True)
class Format:
    """The writer of a format.

    Attributes:
        write: writes parts into an existing directory, or to a file.
        unsupported_reason: why rows of a task cannot be written, None if they can.
        split: the split to export by default; None for all.
        is_file: whether it is a single file, which lies in the dataset's directory.
        mixes: whether rows of several datasets may be in one file.
        has_prompts: whether it has prompts, for which there are options.
        has_requests: whether it has requests, which name a model.
        has_replies: whether its prompts or rows have answers of our own wording.
    """

    write: Callable[[Sequence[Any], Path], None]
    unsupported_reason: Callable[[Task], str | None] = lambda task: None
    split: str | None = None
    is_file: bool = False
    mixes: bool = False
    has_prompts: bool = False
    has_requests: bool = False
    has_replies: bool = False


_TEXTS = functools.partial(
    Format, unsupported_reason=why_not_text, mixes=True, has_prompts=True, has_replies=True
)
FORMATS = {
    "jsonl": Format(text_formats.write_jsonl, mixes=True),
    "chat": _TEXTS(text_formats.write_chat, unsupported_reason=why_not_askable),
    "openai-batch": _TEXTS(
        text_formats.write_openai_batch,
        unsupported_reason=why_not_askable,
        split="test",
        mixes=False,
        has_requests=True,
    ),
    "tsv": Format(text_formats.write_tsv, text_formats.why_not_tsv),
    "lm-eval": Format(
        lm_eval.write, text_formats.why_not_tsv, split=lm_eval.SPLIT, has_prompts=True
    ),
    "verl": _TEXTS(verl.write_verl),
    "skyrl": _TEXTS(verl.write_skyrl),
    "nemo-gym": _TEXTS(nemo_gym.write),
    "torch": Format(tensors.write, tensors.unsupported_reason),
    "croissant": Format(croissant.write, croissant.unsupported_reason, is_file=True),
}


#: A dataset directory.
Source = str | PathLike[str]


@checked
def export(
    dataset: Source | Sequence[Source] | Mapping[Source, int],
    to: str,
    out: str | PathLike[str],
    *,
    variants: Sequence[str] | None = None,
    splits: Sequence[str] | None = None,
    shots: int | None = None,
    system: str | None = None,
    limit: int | None = None,
    offset: int = 0,
    model: str | None = None,
    request: Mapping[str, Any] | None = None,
    solutions: bool = False,
    overwrite: bool = False,
    progress: bool = True,
) -> dict[str, int]:
    """Write a dataset in the format of another tool.

    Everything is written beside `out` and renamed when it is complete.

    Args:
        dataset: the dataset directory. Or several, whose rows take turns in one file for each
            split: a list, or a mapping to whole numbers, such as `{"listops": 2, "parity": 1}` for
            two rows of listops to each of parity. Their first variants count, and a file has as
            many rows as give the weights exactly.
        to: `jsonl`, `chat`, `openai-batch`, `tsv`, `lm-eval`, `verl`, `skyrl`, `nemo-gym`, `torch`
            or `croissant`. The modules of `synthbench.sharing` describe them.
        out: the directory to write. For `croissant`, a file, which must lie in `dataset`.
        variants: which variants. Default: all of the dataset.
        splits: which splits. Default: all, for `lm-eval` and `openai-batch` only test.
        shots: for formats with prompts (all but `jsonl`, `tsv`, `torch` and `croissant`), worked
            examples before each question, rows of train. Default: 5 for `lm-eval` (fewer if train
            has fewer rows), else 0.
        system: for these formats, a system message.
        limit: for these formats, the most rows of each split. Default: all.
        offset: for these formats, how many rows of each split are left out before the first.
        model: for `openai-batch`, the model that the requests name.
        request: for `openai-batch`, further fields of every request, such as `max_tokens`.
        solutions: for formats with answers in words (`chat`, and worked examples of all but
            `lm-eval`), whether they show the steps, as `synthbench.llm.worked_solution` does.
        overwrite: whether to replace an earlier export.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        Bytes of each file that was written, by its path in `out`.

    Raises:
        UsageError: an unknown format, variant or split, a format that cannot hold the task's
            rows or take an option, an output that exists, or source images that are missing.
        DatasetError: the directory holds no complete dataset.
        SynthbenchError: the output cannot be written, or a package is missing.

    Example:
        >>> import synthbench
        >>> manifest = synthbench.generate("parity", preset="small")
        >>> sizes = synthbench.export("parity", "jsonl", "exported", splits=["test"])
        >>> sorted(sizes)
        ['default/test.jsonl', 'export.json']
    """
    check_name("format", to, FORMATS)
    form = FORMATS[to]
    output = usable_path("Output", out).resolve()  # a link stays, and its target is replaced
    fields = request_fields(request)
    prompts = PromptOptions(shots, system, limit, offset, model, fields, solutions)
    _check_prompts(prompts, form, to)
    mixture = Mixture.of(dataset).map(DatasetDirectory.open)
    parts = _chosen_parts(mixture, variants, splits, prompts, to)
    for opened in mixture.parts:
        _check_output(output, opened, form, overwrite)
        check_whole(opened)
    for part in parts:
        part.conversation()  # refuses what cannot be asked, before anything is written
    names = " and ".join(opened.manifest.task for opened in mixture.parts)
    with progress_bar(progress, f"export {names}", "rows", sum(part.size for part in parts)) as bar:
        parts = [part.counted(bar.update) for part in parts]
        try:
            return _write_beside(parts, output, form, to)
        except OSError as error:
            # The temporary name beside the output is longer than the output's own.
            kind = UsageError if error.errno == errno.ENAMETOOLONG else SynthbenchError
            reason = error.strerror or error
            raise kind(f"Output {str(output)!r} cannot be written: {reason}.") from error


def _chosen_parts(
    mixture: Mixture[DatasetDirectory],
    variants: Sequence[str] | None,
    splits: Sequence[str] | None,
    prompts: PromptOptions,
    to: str,
) -> Sequence[ExportPart | MixedPart]:
    """Parts to export: splits of the variants of one dataset, or of several datasets in turns."""
    dataset, *others = mixture.parts
    if not others:
        names = dict.fromkeys(map(dataset.variant, variants or dataset.manifest.variants))
        tasks = [dataset.make_task(name) for name in names]
        _check_tasks(tasks, to)
        split_names = _chosen_splits([(dataset, task) for task in tasks], splits, to)
        return [ExportPart(dataset, task, name, prompts) for task in tasks for name in split_names]
    if not FORMATS[to].mixes:
        able = ", ".join(name for name, form in FORMATS.items() if form.mixes)
        raise UsageError(f"Format {to!r} takes one dataset. Several can be exported to {able}.")
    if variants:
        raise UsageError(
            f"Variants {', '.join(variants)}: of several datasets the first variant of each is "
            "exported. Leave them out."
        )
    pairs = mixture.map(lambda dataset: (dataset, dataset.make_task()))
    check_mixable(pairs.map(lambda pair: pair[1]))
    _check_tasks([task for _, task in pairs.parts], to)
    split_names = _chosen_splits(pairs.parts, splits, to)
    parts = [pairs.map(functools.partial(_part, split=name)) for name in split_names]
    return [MixedPart.of(part, prompts) for part in parts]


def _part(pair: tuple[DatasetDirectory, Task], split: str) -> ExportPart:
    return ExportPart(*pair, split)


def _check_prompts(prompts: PromptOptions, form: Format, to: str) -> None:
    """Refuse options that a format cannot use, and requests that cannot be made."""
    options = {name for name, value in vars(prompts).items() if value != getattr(_DEFAULTS, name)}
    for names, takes in (
        (("shots", "system", "limit", "offset"), "has_prompts"),
        (("model", "request"), "has_requests"),
        (("solutions",), "has_replies"),
    ):
        if (wrong := [name for name in names if name in options]) and not getattr(form, takes):
            others = [name for name, other in FORMATS.items() if getattr(other, takes)]
            raise UsageError(
                f"Format {to!r} does not take {wrong[0]!r}. Formats that do: {', '.join(others)}."
            )
    if form.has_requests and not prompts.model:
        raise UsageError(f"Format {to!r} needs the name of the model: model=NAME, --model NAME.")
    check_request_fields(prompts.request, "export")
    for what, text in (("System message", prompts.system), ("Model", prompts.model)):
        try:  # an argument of a command may have bytes other than text
            (text or "").encode()
        except UnicodeEncodeError as error:
            raise UsageError(
                f"{what} {short(text)}: expected text that UTF-8 can hold ({error.reason})."
            ) from None


def _check_tasks(tasks: Sequence[Task], to: str) -> None:
    for task in tasks:
        if reason := FORMATS[to].unsupported_reason(task):
            others = [name for name, other in FORMATS.items() if not other.unsupported_reason(task)]
            raise UsageError(
                f"Task {task.name!r} cannot be exported to {to}: {reason}. "
                f"Formats for this task: {', '.join(others)}."
            )


def _chosen_splits(
    variants: Sequence[tuple[DatasetDirectory, Task]], splits: Sequence[str] | None, to: str
) -> list[str]:
    """The splits that are named, in the datasets' order. Default: those that all variants have."""
    having = [dataset.manifest.variants[task.variant] for dataset, task in variants]
    there = [name for name in having[0] if all(name in records for records in having)]
    if not splits:
        return [default] if (default := FORMATS[to].split) in there else there
    for dataset, task in variants:
        for name in splits:
            dataset.split(task.variant, name)
    return [name for name in there if name in splits]


def _check_output(output: Path, dataset: DatasetDirectory, form: Format, overwrite: bool) -> None:
    """Refuse an output that exists, or lies where this format cannot be written."""
    home, name = dataset.path.resolve(), repr(str(output))
    if form.is_file:
        if output.parent != home or output.suffix != ".json":
            raise UsageError(
                f"Output {name}: expected a file such as {str(dataset.path / 'croissant.json')!r}, "
                "in the dataset's directory, because it describes the files there."
            )
        there = output.exists()
        text = output.read_text("utf-8", "replace") if output.is_file() else ""
        if there and croissant.CONFORMS_TO not in text:
            raise UsageError(f"Output {name} has other content. Name another file.")
    else:
        if output.is_relative_to(home):
            raise UsageError(f"Output {name} lies in the dataset itself. Name a path outside it.")
        there = claim_output(output, MARKER)
        check_replaceable(output)
    if there and not overwrite:
        raise UsageError(f"Output {name} holds an earlier export. Replace it with --overwrite.")


def _write_beside(
    parts: Sequence[ExportPart | MixedPart], output: Path, form: Format, to: str
) -> dict[str, int]:
    """Write everything in a directory beside the output, then rename it."""
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{output.name}.", dir=output.parent) as beside:
        new, old = Path(beside) / "new", Path(beside) / "old"
        if not form.is_file:
            new.mkdir()
        form.write(parts, new)
        if not form.is_file:
            write_json(new / MARKER, _provenance(parts, to))
        sizes = {output.name: new.stat().st_size}
        if new.is_dir():
            files = sorted(file for file in new.rglob("*") if file.is_file())
            sizes = {file.relative_to(new).as_posix(): file.stat().st_size for file in files}
        if output.exists():
            output.rename(old)
        try:
            new.rename(output)
        except OSError:
            if old.exists():
                old.rename(output)
            raise
        return sizes


def _provenance(parts: Sequence[ExportPart | MixedPart], to: str) -> dict[str, Any]:
    """The origin of an export, as JSON values."""
    provenance = {"synthbench": __version__, "format": to}
    options = dataclasses.asdict(parts[0].prompts)
    prompts = {"prompts": options} if FORMATS[to].has_prompts else {}
    origins: dict[DatasetDirectory, dict[str, Any]] = {}
    for split_part in (split_part for part in parts for split_part in part.parts):
        manifest = split_part.dataset.manifest
        told = {"task": manifest.task, "seed": manifest.seed, "parameters": manifest.parameters}
        origin = origins.setdefault(split_part.dataset, {**told, "variants": {}})
        record = {"rows": split_part.record.rows, "digest": split_part.record.digest}
        origin["variants"].setdefault(split_part.task.variant, {})[split_part.split] = record
    if isinstance(first := parts[0], MixedPart):
        return {
            **provenance,
            "weights": first.mixture.weights,
            "mixture": [*origins.values()],
            **prompts,
        }
    (origin,) = origins.values()
    return {**provenance, **origin, **prompts}
