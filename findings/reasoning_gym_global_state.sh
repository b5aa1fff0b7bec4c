#!/bin/sh
# reasoning-gym 0.1.25: rows of `list_functions` depend on the global state of `random`, and
# `pool_matrix` seeds the global state of NumPy for each row.
#
# One generator of `list_functions` calls random.randint where the others use the row's own Random.
# Seen (Python 3.11, Linux): of 500 rows of seed 0, 31 differ after random.seed(1) from those after
# random.seed(0). After a row of `pool_matrix` np.random.random() gives the same number, whatever
# np.random.seed was called with before.
#
# Exits with 0 while that holds, else with 1.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/v"
"$place/v/bin/pip" install --quiet reasoning-gym==0.1.25
cat > "$place/rows.py" <<'PYTHON'
import random
import sys
import numpy as np
import reasoning_gym
def rows(state):
    random.seed(state)
    found = reasoning_gym.create_dataset("list_functions", seed=0, size=500)
    return [(row["question"], row["answer"]) for row in found]
differ = sum(one != other for one, other in zip(rows(0), rows(1)))
print(f"list_functions: {differ} of 500 rows differ; again {sum(map(tuple.__ne__, rows(0), rows(0)))}")
matrices = reasoning_gym.create_dataset("pool_matrix", seed=0, size=1)
drawn = []
for state in (0, 1):
    np.random.seed(state)
    matrices[0]
    drawn.append(np.random.random())
print(f"NumPy after a row of pool_matrix: {drawn}")
sys.exit(not differ or drawn[0] != drawn[1])
PYTHON
"$place/v/bin/python" -W ignore "$place/rows.py"
