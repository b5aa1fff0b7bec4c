"""Text for people: one line of any value, tables, and the progress bar."""
