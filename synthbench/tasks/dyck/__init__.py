"""Dyck words: brackets of several kinds, nested or shuffled, with their solver and audit."""
