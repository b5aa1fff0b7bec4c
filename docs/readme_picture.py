"""README's picture: `python docs/readme_picture.py examples/pictures`.

Sorting by the layers of the suite that have learned their training rows, from the stored results of
`reproduce --suite layers`, once for a light page and once for a dark one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from shapes import line
from suite import baselines

from synthbench.training.recipes.layers import SEEDS
from synthbench.training.suite.report import LEARNED

_WIDTH, _HEIGHT = 640, 410
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 404, 50, 338
#: Lengths, in symbols: the first and last that are drawn, and the longest of training.
_FIRST, _TRAINED, _LAST = 5, 10, 40
#: The setting that is drawn, and the lowest accuracy of the axis.
_SETTING, _LOWEST = "bucket-sort", 0.28
#: The least distance of two names, in pixels.
_APART = 26
_DASHED = "6 4"
#: What is drawn, in the order of its colours. A layer with eigenvalues in (0, 1) has the colour of
#: the same layer with eigenvalues in (-1, 1), and is dashed.
_LAYERS = {
    "causal-transformer": ("attention", 3, ""),
    "deltanet-signed": ("DeltaNet (\u22121, 1)", 1, ""),
    "diagonal-signed": ("diagonal (\u22121, 1)", 2, ""),
    "diagonal": ("diagonal (0, 1)", 2, _DASHED),
    "gru": ("GRU", 0, ""),
}


class Scheme(NamedTuple):
    """Colours of a page: words, faint lines, what training has seen, and four curves."""

    words: str
    faint: str
    seen: str
    curves: tuple[str, str, str, str]


#: Words have GitHub's colours; curves are those of the site.
SCHEMES = {
    "light": Scheme("#1f2328", "#d1d9e0", "#eff2f5", ("#0072b2", "#c04a00", "#007a58", "#8240e0")),
    "dark": Scheme("#f0f6fc", "#3d444d", "#1c2430", ("#56b4e9", "#ff9147", "#2fc79a", "#c58cff")),
}


def across(length: float) -> float:
    """The place of a length on the axis, whose scale is logarithmic."""
    share = math.log(length / _FIRST) / math.log(_LAST / _FIRST)
    return _LEFT + (_RIGHT - _LEFT) * share


def up(accuracy: float) -> float:
    """The place of an accuracy on its axis."""
    return _BOTTOM - (_BOTTOM - _TOP) * (accuracy - _LOWEST) / (1 - _LOWEST)


def layers() -> dict[str, Mapping[str, Any]]:
    """The lines that are drawn, by model: those of which each seed has learned its rows."""
    (setting,) = (setting for setting in baselines()["settings"] if setting["name"] == _SETTING)
    entries = {
        entry["model"]: entry
        for entry in setting["models"]
        if entry["state"] == LEARNED and entry["seeds"] == SEEDS
    }
    return {model: entries[model] for model in _LAYERS if model in entries}


def curve(model: str, entry: Mapping[str, Any], scheme: Scheme) -> list[str]:
    """The mean over seeds at each length, and each seed at the lengths of test."""
    _, number, dashes = _LAYERS[model]
    color = scheme.curves[number]
    lengths = sorted((int(key), share) for key, share in entry["by_size"].items())
    points = " ".join(f"{across(n):.1f},{up(y):.1f}" for n, y in lengths if n >= _FIRST)
    parts = [
        f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="3" '
        f'stroke-dasharray="{dashes}" stroke-linejoin="round"/>'
    ]
    for run in entry["runs"]:
        parts += [
            f'<circle cx="{across(int(size)):.1f}" cy="{up(share):.1f}" r="5" fill="{color}" '
            f'fill-opacity="0.75"/>'
            for size, share in run["by_size"].items()
            if int(size) > _TRAINED
        ]
    return parts


def names(entries: Mapping[str, Mapping[str, Any]], scheme: Scheme) -> list[str]:
    """The name of each layer beside the end of its curve, no two closer than a line of text."""
    ends = {model: up(entry["by_size"][str(_LAST)]) for model, entry in entries.items()}
    parts = []
    for (model, end), y in zip(
        sorted(ends.items(), key=lambda pair: pair[1]), spread(sorted(ends.values())), strict=True
    ):
        words, number, dashes = _LAYERS[model]
        color = scheme.curves[number]
        parts.append(
            f'<polyline points="{_RIGHT + 8},{end:.1f} {_RIGHT + 22},{y:.1f} {_RIGHT + 40},{y:.1f}"'
            f' fill="none" stroke="{color}" stroke-width="2" stroke-dasharray="{dashes}"/>'
        )
        parts.append(_words(_RIGHT + 45, y, words, color, anchor="start", weight=600))
    return parts


def spread(ends: Sequence[float]) -> list[float]:
    """Heights as near to `ends`, from top to bottom, as names of one line each can be."""
    groups = [[end] for end in ends]
    at = 0
    while at + 1 < len(groups):
        lowest = _middle(groups[at]) + _APART * (len(groups[at]) - 1) / 2
        highest = _middle(groups[at + 1]) - _APART * (len(groups[at + 1]) - 1) / 2
        if highest - lowest >= _APART:
            at += 1
            continue
        groups[at : at + 2] = [groups[at] + groups[at + 1]]
        at = max(at - 1, 0)
    return [
        _middle(group) + _APART * (place - (len(group) - 1) / 2)
        for group in groups
        for place in range(len(group))
    ]


def _middle(group: Sequence[float]) -> float:
    return sum(group) / len(group)


def _words(
    x: float, y: float, words: str, color: str, *, anchor: str = "middle", weight: int = 400
) -> str:
    return (
        f'<text x="{x:g}" y="{y:.1f}" fill="{color}" text-anchor="{anchor}" '
        f'font-weight="{weight}">{words}</text>'
    )


def axes(scheme: Scheme) -> list[str]:
    """What training has seen, the lines of the accuracies, and the words of both axes."""
    width, height = across(_TRAINED) - _LEFT, _BOTTOM - _TOP
    parts = [
        f'<rect x="{_LEFT}" y="{_TOP}" width="{width:.1f}" height="{height}" fill="{scheme.seen}"/>'
    ]
    for share in (0.5, 0.75, 1):
        parts.append(line(_LEFT, up(share), _RIGHT, up(share), "grid"))
        parts.append(_words(_LEFT - 10, up(share), f"{share:g}", scheme.words, anchor="end"))
    for length in (5, 10, 15, 20, 30, 40):
        parts.append(_words(across(length), _BOTTOM + 22, f"{length}", scheme.words))
    middle = (_LEFT + across(_TRAINED)) / 2
    parts.append(_words(middle, up(_LOWEST + 0.05), "training", scheme.words))
    below = (_LEFT + _RIGHT) / 2
    parts.append(_words(below, _BOTTOM + 54, "length of the string", scheme.words))
    title = "Sorting digits from 0 to 4: share of right positions"
    parts.append(_words(8, 20, title, scheme.words, anchor="start", weight=600))
    return parts


def drawn(scheme: Scheme) -> str:
    """The picture as SVG for a page of one scheme; its background is the page's."""
    entries = layers()
    parts = axes(scheme)
    for model in reversed(entries):
        parts += curve(model, entries[model], scheme)
    parts += names(entries, scheme)
    style = (
        "text{font-size:19px;font-family:system-ui,-apple-system,'Segoe UI',Helvetica,sans-serif;"
        f"dominant-baseline:central}}.grid{{stroke:{scheme.faint}}}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}"><style>{style}</style>{"".join(parts)}</svg>\n'
    )


def main(directory: Path) -> None:
    """Write both pictures."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, scheme in SCHEMES.items():
        (directory / f"layers-{name}.svg").write_text(drawn(scheme), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
