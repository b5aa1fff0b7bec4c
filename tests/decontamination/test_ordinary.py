"""Ordinary documents stay: of twenty of each kind at most one is dropped. The search is linear."""

import json
import random
import time

import pytest

DOCUMENTS = 20
R = random.Random(0)


def below(end):
    return R.randrange(end)


def lines(count, make):
    return "\n".join(make() for _ in range(count))


def sums(high, form, count=20):
    return lambda: lines(count, lambda: _sum(below(high), below(high), form))


def _sum(a, b, form):
    return form.format(a=a, b=b, sum=a + b, product=a * b)


def grid(height, width, high, sep=" ", start="", end=""):
    def line():
        return start + sep.join(str(below(high)) for _ in range(width)) + end

    return lambda: lines(height, line)


def expressions(form):
    return lambda: lines(20, lambda: form.format(*(below(10) for _ in range(5))))


def shuffled(count, sep=" "):
    return sep.join(map(str, R.sample(range(1, count + 1), count)))


def sudoku():
    digits = R.sample(range(1, 10), 9)
    return [[digits[(3 * row + row // 3 + place) % 9] for place in range(9)] for row in range(9)]


def drawn(count, high=49):
    return R.sample(range(1, high + 1), count)


KINDS = {
    # Worksheets.
    "sums": sums(1000, "{a} + {b} = {sum}"),
    "fifty sums": sums(1000, "{a} + {b} = {sum}", 50),
    "sums without spaces": sums(1000, "{a}+{b}={sum}"),
    "sums of digits": sums(10, "{a} + {b} = {sum}"),
    "large sums": sums(1_000_000, "{a} + {b} = {sum}"),
    "sums to answer": sums(1000, "{a} + {b} ="),
    "products": sums(100, "{a} * {b} = {product}"),
    "products without spaces": sums(1000, "{a}*{b}={product}"),
    "products with a cross": sums(100, "{a} \u00d7 {b} = {product}"),
    "chains": expressions("{} + {} + {} + {} ="),
    "chains of products": expressions("{}*{}*{}*{}="),
    "calls": expressions("print(({} + {}) * ({} + {}))"),
    "nested calls": expressions("print((({} + {}) * {}) + {})"),
    "brackets": expressions("(({}+{})*({}+{})) = ?"),
    "sums in columns": lambda: lines(
        10, lambda: "   ".join(sums(10, "{a} + {b} = {sum}", 1)() for _ in range(5))
    ),
    "sums under each other": lambda: lines(20, sums(1000, "  {a}\n+ {b}\n-----\n  {sum}\n", 1)),
    "sums in JSON": lambda: json.dumps([{"q": sums(99, "{a} + {b} =", 1)()} for _ in range(20)]),
    # Grids and matrices.
    "sudoku": lambda: "\n".join(" ".join(map(str, row)) for row in sudoku()),
    "sudoku in code": lambda: ",\n".join(f"    {row}" for row in sudoku()),
    "sudoku in JSON": lambda: json.dumps(sudoku(), indent=2),
    "binary grid": grid(8, 8, 2),
    "large binary grid": grid(20, 20, 2),
    "grid of digits": grid(12, 12, 10),
    "grid of numbers": grid(20, 20, 60),
    "matrix of NumPy": grid(10, 10, 10, start=" [", end="]"),
    "matrix of LaTeX": grid(6, 6, 10, sep=" & ", end=" \\\\"),
    "table of C": grid(16, 16, 2, sep=", ", end=","),
    "adjacency": lambda: json.dumps([[below(2) for _ in range(10)] for _ in range(10)], indent=1),
    "signs": lambda: lines(10, lambda: " ".join(R.choice("+-0") for _ in range(10))),
    "grid of letters": lambda: lines(10, lambda: " ".join(R.choice("ab") for _ in range(20))),
    "boxes": lambda: lines(9, lambda: "".join(R.choice("---+") for _ in range(60))),
    # Binary and lottery numbers, permutations.
    "bytes": lambda: lines(16, lambda: f"{below(256):08b}"),
    "bytes in a line": lambda: " ".join(f"{below(256):08b}" for _ in range(16)),
    "32 bits": lambda: lines(16, lambda: f"{R.getrandbits(32):032b}"),
    "binary sums": lambda: lines(20, lambda: f"{below(256):b} + {below(256):b} ="),
    "truth table": lambda: "\n".join(f"{row:06b} {below(2)}" for row in range(64)),
    "lottery": lambda: lines(20, lambda: " ".join(map(str, sorted(drawn(6))))),
    "lottery with commas": lambda: lines(20, lambda: ", ".join(map(str, drawn(6)))),
    "twenty numbers": lambda: lines(10, lambda: " ".join(map(str, drawn(20, 59)))),
    "permutations": lambda: lines(20, lambda: shuffled(10)),
    "permutations of five": lambda: lines(20, lambda: shuffled(5, "")),
    "the same in a line": lambda: " ".join(shuffled(5, "") for _ in range(20)),
    "long permutation": lambda: shuffled(50, ", "),
    # Code, logs, tables, measurements.
    "code": lambda: lines(
        12, lambda: f"def f(x, y={below(9)}):\n    a = {drawn(9)}\n    return (x + 3) * a[1]"
    ),
    "calls with letters": lambda: lines(
        20, lambda: f"x = f({R.choice('abc')}, {R.choice('def')}, {R.choice([10, 100, 101])})"
    ),
    "loops": lambda: lines(
        20,
        lambda: f"for n in range({R.choice([10, 100, 110])}):\n    d[c] = {R.choice('abc')} * d",
    ),
    "products of letters": lambda: lines(
        20,
        lambda: (
            f"{R.choice('abc')} = {R.choice([10, 100])} * {R.choice('abc')} * {R.choice('def')}"
        ),
    ),
    "law, written out": lambda: lines(
        20, lambda: f"sections 101({R.choice('abc')})({R.choice('def')}), 110({R.choice('abc')})"
    ),
    "log": lambda: lines(
        40, lambda: f"2024-01-{below(18) + 10} 10:{below(49)}:33,{below(900)} step={below(999)}"
    ),
    "table": lambda: lines(20, lambda: "| " + " | ".join(str(below(50)) for _ in range(4)) + " |"),
    "measurements": lambda: lines(
        50, lambda: f"{below(99)},{R.gauss(0, 1):.3f},{below(99)},{below(2)}"
    ),
    "whole measurements": grid(50, 10, 10, sep=","),
    "tabs": grid(40, 8, 10, sep="\t"),
    "one column": grid(60, 1, 60),
    "column of flags": grid(60, 1, 2),
    "ragged lines": lambda: lines(
        30, lambda: " ".join(str(below(20)) for _ in range(below(15) + 1))
    ),
    "hexadecimal": lambda: lines(16, lambda: " ".join(f"{below(256):02x}" for _ in range(16))),
    "law": lambda: lines(
        20, lambda: f"Section {below(12) + 100}(a)({R.choice('abcdef')}) of the Act"
    ),
    "assertions": lambda: lines(20, lambda: f"assert f({drawn(4, 9)}) == {below(9)}"),
}


def test_ordinary_documents_stay(search):
    dropped = {}
    for kind, make in KINDS.items():
        found = search.find([make() for _ in range(DOCUMENTS)])
        dropped[kind] = sum(map(bool, found))
    assert {kind: count for kind, count in dropped.items() if count > 1} == {}


@pytest.mark.parametrize(
    "piece",
    [
        lambda: f"{below(1000)} + {below(1000)} = {below(2000)}\n",
        lambda: f"{below(10)} {below(10)} + {below(10)} {below(10)} = {below(10)}\n",
        lambda: f"{below(2)} ",
        lambda: "(1 + 2\n",
        lambda: "()",
        lambda: "1 = ",
        lambda: '"3",\n',
        lambda: "k1 v2 ",
        lambda: "a_",
        lambda: "\\",
        lambda: " \n",
        lambda: "<td ",
        lambda: f"print(({below(10)} + {below(10)}) * {below(10)})\n",
        lambda: "k12345678",
    ],
)
def test_the_time_is_linear_in_the_size_of_a_document(piece, search):
    def seconds(size):
        text = "".join(piece() for _ in range(size // len(piece())))
        begun = time.process_time()
        search.find([text])
        return time.process_time() - begun

    seconds(4_000)
    assert seconds(60_000) < 5 * seconds(15_000) + 0.25
