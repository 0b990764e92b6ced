"""The texts of the application, all in one file, which can be translated as a whole."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

LANGUAGE = "en"


@cache
def texts(language: str = LANGUAGE) -> Mapping[str, str]:
    """All texts by their names, such as `data.title`."""
    content = resources.files(__package__).joinpath(f"texts.{language}.toml").read_bytes()
    found: dict[str, str] = {}

    def gather(part: Mapping[str, Any], place: str) -> None:
        for key, each in part.items():
            if isinstance(each, Mapping):
                gather(each, f"{place}{key}.")
            else:
                found[place + key] = each

    gather(tomllib.loads(content.decode()), "")
    return found


def text(key: str, /, **parts: object) -> str:
    """One text, with what is to be filled in.

    >>> text("app.cells", count=12)
    '12 cells'
    """
    found = texts()[key]
    return found.format(**parts) if parts else found
