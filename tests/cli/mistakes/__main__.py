"""Write all mistakes to the document, after its introduction."""

from __future__ import annotations

from . import DOCUMENT, listed

introduction = DOCUMENT.read_text().partition("\n## ")[0]
DOCUMENT.write_text(f"{introduction}\n{listed()}")
