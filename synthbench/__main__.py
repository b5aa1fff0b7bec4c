"""The program `synthbench`, also as `python -m synthbench`: from its first import interruptible."""

from __future__ import annotations

import os


def main() -> None:
    """Run the command line and exit with its status. Nothing is loaded before Control-C is."""
    try:
        from synthbench.engine.signals import interruptible

        with interruptible():
            from synthbench.cli.main import main as run

            run()
    except KeyboardInterrupt:  # while modules were loaded. Afterwards `run` itself takes it
        os.write(2, b"Interrupted.\n")
        os._exit(130)  # `sys.exit` ends by the signal if the exception passed through an import


if __name__ == "__main__":
    main()
