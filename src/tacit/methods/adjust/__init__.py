"""Controlled tabular adjustment: the closest safe table."""
