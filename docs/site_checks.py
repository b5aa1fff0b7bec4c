"""Checks of the built site: the reference is complete, and the search answers newcomers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import griffe

from synthbench.tasks.registry import list_tasks

#: Modules whose public names must have a docstring and an entry in the reference.
MODULES = [
    "synthbench",
    "synthbench.answers",
    "synthbench.errors",
    "synthbench.tasks.features",
    "synthbench.tasks.column",
    "synthbench.llm",
    "synthbench.tasks.registry",
    "synthbench.seeding",
    "synthbench.streaming",
    "synthbench.tasks.audit_spec",
    "synthbench.tasks.base",
    "synthbench.tasks.optional_modules",
    "synthbench.tasks.images.task",
    "synthbench.tasks.judged",
    "synthbench.tasks.parameters",
    "synthbench.tasks.task",
    "synthbench.tasks.tokens",
    "synthbench.tasks.trees",
    "synthbench.torch_stream",
    "synthbench.training.backbones",
    "synthbench.training.forms",
    "synthbench.training.layers.attention",
    "synthbench.training.layers.halting",
    "synthbench.training.layers.normalisation",
    "synthbench.training.layers.positions",
    "synthbench.training.models",
]
#: What newcomers look for, in one word or two, and the page that must be among the first found.
QUESTIONS = {
    "harder": "guides/levels",
    "my layer": "guides/try-your-own-layer",
    "GPU": "guides/train",
    "GPT": "guides/language-models",
    "clean corpus": "guides/held-out",
    "contamination": "guides/held-out",
    "own task": "guides/add-a-task",
    "own rows": "guides/probe",
    "Hub": "guides/share",
    "PyTorch": "guides/streams",
    "differences papers": "results/differences",
    "published rows": "results/published-rows",
    "100 million rows": "guides/scale-out",
    "cite": "start/citing",
    "BibTeX": "start/citing",
    "datasheet": "how-it-works/datasheet",
    "tuned": "how-it-works/datasheet",
    "size tried": "results/tried",
    **{name.replace("-", " "): f"gallery/{name}.html" for name in list_tasks()},
}
#: So many results of a search are seen without scrolling far.
SEEN = 10


def undocumented(reference: Path, root: Path) -> Iterator[str]:
    """The public names that lack a docstring, or an entry in the built reference."""
    anchors = {
        anchor
        for page in reference.glob("*.html")
        for anchor in re.findall(r'id="(synthbench[\w.]*)"', page.read_text(encoding="utf-8"))
    }
    package = griffe.load("synthbench", search_paths=[root], resolve_aliases=True)
    for path in MODULES:
        for name, thing in public(package, path):
            if not thing.docstring:
                yield f"{path}.{name} has no docstring"
            if not anchors & {f"{path}.{name}", thing.canonical_path}:
                yield f"{path}.{name} is not in the reference"


def unanswered(index: Path) -> list[str]:
    """The questions of newcomers that a search does not answer among the first results.

    As the site's search does, a section is found if it has all words or their beginnings, and those
    with the words in their title come first, by the boost of their page.
    """
    sections = json.loads(index.read_text(encoding="utf-8"))["docs"]
    faults = []
    for question, page in QUESTIONS.items():
        words = [re.compile(rf"\b{word}", re.IGNORECASE) for word in question.split()]
        ranked = [
            (
                sum(not word.search(section["title"]) for word in words),
                -section.get("boost", 1),
                section,
            )
            for section in sections
            if all(word.search(f"{section['title']} {section['text']}") for word in words)
        ]
        ranked.sort(key=lambda entry: entry[:2])
        first = [section["location"] for *_, section in ranked[:SEEN]]
        if not any(place.startswith(page) for place in first):
            faults.append(f"A search for {question!r} finds {first}, but not {page}")
    return faults


def public(package: griffe.Module, path: str) -> Iterator[tuple[str, griffe.Object]]:
    """The public classes and functions of a module, found without importing it."""
    module = package[path.partition(".")[2]] if "." in path else package
    exports = set(map(str, module.exports or ()))
    for name, member in module.members.items():
        handed_on = name in exports if exports else module.is_package
        if name.startswith("_") or not (handed_on or (not exports and not member.is_alias)):
            continue
        thing = member.final_target if member.is_alias else member
        if thing.is_module and handed_on:  # a function of the same name, as `llm.prompts`
            thing = thing.members.get(name, thing)
        if thing.is_class or thing.is_function:
            yield name, thing
