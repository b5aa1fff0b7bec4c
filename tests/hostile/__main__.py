"""Attack for as long as there is time: `python -m tests.hostile --seconds 600`.

Every target runs in a process of its own, guided by coverage with atheris where that can be
imported, else with random bytes; hypothesis makes a case of the bytes. A table says how many cases
there were; the first case that fails in a target is shown, and the exit status is then 1.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib.util
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

#: Seconds that a case may take, and bytes of address space that a process may have.
_PATIENCE, _MEMORY = 120, 8 << 30
#: Bytes of which hypothesis makes a case, at most.
_LONGEST = 4_096


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--seconds", type=int, default=600, help="for all targets together")
    parser.add_argument("--only", nargs="*", help="targets; default: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-atheris", action="store_true", help="random bytes instead")
    parser.add_argument("--target", help=argparse.SUPPRESS)
    parser.add_argument("--note", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    guided = not chosen.no_atheris and importlib.util.find_spec("atheris") is not None
    if chosen.target:
        attack(chosen.target, chosen.seconds, chosen.seed, guided, Path(chosen.note))
    return attack_all(chosen.only, chosen.seconds, chosen.seed, guided)


# All targets, each in a process.


def attack_all(only: list[str] | None, seconds: int, seed: int, guided: bool) -> int:
    from tests.hostile.targets import TARGETS

    names = only or list(TARGETS)
    print(f"guided by {'coverage (atheris)' if guided else 'nothing: random bytes'}; seed {seed}")
    print(f"{'target':24}{'cases':>10}{'seconds':>10}{'peak MB':>10}  result")
    cases = failed = 0
    for name in names:
        words = ["--target", name, "--seed", str(seed), "--seconds", str(seconds // len(names))]
        done, told = run_apart(words if guided else [*words, "--no-atheris"])
        held = bool(told.get("done")) and not done.returncode
        count, took, peak = (told.get(one, 0) for one in ("cases", "seconds", "peak"))
        result = "held" if held else f"failed, status {done.returncode}"
        print(f"{name:24}{count:>10,}{took:>10.0f}{peak:>10,.0f}  {result}", flush=True)
        cases, failed = cases + count, failed + (not held)
        if not held:
            print(done.stdout[-3_000:], done.stderr[-3_000:], sep="\n", flush=True)
    print(f"{'all':24}{cases:>10,}  {failed} of {len(names)} targets failed")
    return 1 if failed else 0


def run_apart(words: list[str]) -> tuple[subprocess.CompletedProcess[str], dict[str, float]]:
    """Attack one target in a process of its own; also what that has noted."""
    with tempfile.TemporaryDirectory(prefix="hostile-note-") as place:
        note = Path(place, "note.json")
        done = subprocess.run(
            [sys.executable, "-m", "tests.hostile", *words, "--note", str(note)],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        return done, json.loads(note.read_text()) if note.exists() else {}


# One target, in this process.


class Tally:
    """How many cases there were, noted where the parent finds it even if this process is gone."""

    def __init__(self, note: Path, seconds: int) -> None:
        self.cases = 0
        self.last: object = None
        self._note, self._begun = note, time.monotonic()
        self.end = self._begun + seconds

    def count(self) -> None:
        self.cases += 1
        if self.cases % 50 == 1:
            self.write(done=False)

    def write(self, done: bool) -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        took = time.monotonic() - self._begun
        told = {"cases": self.cases, "seconds": took, "peak": peak, "done": done}
        self._note.write_text(json.dumps(told))


def attack(name: str, seconds: int, seed: int, guided: bool, note: Path) -> None:
    """Attack until the time is over; ends the process."""
    if guided:
        import atheris

        with atheris.instrument_imports(include=["synthbench"]):
            from tests.hostile import targets
    else:
        from tests.hostile import targets
    from tests.hostile import made, watching

    os.environ["SYNTHBENCH_DATA"] = made.NOWHERE
    for one in made.ASKED:
        made.dataset(one)
    watching.install()
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.RLIM_INFINITY))
    tally = Tally(note, seconds)
    fuzz = one_input(*targets.TARGETS[name], tally)

    def one(data: bytes) -> None:
        try:
            fuzz(data)
        except BaseException:
            print(f"case {tally.cases + 1} of {name}: {tally.last!r:.4000}", flush=True)
            raise
        if time.monotonic() > tally.end:
            tally.write(done=True)
            sys.stdout.flush()
            os._exit(0)  # libFuzzer would go on

    if guided:
        options = [f"-max_len={_LONGEST}", "-len_control=0", f"-seed={seed + 1}"]
        options += [f"-timeout={_PATIENCE}", "-rss_limit_mb=0", f"-artifact_prefix={note}-"]
        atheris.Setup([sys.argv[0], *options], one)
        atheris.Fuzz()
    numbers = random.Random(seed)
    while True:
        one(numbers.randbytes(numbers.randint(1, _LONGEST)))


def one_input(
    strategy: object, check: Callable[[object], None], tally: Tally
) -> Callable[[bytes], object]:
    """A function that makes a case of bytes and checks it."""
    from hypothesis import HealthCheck, given, settings

    @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategy)  # type: ignore[arg-type]
    def case(drawn: object) -> None:
        tally.last = drawn
        faulthandler.dump_traceback_later(_PATIENCE, exit=True)
        check(drawn)
        tally.count()

    fuzz: Callable[[bytes], object] = case.hypothesis.fuzz_one_input  # type: ignore[attr-defined]
    return fuzz


if __name__ == "__main__":
    sys.exit(main())
