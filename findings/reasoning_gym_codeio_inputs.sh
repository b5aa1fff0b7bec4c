#!/bin/sh
# reasoning-gym 0.1.25: `codeio` asks for "a feasible input" that gives an output, and pays the input
# that was drawn, alone.
#
# Seen (Python 3.11, Linux): rows 76 and 96 of seed 0 ask for a grid that is "not nice". Their
# questions are the same, and the answers are two such grids. The answer of each row gets 1.0 there
# and 0.01 in the other row.
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
rows = reasoning_gym.create_dataset("codeio", seed=0, size=100)
one, other = rows[76], rows[96]
same = one["question"] == other["question"]
paid = [rows.score_answer(other["answer"], one), rows.score_answer(one["answer"], other)]
own = [rows.score_answer(row["answer"], row) for row in (one, other)]
print("same question:", same, "- same answer:", one["answer"] == other["answer"])
print("own answers:", own, "- answers of the other row:", [round(reward, 3) for reward in paid])
sys.exit(not same or own != [1.0, 1.0] or max(paid) >= 1)
PYTHON
"$place/v/bin/python" -W ignore "$place/rows.py"
