import importlib.util
import re
import runpy
from pathlib import Path

import pytest

from synthbench import registry

pytestmark = pytest.mark.slow

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
NEEDED = ("torch", "datasets", "transformers", "matplotlib")


def test_there_are_five_to_eight_short_examples_that_say_what_they_print() -> None:
    assert 5 <= len(EXAMPLES) <= 8
    for path in EXAMPLES:
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 120
        docstring = text.split('"""')[1]
        assert "rinted" in docstring, path.name


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_as_it_stands_and_prints_a_result(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = path.read_text(encoding="utf-8")
    for module in NEEDED:
        needed = re.search(rf"^(from|import) {module}\b", text, re.MULTILINE)
        if needed and importlib.util.find_spec(module) is None:
            pytest.skip(f"{path.name} needs {module}, which is not installed: the extra dev has it")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    monkeypatch.setattr("sys.argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()
