#!/bin/sh
# reasoning-gym 0.1.25: two datasets whose seeds are far apart can have mostly the same rows.
#
# Row n of seed s is drawn with seed s + n, so seeds 0 and 1,000,000 share no draw of 500 rows. At
# the default settings some tasks have few questions, so test rows are train rows anyway.
# Seen (Python 3.11, Linux): of 500 rows of seed 1,000,000 so many are rows of seed 0, which has 500
# rows: tower_of_hanoi 496, string_synthesis 447, string_splitting 447, coin_flip 433.
#
# Exits with 0 while that holds, else with 1.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m pip install --quiet --target "$place/site" reasoning-gym==0.1.25
cat > "$place/shared.py" <<'PYTHON'
import reasoning_gym
seen = {"tower_of_hanoi": 496, "string_synthesis": 447, "string_splitting": 447, "coin_flip": 433}
def questions(name, seed):
    rows = reasoning_gym.create_dataset(name, size=500, seed=seed)
    return [rows[number]["question"] for number in range(500)]
shared = {}
for name in seen:
    train = set(questions(name, 0))
    shared[name] = sum(question in train for question in questions(name, 1_000_000))
    print(f"{name}: {shared[name]} of 500 rows, from {len(train)} different questions")
raise SystemExit(shared != seen)
PYTHON
PYTHONPATH="$place/site" python3 "$place/shared.py"
