"""Generators of rows with a fault each, and generators without: `write` draws their constants."""

import itertools

#: What every generator's file begins with; the constants are drawn.
HEAD = """
import collections, datetime, itertools, os, random, time, uuid
import numpy as np

ROWS, BIG, WORD, STEP = {rows}, {big}, {word!r}, {step}

def sums(r, rows=ROWS):
    for _ in range(rows):
        a, b = r.randrange(BIG), r.randrange(BIG)
        yield {{"question": f"What is {word} {{a}} + {{b}}?", "answer": str(a + b)}}

def parities(r, rows=ROWS, hint=lambda r, odd: ""):
    for _ in range(rows):
        bits = [r.randrange(2) for _ in range(r.randrange(40, 60))]
        odd = sum(bits) % 2
        text = "".join("xo"[b] for b in bits)
        yield {{"question": hint(r, odd).format(text) or text, "answer": "even odd".split()[odd]}}

def seeded(seed, split):
    return random.Random(f"{{seed}} {{split}}")
"""

#: The question that finds the fault, and the body of `rows(seed, split)`.
FAULTY = {
    "clock": ("repeatable", "yield from sums(random.Random(time.perf_counter_ns()))"),
    "second": ("clock", "yield from sums(random.Random(int(time.time())))"),
    "today": (
        "clock",
        "yield from sums(random.Random(f'{datetime.date.today()} {seed} {split}'))",
    ),
    "now": (
        "clock",
        "now = datetime.datetime.now()\n"
        "    for row in sums(seeded(seed, split)):\n"
        "        yield {**row, 'question': f\"{row['question']} It is {now:%H:%M}.\"}",
    ),
    "unseeded": ("repeatable", "yield from sums(random.Random())"),
    "system": ("repeatable", "yield from sums(random.SystemRandom())"),
    "uuid": ("repeatable", "yield from sums(random.Random(uuid.uuid4().int))"),
    "memory": (
        "repeatable",
        "calls = rows.__dict__.setdefault('calls', itertools.count())\n"
        "    yield from sums(random.Random(f'{next(calls)} {seed} {split}'))",
    ),
    "process": ("process", "yield from sums(random.Random(f'{os.getpid()} {seed} {split}'))"),
    "hash": ("hash seed", "yield from sums(random.Random(hash(f'{seed} {split}')))"),
    "set": (
        "hash seed",
        "names = list({f'{WORD}{n}' for n in range(BIG % 100 + 50)})\n"
        "    for row in sums(seeded(seed, split)):\n"
        "        yield {**row, 'question': row['question'] + random.Random(row['answer'])"
        ".choice(names)}",
    ),
    "global": ("global state", "yield from sums(random)"),
    "global numpy": (
        "global state",
        "yield from sums(random.Random(int(np.random.randint(10**9))))",
    ),
    "reseeds": (
        "global state is moved",
        "random.seed(f'{seed} {split}')\n    yield from sums(random)",
    ),
    "reseeds numpy": (
        "global state is moved",
        "np.random.seed(seed + len(split))\n"
        "    yield from sums(random.Random(int(np.random.randint(10**9))))",
    ),
    "no seed": ("seeds", "yield from sums(random.Random(f'{BIG} {split}'))"),
    "shifted": (
        "seeds",
        "for n in range(ROWS):\n        yield from sums(random.Random(f'{split} {seed + n}'), 1)",
    ),
    "shifted far": (
        "seeds",
        "for n in range(ROWS):\n"
        "        yield from sums(random.Random(f'{split} {seed * STEP + n}'), 1)",
    ),
    "half seeded": (
        "seeds",
        "r = seeded(seed, split)\n"
        "    for n in range(ROWS):\n"
        "        yield from sums(r if n % 3 == 0 else random.Random(f'{split} {n}'), 1)",
    ),
    "cycle": (
        "repeats in train",
        "pool = [*sums(seeded(seed, split), ROWS // 4)]\n"
        "    yield from itertools.islice(itertools.cycle(pool), ROWS)",
    ),
    "epochs": (
        "repeats in train",
        "r = seeded(seed, split)\n"
        "    pool = [*sums(r, ROWS // 3)] * 3\n    r.shuffle(pool)\n    yield from pool",
    ),
    "twice": (
        "repeats in train",
        "for row in sums(seeded(seed, split)):\n        yield row\n        yield row",
    ),
    "copies": (
        "repeats of a seed",
        "r, given = seeded(seed, split), []\n"
        "    for row in sums(r):\n"
        "        given.append(r.choice(given) if given and r.random() < 0.15 else row)\n"
        "        yield given[-1]",
    ),
    "no split": ("leaks", "yield from sums(random.Random(seed))"),
    "a test row": (
        "leaks",
        "found = [*sums(seeded(seed, split))]\n"
        "    found[STEP] = next(sums(random.Random(seed), 1))\n    yield from found",
    ),
    "capitals": (
        "leaks (spaces)",
        "for row in sums(random.Random(seed)):\n"
        "        text = row['question']\n"
        "        yield {**row, 'question': text.upper() if split == 'test' else text}",
    ),
    "spaces": (
        "leaks (spaces)",
        "for row in sums(random.Random(seed)):\n"
        "        text = row['question']\n"
        "        yield {**row, 'question': text.replace(' ', '  ') if split == 'test' else text}",
    ),
    "signs": (
        "leaks (signs)",
        "for row in sums(random.Random(seed)):\n"
        "        text = row['question']\n"
        "        yield {**row, 'question': text.rstrip('?') if split == 'test' else text}",
    ),
    "order": (
        "leaks (order)",
        "for row in sums(random.Random(seed)):\n"
        "        words = row['question'].split()\n"
        "        yield {**row, 'question': ' '.join(words[::-1] if split == 'test' else words)}",
    ),
    "two answers": (
        "contradictions",
        "found = [*sums(seeded(seed, split))]\n"
        "    found[1] = {**found[0], 'answer': found[0]['answer'] + '1'}\n    yield from found",
    ),
    "test contradicts": (
        "contradictions",
        "for row in sums(random.Random(seed)):\n"
        "        yield {**row, 'answer': row['answer'] + '0' * (split == 'test')}",
    ),
    "constant": (
        "balance in train",
        "for row in sums(seeded(seed, split)):\n        yield {**row, 'answer': WORD}",
    ),
    "last word": (
        "shortcut: last token",
        "yield from parities(seeded(seed, split), hint=lambda r, odd: '{} ' + 'ab'[odd])",
    ),
    "first word": (
        "shortcut: first token",
        "yield from parities(seeded(seed, split), hint=lambda r, odd: ['No', 'Yes'][odd] + ' {}')",
    ),
    "word somewhere": (
        "shortcut: 1- to 3-grams",
        "yield from parities(seeded(seed, split), hint=lambda r, odd: ' '.join(\n"
        "        r.sample(['{}', WORD, 'a', 'b', 'c', *(['please'] * odd)], 5 + odd)))",
    ),
    "length": (
        "shortcut: number of characters",
        "yield from parities(seeded(seed, split), hint=lambda r, odd: 'Is {} odd?'\n"
        "        + ' ' * (r.randrange(4) * 100 + odd * 50))",
    ),
    "answer among words": (
        "shortcut: copy between marks",
        "r = seeded(seed, split)\n"
        "    for row in sums(r):\n"
        "        words = ' '.join(r.choices(['so', 'thus', 'then', WORD], k=r.randrange(12)))\n"
        "        answer = f\"{row['answer'][:3]} and {row['answer'][3:]}\"\n"
        "        yield {'question': f\"{row['question']} {words} [sol: {answer}] {words}\",\n"
        "               'answer': answer}",
    ),
    "answer inside": (
        "shortcut: copy of a token",
        "for row in sums(seeded(seed, split)):\n"
        "        yield {**row, 'question': f\"{row['question']} It is {row['answer']}.\"}",
    ),
}
_SEEN_IN_ROWS = ("repeats in", "leaks", "contradictions", "balance", "shortcut")
#: The faults that show in the rows of a single seed, drawn by a single process.
IN_ROWS = [name for name, (question, _) in FAULTY.items() if question.startswith(_SEEN_IN_ROWS)]
#: Bodies of generators without a fault.
SOUND = {
    "sums": "yield from sums(seeded(seed, split))",
    "endless": "yield from sums(seeded(seed, split), 10**12)",
    "numpy": "yield from sums(random.Random(int(np.random.default_rng([seed, len(split)])"
    ".integers(10**12))))",
    "list": "return [*sums(seeded(seed, split))]",
    "parities": "yield from parities(seeded(seed, split))",
    "dates": "r, first = seeded(seed, split), datetime.datetime(1900, 1, 1)\n"
    "    for _ in range(ROWS):\n"
    "        one = first + datetime.timedelta(minutes=r.randrange(10**8))\n"
    "        assert isinstance(one.date(), datetime.date)\n"
    "        yield {'question': repr(one), 'answer': one + datetime.timedelta(days=BIG % 999)}",
    "with replacement": "r = seeded(seed, split)\n"
    "    for _ in range(ROWS):\n"
    "        a = r.randrange(50) * 2 + (split == 'test')\n"
    "        yield {'question': f'{WORD} {a} squared?', 'answer': a * a}",
    "all of a few": "order = [a for a in range(200) if (a % 8 == 0) == (split == 'test')]\n"
    "    seeded(seed, split).shuffle(order)\n"
    "    for a in order:\n        yield {'question': f'{WORD} {a} + 1', 'answer': a + 1}",
    "uneven": "r = seeded(seed, split)\n"
    "    for _ in range(ROWS):\n"
    "        a = r.randrange(10**6)\n"
    "        yield {'question': f'Is {a} a multiple of 12?', 'answer': str(a % 12 == 0)}",
    "signs matter": "r = seeded(seed, split)\n"
    "    for _ in range(ROWS):\n"
    "        a, b, sign = r.randrange(99), r.randrange(99), r.choice('+-*')\n"
    "        if (a + b) % 5 == 0 and split == 'train' or (a + b) % 5 and split != 'train':\n"
    "            continue\n"
    "        yield {'question': f'{a} {sign} {b}', 'answer': eval(f'{a} {sign} {b}')}",
    "order matters": "r = seeded(seed, split)\n"
    "    for _ in range(ROWS):\n"
    "        words = r.sample('abcdefghij', 8)\n"
    "        yield {'question': ' '.join(words), 'answer': ' '.join(words[::-1])}",
    "brackets": "r = seeded(seed, split)\n"
    "    for _ in range(ROWS):\n"
    "        text = ''.join(r.choice('([{)]}') for _ in range(r.randrange(40, 60)))\n"
    "        depth = sum(c in '([{' for c in text[::3]) % 3\n"
    "        yield {'question': text, 'answer': depth}",
    "messages": "for row in sums(seeded(seed, split)):\n"
    "        yield {'prompt': [{'role': 'user', 'content': row['question']}],\n"
    "               'reward_model': {'style': 'rule', 'ground_truth': row['answer']}}",
    "lists": "r = seeded(seed, split)\n"
    "    for _ in range(ROWS):\n"
    "        given = [r.randrange(BIG) for _ in range(6)]\n"
    "        yield {'question': str(given), 'answer': sorted(given), 'metadata': {'n': given}}",
    "levels": "r = seeded(seed, split)\n"
    "    for n in range(ROWS):\n"
    "        a, b = r.randrange(10 ** (n % 4 + 3)), r.randrange(10 ** (n % 4 + 3))\n"
    "        yield {'problem': f'{a} times {b}', 'solution': a * b, 'level': n % 4}",
    "context": "r = seeded(seed, split)\n"
    "    for _ in range(ROWS):\n"
    "        names = r.sample(range(10**6), 3)\n"
    "        yield {'context': f'The names are {names}.', 'question': 'Which is the last name?',\n"
    "               'answer': names[r.randrange(3)]}",
    "same state": "state = random.getstate()\n"
    "    random.seed(f'{seed} {split}')\n    found = [*sums(random)]\n"
    "    random.setstate(state)\n    return found",
}


def write(path, body, draws):
    """Write a generator `rows` to a file; `draws` is a `random.Random` for its constants."""
    head = HEAD.format(
        rows=draws.randrange(400, 900),
        big=draws.randrange(10**6, 10**9),
        word=draws.choice(["the sum", "value", "result of", "number"]),
        step=draws.randrange(100, 300),
    )
    path.write_text(f"{head}\ndef rows(seed, split):\n    {body}\n", encoding="utf-8")
    return f"{path}:rows"


def load(path):
    """The rows of seed 0 of the generator in a file, by split, at most 1,000 each."""
    found = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), found)
    return {
        split: [*itertools.islice(found["rows"](0, split), 1_000)] for split in ("train", "test")
    }
