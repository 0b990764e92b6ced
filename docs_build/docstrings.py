"""Examples in docstrings as code: Markdown would take `>>>` for quotations."""

from __future__ import annotations

import re
from typing import Any

import griffe


class FencedExamples(griffe.Extension):
    """Puts a fence around every example of a docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of each module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """The text with a fence around each run of lines from `>>>` to the next empty line."""
    return re.sub(r"(?ms)^(>>> .*?)(?=\n\s*\n|\Z)", r"```pycon\n\1\n```", text)
