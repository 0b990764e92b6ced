"""Mistakes that people make, and what is printed for each: a test, and a page of the documents.

`python -m tests.cli.mistakes` writes them to `docs/errors.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from .commands import mistakes_in_commands
from .jobs import mistakes_in_jobs
from .linked import mistakes_in_linked_tables
from .mistake import FILES, SECRETS, Mistake
from .tables import mistakes_in_tables

__all__ = ["DOCUMENT", "FILES", "MISTAKES", "SECRETS", "Mistake", "listed"]

DOCUMENT = Path(__file__).parents[3] / "docs" / "errors.md"
MISTAKES: Sequence[Mistake] = (
    *mistakes_in_tables(),
    *mistakes_in_jobs(),
    *mistakes_in_linked_tables(),
    *mistakes_in_commands(),
)


def listed() -> str:
    """The mistakes as the document lists them."""
    parts = []
    for group, members in groupby(MISTAKES, lambda mistake: mistake.group):
        parts.append(f"## {group}\n")
        for mistake in members:
            title = f"{mistake.title[0].upper()}{mistake.title[1:]}"
            parts.append(
                f"{title} (exit code {mistake.code}):\n\n```\n$ tacit {mistake.command}\n"
                f"{mistake.printed}```\n"
            )
    return "\n".join(parts)
