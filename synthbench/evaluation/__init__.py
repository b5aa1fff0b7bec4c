"""Predictions are read, compared with the labels and reported."""
