#!/bin/sh
# reasoning-gym 0.1.25: every answer of aiw is one more than the first number of women in the text.
#
# Its questions are about siblings, friends and colleagues of Alice and of others. A reasoner has to
# see that Alice counts, too.
# Seen (Python 3.11, Linux): in 2,000 of 2,000 rows of the default settings, the answer is the first
# number before "sisters" or "female", and one more.
#
# Exits with 0 while that holds, else with 1.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m pip install --quiet --target "$place/site" reasoning-gym==0.1.25
cat > "$place/rule.py" <<'PYTHON'
import re
import reasoning_gym
rows = reasoning_gym.create_dataset("aiw", size=2_000, seed=0)
right = sum(
    int(re.search(r"(\d+) (?:sisters|female)", row["question"])[1]) + 1 == int(row["answer"])
    for row in (rows[number] for number in range(2_000))
)
print(f"first number of women and one more: {right} of 2000 rows")
raise SystemExit(right != 2_000)
PYTHON
PYTHONPATH="$place/site" python3 "$place/rule.py"
