"""Modular arithmetic (Power et al., 2022): the task, its solver and its audit."""
