"""The parts of an audit: rows, shortcuts, leaks, balance, claims, and how they are shown."""
