"""The program that the tests of the command line run."""

import pytest

from synthbench.cli.main import main


@pytest.fixture
def program(tmp_path, monkeypatch, capfd):
    """The command line in this process, in an empty directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SYNTHBENCH_DEBUG", raising=False)
    monkeypatch.setenv("SYNTHBENCH_DATA", str(tmp_path / "no sources"))

    def run(line="", *words):
        with pytest.raises(SystemExit) as ended:
            main([*line.split(), *words])
        assert isinstance(ended.value.code, int)
        return ended.value.code, *capfd.readouterr()

    return run
