"""Sudoku: grids with one solution, held out with all of their rearrangements."""
