"""The package of `synthbench new-task` works as it stands."""

import json
import os
import re
import textwrap
import tomllib

import pytest

from synthbench.cli.main import _run, commands
from synthbench.errors import UsageError
from synthbench.tasks.new_task import template_text, write_package
from tests.support import ROOT, run_program, start


def install(package, site):
    """Install a package as `pip install -e` does: its sources on the path, and its entry point."""
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    information = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    points = project["entry-points"]["synthbench.tasks"]
    lines = ["[synthbench.tasks]", *(f"{name} = {place}" for name, place in points.items())]
    (information / "entry_points.txt").write_text("\n".join(lines))
    return {"PYTHONPATH": os.pathsep.join([str(ROOT), str(site), str(package / "src")])}


@pytest.mark.slow
def test_the_package_is_made_installed_checked_generated_and_verified(tmp_path):
    made = run_program("new-task", "digit-sum", cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.endswith(
        "Next: pip install -e digit-sum && synthbench check-task digit-sum\n"
    )
    changes = install(tmp_path / "digit-sum", tmp_path / "site")

    # Its own test runs `synthbench check-task`.
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
    tested = start(*words, cwd=tmp_path / "digit-sum", **changes)
    assert tested.returncode == 0, tested.stdout + tested.stderr

    for words in (
        ("generate", "digit-sum", "--preset", "small", "--workers", "1"),
        ("verify", "digit-sum-rows", "--workers", "1"),
        ("preview", "digit-sum", "-n", "1"),
    ):
        more = ("--out", "digit-sum-rows") if words[0] == "generate" else ()
        done = run_program(*words, *more, cwd=tmp_path, **changes)
        assert done.returncode == 0, done.stderr
    card = (tmp_path / "digit-sum-rows" / "README.md").read_text(encoding="utf-8")
    prose = (tmp_path / "digit-sum" / "src" / "digit_sum" / "card.md").read_text(encoding="utf-8")
    for part in re.split(r"^## .+$", prose, flags=re.MULTILINE):
        assert part.strip() in card


#: Judges another right answer than the label in all rows of a checked task, and writes it.
JUDGED = """
import json, synthbench
from synthbench import llm
lines = []
for row in synthbench.DatasetDirectory.open("rows").rows("default", "test"):
    first, second = row["label"].split(" + ")
    other = f"{second} + {first}"
    assert synthbench.score("sum-pairs", row, other) == 1.0
    for form in ("Answer: {}", "The answer is {}.", "<answer>{}</answer>", "So\\n\\n{}"):
        assert llm.score("sum-pairs", row, form.format(other)) == 1.0, form
        assert llm.score("sum-pairs", row, form.format(f"{first} + 99")) == 0.0, form
    lines.append(json.dumps({"id": row["id"], "prediction": other}))
open("predictions.jsonl", "w").write("\\n".join(lines))
"""


@pytest.mark.slow
def test_the_checked_package_passes_its_own_test_and_is_scored(tmp_path):
    made = run_program("new-task", "sum-pairs", "--checked", cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    changes = install(tmp_path / "sum-pairs", tmp_path / "site")
    # Its own test runs `synthbench check-task`.
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
    tested = start(*words, cwd=tmp_path / "sum-pairs", **changes)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    words = ["generate", "sum-pairs", "--preset", "small", "--workers", "1", "--out", "rows"]
    assert run_program(*words, cwd=tmp_path, **changes).returncode == 0
    for words in (("verify", "rows", "--workers", "1"), ("audit", "rows")):
        done = run_program(*words, cwd=tmp_path, **changes)
        assert done.returncode == 0, done.stdout + done.stderr
    judged = start("-c", JUDGED, cwd=tmp_path, **changes)
    assert judged.returncode == 0, judged.stderr
    words = ["evaluate", "rows", "predictions.jsonl", "--json"]
    report = json.loads(run_program(*words, cwd=tmp_path, **changes).stdout)
    assert report["accuracy"] == 1.0


@pytest.mark.slow
def test_check_refuses_the_templates_card_for_another_task(tmp_path):
    write_package("digit-sum", tmp_path / "digit-sum")
    changes = install(tmp_path / "digit-sum", tmp_path / "site")
    task = tmp_path / "digit-sum" / "src" / "digit_sum" / "task.py"
    text = task.read_text(encoding="utf-8")
    for before, after in (
        ("return sum(map(int, digits)) % 10", "return max(map(int, digits))"),
        ("(ids - 1).sum(axis=1, where=ids > 0) % 10", "ids.max(axis=1).astype(int) - 1"),
    ):
        assert before in text
        text = text.replace(before, after)
    task.write_text(text, encoding="utf-8")
    done = run_program("check-task", "digit-sum", cwd=tmp_path, **changes)
    assert done.returncode == 1
    card = "card.md still says of the task that new-task wrote: 'Each row is a sequence of"
    assert card in " ".join(done.stdout.split())
    assert "summary is still that of the task that new-task wrote" in " ".join(done.stdout.split())
    assert "fails 2 of 20 checks" in done.stdout


def test_the_task_is_short_and_nothing_is_left_to_fill_in(tmp_path):
    files = write_package("a-task-2", tmp_path / "made")
    texts = {path.name: path.read_text(encoding="utf-8") for path in files}
    assert len(texts["task.py"].splitlines()) <= 80
    assert "class ATask2(TextTask)" in texts["task.py"]
    assert not any("$" in text or "synthbench.template" in text for text in texts.values())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Digit_Sum", r"allowed are lower-case letters.* Did you mean 'digit-sum'\?"),
        ("2digits", "a letter first"),
        ("a--b", r"single hyphens.* Did you mean 'a-b'\?"),
        ("../up", r"Did you mean 'up'\?"),
        ("", "allowed are"),
        ("x" * 41, "40 characters at most"),
        ("parity", "A task named 'parity' exists already"),
        ("json", "a Python module 'json' exists already"),
        ("class", "a Python module 'class' exists already"),
        ("numpy", "a Python module 'numpy' exists already"),
        ("synthbench", "a Python module 'synthbench' exists already"),
    ],
)
def test_a_name_that_is_not_allowed_or_taken_is_refused(name, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=message):
        write_package(name)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_holds_something_is_left_as_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "digit-sum").mkdir()
    (tmp_path / "digit-sum" / "notes.txt").write_text("mine")
    assert _run(commands, ["new-task", "digit-sum"]) == 2
    assert "holds other files (" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "digit-sum").iterdir()] == ["notes.txt"]
    (tmp_path / "digit-sum" / "notes.txt").unlink()
    assert _run(commands, ["new-task", "digit-sum"]) == 0


def test_the_guide_shows_the_check_of_the_template():
    guide = (ROOT / "docs/pages/guides/add-a-task.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```text\n(def check\(.*?)^```$", guide, re.DOTALL | re.MULTILINE)
    assert textwrap.indent(shown, "    ") in template_text("task.py", checked=True)
