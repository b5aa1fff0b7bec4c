"""Mazes: one shortest path proved by listing paths, symmetries, answers as grids and as moves."""

import collections
import itertools
import time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthbench
from synthbench import llm
from synthbench.auditing.variant import audit_spec_of
from synthbench.errors import ParameterError
from synthbench.seeding import Draws
from synthbench.tasks.describe import draw_row
from synthbench.tasks.maze import task as maze_task
from synthbench.tasks.maze.drawn import cell_positions, count_paths, distances, draw_trees
from synthbench.tasks.maze.task import MazeTask
from synthbench.tasks.row_ids import are_held_out
from tests.tasks.blocks import rows_of

WORDS = {"U": "up", "R": "right", "D": "down", "L": "left"}
VARIANTS = ("tree", "open")
MOST_OPEN = 15
GRID = [
    "# # # # # # # # #",
    "# . # . . . . . #",
    "# . # . # . # # #",
    "# . . G # . . . #",
    "# . # # # # # . #",
    "# . . . . . # . #",
    "# . # # # # # . #",
    "# . # . . S . . #",
    "# # # # # # # # #",
]
ROW = {"text": " ".join(GRID)}
MOVES = "R R U U U U L L U U L L D D"


def drawn(variant, size, rows=60):
    task = MazeTask(variant, {"size": [9], "test_size": [max(11, size)]})
    return task, rows_of(task, task.propose(Draws({"test": size}), rows, task.splits[0], size))


def cells(text):
    words = text.split(" ")
    size = int(len(words) ** 0.5)
    return np.array(words).reshape(size, size)


def free_near(grid, place):
    i, j = place
    near = ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1))
    return [one for one in near if grid[one] != "#"]


def paths(grid, most):
    """All simple paths from S to G of at most so many steps."""
    (start,), (goal,) = (list(zip(*np.where(grid == end), strict=True)) for end in "SG")
    waiting = [[tuple(map(int, start))]]
    while waiting:
        path = waiting.pop()
        if path[-1] == tuple(map(int, goal)):
            yield path
        elif len(path) <= most:
            waiting += [[*path, one] for one in free_near(grid, path[-1]) if one not in path]


# Rows.


@pytest.mark.parametrize("variant", VARIANTS)
def test_listing_all_paths_finds_the_marked_path_alone(variant):
    for size in (9, 11):
        rows = drawn(variant, size, 16)[1]
        assert len(rows) > 5
        for row in rows:
            grid, label = cells(row["text"]), cells(row["label"])
            assert grid.shape == (size, size)
            assert ((label == "*") <= (grid == ".")).all()
            assert (np.where(label == "*", ".", label) == grid).all()
            (path,) = paths(grid, row["steps"])
            assert len(path) == row["steps"] + 1 >= size + 1
            assert sorted(path[1:-1]) == sorted(
                zip(*map(list, np.where(label == "*")), strict=True)
            )


def ways(grid, start, goal):
    """The steps of the shortest paths, and how many there are."""
    steps, number, waiting = {start: 0}, collections.Counter({start: 1}), collections.deque([start])
    while waiting and (place := waiting.popleft()) != goal:
        for other in free_near(grid, place):
            if other not in steps:
                steps[other] = steps[place] + 1
                waiting.append(other)
            if steps[other] == steps[place] + 1:
                number[other] += number[place]
    return steps.get(goal, 0), number[goal]


def test_random_open_mazes_have_many_shortest_paths():
    """Of 30 x 30 cells, as in Maze-Hard. The page of published rows has 300 of them."""
    counted = []
    for block in itertools.count():
        draws = Draws({"mazes": "open"}, block)
        grid = np.full((32, 32), "#")
        grid[1:-1, 1:-1] = np.where(draws.integers(100, 900).reshape(30, 30) < 37, "#", ".")
        free = np.argwhere(grid == ".").tolist()
        start, goal = (tuple(free[i]) for i in draws.integers(len(free), 2).tolist())
        length, number = ways(grid, start, goal)
        counted += [number] * (length >= 60)
        if len(counted) == MOST_OPEN:
            break
    assert min(counted) > 1


def plain_paths(free, start, size):
    """Distances from the start and numbers of shortest paths, cell by cell; 2 means several."""
    distance, ways, layer = {start: 0}, collections.Counter({start: 1}), [start]
    while layer:
        following = {}
        for here in layer:
            for there in (here - size, here - 1, here + 1, here + size):
                if free[there] and distance.setdefault(there, distance[here] + 1) > distance[here]:
                    ways[there] += ways[here]
                    following[there] = True
        layer = list(following)
    everywhere = range(len(free))
    return [distance.get(place, -1) for place in everywhere], [
        min(ways[place], 2) for place in everywhere
    ]


@given(st.integers(0, 20), st.sampled_from([5, 7, 9]), st.floats(0.2, 1.0), st.integers(0, 99))
@settings(deadline=None, max_examples=60)
def test_paths_of_many_mazes_are_counted_as_one_counts_them_in_each(rows, size, share, seed):
    draws, inner = Draws({"test": seed}), np.zeros((size, size), np.bool_)
    inner[1:-1, 1:-1] = True
    free = draws.bits(share, (rows, size * size)) & inner.ravel()
    start = cell_positions(size)[draws.integers(len(cell_positions(size)), rows)]
    free[np.arange(rows), start] = True
    distance, ways = count_paths(free, start, size)
    assert (distance.dtype, ways.dtype) == (np.int16, np.uint8)
    for row in range(rows):
        expected = plain_paths(free[row].tolist(), int(start[row]), size)
        assert (distance[row].tolist(), ways[row].tolist()) == expected


@given(st.integers(1, 3), st.integers(1, 20), st.sampled_from([5, 9, 13]), st.integers(0, 99))
@settings(deadline=None, max_examples=30)
def test_distances_in_trees_are_half_of_those_that_paths_have(blocks, rows, size, seed):
    streams = [Draws({"test": seed}, block) for block in range(blocks)]
    trees, positions = draw_trees(streams, rows, size), cell_positions(size)
    chosen = streams[0].integers(len(positions), blocks * rows)
    steps, ways = count_paths(trees.free, positions[chosen], size)
    assert (2 * distances(trees, chosen) == steps[:, positions]).all()
    assert (ways[:, positions] == 1).all()


@pytest.mark.parametrize(("size", "n"), [(9, 40), (9, 1), (21, 3), (41, 2)])
@pytest.mark.parametrize("variant", VARIANTS)
def test_blocks_drawn_together_are_those_drawn_alone(variant, size, n, monkeypatch):
    task = MazeTask(variant)
    split, streams = task.split("train"), [{"test": number} for number in range(5)]
    alone = [task.propose(Draws(one), n, split, size) for one in streams]
    assert (min(map(len, alone)) == 0) == (variant == "open" and n == 1)
    for positions in (1, 3 * n * size**2, 1 << 30):  # each alone, three at once, all
        monkeypatch.setattr(maze_task, "_POSITIONS", positions)
        together = task.propose_blocks([Draws(one) for one in streams], n, split, size)
        for block, other in zip(together, alone, strict=True):
            assert all(np.array_equal(block[name], other[name]) for name in ("tokens", "path"))
    assert len({block["tokens"].tobytes() for block in alone}) > 1


def test_trees_have_no_loops_and_open_mazes_have_rooms_and_loops():
    for size in (9, 21):
        for variant in VARIANTS:
            for row in drawn(variant, size, 20)[1]:
                grid = cells(row["text"])
                places = list(zip(*np.where(grid != "#"), strict=True))
                edges = sum(len(free_near(grid, place)) for place in places) // 2
                open_squares = sum(
                    (grid[i : i + 3, j : j + 3] != "#").all()
                    for i, j in itertools.product(range(size - 2), repeat=2)
                )
                assert (edges == len(places) - 1) == (variant == "tree")
                assert bool(open_squares) == (variant == "open")


def test_sizes_are_odd_and_some_of_test_are_larger():
    for size in (9, 23, 41):
        assert all(cells(row["text"]).shape == (size, size) for row in drawn("open", size, 8)[1])
    for wrong, said in (
        ({"size": [10]}, "size=10: sizes are odd, such as 11"),
        ({"test_size": [13]}, "test_size=13: at least one must be larger"),
        ({"size": [7]}, "allowed are different size from 9 to 41"),
    ):
        with pytest.raises(ParameterError, match=said):
            MazeTask("tree", wrong)


# One problem in sixteen forms.


def forms(text):
    """A maze in all rotations and reflections, with S and G as they are and exchanged."""
    grid = cells(text)
    for one in (grid, np.where(grid == "S", "G", np.where(grid == "G", "S", grid))):
        for turned in (one, one.T):
            for times in range(4):
                yield " ".join(np.rot90(turned, times).ravel().tolist())


@pytest.mark.parametrize("variant", VARIANTS)
def test_all_forms_of_a_maze_are_held_out_together(variant):
    seen = {}
    for size in (9, 11, 21):
        task, rows = drawn(variant, size, 40)
        for row in rows:
            texts = list(dict.fromkeys(forms(row["text"])))
            keys = set(task.problem(task.parse({"text": pa.array(texts)})).tolist())
            assert len(keys) == 1
            assert seen.setdefault(keys.pop(), min(texts)) == min(texts)
    assert len(seen) > 60


def test_about_an_eighth_of_all_mazes_is_held_out():
    task = MazeTask()
    blocks = [task.propose(Draws({"test": 0}, n), 256, task.splits[0], 9) for n in range(8)]
    held_out = np.concatenate([are_held_out(task.problem(one)) for one in blocks])
    assert abs(held_out.mean() - 1 / 8) < 5 * (7 / 64 / len(held_out)) ** 0.5


def test_texts_that_are_no_mazes_are_refused_alike():
    task = MazeTask()
    text = ROW["text"]
    for wrong in (
        "", "# # #", text[:-2], text.replace("S", "."), text.replace(".", "S", 1), f"{text} #",
        text.replace("G", "S"), text.replace("#", ".", 1), text.replace(".", "x", 1),
        " ".join("#" * 81), text.replace(" ", "  "), " ".join(["#"] * 43 * 43),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"maze|expected|token"):
            task.parse({"text": pa.array([wrong])})
        with pytest.raises(ValueError, match="expected a square of an odd size from 9 to 41"):
            task.solve(wrong)


def test_the_solver_refuses_mazes_without_one_shortest_path():
    cut = " ".join(GRID).replace("S . .", "S # .")
    with pytest.raises(ValueError, match="loops or parts"):
        MazeTask().solve(cut)
    with pytest.raises(ValueError, match="no path leads"):
        MazeTask("open").solve(cut)
    room = [*GRID[:4], "# . . . # # # . #", *GRID[5:]]
    square = " ".join(
        [*GRID[:5], "# S . . . . # . #", "# . . # # # # . #", "# . G . . . . . #", GRID[-1]]
    )
    with pytest.raises(ValueError, match="loops or parts"):
        MazeTask().solve(" ".join(room))
    with pytest.raises(ValueError, match="several paths"):
        MazeTask("open").solve(square.replace("G", ".", 1))


# Answers.


def test_the_grid_and_its_moves_are_right_in_every_usual_form():
    task = MazeTask()
    label = task.solve(ROW["text"])
    lines = [label[first : first + 18].strip() for first in range(0, len(label), 18)]
    right = [
        label, "\n".join(lines), "\n".join(lines).replace(" ", ""), label.split(" "), MOVES,
        MOVES.replace(" ", ""), MOVES.lower(), MOVES.replace(" ", ", "), MOVES.replace(" ", " -> "),
        MOVES.replace(" ", "→"), MOVES.split(" "), f"{MOVES}.",
        MOVES.translate(str.maketrans("URDL", "↑→↓←")),
        ", ".join(WORDS[move] for move in MOVES.split(" ")),
        [row.split(" ") for row in lines], np.array([row.split(" ") for row in lines]),
    ]  # fmt: skip
    for answer in right:
        assert task.score(ROW, answer) == 1.0, answer
    wrong = [
        ROW["text"], label.replace("*", "."), label.replace(".", "*"), label.replace("*", ".", 1),
        label.replace(".", "*", 1), label + " #", label[:-2], MOVES[:-2], f"{MOVES} D", MOVES[::-1],
        "", "R", f"{MOVES} {MOVES}", "R L " + MOVES, "S", "* *", "right right up", 7, None, ["R"],
        label.replace("G", "*"), MOVES.replace("R", "L"), label + " " + MOVES,
    ]  # fmt: skip
    for answer in wrong:
        assert task.score(ROW, answer) == 0.0, answer
    assert task.check(ROW, MOVES)
    assert not task.check(ROW, 3)


@pytest.mark.parametrize("variant", VARIANTS)
def test_replies_with_moves_or_grids_are_judged(variant):
    task = synthbench.task("maze", variant, level="easy")
    for row in llm.prompts(task, limit=3):
        grid = task.answer.show(row["label"])
        assert task.columns["text"].show(row["text"]) in row["prompt"][0]["content"]
        assert grid.count("\n") == len(grid.split("\n")[0]) // 2
        for reply in (
            f"Answer: {row['answer']}", f"\\boxed{{{row['answer']}}}", f"Answer:\n{grid}",
            f"I go on.\n\n```\n{grid.replace(' ', '')}\n```", llm.worked_solution(task, row),
            "Answer: " + ", ".join(WORDS[move].title() for move in row["answer"].split(" ")),
            "Answer: $" + " ".join(f"\\{WORDS[it]}arrow" for it in row["answer"].split(" ")) + "$",
            "".join(f"\\{WORDS[it].title()}arrow" for it in row["answer"].split(" ")),
        ):  # fmt: skip
            assert llm.score(task, row, reply) == 1.0, reply
        for reply in (f"Answer: {row['answer']} U", f"Answer:\n{grid.replace('*', '.')}", "R"):
            assert llm.score(task, row, reply) == 0.0, reply


def test_long_and_odd_answers_are_wrong_and_never_slow():
    task, begun = MazeTask("open"), time.process_time()
    for answer in ("R" * 99_999, "#" * 99_999, "R " * 40_000, "->" * 40_000, "* " * 5_000):
        assert task.score(ROW, answer) == 0.0
    assert time.process_time() - begun < 1


@settings(max_examples=100)
@given(st.text(st.sampled_from("#.SG* \nURDL→\u2b06"), max_size=90))
def test_any_text_gets_a_verdict(answer):
    task = MazeTask()
    assert task.score(ROW, answer) in (0.0, 1.0)
    assert isinstance(task.answer.format_answer(answer), str)


# Models, people, audits.


def test_every_cell_has_a_label_in_token_classification():
    batch = synthbench.tokens(synthbench.task("maze", level="easy"), batch_size=8)[0]
    assert batch["input_ids"].shape == batch["labels"].shape == (8, 81)
    assert (batch["labels"] >= 0).all()


def test_a_row_is_drawn_with_its_path_and_moves():
    task = MazeTask()
    row = {**ROW, **task.recompute_columns(ROW)}
    *drawn_grid, last = str(draw_row(task, row)).splitlines()
    assert last == f"14 steps: {MOVES}"
    assert len(drawn_grid) == 9
    assert drawn_grid[7] == "██  ██    S · · ██"


def test_the_straight_line_is_right_only_where_nothing_is_in_its_way():
    task, rows = drawn("open", 9, 300)
    columns = {
        name: pa.array([row[name] for row in rows], column.arrow)
        for name, column in task.columns.items()
    }
    (straight,) = audit_spec_of(task).shortcuts
    right = 0
    for row, answer in zip(rows, straight.fit(columns)(columns), strict=True):
        grid = cells(row["text"])
        (start,), (goal,) = (np.argwhere(grid == end) for end in "SG")
        right += task.score(row, answer) == 1
        assert task.score(row, answer) == 0 or row["steps"] == abs(start - goal).sum()
    assert 0 < right < len(rows) / 2


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_share_of_cells_counts_free_cells_alone_and_moves_mark_what_they_reach(variant):
    for size in (9, 21):
        task, rows = drawn(variant, size, 10)
        for row in rows:
            free, path = row["text"].split().count("."), row["steps"] - 1
            share = {
                name: task.measure(row, task.read_answer(row, answer))["position_accuracy"]
                for name, answer in {
                    "label": row["label"],
                    "moves": task.answer.format_answer(row["label"]),
                    "copy": row["text"],
                    "nowhere": "S",
                    "first": task.answer.format_answer(row["label"])[:1],
                }.items()
            }
            assert share["label"] == share["moves"] == 1.0
            moves = task.answer.format_answer(row["label"])
            for signs in ("\u2191\u2192\u2193\u2190", "\u2b06\u27a1\u2b07\u2b05", "⇑⇒⇓⇐"):
                arrows = moves.translate(str.maketrans("URDL", signs))
                assert llm.score(task, row, f"Answer: {arrows}") == 1.0
            assert llm.score(task, row, f"Answer: {moves.replace(' ', ' → ')}") == 1.0
            assert share["copy"] == pytest.approx(1 - path / free)
            assert share["first"] == pytest.approx(1 - max(path - 1, 0) / free)
            assert task.measure(row, None) == {"accuracy": 0.0, "position_accuracy": 0.0}


def test_streams_of_large_mazes_that_are_held_out_have_small_rounds():
    task = synthbench.task("maze", "open", size=(39,), test_size=(41,))
    sizes = {split.name: task.stream_round_rows(split) for split in task.splits}
    assert sizes == {"train": 1_024, "iid": 128, "test": 128}
