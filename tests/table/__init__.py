"""Tests of the room `tacit.table`."""
