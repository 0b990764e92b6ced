"""Text that spreadsheets would take for a formula, and how to keep them from it."""

from __future__ import annotations

import re

# East Asian versions take the wide forms of these signs for the signs themselves.
_SIGNS = "=+\\-@＝＋－＠"
_OPENINGS = re.compile(rf"[\t\r\n]|\s*[{_SIGNS}]")
_AFTER_SEPARATOR = re.compile(rf"(?<=[;,|\t\r\n])(?=[\s\"]*[{_SIGNS}])")
_NUMBER = re.compile(r"[+-]\d+(\.\d*)?|[+-]\.\d+")


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may compute this text rather than show it.

    >>> is_formula("=1+1"), is_formula("-"), is_formula("-15"), is_formula("=15")
    (True, True, False, True)
    """
    return _OPENINGS.match(text) is not None and _NUMBER.fullmatch(text) is None


def neutralised(text: str) -> str:
    """The text with an apostrophe wherever a formula would begin.

    Whoever opens the file chooses the separator. What follows a semicolon, a comma, a vertical
    bar, a tabulator or a line end within a text may then begin a separate field, whatever
    quotes there are: the next field goes on to the end of what they enclose, so even numbers get
    an apostrophe there.

    >>> neutralised("@SUM(A1)"), neutralised("C10"), neutralised("a;=4+4"), neutralised("a, b")
    ("'@SUM(A1)", 'C10', "a;'=4+4", 'a, b')
    """
    text = _AFTER_SEPARATOR.sub("'", text)
    return f"'{text}" if is_formula(text) else text
