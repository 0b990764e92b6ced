"""Tests of `tacit.table`."""
