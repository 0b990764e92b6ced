"""Write all cases to the document, after its introduction."""

from __future__ import annotations

from . import BEGIN, DOCUMENT, listed

introduction = DOCUMENT.read_text().partition(BEGIN)[0]
DOCUMENT.write_text(f"{introduction}\n{listed()}")
