"""Corpora without held-out rows: which texts hold a row, and files without their documents."""
