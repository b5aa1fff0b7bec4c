"""Runs that are killed just before a step in the file system: a file opened, renamed, removed."""

import shutil
import signal

import pytest

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import DatasetError
from tests.faults.program import Program, finished_shards, run_here, whole
from tests.making import files, names, stamp

#: Two variants with six shards each: as short as it can be.
WORDS = [
    *["generate", "ctl", "--variant=all", "--out=ctl", "--quiet", "--workers=2"],
    *["--set=train_lengths=7,8", "--rows=train=20000", "--shard-rows=8192"],
    *["--rows=iid=90", "--rows=validation=60", "--rows=test=40"],
]


def steps(words, directory):
    """The names of all steps that a command makes in the file system below a directory."""
    module = ("tests.faults.doomed", "-", str(directory))
    status, _, named = Program(words, directory, module=module).end()
    assert status == 0
    return named.splitlines()


class KillsBeforeSteps:
    """Kills a command before one step, and goes on with the same command.

    Args:
        directory: an empty directory.
        overwriting: whether another dataset is there that is to be replaced.
    """

    def __init__(self, directory, overwriting):
        self._directory, self._out = directory, directory / "ctl"
        self._overwriting = overwriting
        self._words = [*WORDS, *(["--overwrite"] if overwriting else [])]
        self._expected = whole(tuple(WORDS))
        self._old = whole((*WORDS, "--seed=5")) if overwriting else {}
        self._before = directory / "before"
        if overwriting:
            run_here(*WORDS, "--seed=5", "--out=before", cwd=directory)

    def steps(self):
        """The names of all steps that the command makes."""
        self._place_old()
        named = steps(self._words, self._directory)
        shutil.rmtree(self._out)
        return named

    def _place_old(self):
        if self._overwriting:
            shutil.copytree(self._before, self._out)

    def kill(self, step):
        """Kill before a step.

        Raises:
            AssertionError: something was lost, or other bytes were made.
        """
        self._place_old()
        module = ("tests.faults.doomed", step, str(self._directory))
        status, *printed = Program(self._words, self._directory, module=module).end()
        assert (status, printed) == (-signal.SIGKILL, ["", ""])
        shards = finished_shards(self._out)
        # Any command finds the old dataset or the new one, if there was one; or, killed between the
        # two renames, it says where the old one lies and how it is put back.
        if self._out.exists():
            found = DatasetDirectory.open(self._out)
            assert files(found.path) in (self._old, self._expected)
        elif self._overwriting:
            aside = self._directory / ".ctl.partial" / "old"
            with pytest.raises(DatasetError, match="puts it back") as said:
                DatasetDirectory.open(self._out)
            assert str(aside) in str(said.value)
            assert files(aside) == self._old
        assert shards == finished_shards(self._out)
        done = self._out.exists() and files(self._out) == self._expected
        assert run_here(*self._words, cwd=self._directory) == (0, "", "")
        assert files(self._out) == self._expected
        assert set(names(self._directory)) <= {"before", "ctl"}
        if not done:
            assert {name: stamp(self._out / name) for name in shards} == shards
        shutil.rmtree(self._out)
