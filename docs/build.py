"""Build the API reference, a static site, from the docstrings: `python docs/build.py site`.

It has what users are told of and nothing else, and fails if one of these names has no docstring or
does not appear. Needs pdoc: the extra `docs`. (pdoc reads our docstrings as they are, Markdown with
Google sections; Sphinx would want reStructuredText, mkdocstrings a second site generator.)
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pdoc

import synthbench

MODULES = [
    "synthbench",
    "synthbench.answers",
    "synthbench.errors",
    "synthbench.llm",
    "synthbench.features",
    "synthbench.registry",
    "synthbench.seeding",
    "synthbench.streaming",
    "synthbench.tasks.audit_spec",
    "synthbench.tasks.base",
    "synthbench.tasks.companions",
    "synthbench.tasks.images.task",
    "synthbench.tasks.parameters",
    "synthbench.tasks.tokens",
    "synthbench.tasks.trees",
    "synthbench.torch_stream",
    "synthbench.training.layers.attention",
    "synthbench.training.layers.halting",
    "synthbench.training.models",  # and its submodules
    "synthbench.training.layers.normalisation",
    "synthbench.training.layers.positions",
]


def build(place: Path) -> None:
    """Write the site's pages into a directory."""
    for name in MODULES:
        load_lazy_names(importlib.import_module(name))
    pdoc.render.configure(
        docformat="google",
        footer_text=f"synthbench {synthbench.__version__}",
        show_source=False,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Of a NamedTuple, whose annotations pdoc reads outside of its module.
        warnings.filterwarnings("ignore", "Error parsing type annotation ForwardRef")
        pdoc.pdoc(*MODULES, output_directory=place)


def load_lazy_names(module: ModuleType) -> None:
    """Put what a module's `__getattr__` finds where pdoc looks for it."""
    for name in getattr(module, "__all__", ()):
        setattr(module, name, getattr(module, name))


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The classes, their methods, and the functions that a page should have, with their anchors."""
    for name in getattr(module, "__all__", vars(module)):
        thing = getattr(module, name)
        ours = hasattr(module, "__all__") or getattr(thing, "__module__", "") == module.__name__
        if name.startswith("_") or not ours or not (inspect.isclass(thing) or callable(thing)):
            continue
        yield name, thing
        for key, method in vars(thing).items() if inspect.isclass(thing) else ():
            function = getattr(method, "__func__", method)
            if not key.startswith("_") and (
                inspect.isfunction(function) or isinstance(function, property)
            ):
                yield f"{name}.{key}", getattr(thing, key)


def missing(place: Path) -> list[str]:
    """What is wrong with the site, a line each."""
    found = []
    for name in MODULES:
        module = importlib.import_module(name)
        page = place.joinpath(*name.split(".")).with_suffix(".html")
        if not page.exists():
            found.append(f"{name}: there is no page of it")
            continue
        anchors = set(re.findall(r'id="([\w.]+)"', page.read_text(encoding="utf-8")))
        for anchor, thing in [("", module), *public(module)]:
            if not inspect.getdoc(thing):
                found.append(f"{name} {anchor}: it has no docstring")
            elif anchor and anchor not in anchors:
                found.append(f"{name} {anchor}: it is not on its page")
    return found


if __name__ == "__main__":
    site = Path(sys.argv[1])
    build(site)
    if wrong := missing(site):
        sys.exit("\n".join(wrong))
    print(f"{len(MODULES)} pages in {site}")
