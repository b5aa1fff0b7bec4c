"""The deep run: every fault as often as asked, and a kill before every step there is.

    python -m tests.faults --times 20 --seed 1

Takes a few minutes; the tests of this package take a handful of the same faults, and all others.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.faults.random_faults import FAULTS, Disturbed
from tests.faults.step_kills import KillsBeforeSteps
from tests.faults.survived import table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--times", type=int, default=20, help="of each fault at random moments")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    options = parser.parse_args()
    kept = 0
    for fault in FAULTS:
        with tempfile.TemporaryDirectory() as directory:
            print(f"{fault}, {options.times} times", file=sys.stderr)
            run = Disturbed(Path(directory), fault, options.seed)
            run.strike(options.times)
            kept += run.kept
    for overwriting in (False, True):
        with tempfile.TemporaryDirectory() as directory:
            kills = KillsBeforeSteps(Path(directory), overwriting)
            for step in kills.steps():
                print(f"kill -9 just before {step}", file=sys.stderr)
                kills.kill(step)
    print(table())
    print(f"Finished shards that were found again untouched after a fault: {kept}")


if __name__ == "__main__":
    main()
