"""Modules beside a task's: looked up by those who audit or draw, never imported by the task."""

import sys
import textwrap

import pytest

from synthbench.auditing.variant import audit_spec_of
from synthbench.tasks import registry
from synthbench.tasks.describe import draw_row
from synthbench.tasks.optional_modules import optional_function
from synthbench.tasks.registry import list_tasks
from synthbench.tasks.registry import task as make_task
from tests.support import run_python
from tests.toy_task import Numbers

TASK = """
    from tests.toy_task import Numbers

    class Sums(Numbers):
        name = "sums"
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of somebody else's with one task."""
    place = tmp_path / "strange_sums"
    place.mkdir()
    (place / "__init__.py").touch()
    (place / "task.py").write_text(textwrap.dedent(TASK))
    monkeypatch.syspath_prepend(tmp_path)
    yield place
    for name in [name for name in sys.modules if name.startswith("strange_sums")]:
        del sys.modules[name]


def test_a_task_of_another_package_is_audited_and_drawn_by_the_modules_beside_it(package):
    (package / "audit.py").write_text(
        "from synthbench.tasks.audit_spec import AuditSpec, fixed\n"
        "def audit_spec(task):\n"
        "    return AuditSpec(shortcuts=(fixed(task.name, 'x', lambda rows: []),))\n"
    )
    (package / "drawing.py").write_text("def draw_row(task, row):\n    return row['text'] + '!'\n")
    from strange_sums.task import Sums  # type: ignore[import-not-found]

    assert [one.name for one in audit_spec_of(Sums()).shortcuts] == ["sums"]
    assert str(draw_row(Sums(), {"text": "1:2", "label": 2})) == "1:2!"


def test_without_these_modules_a_task_is_drawn_by_columns_and_audited_like_any(package):
    from strange_sums.task import Sums

    assert audit_spec_of(Sums()).shortcuts == ()
    drawn = draw_row(Sums(), {"text": "1:2", "label": 2, "bucket": 1})
    assert str(drawn) == "text    1:2\nlabel   2\nbucket  1"
    assert draw_row(Numbers(), {"text": "1:2", "label": 2, "bucket": 1}) == drawn


def test_a_module_of_that_name_without_the_function_is_passed_over(package):
    (package / "audit.py").write_text("LEDGER = []\n")
    from strange_sums.task import Sums

    assert optional_function(Sums(), "audit", "audit_spec") is None


def test_a_task_that_changes_another_is_audited_and_drawn_like_it():
    parity = make_task("parity")

    class Other(type(parity)):  # type: ignore[misc]
        name = "other"

    row = {"text": "3 4 7 2 ="}
    assert draw_row(Other(), row) == draw_row(parity, row)
    assert audit_spec_of(Other()).near_duplicate_keys.keys() == {"the same with a and b exchanged"}


def test_making_every_task_imports_none_of_the_modules_beside_it():
    code = """
import sys
from synthbench.tasks.registry import task as make_task, list_tasks
for name in list_tasks():
    make_task(name)
print([name for name in sys.modules if name.startswith("synthbench.tasks.")
       and name.rpartition(".")[2] in ("audit", "audit_spec", "drawing")])
"""
    assert run_python(code).strip() == "[]"
    assert set(registry._OWN) <= set(list_tasks())
