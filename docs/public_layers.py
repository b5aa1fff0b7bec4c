"""Tables of the page *Layers of public libraries*, from the answers of `benchmarks layers`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from synthbench.text.tables import Table

STORE = Path(__file__).parents[1] / "benchmarks/public-layers.jsonl"


def _answers() -> list[dict[str, Any]]:
    return [json.loads(line) for line in STORE.read_text(encoding="utf-8").splitlines()]


def failures_table() -> str:
    """The layers that fail a question, with the first failure."""
    rows = [
        [
            f"{answer['library']} {answer['version']}",
            f"`{answer['layer']}`",
            ", ".join(answer["failed"]),
            answer["seen"],
        ]
        for answer in _answers()
        if answer["failed"]
    ]
    return Table(("library", "layer", "failed questions", "seen at the first"), rows).markdown()


def passes_table() -> str:
    """The layers that fail no question, by library."""
    layers: dict[str, list[str]] = {}
    for answer in _answers():
        if not answer["failed"]:
            library = f"{answer['library']} {answer['version']}"
            layers.setdefault(library, []).append(f"`{answer['layer']}`")
    rows = [[library, ", ".join(names)] for library, names in layers.items()]
    return Table(("library", "layers"), rows).markdown()
