"""Small measurements, each a ratio against a baseline in the same run."""
