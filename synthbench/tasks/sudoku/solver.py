"""The reference solver of Sudoku: exact cover, one grid at a time.

An option fills a digit into a cell. A constraint is a cell, or a digit of a row, column or box. A
solution chooses options that meet each constraint exactly once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

#: Boxes by the number of cells: their rows and columns.
BOXES = {16: (2, 2), 36: (2, 3), 81: (3, 3)}
#: A search that tries more options ends.
MOST_TRIES = 20_000

Option = tuple[int, int]
Constraint = tuple[str, int, int]
#: The options that are left of each constraint that is not met yet.
Cover = dict[Constraint, frozenset[Option]]


def read(question: str, cells: int) -> list[int]:
    """The digits of a puzzle, 0 for an empty cell.

    Raises:
        ValueError: the text is not a grid of so many cells.
    """
    words = question.split(" ") if isinstance(question, str) else []
    size = BOXES[cells][0] * BOXES[cells][1]
    names = [".", *map(str, range(1, size + 1))]
    if len(words) != cells or not set(words) <= set(names):
        raise ValueError(
            f"expected {cells} cells, row by row, each of them . or a digit from 1 to {size}, got "
            f"{str(question)[:80]!r}"
        )
    return [names.index(word) for word in words]


def constraints(option: Option, cells: int) -> Iterator[Constraint]:
    """The four constraints that an option meets."""
    cell, digit = option
    high, wide = BOXES[cells]
    row, column = divmod(cell, high * wide)
    yield "cell", row, column
    yield "row", row, digit
    yield "column", column, digit
    yield "box", row // high * high + column // wide, digit


def cover_of(digits: list[int]) -> Cover | None:
    """The constraints that the clues leave, None if two clues meet the same."""
    cells = len(digits)
    size = BOXES[cells][0] * BOXES[cells][1]
    whole: dict[Constraint, set[Option]] = {}
    for option in ((cell, digit) for cell in range(cells) for digit in range(1, size + 1)):
        for constraint in constraints(option, cells):
            whole.setdefault(constraint, set()).add(option)
    cover: Cover | None = {name: frozenset(options) for name, options in whole.items()}
    for option in enumerate(digits):
        if option[1] and cover is not None:
            cover = chosen(cover, option, cells)
    return cover


def chosen(cover: Cover, option: Option, cells: int) -> Cover | None:
    """A cover after an option is chosen, None if it was crossed out."""
    met = [*constraints(option, cells)]
    if any(option not in cover.get(constraint, ()) for constraint in met):
        return None
    return without(
        {name: options for name, options in cover.items() if name not in met},
        {other for constraint in met for other in cover[constraint]},
        cells,
    )


def without(cover: Cover, options: Iterable[Option], cells: int) -> Cover:
    """A cover whose constraints lose some options."""
    left = dict(cover)
    for option in options:
        for name in constraints(option, cells):
            if name in left:
                left[name] -= {option}
    return left


def forced(cover: Cover, cells: int) -> tuple[Cover | None, dict[int, int]]:
    """Choose the only options of constraints, as long as a constraint has a single option.

    Returns:
        The cover, None after a contradiction, and the digits of the cells that were chosen.
    """
    digits: dict[int, int] = {}
    left: Cover | None = cover
    while left:
        least = min(left.values(), key=len)
        if len(least) != 1:
            return (left, digits) if least else (None, digits)
        (option,) = least
        digits[option[0]] = option[1]
        left = chosen(left, option, cells)
    return left, digits


def solutions(digits: list[int], most: int = 2) -> list[list[int]]:
    """The first solutions of a puzzle, at most so many.

    Raises:
        ValueError: the search takes too long.
    """
    cells, tries = len(digits), 0
    waiting = [(cover_of(digits), dict(enumerate(digits)))]
    grids: list[list[int]] = []
    while waiting and len(grids) < most:
        cover, filled = waiting.pop()
        if cover is None:
            continue
        cover, more = forced(cover, cells)
        filled = filled | more
        if cover is not None and not cover:
            grids.append([filled[cell] for cell in range(cells)])
        elif cover:
            options = min(cover.values(), key=len)
            tries += len(options)
            waiting += [(chosen(cover, (c, d), cells), filled | {c: d}) for c, d in sorted(options)]
        if tries > MOST_TRIES:
            raise ValueError("the search for the solutions of this grid takes too long")
    return grids


def solution(question: str, cells: int) -> list[int]:
    """The one solution of a puzzle.

    Raises:
        ValueError: it is not a puzzle with exactly one solution.
    """
    grids = solutions(read(question, cells))
    if len(grids) != 1:
        number = "0 solutions" if not grids else "several solutions"
        raise ValueError(f"the grid has {number}: {question[:161]!r}")
    return grids[0]


def count_nodes(digits: list[int]) -> int:
    """The nodes of a search that is the same for all arrangements of a puzzle.

    Wherever no option is forced, it tries all options of all cells with the fewest options, each by
    itself. Those after which forced options lead to a contradiction are crossed out. If nothing
    is crossed out, it goes on to cells with one option more. Each option that is tried is a node.

    Raises:
        ValueError: nothing can be crossed out.
    """
    cells, nodes = len(digits), 0
    cover = cover_of(digits)
    while cover is not None:
        cover, _ = forced(cover, cells)
        if cover is None:
            break
        if not cover:
            return nodes
        open_cells = [options for (kind, *_), options in cover.items() if kind == "cell"]
        wrong: list[Option] = []
        for width in sorted({*map(len, open_cells)}):
            tried = [
                option for options in open_cells if len(options) == width for option in options
            ]
            nodes += len(tried)
            wrong = [option for option in tried if _refuted(cover, option, cells)]
            if wrong:
                break
        if not wrong:
            raise ValueError("no single guess leads to a contradiction")
        cover = without(cover, wrong, cells)
    raise ValueError("the grid cannot be filled")


def _refuted(cover: Cover, option: Option, cells: int) -> bool:
    left = chosen(cover, option, cells)
    return left is None or forced(left, cells)[0] is None
