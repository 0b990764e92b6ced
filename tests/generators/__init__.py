"""Tests of generated tables."""
