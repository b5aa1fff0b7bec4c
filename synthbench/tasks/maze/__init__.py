"""Mazes with one shortest path, to be marked or walked."""
