import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_as_it_stands_and_prints_a_result(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if "torch" in path.read_text(encoding="utf-8"):
        pytest.importorskip("torch", reason="the extra 'train' is not installed")
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()
