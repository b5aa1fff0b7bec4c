"""For authors of tasks: the checks of `synthbench check`, and the package of `new-task`."""
