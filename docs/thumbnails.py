"""README's pictures: `python docs/thumbnails.py examples/pictures` writes one SVG for each task.

They are the pictures of the gallery with the site's style sheet inside, on white, so that they can
stand anywhere.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from charts import line_chart
from gallery import by_bucket
from pictures import picture, stand_ins, svg
from results import drawn_models, read_comparisons

from synthbench.sampling.preview import sample_rows
from synthbench.tasks.images import load
from synthbench.tasks.registry import list_tasks
from synthbench.tasks.registry import task as make_task

_STYLE = Path(__file__).parent / "pages" / "assets" / "site.css"
_RESULTS = Path(__file__).parents[1] / "examples" / "results"
#: What the theme's own variables are on white.
_THEME = {
    "md-text-font": "system-ui, sans-serif",
    "md-typeset-color": "#222",
    "md-default-fg-color--light": "#777",
    "md-default-fg-color--lighter": "#bbb",
    "md-default-fg-color--lightest": "#e4e4e4",
    "md-default-bg-color": "#fff",
    "md-code-bg-color": "#f5f5f5",
}
#: Variants whose rows say more than those of the first.
_VARIANTS = {"clusters": "unbalanced", "state-tracking": "S3", "chomsky": "stack-manipulation"}
#: Rows that are looked at for one that is small enough to be seen at the size of a thumb.
_CANDIDATES = 40


def standalone(drawn: str) -> str:
    """A picture of the gallery as a file of its own."""
    style = _STYLE.read_text(encoding="utf-8")
    values = dict(re.findall(r"--(\w+): (#\w+);", style.partition("[")[0]))
    rules = re.findall(r"^(?:svg\.drawn|\.cell|\.color|\.curve|\.dot).*?\}$", style, re.M | re.S)
    css = re.sub(
        r"var\(--([\w-]+)\)", lambda found: {**_THEME, **values}[found[1]], "\n".join(rules)
    )
    width, height = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawn).groups()
    head = '<svg xmlns="http://www.w3.org/2000/svg" '
    inside = f'><style>{css}</style><rect width="{width}" height="{height}" fill="#fff"/>'
    drawn = drawn[drawn.index("<svg ") : drawn.index("</svg>") + 6]
    drawn = re.sub(r"var\(--(\w+)\)", lambda found: values[found[1]], drawn)
    return drawn.replace("<svg ", head, 1).replace(">", inside, 1)


def four_quadrants(row: Mapping[str, Any]) -> str:
    """A composite in words: what each quadrant shows, in its colour, on black."""
    parts = ['<rect width="168" height="168" class="black"/>']
    for place, quadrant in enumerate(row["quadrants"]):
        x, y = 42 + 84 * (place % 2), 42 + 84 * (place // 2)
        words = load.class_names(quadrant["kind"])[quadrant["class"]]
        fill = {"red": "#ff4d4d", "blue": "#6a8dff"}.get(quadrant["color"], "#ddd")
        style = f"fill: {fill}; font-size: {40 if words.isdigit() else 15}px"
        parts.append(f'<text x="{x}" y="{y}" style="{style}">{words}</text>')
    return svg(168, 168, parts, "Four quadrants").replace('class="black"', 'fill="#000"')


def _unfit(row: Mapping[str, Any]) -> tuple[bool, bool, bool, int]:
    """What is wrong with a row as a thumbnail: too much or too little to be seen."""
    steps = row.get("steps")
    if isinstance(row.get("label"), str):  # a product at each place
        steps = row["label"].split()[1:]
    other_chain = steps is not None and len(steps) != 3
    words = str(row.get("text", ""))
    return row.get("size", 4) != 4, other_chain, len(words.split()) < 5, len(words)


def accuracy_by_length() -> str:
    """How three baselines and a Neural Data Router do on chains of more and more look-ups."""
    (ctl,) = (
        one for one in read_comparisons(_RESULTS) if (one["task"], one["profile"]) == ("ctl", "cpu")
    )
    models = {one["model"]: one for one in drawn_models(ctl) if one["variant"] == "backward"}
    series = by_bucket([models[name] for name in ("lstm", "bilstm", "transformer", "ndr")])
    chart = line_chart(series, "number of look-ups", ticks=range(2, 11), trained_to=5)
    places = {"lstm": (320, 122), "bilstm": (406, 30), "transformer": (124, 150), "ndr": (240, 30)}
    titles = dict(zip(places, ("LSTM", "BiLSTM", "Transformer", "Neural Data Router"), strict=True))
    colors = dict(zip(series, ("one", "two", "three", "four"), strict=True))
    names = "".join(
        f'<text x="{x}" y="{y}" class="left strong" style="fill: var(--{colors[model]})">'
        f"{titles[model]}</text>"
        for model, (x, y) in places.items()
    )
    names += '<text x="64" y="206" class="left small">lengths of training</text>'
    return standalone(chart.replace("</svg>", f"{names}</svg>"))


def main(directory: Path) -> None:
    """Write the picture of a small row of every task, and one of results."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "by-length.svg").write_text(accuracy_by_length() + "\n", encoding="utf-8")
    for name in list_tasks():
        task = make_task(name, _VARIANTS.get(name))
        rows = sample_rows(task, task.splits[0].name, _CANDIDATES)
        hard = [row for row in rows if row.get("dependency_depth", 2) == 2]
        row = min(hard, key=_unfit)
        drawn = standalone(four_quadrants(row) if "image" in row else picture(task, row))
        (directory / f"{name}.svg").write_text(drawn + "\n", encoding="utf-8")


if __name__ == "__main__":
    with stand_ins():
        main(Path(sys.argv[1]))
