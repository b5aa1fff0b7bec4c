"""What several test files need: the tasks, rows of them, the program as a process."""

import contextlib
import functools
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import filelock
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from synthbench.engine.engine import Engine
from synthbench.sampling.blocks import KeyedRows
from synthbench.sampling.plan import make_plan
from synthbench.sampling.splits import SplitSampler
from synthbench.tasks.own_variant import OWN, OwnVariant
from synthbench.tasks.registry import list_tasks, task_class
from synthbench.tasks.registry import task as make_task

ROOT = Path(__file__).parents[1]


def has_images(task):
    return task.image_column is not None


#: Every task that needs no source images, with each of its variants.
IMAGELESS = [
    (name, variant)
    for name in list_tasks()
    if not has_images(make_task(name))
    for variant in task_class(name).variants
]


#: Those of them that have a rule of their own. Where a user may give a rule, other variants are the
#: same code with other tables, whose rows golden digests hold.
RULES = [
    (name, variant)
    for name, variant in IMAGELESS
    if not issubclass(task_class(name), OwnVariant) or variant in (make_task(name).variant, OWN)
]

#: Tasks of texts that have tokens and forms, and those of them whose labels are classes.
TEXTS = [name for name in list_tasks() if make_task(name).forms]
CLASSES = [name for name in TEXTS if make_task(name).labels is not None]


#: The first variant of each of them, for rules of code that knows nothing of variants.
ONE_EACH = [(name, variant) for name, variant in IMAGELESS if variant == make_task(name).variant]


def is_free_text(name):
    """True if a task's labels are free text, which no form of tokens has."""
    return make_task(name).vocabulary is not None and not make_task(name).forms


def first_fast(cases):
    """Cases `(name, variant, ...)` as parameters of tests; only a task's first variant is fast.

    For what a variant may get wrong by itself; rules of shared code take `ONE_EACH`.
    """
    return [
        pytest.param(*case, marks=[pytest.mark.slow] * (case[1] != make_task(case[0]).variant))
        for case in cases
    ]


def draw_splits(task, rows, *only):
    """Splits of a dataset: `rows` rows each or as many as exist, or the paper's numbers."""
    plan = make_plan(task, {split.name: rows or split.rows for split in task.splits}, at_most=True)
    found = {}
    for split in [task.split(name) for name in only] or task.splits:
        sampler = SplitSampler(task, split, plan, Engine(None, 1))
        found[split.name] = KeyedRows.concatenate([one.rows() for one in sampler.rounds()])
    return found


def easiest(name, variant=None):
    """A task at its easiest level, whose rows are soon made: for rules of shared code."""
    return make_task(name, variant, level="easy" if task_class(name).levels else None)


@functools.cache
def drawn(name, variant=None, rows=60, seed=0):
    """The same for a task with its default parameters, drawn once for all processes."""
    task = make_task(name, variant, seed=seed)
    return once_for_all(f"{name}-{variant}-{rows}-{seed}", lambda: draw_splits(task, rows))


#: The directory that the processes of a run of the tests share; `tests/conftest.py` sets it.
SHARED = None


def once_for_all(name, make):
    """What the first process makes that asks for it. The others read it from a file."""
    assert SHARED is not None
    file = SHARED / f"{name}.pickle"
    with filelock.FileLock(f"{file}.lock"):
        if not file.exists():
            file.write_bytes(pickle.dumps(make()))
        return pickle.loads(file.read_bytes())


def plain_rows(columns):
    """Columns as rows of plain Python values."""
    cells = zip(*(column.to_pylist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in cells]


def shards(directory, variant, split):
    return sorted((directory / "data" / variant).glob(f"{split}-*.parquet"))


def stored_rows(directory, variant, split):
    """A split as plain pyarrow reads it."""
    return pa.concat_tables([pq.read_table(file) for file in shards(directory, variant, split)])


def digests(manifest):
    return {
        variant: {name: split.digest for name, split in splits.items()}
        for variant, splits in manifest.variants.items()
    }


def environment(**changes):
    """This process's environment for another one that imports synthbench from here."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", **changes}


def start(*words, cwd=ROOT, **changes):
    """Python as a process of its own, from beginning to end."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def run_program(*words, cwd, **changes):
    """The command line as a process of its own."""
    return start("-m", "synthbench", *words, cwd=cwd, **changes)


def run_python(code, **changes):
    """What a piece of Python prints in a process of its own."""
    done = start("-c", code, **changes)
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextlib.contextmanager
def terminal(columns=80):
    """A terminal: the descriptor for a process to write to, and what it showed, read at its end."""
    import pty
    import termios

    ours, its = pty.openpty()
    termios.tcsetwinsize(its, (24, columns))

    def shown():
        os.close(its)
        parts = []
        with contextlib.suppress(OSError):  # how Linux says that the other end is closed
            while part := os.read(ours, 4096):
                parts.append(part)
        return b"".join(parts)

    yield its, shown
    os.close(ours)


def id_texts(fingerprints):
    return [f"{one:016x}" for one in fingerprints.tolist()]


def card_sections(card):
    """The sections of a dataset card by their titles, open and folded ones."""
    parts = re.split(r"^(?:## |<details>\n<summary>)(.+?)(?:</summary>)?$", card, flags=re.M)
    titles, texts = parts[1::2], [text.strip().removesuffix("</details>") for text in parts[2::2]]
    assert len(set(titles)) == len(titles)
    return dict(zip(titles, texts, strict=True))


def every_variant(name, **chosen):
    """A task in each of its variants."""
    return [make_task(name, variant, **chosen) for variant in task_class(name).variants]


def take_task(name, options):
    """A task, and the options that are left, from options that say both what and how to make.

    Args:
        name: of a task.
        options: `parameters` is a dictionary, `variant` a name, several, or "all"; with several
            this gives a task for each.
    """
    options = dict(options)
    variant, parameters = options.pop("variant", None), options.pop("parameters", {})
    chosen = {key: options.pop(key) for key in ("seed", "source_dir") if key in options}
    chosen = {**parameters, **chosen}
    if variant == "all":
        return every_variant(name, **chosen), options
    if isinstance(variant, list):
        return [make_task(name, one, **chosen) for one in variant], options
    return make_task(name, variant, **chosen), options
