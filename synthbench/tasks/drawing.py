"""Trees as text, for people."""

from __future__ import annotations

from typing import NamedTuple


class Node(NamedTuple):
    """A node to draw; `cut` marks one that the result does not need."""

    label: str
    children: tuple[Node, ...] = ()
    cut: bool = False


def draw_tree(root: Node) -> str:
    """The tree, one node a line, branches drawn; nodes that are not needed in brackets."""
    return "\n".join(_lines(root, "", ""))


def _lines(node: Node, first: str, rest: str) -> list[str]:
    label = f"({node.label}) not needed" if node.cut and node.children else node.label
    if node.cut and not node.children:
        label = f"({node.label})"
    lines = [first + label]
    for number, child in enumerate(node.children, start=1):
        last = number == len(node.children)
        branch, below = ("└─ ", "   ") if last else ("├─ ", "│  ")
        lines += _lines(child, rest + branch, rest + below)
    return lines
