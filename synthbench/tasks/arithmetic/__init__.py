"""Nested + and * modulo 10 (NDR 3.2): the task and its solver."""
