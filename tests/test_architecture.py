"""The rooms that the README shows are those of the code, and each imports only rooms below it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "synthbench"
MODULES = sorted(PACKAGE.rglob("*.py"))


def floors() -> dict[str, int]:
    """Modules and subpackages by their floor, counted from the top."""
    (shown,) = re.findall(r"rooms below it:\n\n```\n(.*?)```", README, re.DOTALL)
    lines = re.sub(r"\n +|\(.*?\)", " ", shown, flags=re.DOTALL).splitlines()
    return {name: floor for floor, line in enumerate(lines) for name in re.findall(r"\w+", line)}


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported(path: Path) -> set[str]:
    """The rooms that a module imports from, wherever in it."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("synthbench"):
            below = (node.module or "").split(".")[1:]
            rooms |= {below[0]} if below else {one.name for one in node.names}
    return rooms


def test_every_room_is_shown() -> None:
    assert set(floors()) == {room(path) for path in MODULES} - {"__init__"}


def test_no_room_imports_from_above() -> None:
    floor = floors()
    upwards = [
        f"{path.relative_to(ROOT)} imports {other}"
        for path in MODULES
        for other in imported(path)
        if floor.get(other, 99) < floor.get(room(path), -1)
    ]
    assert not upwards


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.glob("tasks/*_solver.py")), ids=lambda path: path.stem
)
def test_a_reference_solver_imports_nothing_of_the_generators(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    ours = {line.split()[1] for line in lines if line.startswith("from synthbench")}
    assert ours <= {"synthbench.tasks.expression_trees"}
