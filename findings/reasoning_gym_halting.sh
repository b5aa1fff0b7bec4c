#!/bin/sh
# reasoning-gym 0.1.25: the scorer of `game_of_life_halting` pays every answer that is not empty.
#
# Answers are the texts "True" and "False". The scorer compares bool(answer) with
# bool(entry["answer"]), and both are True for each text but the empty one.
# Seen (Python 3.11, Linux): for each of 20 rows "True", "False" and "banana" get 1.0.
#
# Exits with 0 while that holds, else with 1.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/v"
"$place/v/bin/pip" install --quiet reasoning-gym==0.1.25
cat > "$place/rows.py" <<'PYTHON'
import collections
import sys
import reasoning_gym
rows = reasoning_gym.create_dataset("game_of_life_halting", seed=0, size=20)
paid = collections.Counter()
for row in rows:
    for answer in ("True", "False", "banana"):
        paid[answer] += rows.score_answer(answer, row)
print("right answers:", dict(collections.Counter(row["answer"] for row in rows)))
print("paid of 20:", dict(paid))
sys.exit(set(paid.values()) != {20.0})
PYTHON
"$place/v/bin/python" -W ignore "$place/rows.py"
