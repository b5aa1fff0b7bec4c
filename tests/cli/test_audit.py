"""Journeys through `synthbench audit`."""

import json
import os

import pytest

from tests.making import files
from tests.making import make as make_real
from tests.support import ROOT, run_program


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small dataset of parity."""
    out = tmp_path_factory.mktemp("audited") / "parity"
    make_real(out, "parity", rows={"train": 400, "test": 200})
    return out


def test_an_audit_prints_its_table_and_writes_its_report(made, tmp_path, program):
    before = files(made)
    report = tmp_path / "report"
    status, printed, errors = program("audit", str(made), "--out", str(report))
    assert (status, errors) == (0, "")
    for text in ("parity, default (seed 0)", "c and d, neither a nor b", "Worth a second look"):
        assert text in printed
    assert sorted(one.name for one in report.iterdir()) == ["audit.html", "audit.json"]
    assert files(made) == before

    status, _, errors = program("audit", str(made), "--out", str(report))
    assert status == 2
    assert errors == (
        f"Error: Output {str(report)!r} has a report already; --overwrite replaces it.\n"
    )
    written = files(report)
    (report / "audit.html").write_text("an older one")
    status, printed, _ = program("audit", str(made), "--out", str(report), "--overwrite", "--json")
    assert status == 0
    assert files(report) == written
    assert json.loads(printed) == json.loads((report / "audit.json").read_text(encoding="utf-8"))


def test_the_report_may_lie_in_the_dataset_which_still_verifies(tmp_path, program):
    out = tmp_path / "parity"
    make_real(out, "parity", rows={"train": 60, "test": 30})
    assert program("audit", str(out), "--out", str(out / "audit"))[0] == 0
    assert program("verify --workers 1", str(out))[0] == 0


def test_a_wrong_place_is_refused_before_any_work(made, tmp_path, program):
    (tmp_path / "notes.txt").write_text("mine")
    for words, text in (
        ((str(made), "--out", str(tmp_path)), "holds other files ('notes.txt')"),
        ((str(made), "--out", str(tmp_path / "notes.txt")), "is a file"),
        ((str(made), "--out", str(made)), "holds other files"),
        ((str(made), "--out", str(tmp_path / "notes.txt" / "in")), "notes.txt' is a file"),
        (("nowhere", "--out", str(tmp_path)), "holds other files"),
    ):
        status, printed, errors = program("audit", *words, "--overwrite")
        assert (status, printed) == (2, "")
        assert text in errors
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_without_scikit_learn_the_command_says_what_to_install_before_any_work(made, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['sklearn'] = None\n")
    path = f"{tmp_path}{os.pathsep}{ROOT}"
    report = tmp_path / "report"
    done = run_program("audit", str(made), "--out", str(report), cwd=tmp_path, PYTHONPATH=path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Error: An audit needs scikit-learn: pip install 'synthbench[audit]'.\n"
    assert not report.exists()


def test_the_page_needs_neither_matplotlib_nor_jinja(made, tmp_path):
    lines = "import sys\nsys.modules['matplotlib'] = sys.modules['jinja2'] = None\n"
    (tmp_path / "sitecustomize.py").write_text(lines)
    path = f"{tmp_path}{os.pathsep}{ROOT}"
    report = tmp_path / "report"
    done = run_program("audit", str(made), "--out", str(report), cwd=tmp_path, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    assert "<svg" in (report / "audit.html").read_text("utf-8")
