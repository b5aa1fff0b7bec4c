"""Hold stored results against golden trainings: `python -m benchmarks hold FILE [FILE ...]`.

Writes into each file of `examples/results` the commit that made it and what the golden trainings of
its models gave with the code of that commit, as its `tests/golden/losses.json` has them. The page
of results compares them with today's, and so says whether today's code still makes the result.

Code that is older than the golden trainings has no such file: run them with that code, and name
what they gave with `--losses`. `--other-rows` says that the stream has other rows of the same
distribution today.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from synthbench.dataset.files import reading, write_json
from synthbench.errors import SynthbenchError

ROOT = Path(__file__).parents[1]
GOLDEN = "tests/golden/losses.json"


def main(words: Sequence[str]) -> None:
    """Write the golden losses into the files named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks hold", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--commit", help="default: that of the runs")
    parser.add_argument("--losses", type=Path, help=f"default: {GOLDEN} at the commit")
    parser.add_argument("--other-rows", action="store_true")
    chosen = parser.parse_args(words)
    for file in chosen.files:
        with reading(file):
            comparison = json.loads(file.read_text(encoding="utf-8"))
            commit = chosen.commit or commit_of(comparison)
            models = dict.fromkeys(
                recipe["model"] for line in comparison["models"] for recipe in line["recipes"]
            )
        with reading(chosen.losses or Path(GOLDEN)):
            text = chosen.losses.read_text(encoding="utf-8") if chosen.losses else None
            losses = json.loads(text or _git("show", f"{commit}:{GOLDEN}"))["losses"]
        if lacking := sorted(models.keys() - losses.keys()):
            raise SynthbenchError(f"{file}: there is no golden training of {', '.join(lacking)}.")
        comparison["held"] = {
            "commit": _git("rev-parse", commit).strip(),
            "date": _git("show", "--no-patch", "--format=%as", commit).strip(),
            "same_rows": not chosen.other_rows,
            "losses": {model: losses[model] for model in models},
        }
        write_json(file, comparison)
        print(f"{file}: held against commit {commit[:7]}")


def commit_of(comparison: dict[str, Any]) -> str:
    """The one commit that all runs of a comparison are of.

    Raises:
        SynthbenchError: they name none, several, or one with changes.
    """
    runs = [run for line in comparison["models"] for run in line["runs"]]
    commits = sorted({str(run.get("commit")) for run in runs})
    if len(commits) > 1 or commits[0] == "None" or commits[0].endswith("-dirty"):
        raise SynthbenchError(f"The runs are of {', '.join(commits)}; name one with --commit.")
    return commits[0]


def _git(*words: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
    if done.returncode:
        raise SynthbenchError(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout
