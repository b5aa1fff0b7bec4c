import importlib.util
import re
import runpy
from pathlib import Path

import pytest

from synthbench.tasks import registry
from tests.support import start

pytestmark = pytest.mark.slow

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
#: Arguments with which an example trains for fewer steps than by default.
ARGUMENTS = {"train_decoder": ("5",)}
NEEDED = ("fla", "torch", "datasets", "transformers", "matplotlib", "jax")


def test_examples_are_few_and_short_and_say_what_they_print():
    assert len(EXAMPLES) <= 11
    for path in EXAMPLES:
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 120
        docstring = text.split('"""')[1]
        assert "rinted" in docstring, path.name
    for name in ("pytorch_loader", "jax_tokens", "huggingface_trainer"):
        lines = (EXAMPLES[0].parent / f"{name}.py").read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 25


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_prints_a_result(path, tmp_path, monkeypatch, capsys):
    text = path.read_text(encoding="utf-8")
    for module in NEEDED:
        needed = re.search(rf"^(from|import) {module}\b", text, re.MULTILINE)
        if needed and importlib.util.find_spec(module) is None:
            pytest.skip(f"{path.name} needs {module}, which is not installed: pip install {module}")
    if "import jax" in text:  # whose threads are no good company for tests that fork
        done = start(str(path), cwd=tmp_path)
        assert (done.returncode, bool(done.stdout.strip())) == (0, True), done.stderr
        return
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    monkeypatch.setattr("sys.argv", [str(path), *ARGUMENTS.get(path.stem, ())])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()
