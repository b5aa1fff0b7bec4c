"""Audits: can a dataset be answered without solving its task? Shortcuts, leaks and balance."""
