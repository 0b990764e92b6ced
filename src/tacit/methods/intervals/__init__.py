"""Partial suppression: cells published as intervals."""
