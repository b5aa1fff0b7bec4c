"""The identity task (Counting III-C)."""
