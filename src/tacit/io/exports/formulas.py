"""Text that spreadsheets would take for a formula, and how to keep them from it."""

from __future__ import annotations

_OPENINGS = ("=", "+", "-", "@", "\t", "\r", "\n")


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may compute this text rather than show it.

    >>> is_formula("=1+1"), is_formula("-"), is_formula("-15"), is_formula("=15")
    (True, True, False, True)
    """
    return text.startswith(_OPENINGS) and not _is_number(text)


def neutralised(text: str) -> str:
    """The text with an apostrophe before it, where it would be a formula.

    >>> neutralised("@SUM(A1)"), neutralised("C10")
    ("'@SUM(A1)", 'C10')
    """
    return f"'{text}" if is_formula(text) else text


def _is_number(text: str) -> bool:
    return text[0] in "+-" and text[1:].replace(".", "", 1).isdecimal()
