"""Formats: one file each, from bytes or frames to the types of tacit and back."""
