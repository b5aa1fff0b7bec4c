#!/bin/sh
# reasoning-gym 0.1.25: two seeds that differ by 1 share all rows but one.
#
# Row n of a task is drawn with the seed s + n, so row n + 1 of seed s is row n of seed s + 1. A
# model that trains on seed 0 and is evaluated on seed 1 has seen the evaluation rows.
# Seen (Python 3.11, Linux): 499 of the 500 rows of seed 1 are rows of seed 0, in each of
# `leg_counting`, `chain_sum` and `spell_backward`. With seeds 0 and 500 no row is shared.
#
# Exits with 0 while that holds, else with 1.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/v"
"$place/v/bin/pip" install --quiet reasoning-gym==0.1.25
cat > "$place/rows.py" <<'PYTHON'
import sys
import reasoning_gym
def questions(name, seed):
    rows = reasoning_gym.create_dataset(name, seed=seed, size=500)
    return [row["question"] for row in rows]
held = True
for name in ("leg_counting", "chain_sum", "spell_backward"):
    zero, one, far = (questions(name, seed) for seed in (0, 1, 500))
    near, apart = sum(row in zero for row in one), zero[1:] == one[:-1]
    print(f"{name}: {near} of 500 rows of seed 1 are rows of seed 0; moved by one: {apart}")
    held = held and near >= 499 and apart
sys.exit(not held)
PYTHON
"$place/v/bin/python" -W ignore "$place/rows.py"
