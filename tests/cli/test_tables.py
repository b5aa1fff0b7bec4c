"""Every table of every command: a figure stands in the line of its label, at any width."""

import json
import re

import pytest

import synthbench
from synthbench.auditing.audit import audit
from synthbench.cli.main import _run, commands
from synthbench.cli.make import _rows_by_bucket
from synthbench.decontamination.decontaminate import DecontaminationReport
from synthbench.tasks.registry import list_tasks
from synthbench.text.tables import Table, render
from synthbench.training.comparison import comparison_table
from synthbench.training.runs import stored_runs
from synthbench.training.stored import comparisons
from synthbench.training.train import summary
from tests.making import CTL_WORDS

WIDTHS = (40, 60, 80, 120, 200)


@pytest.fixture
def tables(monkeypatch):
    """The tables that are shown from now on."""
    shown = []
    render_table = Table.__rich_console__

    def noted(table, console, options):
        shown.append(table)
        return render_table(table, console, options)

    monkeypatch.setattr(Table, "__rich_console__", noted)
    return shown


def pairs(table):
    """Each figure of a table, or label that stays whole, with the label that it belongs to."""
    for row in table.rows:
        cells = [str(cell).split("\n") for cell in row]
        for column, lines in enumerate(cells):
            if column == 0 or not (column in table.right or column in table.whole):
                continue
            label = 0
            if column in table.right:
                label = max(at for at in range(column) if at not in table.right)
            labels = cells[label] if len(cells[label]) == len(lines) else cells[label][:1]
            yield from zip(labels, lines, strict=False)


def apart(table, text):
    """The figures of a table that no line has behind their label."""
    lines = text.splitlines()
    return [
        (label, figure)
        for label, figure in pairs(table)
        if figure and label.split()
        # Labels in front may wrap; what stays is their first word, or the beginning of a long one.
        for start in [re.escape(label.split()[0][:8])]
        for shown in [re.compile(rf"(^|\s){start}.*\s{re.escape(figure)}(\s|$)")]
        if not any(figure in line and shown.search(line) for line in lines)
    ]


def check(tables, monkeypatch, show):
    """Show something at each width; returns how many figures were looked at."""
    count = 0
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        tables.clear()
        text = show()
        for table in list(tables):
            assert apart(table, text) == [], f"{width} columns:\n{text}"
            # At 40 columns a label and a figure with its interval may take a few more.
            longest = max(map(len, render(table).splitlines()))
            assert longest <= (width if width > 40 else 47), f"{width} columns:\n{text}"
            count += len(list(pairs(table)))
    return count


@pytest.fixture
def printed(capsys):
    """What a command prints."""

    def run(*words):
        assert _run(commands, list(words)) == 0
        return capsys.readouterr().out

    return run


def test_tasks(tables, monkeypatch, printed):
    assert check(tables, monkeypatch, lambda: printed("list")) > 100
    for name in list_tasks():
        assert check(tables, monkeypatch, lambda name=name: printed("info", name)) > 0


def test_datasets(tables, monkeypatch, printed, tmp_path):
    made, exported = str(tmp_path / "ctl"), str(tmp_path / "exported")
    again = ("--out", made, "--overwrite", "--workers", "1")

    def show(*words):
        return check(tables, monkeypatch, lambda: printed(*words))

    for width in WIDTHS:  # other rows each time, as a dataset that is there is not made again
        words = (*CTL_WORDS, "--seed", str(width), *again)
        monkeypatch.setenv("COLUMNS", str(width))
        tables.clear()
        text = printed("generate", *words)
        assert tables and [apart(table, text) for table in list(tables)] == [[]]
    assert show("export", made, "--to", "jsonl", "--out", exported, "--overwrite") > 0
    assert show("push", made, "USER/ctl", "--dry-run") > 0
    rows = synthbench.DatasetDirectory.open(made).rows("forward", "test")
    guesses = tmp_path / "guesses.jsonl"
    lines = [json.dumps({"id": row["id"], "prediction": 1}) for row in rows]
    guesses.write_text("\n".join(lines))
    assert show("evaluate", made, str(guesses)) > 50
    assert show("verify", made) == 0  # it shows no table


def test_only_consecutive_buckets_are_shown_as_a_range():
    assert _rows_by_bucket({"10": 50, "12": 50}) == "10, 12: 50 each"
    assert _rows_by_bucket({"1": 5, "2": 5, "3": 5, "5": 4}) == "1..3: 5 each, 5: 4"


def test_an_audit(tables, monkeypatch, tiny):
    found = audit(tiny("listops"))
    assert check(tables, monkeypatch, lambda: render(found)) > 300


def test_comparisons_have_one_line_for_a_measure_of_a_model(tables, monkeypatch):
    # One of each task: tables of a task differ in figures, hardly in their form.
    chosen = {}
    for one in comparisons(stored_runs()):
        chosen.setdefault(one["task"], one)
    for comparison in chosen.values():
        tables.clear()
        shown = comparison_table(comparison)
        assert check(tables, monkeypatch, lambda shown=shown: render(shown)) > 10
        for width in WIDTHS:
            monkeypatch.setenv("COLUMNS", str(width))
            tables.clear()
            lines, table = render(shown).splitlines(), tables[0]
            pieces = sum(bool(re.search(r"  measure(  |$)", line)) for line in lines)
            for name in {name for row in table.rows for name in str(row[1]).split("\n")}:
                asked = sum(name in str(row[1]).split("\n") for row in table.rows)
                found = [line for line in lines if re.search(rf"  {name}(  |$)", line)]
                assert len(found) == pieces * asked


def test_a_run(tables, monkeypatch):
    metrics = {"accuracy": 0.25, "exact_match": 0.125, "position_accuracy": 0.0625}
    result = {
        "task": "grid-count",
        "variant": "default",
        "recipe": {"name": "counting"},
        "study": {"name": "main", "profile": "quick"},
        "metrics": [*metrics],
        "stream": True,
        "steps": 1000,
        "steps_per_second": 12.5,
        "splits": {name: {"rows": 7_000, **metrics} for name in ("iid", "validation", "test")},
        "fit": {"rows": 1_000, "metric": "accuracy", "chosen": 0.5, "state": "fitted"},
    }
    assert check(tables, monkeypatch, lambda: render(summary(result))) > 50


def test_each_check_of_a_task_has_one_line(monkeypatch, printed):
    monkeypatch.setenv("COLUMNS", "40")
    _, *lines, _ = printed("check-task", "parity").splitlines()
    assert [line for line in lines if not line.endswith(": yes")] == []


def test_what_was_found_in_a_corpus(monkeypatch, tables):
    report = DecontaminationReport(2, ["notes/README.md"], 1_000_000, 12_345, 10**9, 12.5)
    for variant in ("modular-arithmetic-brackets", "even-pairs"):
        report.found["chomsky", variant, "iid, validation"] = 1_234
    assert check(tables, monkeypatch, lambda: render(report)) >= 10
