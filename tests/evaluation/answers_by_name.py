r"""Answers as language models write them, of labels other than digits.

The tables are read as those of `answers_as_written`.
"""

from __future__ import annotations

from typing import Any

#: Labels `000` to `111`.
SYMBOLS: list[tuple[str, Any]] = [
    ("101", "101"), ("**011**", "011"), ("The answer is 000.", "000"), ("\\boxed{010}", "010"),
    ("101 a -> 011, 011 b -> 110\n\n110", "110"), ("Answer: `001`. It took 2 look-ups.", "001"),
    ("101 or 011", None), ("1 0 1", "101"), ("The answer is: 011 c b b f d", None),
    ("101 a d b c\n\nThe answer is 101 a d b c.", None), ("The answer is 000 to 011.", None),
    ("The answer is: 000 to 011", None), ("110 e d f d\n", None),
    ("The answer is f c e.", None), ("100 a b c\n\nThe answer is a letter e", None),
    ("The answer is 110.", "110"), ("The answer is: 011\n\nThe function is 011.", "011"),
    ("The answer to this text is '100'.", "100"), ("one", None), ("The answer is zero", None),
    ("Answer: 1 0 1", "101"), ("The answer is 0 1 1.", "011"), ("1, 0, 1", "101"),
    ("[1, 0, 1]", "101"), ("1-0-1", "101"), ("**1 0 1**", "101"), ("1 0 1 1", None),
    ("1 0", None), ("Answer: 5", None), ("5", None), ("**5**", None),
    ("The answer is 7.", None), ("Answer: 0", None), ("class 5", None),
    ("Answer: 010, class 5", "010"), ("１０１", "101"), ("101 → 011", "011"),
    ("101 -> 011 -> 110", "110"), ("Answer: 101 → 011 → 110", "110"), ("not 101", None),
    ("anything but 101", None), ("Answer: 05", None), ("I used 3 steps.", None),
    ("5 → 101", "101"), ("Answer: 101 (5 in decimal)", "101"), ("Answer: 0 1 1", "011"),
    ("0 1 1.", "011"), ("0,1,1", "011"), ("(0, 1, 1)", "011"), ("0 1 1 or 1 1 0", None),
    ("0 1 1 0", None), ("[0 1 1]", "011"), ("Answer: 3", None), ("3", None),
    ("The index is 3", None), ("0x5", None), ("0b101", None), ("101b", None), ("'011'", "011"),
    ("0 1 2", None), ("1 0 1 → 0 1 1", "011"), ("a(101) = 011", "011"),
    ("b(a(101)) = b(011) = 110", "110"), ("a: 101 → 011; b: 011 → 110", "110"),
    ("Answer: b(011) = 110", "110"),
]  # fmt: skip

#: Labels of Fashion-MNIST.
CLOTHES: list[tuple[str, Any]] = [
    ("Bag", "Bag"), ("bag.", "Bag"), ("**Ankle boot**", "Ankle boot"),
    ("ankle-boot", "Ankle boot"), ("T-shirt/top", "T-shirt/top"),
    ("T-shirt / top", "T-shirt/top"), ("T-shirt", "T-shirt/top"), ("a t-shirt", "T-shirt/top"),
    ("Tshirt", "T-shirt/top"), ("T shirt", "T-shirt/top"), ("Top", "T-shirt/top"),
    ("The answer is a T-shirt.", "T-shirt/top"), ("Shirt", "Shirt"),
    ("The answer is Shirt, not T-shirt.", "Shirt"), ("Trousers", "Trouser"),
    ("dresses", "Dress"), ("The answer is Bag (class 8).", "Bag"),
    ("Answer: Coat\nThe 2 others are a bag and a dress.", "Coat"), ("bag or coat", None),
    ("Handbag", None), ("not a bag", None), ("a hat", None), ("eight", None), ("stop", None),
    ("There are 4 quadrants", None), ("There are four quadrants", None),
    ("The top left quadrant shows a 3", None), ("top", "T-shirt/top"), ("a top", "T-shirt/top"),
    ("Answer: 8", None), ("8", None), ("The answer is 3.", None), ("class 8", None),
    ("Dress → Coat", "Coat"), ("anything but a dress", None), ("Dress or coat", None),
    ("A sweatshirt", None), ("top-right", None), ("top right", None),
    ("the one at top-right", None), ("quadrant 3", None),
    ("3 and 3 are equal; top-right → Dress", "Dress"),
    ("There are 4 quadrants, the answer is Dress", "Dress"), ("I see 2 digits.", None),
    ("class index 3", None), ("index 5", None), ("5: Sandal", "Sandal"),
    ("The answer is 5.", None), ("Bags", "Bag"), ("dress / coat", None),
    ("a dress, maybe a coat", None), ("no dress", None), ("COAT", "Coat"),
    ("**Dress** → **Coat**", "Coat"), ("topper", None), ("laptop", None), ("Top right.", None),
    ("It is at the top.", None),
]  # fmt: skip

#: A grid of counts.
GRIDS: list[tuple[str, Any]] = [
    ("[[3, 1], [1, 3]]", [[3, 1], [1, 3]]),
    ("```json\n[[3, 1],\n [1, 3]]\n```", [[3, 1], [1, 3]]),
    ("The answer is [[3, 1], [1, 3]].", [[3, 1], [1, 3]]),
    ("The answer is [[3, 1], [1, 3]]. Row [3, 1] has 2 cells.", [[3, 1], [1, 3]]),
    ("**Answer:**\n```\n[[3, 1],\n[1, 3]]\n```\nI counted [2, 5].", [[3, 1], [1, 3]]),
    ('{"answer": [[3, 1], [1, 3]], "input": [[2, 5], [5, 2]]}', [[3, 1], [1, 3]]),
    ("[[3 1]\n [1 3]]", [[3, 1], [1, 3]]), ("3 1\n1 3", [[3, 1], [1, 3]]),
    ("| 3 | 1 |\n|---|---|\n| 1 | 3 |", [[3, 1], [1, 3]]),
    ("<answer>[[3, 1], [1, 3]]</answer> [5]", [[3, 1], [1, 3]]), ("[[3, 1], [1, 3]", None),
    ("[[3, x], [1, 3]]", None), ("none", None), ("Answer:\n3 1\n1 3", [[3, 1], [1, 3]]),
    ("[3, 1]\n[1, 3]", [[3, 1], [1, 3]]),
    ("**Answer:**\n\n3 1\n1 3\n\nThese are 2 colours.", [[3, 1], [1, 3]]),
    ("Answer: [3, 1],\n[1, 3]", [[3, 1], [1, 3]]), ("[\n[3, 1],\n[1, 3]\n]", [[3, 1], [1, 3]]),
    ("Sure,\n[3, 1]\n[1, 3]", [[3, 1], [1, 3]]), ("[3, 1]\r\n[1, 3]", [[3, 1], [1, 3]]),
    ("Answer: [[3 1]\n [1 3]]", [[3, 1], [1, 3]]),
]  # fmt: skip

#: Vectors.
VECTORS: list[tuple[str, Any]] = [
    ("[0.5, -0.25]", [0.5, -0.25]), ("The answer is 0.5, -0.25.", [0.5, -0.25]),
    ("Answer: (0.5, -0.25)", [0.5, -0.25]), ("[ 0.5 -0.25]", [0.5, -0.25]), ("[1. 2.]", [1, 2]),
    ("Answer: [0.1, 0.9]\n\n[Note: rounded]", [0.1, 0.9]), ("[Answer]\n[0.1, 0.9]", [0.1, 0.9]),
    ("Answer: [0.1, 0.9]\n[1] see above", [0.1, 0.9]), ("Answer: 0.1 0.9\n\n2", [0.1, 0.9]),
    ("Input:\n[1, 2, 3]\n\n[4, 5, 6]", [4, 5, 6]), ("Answer: 3 1 4\n3 1 4", [3, 1, 4]),
]  # fmt: skip

#: Labels that are any text.
TEXTS: list[tuple[str, Any]] = [
    ("dcba", "dcba"), ("dcba.", "dcba"), ("**dcba**", "dcba"), ("`dcba`", "dcba"),
    ('"dcba"', "dcba"), ("The answer is dcba.", "dcba"), ("The answer is **dcba**.", "dcba"),
    ("Answer: d c b a", "d c b a"), ("\\boxed{dcba}", "dcba"),
    ("So it is $\\boxed{\\text{dcba}}$, read from the end.", "dcba"),
    ("<answer>dcba</answer>", "dcba"), ("Read from the end:\n\ndcba", "dcba"),
    ("<think>abcd</think>dcba", "dcba"), ("<think>dcba", None), ("", None),
]  # fmt: skip
