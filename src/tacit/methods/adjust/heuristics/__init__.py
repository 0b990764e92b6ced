"""Construction and improvement of adjusted tables."""
