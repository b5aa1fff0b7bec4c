"""The drawings that explain how it works."""

from __future__ import annotations

from shapes import arrow, box, circle, line, svg, text


def depth_two() -> str:
    """The worked example of conditional sampling: an operation over operands of depth 0 or 1."""
    parts = []
    for panel, (left, right, chance) in enumerate(
        [(0, 0, "0.64"), (1, 0, "0.16"), (0, 1, "0.16"), (1, 1, "0.04")]
    ):
        faint, x = ("" if left or right else " faint"), 75 + 150 * panel
        for side, depth in ((x - 34, left), (x + 34, right)):
            parts.append(line(x, 22, side, 72, "line" + faint))
            for leaf in (side - 15, side + 15) if depth else ():
                parts += [line(side, 72, leaf, 112), circle(leaf, 112, "leaf")]
            parts.append(circle(side, 72, "box" if depth else "leaf" + faint))
        parts.append(circle(x, 22, "box" + faint))
        depth = 2 if left or right else 1
        parts += [text(x, 148, f"{chance}, depth {depth}", "strong" + faint)]
        share = {"0.16": "4 of 9", "0.04": "1 of 9"}.get(chance, "not drawn")
        parts.append(text(x, 170, share, faint))
    return svg(600, 184, parts, "Four forms of an operation, three of them of depth 2")


def way_of_the_data() -> str:
    """From a request to a published dataset, and who reads it."""
    boxes = [
        (75, 32, "Request", "task, seed, sizes"),
        (235, 32, "Plan", "rows a bucket"),
        (395, 32, "Sampler", "which rows are kept"),
        (555, 32, "Rounds", "balanced, shuffled"),
        (395, 142, "Engine", "blocks of candidates"),
        (555, 142, "Shards", "rows, ids, digests"),
        (555, 252, "Staging", "one rename"),
        (395, 252, "Dataset", "shards and card"),
        (155, 252, "Readers", "verify, audit, evaluate, export, train"),
    ]
    parts = [arrow(140, 170, 32), arrow(300, 330, 32), arrow(460, 490, 32)]
    parts += [_down(555, 58, 116), _down(555, 168, 226), _down(395, 116, 58), _down(395, 58, 116)]
    parts += [arrow(460, 490, 142), arrow(490, 460, 252), arrow(330, 280, 252)]
    for x, y, name, words in boxes:
        width = 250 if name == "Readers" else 130
        parts.append(box(x, y, width, 52, "answer" if name == "Dataset" else "box"))
        parts += [text(x, y - 10, name, "strong"), text(x, y + 12, words, "small")]
    parts.append(text(316, 88, "task.propose(draws, n)", "small"))
    title = "Request, plan, sampler with its engine, rounds, shards, staging, dataset, readers"
    return f'<div class="wide">{svg(624, 284, parts, title)}</div>'


def _down(x: float, y1: float, y2: float) -> str:
    side = 4 if y1 > y2 else -4
    tip = f"M{x - 4:g} {y2 + 1.5 * side:g}L{x:g} {y2:g}L{x + 4:g} {y2 + 1.5 * side:g}"
    return line(x, y1, x, y2) + f'<path d="{tip}" class="line"/>'
