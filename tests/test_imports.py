"""The public face: light to import, complete, small and described."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import synthbench
from synthbench.tasks.base import Task
from tests.support import ROOT, run_python

HEAVY = {"torch", "torchvision", "datasets", "matplotlib", "sklearn", "pandas", "distributed"}


#: What a process does step by step, and what may not be loaded after each.
STEPS = {
    "Python": [
        ("import synthbench", {*HEAVY, "numpy", "pyarrow", "rich"}),
        ("[getattr(synthbench, name) for name in synthbench.__all__]", HEAVY),
        ("next(synthbench.stream('parity', workers=1))", HEAVY),
        ("next(synthbench.tokens('listops', split='test', form='causal-lm'))", HEAVY),
        ("next(synthbench.tokens('mqar', split='test', form='masked-lm'))", HEAVY),
        (
            "with __import__('tempfile').TemporaryDirectory() as place: "
            "synthbench.generate('listops', out=place, preset='small', workers=1); "
            "assert synthbench.verify(place, workers=1).ok",
            HEAVY,
        ),
    ],
    "first batches": [
        (
            "import synthbench; from synthbench.tasks.registry import _OWN; "
            "[next(synthbench.tokens(name, batch_size=2, start=True)) for name in "
            "set(_OWN) - {'composites'} if getattr(synthbench.task(name), 'forms', ())]",
            {*HEAVY, "rich", "numpy.ma", "pyarrow", "importlib.metadata", "subprocess"},
        ),
    ],
    "command line": [
        ("from synthbench.cli.main import main", {*HEAVY, "numpy", "pyarrow", "rich"}),
        ("main(['--help'])", {*HEAVY, "numpy", "pyarrow", "rich"}),
        ("main(['list'])", HEAVY),
        ("main(['info', 'composites'])", HEAVY),
        ("main(['preview', 'ctl', '-n', '1'])", HEAVY),
        # What is refused by its name is refused at once.
        ("main(['audit', '.'])", HEAVY),
        ("main(['train', 'parity', '--model', 'bert'])", HEAVY),
        ("main(['train', 'parity', '--model', 'heat', '--rows', 'tset=3'])", HEAVY),
        ("main(['reproduce', 'parity', '--model', 'bert'])", HEAVY),
        ("main(['reproduce', 'parity', '--variant', 'other'])", HEAVY),
        ("main(['reproduce', 'parity', '--device', 'gpu'])", HEAVY),
        ("main(['train', 'parity', '--model', 'heat', '--precision', 'half'])", HEAVY),
        ("main(['figures', 'nothing'])", HEAVY),
    ],
}


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_nothing_heavy_is_loaded_before_something_needs_it(steps):
    code = f"""
import contextlib, io, sys
for step, heavy in {steps!r}:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        exec(step, globals())
    print(step, *(heavy & set(sys.modules)), sep=" loads ")
"""
    assert run_python(code).splitlines() == [step for step, _ in steps]


def test_only_audit_starts_threads_for_linear_algebra():
    pytest.importorskip("threadpoolctl", reason="scikit-learn is not installed")

    def after(step):
        """Numbers of threads that libraries have, and whether the environment is changed."""
        return run_python(f"""
import contextlib, io, os, threadpoolctl
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.pop(name, None)
from synthbench.cli.main import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    {step}
print({{one["num_threads"] for one in threadpoolctl.threadpool_info()}}, end=" ")
print("OPENBLAS_NUM_THREADS" in os.environ)
""").strip()

    assert after("main(['list'])") in ("{1} False", "set() False")
    assert after("main(['audit', 'nothing'])") == after("import numpy, scipy.linalg")


def test_every_public_name_resolves_and_none_is_an_accident():
    for name in synthbench.__all__:
        assert getattr(synthbench, name).__module__.startswith("synthbench.")
    assert len(synthbench.__all__) <= 29  # what is documented for users, and nothing else
    assert synthbench.__all__ == sorted(set(synthbench.__all__))
    assert dir(synthbench) == sorted([*synthbench.__all__, "__version__"])
    with pytest.raises(AttributeError, match="no attribute 'genrate'"):
        synthbench.genrate  # noqa: B018


def test_the_stub_for_type_checkers_has_the_same_names_of_the_same_modules():
    stub = ast.parse(pkgutil.get_data("synthbench", "__init__.pyi") or b"")
    lines = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
    assert {one.asname: line.module for line in lines for one in line.names} == synthbench._MODULES


def test_no_module_hides_a_public_name():
    modules = {module.name for module in pkgutil.iter_modules(synthbench.__path__)}
    assert modules & set(synthbench.__all__) == set()


def test_a_star_import_gives_just_the_public_names():
    names: dict[str, object] = {}
    exec("from synthbench import *", names)
    assert set(names) - {"__builtins__"} == set(synthbench.__all__)


def test_the_version_is_said_once():
    import importlib.metadata

    assert re.fullmatch(r"\d+\.\d+\.\d+(\.?\w+)?", synthbench.__version__)
    try:
        installed = importlib.metadata.version("synthbench")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("synthbench is not installed; this is the source tree")
    assert installed == synthbench.__version__


# What is documented.


def public_functions():
    """The public functions of `synthbench`, and the public methods of its classes."""
    found: dict[str, object] = {}
    for name in synthbench.__all__:
        thing = getattr(synthbench, name)
        if inspect.isfunction(thing):
            found[name] = thing
        for key, method in vars(thing).items() if inspect.isclass(thing) else ():
            function = getattr(method, "__func__", method)
            if not key.startswith("_") and inspect.isfunction(function):
                found[f"{name}.{key}"] = function
    return found


PUBLIC = public_functions()
FUNCTIONS = [name for name in PUBLIC if "." not in name]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_says_what_it_takes_returns_and_raises(name):
    function = PUBLIC[name]
    text, signature = inspect.getdoc(function) or "", inspect.signature(function)  # type: ignore[arg-type]
    assert documented(text, "Args") == list(signature.parameters)
    assert re.search(r"^Returns:\n    \S", text, re.MULTILINE)
    assert documented(text, "Raises") or not signature.parameters


def test_an_argument_has_one_default_and_the_dataset_directory_one_name():
    signatures = {name: inspect.signature(PUBLIC[name]).parameters for name in FUNCTIONS}  # type: ignore[arg-type]
    bars = [one["progress"].default for one in signatures.values() if "progress" in one]
    assert len(bars) == 9
    assert all(bars)
    for name in ("audit", "export", "push", "verify"):
        assert next(iter(signatures[name])) == "dataset"
    assert list(signatures["evaluate"])[:3] == ["data", "predictions", "task"]
    assert all("dataset" in signatures[name] for name in ("train", "reproduce"))


@pytest.mark.parametrize("name", list(PUBLIC))
def test_what_a_docstring_says_of_arguments_fits_the_signature(name):
    function = PUBLIC[name]
    text = inspect.getdoc(function)
    assert text
    parameters = list(inspect.signature(function).parameters)  # type: ignore[arg-type]
    said = documented(text, "Args")
    assert not said or said == [one for one in parameters if one not in ("self", "cls")]


#: Every module of the package, read rather than imported: some need an extra.
MODULES = sorted(Path(synthbench.__path__[0]).rglob("*.py"))


def test_every_error_that_a_public_function_raises_itself_is_in_its_docstring():
    found = [
        (f"{path}:{function.lineno} {function.name}", described(function), raised(function))
        for path in MODULES
        for function in functions(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert len(found) > 900  # all rooms are looked at
    assert sum(bool(errors) for _, _, errors in found) > 100
    silent = [
        f"{place} raises {error}"
        for place, text, errors in found
        for error in errors
        if "Error" in error and error not in text
    ]
    assert silent == []


def documented(text, section):
    """The names that a section of a Google docstring describes."""
    found = re.search(rf"^{section}:\n((?:(?:    .*)?(?:\n|$))+)", text, re.MULTILINE)
    if not found:
        return []
    heads = re.findall(r"^    (\w[\w, ]*):", found[1], re.MULTILINE)
    return [name.strip() for head in heads for name in head.split(",")]


def functions(tree):
    """Public functions of a module, and public methods of its public classes."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            # The docstring of a command is its --help, and nobody calls it from Python.
            decorators = [ast.unparse(one) for one in node.decorator_list]
            yield from [] if "click.command" in " ".join(decorators) else [node]
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef) and not inner.name.startswith("_"):
                    yield inner


def described(function):
    """A function's docstring; a task's method without one is described in `Task`."""
    return ast.get_docstring(function) or inspect.getdoc(getattr(Task, function.name, None)) or ""


def raised(function):
    """The errors that a function's own `raise` statements name."""
    names = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            call = node.exc.func
            # A TypeError is a mistake in the caller's program, not something to catch.
            if isinstance(call, ast.Name) and call.id != "TypeError":
                names.add("UsageError" if call.id == "unknown_name" else call.id)
    return names


@pytest.mark.torch
def test_every_benchmark_can_be_started_and_is_named_by_the_first(capsys):
    main = importlib.import_module("benchmarks.__main__")
    files = {path.stem for path in (ROOT / "benchmarks").glob("*.py")} - {
        "__init__",
        "__main__",
        "preloaded",
        "recipes",
    }
    packages = {path.parent.name for path in (ROOT / "benchmarks").glob("*/__init__.py")}
    assert set(main.MORE) == files | packages
    for name in main.MORE:
        with pytest.raises(SystemExit) as ended:
            main.main([name, "--help"])
        assert ended.value.code == 0
        assert f"usage: python -m benchmarks {name}" in capsys.readouterr().out
        assert f"`{name}`" in main.__doc__
