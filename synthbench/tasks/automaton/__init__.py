"""Automata: the state after each symbol of a word, for any regular expression."""
