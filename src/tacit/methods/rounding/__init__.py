"""Controlled rounding: every value a multiple of a base, and the table still adds up."""
