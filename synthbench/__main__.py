"""The program `synthbench`, also as `python -m synthbench`: from its first import interruptible."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its status; nothing is loaded before Control-C is."""
    try:
        from synthbench.engine.signals import interruptible

        with interruptible():
            from synthbench.cli.main import main as run

            run()
    except KeyboardInterrupt:  # while modules were loaded; afterwards `run` itself takes it
        print("Interrupted.", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
