"""Smaller problems with a way back: what is found for them is undone exactly for the given one."""
