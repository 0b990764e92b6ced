"""Tests of `tacit.examples`."""
