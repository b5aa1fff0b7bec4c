"""Fetch source images: `python -m synthbench.tasks.images mnist fashion cifar [--to DIR]`."""

import sys

from synthbench.tasks.images.load import main

if __name__ == "__main__":
    sys.exit(main())
