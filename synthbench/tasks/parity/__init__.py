"""Parity reasoning (Eureka, section 4)."""
