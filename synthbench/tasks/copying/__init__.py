"""Copying: selective copying, induction heads and n-gram look-up, and their solver and audit."""
