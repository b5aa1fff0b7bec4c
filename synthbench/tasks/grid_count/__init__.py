"""Counting the colours of a grid (Counting III-A): the task, its grids and its audit."""
