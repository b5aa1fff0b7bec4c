"""Compositional table lookup (NDR 3.1): the task, its solver and its audit."""
