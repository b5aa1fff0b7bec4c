#!/bin/sh
# py-sudoku 2.0.0: most puzzles of its default size and difficulty have several solutions, because
# clues are taken away at random and the solution is not checked for being the only one.
#
# Seen (Python 3.11, Linux): of Sudoku(3, seed=s).difficulty(0.5), s = 0 to 39, 15 have exactly
# one solution, by a search that stops at the second. At difficulty 0.7, which leaves 25 clues, 0 of
# 40 have.
#
# Exits with 0 while that holds, else with 1.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/v"
"$place/v/bin/pip" install --quiet py-sudoku==2.0.0
cat > "$place/count.py" <<'PYTHON'
from sudoku import Sudoku


def solutions(cells, most=2):
    """The number of solutions, counted up to `most`, at the cell with the fewest candidates."""
    best = None
    for at in (at for at in range(81) if not cells[at]):
        row, column = divmod(at, 9)
        taken = {cells[row * 9 + k] for k in range(9)} | {cells[k * 9 + column] for k in range(9)}
        top, left = row // 3 * 3, column // 3 * 3
        taken |= {cells[(top + k // 3) * 9 + left + k % 3] for k in range(9)}
        digits = [digit for digit in range(1, 10) if digit not in taken]
        if best is None or len(digits) < len(best[1]):
            best = at, digits
    if best is None:
        return 1
    found = 0
    for digit in best[1]:
        found += solutions([*cells[: best[0]], digit, *cells[best[0] + 1 :]], most - found)
        if found >= most:
            break
    return found


counts = {}
for difficulty in (0.5, 0.7):
    boards = [Sudoku(3, seed=seed).difficulty(difficulty).board for seed in range(40)]
    puzzles = [[cell or 0 for line in board for cell in line] for board in boards]
    counts[difficulty] = sum(solutions(puzzle) == 1 for puzzle in puzzles)
    print(f"difficulty {difficulty}: {counts[difficulty]} of 40 puzzles have one solution")
raise SystemExit(not (counts[0.5] < 30 and counts[0.7] == 0))
PYTHON
"$place/v/bin/python" "$place/count.py"
