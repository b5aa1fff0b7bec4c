#!/bin/sh
# reasoning-gym 0.1.25: the seed of Python's hash decides rows of `isomorphic_strings`,
# `ransom_note` and `polynomial_multiplication`, though the dataset has the same seed.
#
# Python draws that seed anew for each process unless PYTHONHASHSEED is set. The first two tasks
# choose from list(a set of letters), whose order it decides.
# Seen (Python 3.11, Linux): with PYTHONHASHSEED=0 two processes give the same 50 rows of each task;
# with PYTHONHASHSEED=1 each gives others. `leg_counting` gives the same rows under both.
#
# Exits with 0 while that holds, else with 1.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/v"
"$place/v/bin/pip" install --quiet reasoning-gym==0.1.25
cat > "$place/rows.py" <<'PYTHON'
import hashlib
import reasoning_gym
for name in ("isomorphic_strings", "ransom_note", "polynomial_multiplication", "leg_counting"):
    rows = reasoning_gym.create_dataset(name, seed=0, size=50)
    texts = repr([(row["question"], row["answer"]) for row in rows])
    print(name, hashlib.sha256(texts.encode()).hexdigest()[:12])
PYTHON
one=$(PYTHONHASHSEED=0 "$place/v/bin/python" -W ignore "$place/rows.py")
again=$(PYTHONHASHSEED=0 "$place/v/bin/python" -W ignore "$place/rows.py")
other=$(PYTHONHASHSEED=1 "$place/v/bin/python" -W ignore "$place/rows.py")
echo "hash seed 0: $one"
echo "hash seed 1: $other"
test "$one" = "$again" || exit 1
for name in isomorphic_strings ransom_note polynomial_multiplication; do
    test "$(echo "$one" | grep "$name")" != "$(echo "$other" | grep "$name")" || exit 1
done
test "$(echo "$one" | grep leg_counting)" = "$(echo "$other" | grep leg_counting)"
