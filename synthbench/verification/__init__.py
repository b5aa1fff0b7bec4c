"""Checks that a dataset matches its manifest."""
