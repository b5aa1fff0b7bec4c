"""A task keeps its promises: the checks of `synthbench check`."""
