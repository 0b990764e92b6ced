"""Comparison of methods."""
