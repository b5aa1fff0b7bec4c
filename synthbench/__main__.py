"""`python -m synthbench` is the command `synthbench`."""

from synthbench.cli.main import main

if __name__ == "__main__":
    main()
