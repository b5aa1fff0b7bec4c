r"""Answers as language models write them, and what each must be read as.

Each entry is a text and the answer that `find_answer` must give, None for no answer. The first
group is of a task whose labels are the digits, the others of what their names say.
"""

from __future__ import annotations

from typing import Any

DIGITS: list[tuple[str, Any]] = [
    # The answer and nothing else.
    ("7", "7"), ("7.", "7"), (" 7 \n", "7"), ("7.0", "7"), ("(7)", "7"), ("[7]", "7"),
    ("**7**", "7"), ("***7***", "7"), ("__7__", "7"), ("`7`", "7"), ("$7$", "7"), (r"\(7\)", "7"),
    (r"\[ 7 \]", "7"), ("$$7$$", "7"), (r"$\mathbf{7}$", "7"), ("```\n7\n```", "7"),
    ("```text\n7\n```", "7"), ("> 7", "7"), ("= 7", "7"), ("7!", "7"), ('"7"', "7"), ("“7”", "7"),
    # A sentence.
    ("The answer is 7.", "7"), ("The answer is: 7", "7"), ("The answer is **7**.", "7"),
    ("**The answer is 7.**", "7"), ("The final answer is $7$.", "7"),
    ("The correct answer is therefore 7.", "7"), ("Answer: 7", "7"), ("**Answer:** 7", "7"),
    ("**Answer**: `7`", "7"), ("## Answer\n\n7", "7"), ("**Final Answer**\n\n7", "7"),
    ("Final Answer: The final answer is $7$. I hope it is correct.", "7"), ("ANSWER: 7", "7"),
    ("answer=7", "7"), ("My answer: 7", "7"),
    ("The answer to [MED 4 8 5 [MAX 8 4 9 ] ] is 7.", "7"),
    ("The answer to this expression is 7, not 9.", "7"), ("The answer should be 7", "7"),
    ("The answer comes out to 7.", "7"), ("The answer equals 7.", "7"),
    ("The final result is 7.", "7"), ("Final output: 7", "7"), ("It evaluates to 7.", "7"),
    ("So the whole list is 7.", "7"), ("The result is 7.", "7"), ("Result: **7**", "7"),
    ("The value of the expression is 7", "7"), ("Therefore, the expression gives 7.", "7"),
    ("Output: 7", "7"), ("That makes 7.", "7"), ("We are left with 7.", "7"), ("Thus: 7", "7"),
    # Marked as other programs want it.
    (r"\boxed{7}", "7"), (r"$\boxed{7}$", "7"), (r"Therefore the answer is $\boxed{7}$.", "7"),
    (r"\boxed{\text{7}}", "7"), (r"\boxed{\mathbf{7}}", "7"), (r"\boxed{ 7 }", "7"),
    (r"\fbox{7}", "7"), (r"First \boxed{3}, no: \boxed{7}", "7"),
    (r"$$\boxed{7}$$" + "\n\nHere 9 was the largest of 8, 4 and 9.", "7"), ("#### 7", "7"),
    ("4 + 3 = 7\n#### 7", "7"), ("<answer>7</answer>", "7"), ("<answer> 7 </answer>", "7"),
    ("<final_answer>7</final_answer>", "7"), ("<think>Is it 3? Or 9?</think>\n\n7", "7"),
    ("<think>The answer is 9.</think>The answer is 7.", "7"),
    ("<reasoning>3, 4</reasoning><answer>7</answer>", "7"), ('{"answer": 7}', "7"),
    ('{"answer": "7"}', "7"), ('```json\n{"answer": 7}\n```', "7"),
    ('{"reasoning": "9 is the largest of 3", "answer": 7}', "7"), ('{"result": 7}', "7"),
    ("{'answer': 7, 'confidence': 9}", "7"),
    # A marked answer, and numbers behind it in passing.
    ("**7**, tell me if you want 3 more", "7"),
    ("**7**\n\nLet me know if you want me to try 3 more!", "7"),
    ("**7**\n\nExplanation: the largest of 8, 4 and 9 is 9.", "7"),
    ("**7** (it took 4 steps)", "7"), ("**7** because 9 is larger than 8", "7"),
    ("**7** is the answer, not **3**.", "7"), ("7 (in 3 steps)", "7"),
    ("It gives 7 (the median of 4 and 9).", "7"), ("Seven, tell me if you want three more", "7"),
    ("7. Hope this helps! Let me know if you have 3 others.", "7"),
    ("The answer is 7. Let me know if you'd like 3 more examples.", "7"),
    ("Answer:\n7\n\nExplanation: 3 + 4.", "7"), ("### Final Answer: 7", "7"),
    ("The answer is:\n\n**7**\n\nIn 4 steps.", "7"), ("✅ 7", "7"), ("=> 7", "7"), ("A: 7", "7"),
    ("So, 7 it is.", "7"), ("Answer[7]", "7"), ("7<|im_end|>", "7"),
    ("The answer is 7. It took 4 steps.", "7"), ("The answer is 7 (after 4 steps).", "7"),
    ("The answer is 7, since the median of 4, 5 and 9 is 5.", "7"),
    ("The answer is **7**. Would you like 3 more?", "7"),
    (r"\boxed{7}. There were 5 operators and 12 digits.", "7"),
    ("Answer: 7\n\nConfidence: 9", "7"), ("Answer: 7\nSteps: 1. MAX is 9. 2. MED is 5.", "7"),
    ("7\n\nExplanation: MAX of 8, 4 and 9 is 9.", "7"),
    ("7\n\n1. Take the largest of 8, 4, 9.\n2. Take the median of 5.", "7"),
    ("<answer>7</answer>\nI used 3 rules.", "7"), ("#### 7\nDone in 3 steps", "7"),
    ("It is 7. Let me know if you want 3 more.", "7"),
    ("So we get 7. Feel free to send 2 others.", "7"),
    ("The result is 7. Here 9 was a distraction.", "7"), ("<b>7</b> of the 9 rules apply", "7"),
    (r"\textbf{7}, after 3 steps", "7"),
    # Work on the way.
    ("[MAX 8 4 9] = 9, so [MED 4 8 5 9] = 6.5 -> 6", "6"),
    ("First the inner list: 9. Then the median of 4, 8, 5, 9 is 7", "7"),
    ("Step 1: 9\nStep 2: 5\nAnswer: 7", "7"), ("1. MAX is **9**\n2. MED is **7**", "7"),
    ("**Step 1**: MAX is 9.\n**Step 2**: MED is 7.", "7"),
    ("**1.** MAX is 9.\n**2.** MED is 7.", "7"),
    ("The inner part is **9**. The result is 7.", "7"),
    ("The result of the first part is **9**.\n\n7", "7"),
    ("4, 8, 5 and 9 remain; the answer is 7", "7"), ("The answer is 3 + 4 = 7", "7"),
    ("The answer is 9. Wait, I forgot one: the answer is 7.", "7"), ("9? No. 7.", "7"),
    ("Let me see: 3, then 4, then 7", "7"), ("3\n4\n7", "7"),
    ("The digits are 4, 8 and 5.\nTheir sum modulo ten is\n7", "7"),
    # Numbers written out.
    ("seven", "7"), ("Seven.", "7"), ("**Seven**", "7"), ("The answer is seven.", "7"),
    ("The answer is zero", "0"), ("Answer: one", "1"), ("The answer is one.", "1"),
    ("It is seven.", "7"), ("We get nine.", "9"), ("seven (7)", "7"), ("7 (seven)", "7"),
    ("The answer is seven (7).", "7"), (r"\boxed{\text{seven}}", "7"),
    ("**Seven** out of 9 would agree", "7"), ("After two steps: 7", "7"),
    ("7, found in three steps", "7"), ("No one knows.", None),
    ("The answer is the last one.", None), ("The answer is one of them.", None),
    ("There are three lists in it.", None), ("I need two more minutes", None),
    ("The answer is seventeen", None), ("The answer is twenty-seven", None),
    ("The answer is seven hundred", None), ("The answer is thirteen, by step 3", None),
    ("The answer is ten; it took 3 steps", "10"), ("Twelve.", "12"),
    ("The answer is seven or eight", None), ("seven point five", None), ("seven and a half", None),
    ("seven plus two", None), ("The seventh", None), ("not seven", None),
    # What is said behind a mark or an answer is not the answer.
    ("The answer was 7, out of 9.", "7"), ("The answer equals 7, out of 9.", "7"),
    ("7\n\n#### How the median of 9 is found", "7"), ("It is 7. Would you like 3 more?", "7"),
    # No answer, or more than one, or another.
    ("3 × 4", None), ("3 ÷ 4", None), ("It is neither **8** nor **7**", None),
    ("", None), ("I cannot tell.", None), ("?", None), ("7?", None), ("7 or 8", None),
    ("7 or maybe 8", None), ("The answer could be 7 or maybe 8.", None),
    ("The answer is neither 7 nor 8.", None), ("**7** or **8**", None), ("either 7 or 8", None),
    ("7, 8", None), ("7 and 8", None), ("7/8", None), ("The answer is 7 or 8.", None),
    (r"\boxed{7 \text{ or } 8}", None), ("The answer is between 7 and 8", None),
    ("The answer is not 7.", None), ("It isn't 7", None), ("It's not **7**.", None),
    ("7 is wrong", None), ("-7", None), ("7.5", None), ("**7.5**", None), ("7%", None),
    ("7th", None), ("x7", None), ("3 + 4", None), ("The answer is 3 + 4", None),
    ("**3 + 4**", None), ("<think>7", None), ("<think>The answer is 7.", None), ("18", "18"),
    ("The answer is 18.", "18"), ("**18**", "18"), ("1,018", "1018"), ("077", "077"),
    # Written by SmolLM2-135M-Instruct, some cut off at the end.
    ("What a delightful challenge. Indeed, c is indeed c = 3.", "3"),
    ("The only option for d is also 3.", "3"),
    ("Your answer will be a complete logical solution. \n\nAnswer: 5\n\nI'm happy to assist.", "5"),
    ("(1 + 9) * (1 + 9) = 1 * 10 = 10\n(The answer is 10)", "10"), ("Solved: 1", "1"),
    ("Yes, the answer is 4.\n\nYou have added a \"2 to the last digit, which is 11, so a", "4"),
    ("The answer is a digit, the value of the whole list is 3.", "3"),
    ("The answer is a digit, the value of the list is 2, the median is 2.", "2"),
    ("The answer is a digit, the value of the list is 9, and the median is 5.", None),
    ("The answer is a digit, the value of the list is 3, which is the median of the two.", "3"),
    ("The answer of 8 is a digit; \nThe value of the whole list. \nThe answer in the form", "8"),
    ("The answer is to be '11'.\n\nThe correct answer is 21", "21"),
    ("I'll provide a correct answer in the form of 'Answer: The answer is: 17.", "17"),
    ("The answer is a product of 7 and 11, as 7 * 9 = 63, so the answer will be 63.", "63"),
    ("The answer is indeed 2 times 8, which is 16.", "16"), ("The answer is 8*1*6.", None),
    ("The answer is a = 50 and b = 2\n\nIt's not possible to have a 0", None),
    ("c = 3 or d = 9", None), ("Answer: 3 9", None), ("Answer: (6*2)*2", None),
    ("The answer is 9 … maybe 7", None), ("The answer is a number from 0 to 9.", None),
    ("The answer to the problem is a fraction with a denominator of 10.", None),
    ("The answer lies exactly one unit (the number '16' is in the range.)", None),
    ("The correct answer to this question would be a string with a length of 2", None),
    ("The answer is a number that can be reduced to itself by modulo 10.", None),
    ("The answer consists of both 5 digits and an", None), ("It will only have 1 value.", None),
    ("Modulo 10 is indeed a number from 0 to 9, which is why it's called that.", None),
    ("One of the given numbers must be divisible by 4, so the answer is d.", None),
    ("The expression modulo 10 is a classic example of how numbers are treated.", None),
    ("The answer is: [185.25.85]", None), ("The answer is c.", None), ("4 5", None),
]  # fmt: skip

#: Labels `000` to `111`.
SYMBOLS: list[tuple[str, Any]] = [
    ("101", "101"), ("**011**", "011"), ("The answer is 000.", "000"), (r"\boxed{010}", "010"),
    ("101 a -> 011, 011 b -> 110\n\n110", "110"),
    ("a maps 101 to 011, and b maps 011 to **110**, in 2 steps", "110"),
    ("Answer: `001`. It took 2 look-ups.", "001"), ("The final symbol is 111.", "111"),
    ("The resulting symbol: 100 (after 4 functions)", "100"), ("101 or 011", None),
    ("0101", "0101"), ("1 0 1", "101"),
    # Written by SmolLM2-135M-Instruct, with symbols of two digits: often the question again.
    ("The answer is: 011 c b b f d", None), ("101 a d b c\n\nThe answer is 101 a d b c.", None),
    ("The answer is 000 to 011.", None), ("The answer is: 000 to 011", None),
    ("110 e d f d\n", None),
    ("The answer is f c e.", None), ("100 a b c\n\nThe answer is a letter e", None),
    ("The answer is 110.", "110"), ("The answer is: 011\n\nThe function is 011.", "011"),
    ("The answer to this text is '100'.", "100"), ("Answer: 100 fb (function fb)", "100"),
    ("The function is `b` which is applied to the input `110`.", "110"),
    ("one", None), ("The answer is zero", None),
]  # fmt: skip

#: Labels of Fashion-MNIST.
CLOTHES: list[tuple[str, Any]] = [
    ("Bag", "Bag"), ("bag.", "Bag"), ("**Ankle boot**", "Ankle boot"),
    ("ankle-boot", "Ankle boot"), ("It shows ankle boots.", "Ankle boot"),
    ("T-shirt/top", "T-shirt/top"), ("T-shirt / top", "T-shirt/top"), ("T-shirt", "T-shirt/top"),
    ("a t-shirt", "T-shirt/top"), ("Tshirt", "T-shirt/top"), ("T shirt", "T-shirt/top"),
    ("Top", "T-shirt/top"), ("a boot", "Ankle boot"), ("T-shirt or top", "T-shirt/top"),
    ("The answer is a T-shirt.", "T-shirt/top"), ("Shirt", "Shirt"),
    ("The answer is Shirt, not T-shirt.", "Shirt"), ("Trousers", "Trouser"),
    ("The image shows a pair of sneakers.", "Sneaker"), ("dresses", "Dress"),
    ("The answer is Bag (class 8).", "Bag"), ("**Coat**, with 3 quadrants left", "Coat"),
    ("Answer: Coat\nThe 2 others are a bag and a dress.", "Coat"),
    ("A shirt? A coat? I say: Pullover", "Pullover"), ('{"label": "Sandal"}', "Sandal"),
    ("bag or coat", None), ("Handbag", None), ("not a bag", None), ("a hat", None),
    ("eight", None), ("stop", None),
]  # fmt: skip

#: A grid of counts.
GRIDS: list[tuple[str, Any]] = [
    ("[[3, 1], [1, 3]]", [[3, 1], [1, 3]]), ("```json\n[[3, 1],\n [1, 3]]\n```", [[3, 1], [1, 3]]),
    ("The answer is [[3, 1], [1, 3]].", [[3, 1], [1, 3]]),
    ("The answer is [[3, 1], [1, 3]]. Row [3, 1] has 2 cells.", [[3, 1], [1, 3]]),
    ("**Answer:**\n```\n[[3, 1],\n[1, 3]]\n```\nI counted [2, 5].", [[3, 1], [1, 3]]),
    ('{"answer": [[3, 1], [1, 3]], "input": [[2, 5], [5, 2]]}', [[3, 1], [1, 3]]),
    ("For [[2, 5], [5, 2]] I count [[3, 1], [1, 3]].", [[3, 1], [1, 3]]),
    ("[[3 1]\n [1 3]]", [[3, 1], [1, 3]]), ("3 1\n1 3", [[3, 1], [1, 3]]),
    ("Counts:\n\n3 1\n1 3\n\nLet me know if you want 3 more!", [[3, 1], [1, 3]]),
    ("| 3 | 1 |\n|---|---|\n| 1 | 3 |", [[3, 1], [1, 3]]),
    ("<answer>[[3, 1], [1, 3]]</answer> [5]", [[3, 1], [1, 3]]), ("[[3, 1], [1, 3]", None),
    ("[[3, x], [1, 3]]", None), ("none", None),
    ("Answer:\n3 1\n1 3", [[3, 1], [1, 3]]), ("[3, 1]\n[1, 3]", [[3, 1], [1, 3]]),
    ("**Answer:**\n\n3 1\n1 3\n\nThese are 2 colours.", [[3, 1], [1, 3]]),
    ("Answer: [3, 1],\n[1, 3]", [[3, 1], [1, 3]]),
    ("[\n[3, 1],\n[1, 3]\n]", [[3, 1], [1, 3]]), ("Sure,\n[3, 1]\n[1, 3]", [[3, 1], [1, 3]]),
    ("[3, 1]\r\n[1, 3]", [[3, 1], [1, 3]]), ("Answer: [[3 1]\n [1 3]]", [[3, 1], [1, 3]]),
]  # fmt: skip

#: Vectors.
VECTORS: list[tuple[str, Any]] = [
    ("[0.5, -0.25]", [0.5, -0.25]),
    ("The answer is 0.5, -0.25.", [0.5, -0.25]),
    ("Answer: (0.5, -0.25)", [0.5, -0.25]),
    ("[ 0.5 -0.25]", [0.5, -0.25]),
    ("[1. 2.]", [1, 2]),
    # What stands below a vector is no second row.
    ("Answer: [0.1, 0.9]\n\n[Note: rounded]", [0.1, 0.9]),
    ("[Answer]\n[0.1, 0.9]", [0.1, 0.9]),
    ("Answer: [0.1, 0.9]\n[1] see above", [0.1, 0.9]),
    ("Answer: 0.1 0.9\n\n2", [0.1, 0.9]),
    ("Input:\n[1, 2, 3]\n\n[4, 5, 6]", [4, 5, 6]),
    ("Answer: 3 1 4\n3 1 4", [3, 1, 4]),
]

#: Labels that are any text.
TEXTS: list[tuple[str, Any]] = [
    ("dcba", "dcba"), ("dcba.", "dcba"), ("**dcba**", "dcba"), ("`dcba`", "dcba"),
    ('"dcba"', "dcba"), ("The answer is dcba.", "dcba"), ("The answer is **dcba**.", "dcba"),
    ("Answer: d c b a", "d c b a"), (r"\boxed{dcba}", "dcba"),
    (r"So it is $\boxed{\text{dcba}}$, read from the end.", "dcba"),
    ("<answer>dcba</answer>", "dcba"), ("Read from the end:\n\ndcba", "dcba"),
    ("So it is **dcba**, as asked.", "dcba"), ("<think>abcd</think>dcba", "dcba"),
    ("<think>dcba", None), ("", None),
]  # fmt: skip
