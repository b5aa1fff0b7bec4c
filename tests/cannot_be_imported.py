"""A module of another package with a mistake in it."""

TASK = Additon  # type: ignore[name-defined]  # noqa: F821
