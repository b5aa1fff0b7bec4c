import importlib.util
import runpy
from pathlib import Path

import pytest

from tests.tasks.tiny_sources import write_sources

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
NEEDED = ("torchvision", "torch", "datasets")


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_as_it_stands_and_prints_a_result(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = path.read_text(encoding="utf-8")
    for module in NEEDED:
        if f"from {module}" in text and importlib.util.find_spec(module) is None:
            pytest.skip(f"{path.name} needs {module}, which is not installed")
    monkeypatch.setenv("SYNTHBENCH_DATA", str(write_sources(tmp_path)))
    monkeypatch.setattr("sys.argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()
