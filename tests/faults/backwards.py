"""The command line in a process whose clock runs backwards: `python -m tests.faults.backwards`.

Of the machine's own clock only root could do it, for everybody; so it is `time.time` that does.
"""

import sys
import time

_SPEED = 1000.0
_started, _true_time = time.time(), time.time

if __name__ == "__main__":
    # Before anything else is imported that may keep a reference of its own.
    time.time = lambda: _started - _SPEED * (_true_time() - _started)
    from synthbench.cli.main import main

    main(sys.argv[1:])
