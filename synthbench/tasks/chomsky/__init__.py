"""Tasks of the Chomsky hierarchy: fifteen functions of strings, their solvers and their audit."""
