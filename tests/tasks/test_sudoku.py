"""Sudoku: one solution by two solvers, arrangements held out together, usual forms of grids."""

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
from synthbench.errors import ParameterError, UsageError
from synthbench.seeding import Draws
from synthbench.tasks.describe import draw_row
from synthbench.tasks.row_ids import are_held_out
from synthbench.tasks.sudoku import solver
from synthbench.tasks.sudoku.proof import prove_rows
from synthbench.tasks.sudoku.task import Sudoku
from tests.tasks.blocks import rows_of

VARIANTS = ("4x4", "6x6", "9x9")
SLOWER = [pytest.param(variant, marks=pytest.mark.slow) for variant in VARIANTS[1:]]
PUZZLE, SOLUTION = "1 . . 4 . . . . . . . . . 3 2 .", "1 2 3 4 3 4 1 2 2 1 4 3 4 3 2 1"
ROW = {"text": PUZZLE, "label": SOLUTION}


def drawn(variant, n=48, bucket=None, split="test", **parameters):
    task = Sudoku(variant, parameters)
    split = task.split(split)
    bucket = split.buckets[-1] if bucket is None else bucket
    block = task.propose(Draws({"test": variant}), n, split, bucket)
    return task, block, rows_of(task, block)


def all_solutions(text):
    """Every solution, by trying digits cell by cell."""
    digits = [0 if word == "." else int(word) for word in text.split()]
    high, wide = solver.BOXES[len(digits)]
    size = high * wide

    def fits(at, digit):
        row, column = divmod(at, size)
        return all(
            digits[other] != digit
            for other in range(len(digits))
            if other != at
            and (
                other // size == row
                or other % size == column
                or (other // size // high, other % size // wide) == (row // high, column // wide)
            )
        )

    def fill(at):
        if at == len(digits):
            yield " ".join(map(str, digits))
        elif digits[at]:
            yield from fill(at + 1)
        else:
            for digit in range(1, size + 1):
                if fits(at, digit):
                    digits[at] = digit
                    yield from fill(at + 1)
            digits[at] = 0

    return list(fill(0))


def arrangements(high, wide):
    """The old position of each cell in every arrangement, by the definition, digits aside."""
    size = high * wide

    def lines(groups, of_each):
        for outer in itertools.permutations(range(groups)):
            for inner in itertools.product(itertools.permutations(range(of_each)), repeat=groups):
                yield [
                    g * of_each + i for g, order in zip(outer, inner, strict=True) for i in order
                ]

    for rows, columns in itertools.product(lines(wide, high), lines(high, wide)):
        yield [row * size + column for row in rows for column in columns]
        if high == wide:
            yield [row * size + column for column in columns for row in rows]


# Rows.


@pytest.mark.parametrize("variant", VARIANTS)
def test_trying_all_digits_finds_the_label_alone(variant):
    _, _, rows = drawn(variant, n=24)
    assert rows
    for row in rows:
        # Backtracking in order of cells takes long for few of the larger puzzles.
        found = all_solutions(row["text"]) if variant != "9x9" else None
        both = solver.solutions(solver.read(row["text"], len(row["text"].split())))
        assert [" ".join(map(str, one)) for one in both] == [row["label"]]
        assert found in (None, [row["label"]])
        assert row["clues"] == sum(word != "." for word in row["text"].split())


@pytest.mark.parametrize("variant", ["4x4", *SLOWER])
def test_clues_are_few_and_buckets_have_their_nodes(variant):
    task = Sudoku(variant)
    for bucket in task.splits[0].buckets:
        rows = drawn(variant, 96, bucket)[2]
        columns = {"nodes": pa.array([row["nodes"] for row in rows])}
        assert set(task.buckets(columns).tolist()) == {bucket}
        for row in rows[:4]:
            digits = solver.read(row["text"], len(row["text"].split()))
            assert solver.count_nodes(digits) == row["nodes"]
            if bucket and row["clues"] > 22:  # minimal, but for clues that two guesses would save
                saved = 0
                for at in np.flatnonzero(digits):
                    fewer = [*digits[:at], 0, *digits[at + 1 :]]
                    saved += len(solver.solutions(fewer)) == 1
                assert saved <= 3
    assert [task.bucket_label(b) for b in task.splits[0].buckets][-1] == {
        "4x4": "0", "6x6": "1+", "9x9": "28+"
    }[variant]  # fmt: skip


def test_easy_puzzles_have_half_of_the_cells_and_hard_ones_the_most_nodes():
    for variant, cells in zip(VARIANTS, (16, 36, 81), strict=True):
        _, _, easy = drawn(variant, difficulty="easy")
        assert min(row["clues"] for row in easy) >= cells / 2
        assert {row["nodes"] for row in easy} == {0}
    assert max(row["clues"] for row in drawn("4x4", difficulty="hard")[2]) < 8
    _, _, hard = drawn("9x9", 64, difficulty="hard")
    assert hard
    assert min(row["nodes"] for row in hard) >= 28
    with pytest.raises(UsageError, match="Unknown value of difficulty 'extreme'"):
        Sudoku("9x9", {"difficulty": "extreme"})


def test_the_proof_of_columns_agrees_with_the_solver_and_refuses_changed_rows():
    for variant in VARIANTS:
        task, block, _ = drawn(variant, 64)
        columns = task.rendered(block)
        assert prove_rows(task, block, columns).all()
        for name, wrong in (
            (
                "label",
                pa.array([text[2:] + " " + text[0] for text in columns["label"].to_pylist()]),
            ),
            ("clues", pa.array(columns["clues"].to_numpy() + 1)),
            ("nodes", pa.array(columns["nodes"].to_numpy() + 1)),
        ):
            assert not prove_rows(task, block, {**columns, name: wrong}).any()


def test_texts_without_one_solution_are_refused():
    task = Sudoku()
    for wrong in (
        "", "1 2", " ".join("." * 16), PUZZLE.replace("4", "."), PUZZLE.replace("4", "1"),
        PUZZLE.replace("4", "5"), PUZZLE + " .", PUZZLE.replace(" ", "  ", 1),
        ". 1 1" + PUZZLE[5:],
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"sudoku|expected|solution|token"):
            task.parse({"text": pa.array([wrong])})
        with pytest.raises(ValueError, match=r"expected 16 cells|solution"):
            task.solve(wrong)


# Arrangements.


@pytest.mark.parametrize("variant", ["4x4", pytest.param("6x6", marks=pytest.mark.slow)])
def test_every_arrangement_of_a_puzzle_is_held_out_with_it(variant):
    task, block, rows = drawn(variant, 12)
    size = int(variant[0])
    places = np.array(list(arrangements(*solver.BOXES[size**2])))
    assert len(places) == {4: 128, 6: 3456}[size]
    names = np.array(list(itertools.permutations(range(1, size + 1))))
    keys = task.problem(block)
    for row, key in zip(rows[:4], keys, strict=False):
        digits = np.array(solver.read(row["text"], size**2))
        for renamed in names if size == 4 else names[:: len(names) // 4]:
            forms = np.insert(renamed, 0, 0)[digits][places]
            block = task._block(forms.astype(np.uint8), forms.astype(np.uint8), forms[:, 0])
            assert (task.problem(block) == key).all()


def test_9x9_puzzles_are_held_out_with_all_puzzles_of_the_same_solution():
    task, block, rows = drawn("9x9", 64, 0)
    keys = task.problem(block)
    assert are_held_out(keys).all()
    assert len(np.unique(keys)) == len(keys)
    full = block["solution"]
    draws = np.random.default_rng(0)
    for _ in range(20):
        order = np.concatenate([3 * band + draws.permutation(3) for band in draws.permutation(3)])
        grids = full.reshape(-1, 9, 9)[:, order].transpose(0, 2, 1)
        grids = np.insert(draws.permutation(9) + 1, 0, 0)[grids].reshape(-1, 81).astype(np.uint8)
        clues = np.where(draws.random(grids.shape) < 0.8, grids, 0).astype(np.uint8)
        assert (task.problem(task._block(clues, grids, keys)) == keys).all()
    # Read from texts, where the solution is not known.
    assert (task.problem(task.parse({"text": pa.array([r["text"] for r in rows])})) == keys).all()
    assert not are_held_out(
        drawn("9x9", 64, 0, "train")[0].problem(drawn("9x9", 64, 0, "train")[1])
    ).any()


@pytest.mark.slow
def test_exactly_4710_classes_of_4x4_exist_and_each_comes_once():
    task = Sudoku()
    block = task.enumerate_rows(task.splits[0], 0)
    assert len(block) == task.capacity(task.splits[0], 0) == 4_710
    puzzles = block["tokens"] - 1
    places = np.array(list(arrangements(2, 2)))
    least = None
    for digits in itertools.permutations(range(1, 5)):
        forms = np.insert(digits, 0, 0)[puzzles][:, places] @ (5 ** np.arange(16))
        least = forms.min(axis=1) if least is None else np.minimum(least, forms.min(axis=1))
    assert len(np.unique(least)) == 4_710
    other = Sudoku(seed=1).enumerate_rows(task.splits[0], 0)["tokens"]
    assert (other != block["tokens"]).any(axis=1).mean() > 0.9


@pytest.mark.parametrize("variant", VARIANTS)
def test_augmented_rows_of_train_are_arrangements_of_fewer_puzzles(variant):
    task, block, rows = drawn(variant, 120, 0, "train", augmentations=9)
    assert task.splits[0].rows == 10_000
    assert task.splits[1].rows == Sudoku(variant).splits[1].rows
    assert len({row["text"] for row in rows}) == len(rows)
    if variant != "4x4":
        keys = task.problem(block)
        assert (keys.reshape(-1, 10) == keys[::10, None]).all()
        assert len(np.unique(keys)) == len(rows) // 10
        assert (block["nodes"].reshape(-1, 10) == block["nodes"][::10, None]).all()
    for row in rows[:20]:
        assert task.recompute_columns(row) == {k: row[k] for k in ("label", "clues", "nodes")}
    with pytest.raises(ParameterError, match="augmentations=-1: allowed are 0 to 1000"):
        Sudoku(variant, {"augmentations": -1})


def test_few_candidates_may_give_empty_blocks():
    for variant, augmentations in itertools.product(VARIANTS, (0, 3)):
        for n, split in itertools.product((1, 2), ("train", "test")):
            task, block, rows = drawn(variant, n, None, split, augmentations=augmentations)
            assert len(rows) == len(task.problem(block)) <= n


def test_4x4_augmentations_are_of_1000_classes():
    task = Sudoku("4x4", {"augmentations": 4})
    block = task.enumerate_rows(task.splits[0], 0)
    assert 4_900 < len(block) <= 5_000
    assert not are_held_out(task.problem(block)).any()
    assert len(np.unique(task.problem(block))) == 1_000


# Answers.


def test_filled_grids_are_right_in_every_usual_form():
    task = Sudoku()
    digits = SOLUTION.split()
    lines = [digits[first : first + 4] for first in range(0, 16, 4)]
    shown = task.answer.show(SOLUTION)
    right = [
        SOLUTION, SOLUTION.replace(" ", ""), shown, shown.replace(" ", ""), digits, lines,
        [list(map(int, line)) for line in lines], np.array(lines, int), np.array(digits, int),
        str(lines).replace("'", ""), SOLUTION.replace(" ", ", "), ["1234", "3412", "2143", "4321"],
        "\n".join("| " + " | ".join(line) + " |" for line in lines), "1 2 │ 3 4\n" + SOLUTION[8:],
    ]  # fmt: skip
    for answer in right:
        assert task.score(ROW, answer) == 1.0, answer
    wrong = [
        PUZZLE, SOLUTION[:-2], SOLUTION + " 1", SOLUTION[2:] + " 1", "", "1",
        SOLUTION + "\n" + SOLUTION, None, 7, lines[:3], [lines], SOLUTION.replace("1", "\u0661"),
        SOLUTION.replace("1", "one"), SOLUTION.replace("4", "0"), {"a": 1}, [[]] * 4,
    ]  # fmt: skip
    for answer in wrong:
        assert task.score(ROW, answer) == 0.0, answer
    half = task.measure(ROW, task.read_answer(ROW, SOLUTION.replace("4", "3")))
    blank = [
        digit for cell, digit in zip(PUZZLE.split(), SOLUTION.split(), strict=True) if cell == "."
    ]
    assert 0 < blank.count("4") < len(blank) < 16
    share = 1 - blank.count("4") / len(blank)  # of blank cells: clues do not count
    assert half == {"exact_match": 0.0, "position_accuracy": pytest.approx(share)}
    assert task.measure(ROW, PUZZLE.replace(".", "0"))["position_accuracy"] == 0.0


def layouts_of(cells):
    """A grid with empty lines or dashes between its bands, as tables, and as an array of TeX."""
    size = int(len(cells) ** 0.5)
    rows = [cells[first : first + size] for first in range(0, len(cells), size)]
    lines = [" ".join(row) for row in rows]
    bands = ["\n".join(lines[first : first + 2]) for first in range(0, size, 2)]
    piped = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    ruled = " \\\\ \\hline\n".join(" & ".join(row) for row in rows)
    return [
        "\n\n".join(bands), "\n--------\n".join(bands), "|" + ":-:|" * size + f"\n{piped}",
        f"|{'-|' * size}\n{piped}", f"\\begin{{array}}{{|{'c|' * size}}}\n{ruled}\n\\end{{array}}",
    ]  # fmt: skip


def test_replies_with_grids_are_judged_at_all_levels():
    for variant, level in [("4x4", "easy"), ("6x6", "medium"), ("9x9", "hard")]:
        task = synthbench.task("sudoku", variant, level=level)
        (row,) = llm.prompts(task, limit=1)
        grid = task.answer.show(row["label"])
        assert task.columns["text"].show(row["text"]) in row["prompt"][0]["content"]
        for reply in (
            f"Answer: {row['answer']}", f"\\boxed{{{row['answer']}}}", f"Answer:\n{grid}",
            f"I go on.\n\n```\n{grid.replace(' ', '')}\n```", llm.worked_solution(task, row),
            *map("Answer:\n{}".format, layouts_of(row["label"].split(" "))),
        ):  # fmt: skip
            assert llm.score(task, row, reply) == 1.0, reply
        for reply in (f"Answer: {row['answer']} 1", f"Answer:\n{grid[:-1]}", "1"):
            assert llm.score(task, row, reply) == 0.0, reply


def test_long_and_odd_answers_are_wrong_and_never_slow():
    task, begun = Sudoku("9x9"), time.process_time()
    row = {"text": "", "label": " ".join("123456789" * 9)}
    for answer in ("1" * 99_999, "1 " * 40_000, "[" * 99_999, "|-+" * 600, ["1" * 99_999] * 9):
        assert task.score(row, answer) == 0.0
    assert time.process_time() - begun < 1


@settings(max_examples=100)
@given(st.text(st.sampled_from("1234. |+-\n[],x"), max_size=60))
def test_any_text_gets_a_verdict(answer):
    task = Sudoku()
    assert task.score(ROW, answer) in (0.0, 1.0)
    assert isinstance(task.answer.format_answer(answer), str)
    assert isinstance(task.answer.show(answer), str)


# Models, people, audits.


def test_every_cell_has_a_label_in_token_classification():
    batch = synthbench.tokens(Sudoku(), batch_size=8)[0]
    assert batch["input_ids"].shape == batch["labels"].shape == (8, 16)
    assert (batch["labels"] >= 0).all()


def test_a_row_is_drawn_with_its_solution_beside_it():
    task = Sudoku()
    row = {**ROW, **task.recompute_columns(ROW)}
    assert str(draw_row(task, row)).splitlines() == [
        "1 . | . 4     1 2 | 3 4",
        ". . | . .     3 4 | 1 2",
        "----+----     ----+----",
        ". . | . .     2 1 | 4 3",
        ". 3 | 2 .     4 3 | 2 1",
        "4 clues, 0 search nodes",
    ]


def test_singles_solve_the_first_bucket_alone():
    for bucket in (0, 2):
        task, block, rows = drawn("9x9", 48, bucket)
        spec, columns = audit_spec_of(task), task.rendered(block)
        copied, singles = (one.fit(columns)(columns) for one in spec.shortcuts)
        scores = [task.score(row, answer) for row, answer in zip(rows, singles, strict=True)]
        assert set(scores) == {float(bucket == 0)}
        for row, answer in zip(rows, copied, strict=True):
            pairs = zip(row["text"].split(), answer.split(), strict=True)
            assert all(word in (".", other) for word, other in pairs)
            assert task.score(row, answer) == 0
        for key in spec.near_duplicate_keys.values():
            assert len(np.unique(key(columns))) == len(rows)
