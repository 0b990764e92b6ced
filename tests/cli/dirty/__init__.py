"""Dirty files, and what becomes of each: a test, and a page of the documents.

`python -m tests.cli.dirty` writes them to `docs/dirty-data.md`.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from .case import JOB, REGIONS, SECRETS, Dirty, written
from .cases import all_cases

__all__ = ["CASES", "DOCUMENT", "JOB", "REGIONS", "SECRETS", "Dirty", "listed", "written"]

DOCUMENT = Path(__file__).parents[3] / "docs" / "dirty-data.md"
BEGIN = "\n## Encodings and line ends\n"
"""Where the list begins, after the introduction."""

CASES = all_cases()


def listed() -> str:
    """The cases as the document lists them."""
    parts = []
    for group, members in groupby(CASES, lambda case: case.group):
        parts.append(f"## {group}\n")
        for case in members:
            title = f"{case.title[0].upper()}{case.title[1:]}"
            shown = f", as in `{case.show}`" if case.show else ""
            written_ = [new.removeprefix(old).strip() for old, new in case.edits]
            said = [text for text in written_ if "=" in text and "\n" not in text]
            told = f" The job says `{said[0]}`." if said else ""
            if not case.printed:
                parts.append(f"- {title}{shown}: read, nothing is printed.{told}\n")
                continue
            ending = "refused" if case.code else "read"
            parts.append(
                f"- {title}{shown}: {ending}.{told}\n\n"
                f"  ```\n  $ tacit info job.toml\n  {case.printed.rstrip()}\n  ```\n".replace(
                    f"{case.printed.rstrip()}", case.printed.rstrip().replace("\n", "\n  ")
                )
            )
    return "\n".join(parts)
