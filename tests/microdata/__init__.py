"""Tests of the way from microdata to tables."""
