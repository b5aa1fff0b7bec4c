"""A module of another package with a mistake in it."""

TASK = Numbrs  # type: ignore[name-defined]  # noqa: F821
