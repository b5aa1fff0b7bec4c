"""What the README shows, run as it is printed; the gate runs its two set-up commands."""

import json
import re
import shlex
from pathlib import Path

import pytest

import synthbench
from synthbench.cli.main import _run, commands
from tests.tasks.tiny_sources import write_sources

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_each_of_the_two_commands_that_do_all_the_set_up_is_one_line() -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    assert blocks[:2] == [
        "pip install . && synthbench generate listops\n",
        "pip install -e '.[test]' && python -m pytest\n",
    ]


@pytest.mark.slow
def test_the_python_runs_and_the_commands_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("datasets", reason="datasets is not installed")
    pytest.importorskip("torch", reason="PyTorch is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SYNTHBENCH_DATA", str(write_sources(tmp_path / "sources")))
    scope: dict[str, object] = {}
    for python in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        exec(compile(python, "README.md", "exec"), scope)
    assert "accuracy" in capsys.readouterr().out
    assert len(scope["batch"]["id"]) == 512  # type: ignore[index]

    rows = synthbench.DatasetDirectory.open("listops").rows("default", "test", ["id"])
    lines = (json.dumps({"id": row["id"], "prediction": "3"}) for row in rows)
    Path("predictions.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (shown,) = re.findall(r"^```\n(synthbench list.*?)^```", README, re.DOTALL | re.MULTILINE)
    for line in shown.splitlines():
        words = shlex.split(re.split(r"  +", line)[0])[1:]
        if "--preset" in words and words[1] == "listops":
            words += ["--out", "small"]  # the directory of the Python above is taken
        assert _run(commands, words) == 0, line
        assert capsys.readouterr().out.strip()
