"""The command line: a command parses its options, calls a function of the package and prints."""
