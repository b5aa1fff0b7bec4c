"""Decontamination of ordinary text: `python -m benchmarks decontaminate [FOLDER ...]`.

The corpus is every text file of the folders, a document each; by default of the folders of Python
and its installed packages: code, documentation and tables of numbers. None of its rows is ours, so
what is found are rows of others that happen to be of the form of one and held out.
"""

import argparse
import json
import random
import resource
import sysconfig
import tempfile
from pathlib import Path

from benchmarks.__main__ import machine
from synthbench.decontamination.decontaminate import decontaminate
from synthbench.text.tables import render

KINDS = {".py", ".md", ".rst", ".txt", ".html", ".c", ".h", ".js", ".css", ".csv", ".json"}


def documents(folders, size):
    """Texts of the folders in random order, up to so many bytes."""
    files = sorted(
        file
        for folder in folders
        for file in Path(folder).rglob("*")
        if file.suffix in KINDS and "synthbench" not in file.parts and file.is_file()
    )
    random.Random(0).shuffle(files)
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        size -= len(text)
        if size < 0:
            return
        yield text


def processor_seconds():
    """The time that this process and its children have used, whatever else the cores do."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def main(words):
    """Measure with one process and with as many as there are cores."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks decontaminate", description=__doc__)
    parser.add_argument("folders", nargs="*", default=[sysconfig.get_path("stdlib")])
    parser.add_argument("--mb", type=int, default=100, help="size of the corpus")
    arguments = parser.parse_args(words)
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder, "corpus.jsonl")
        with corpus.open("w", encoding="utf-8") as file:
            for text in documents(arguments.folders, arguments.mb * 1_000_000):
                file.write(json.dumps({"text": text}) + "\n")
        for workers in (1, None):
            out = Path(folder, f"clean-{workers}")
            before = processor_seconds()
            report = decontaminate(corpus, out=out.with_suffix(".jsonl"), workers=workers)
            used = processor_seconds() - before
            print(render(report))
            print(f"{report.bytes / 1e6 / used:.1f} MB in a second of one core's time")
