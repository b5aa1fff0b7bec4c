"""The documentation shows the rooms of the code; each imports only rooms below it."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import synthbench

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/pages/how-it-works/rooms.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "synthbench"
MODULES = sorted(PACKAGE.rglob("*.py"))


#: Modules at the root that only hand on names: the public face, and documented entry points.
FACES = {"__init__", "__main__", "answers", "torch_stream"}


def floors():
    """Rooms by their floor in the drawing, counted from the top."""
    (shown,) = re.findall(r"rooms below it:\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    lines = [line.partition("  ")[0] for line in shown.splitlines()]
    return {name: floor for floor, line in enumerate(lines) for name in line.split(" · ")}


def room(path):
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported(path):
    """The modules of ours that a module imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (
            node.level or node.module.startswith("synthbench")
        ):
            assert node.level == 0, f"{path.name}:{node.lineno}: import by the whole name"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                # The face itself is above every room; only the version is anybody's to ask.
                if whole != "synthbench.__version__":
                    found.add(whole if whole in NAMES else str(node.module))
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("synthbench.")}
    return found


def name_of(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


NAMES = {name_of(path): path for path in MODULES}


def test_every_room_is_shown():
    assert set(floors()) == {room(path) for path in MODULES} - FACES


def test_a_room_imports_only_rooms_below_it():
    floor = floors()
    wrong = [
        f"{path.relative_to(ROOT)} imports {other}"
        for path in MODULES
        if room(path) not in FACES
        for other in imported(path)
        if (target := other.partition(".")[2].split(".")[0]) != room(path)
        and floor.get(target, -1) <= floor[room(path)]
    ]
    assert not wrong


def test_no_modules_import_each_other_in_a_circle():
    arrows = {name: imported(path) & set(NAMES) - {name} for name, path in NAMES.items()}
    while removable := [name for name, below in arrows.items() if not below & set(arrows)]:
        for name in removable:
            del arrows[name]
    assert sorted(arrows) == []


SOLVERS = sorted(PACKAGE.glob("tasks/*/solver.py"))


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda path: path.parent.name)
def test_a_reference_solver_imports_nothing_of_the_generators(solver):
    assert imported(solver) <= {"synthbench.tasks.trees.expression"}


def test_only_two_lazy_names_commands_and_completion_import_the_trainer():
    importers = {
        path.relative_to(PACKAGE).as_posix(): {
            name for name in imported(path) if f"{name}.".startswith("synthbench.training.")
        }
        for path in MODULES
        if room(path) != "training"
    }
    registry = {"synthbench.training.recipes", "synthbench.training.recipes.borrowed"}
    assert importers["cli/completion.py"] <= registry
    allowed = {"cli/completion.py", "cli/layers.py", "cli/suite.py", "cli/train.py"}
    assert {path for path, names in importers.items() if names} <= allowed
    lazy = [name for name, module in synthbench._MODULES.items() if ".training." in module]
    assert lazy == ["reproduce", "train"]


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.glob("tasks/*/proof.py")), ids=lambda path: path.parent.name
)
def test_a_proof_takes_names_of_tokens_from_the_generator_but_no_rule(path):
    shared = ("arrow", "base", "numeric", "tokens", "trees.nesting")
    nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module.startswith("synthbench"):
            module = node.module.removeprefix("synthbench.tasks.")
            if module not in shared and not module.endswith(".solver"):
                assert all(one.name == "solver" or one.name[0].isupper() for one in node.names)
    called = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    assert not called & {"render", "rendered", "propose", "enumerate_rows", "draw", "_block"}


def test_a_class_name_means_one_class():
    places = {}
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(name_of(path))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


#: All that the trainer asks of the rest of the package: it could be a distribution of its own.
ASKED_BY_TRAINER = {
    "synthbench": ["__version__"],
    "synthbench.arguments": ["checked"],
    "synthbench.checks": ["check_whole_number", "needs"],
    "synthbench.dataset.dataset": ["DatasetDirectory"],
    "synthbench.dataset.output": ["OutputDirectory"],
    "synthbench.engine.engine": ["check_workers", "usable_cores"],
    "synthbench.engine.open": ["open_engine"],
    "synthbench.engine.signals": ["defer_signals"],
    "synthbench.errors": [
        *("DatasetError", "ParameterError", "SynthbenchError", "UsageError", "unknown_name"),
    ],
    "synthbench.evaluation.evaluate": ["evaluate"],
    "synthbench.evaluation.scores": ["wilson"],
    "synthbench.generation.planned": ["PlannedDataset"],
    "synthbench.seeding": ["Draws"],
    "synthbench.streaming.rounds": ["Rounds"],
    "synthbench.tasks.base": ["LABEL", "Task"],
    "synthbench.tasks.form": ["NOT_ASKED"],
    "synthbench.tasks.forms": ["form_of"],
    "synthbench.tasks.optional_modules": ["optional_function"],
    "synthbench.tasks.parameters": ["read_value"],
    "synthbench.tasks.registry": ["as_tasks", "task_from"],
    "synthbench.text.progress": ["Bar", "note", "progress_bar"],
    "synthbench.text.tables": ["Table", "captioned"],
}


def names_asked(path):
    """The names that a module imports from the package, each with its module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("synthbench"):
            yield from ((node.module, alias.name) for alias in node.names)
        if isinstance(node, ast.Import):  # a whole module would hide the names
            yield from ((one.name, "*") for one in node.names if one.name.startswith("synthbench"))


def test_the_trainer_asks_few_names_of_the_other_rooms():
    asked: dict[str, set[str]] = {}
    for path in (PACKAGE / "training").rglob("*.py"):
        for module, name in names_asked(path):
            if not f"{module}.".startswith("synthbench.training."):
                asked.setdefault(module, set()).add(name)
    assert {module: sorted(names) for module, names in asked.items()} == ASKED_BY_TRAINER
    assert sum(map(len, asked.values())) <= 33


def test_what_the_trainer_asks_for_is_documented():
    sources = [path.read_text(encoding="utf-8") for path in MODULES]
    for module, names in ASKED_BY_TRAINER.items():
        for name in names:
            found = getattr(importlib.import_module(module), name)
            if callable(found):
                assert found.__doc__, f"{module}.{name} has no docstring"
            else:  # a constant has a comment above it
                line = re.compile(rf"^#: .*\n{name} = ", re.MULTILINE)
                assert any(map(line.search, sources)), f"{module}.{name} has no comment"
