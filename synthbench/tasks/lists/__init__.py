"""Functions of lists: identity, set, union and delete, with their solver and audit."""
