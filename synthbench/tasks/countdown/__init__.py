"""Countdown (Gandhi et al.; Pan et al.): an equation of given numbers that reaches a target."""
