"""Multi-query associative recall (Zoology): the task, its solver and its audit."""
