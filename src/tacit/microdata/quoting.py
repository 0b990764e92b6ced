"""Names and texts as SQL writes them."""

from __future__ import annotations


def quoted_name(name: str) -> str:
    """The name of a column, whatever it contains."""
    return '"' + name.replace('"', '""') + '"'


def quoted_text(text: str) -> str:
    """A text."""
    return "'" + text.replace("'", "''") + "'"
