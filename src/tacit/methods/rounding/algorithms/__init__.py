"""One file per algorithm, called as users type it, with `_` for `-`; each has `run(search)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tacit.methods.engine.driver import algorithm_in


def algorithm(name: str) -> Callable[[Any], None]:
    """The algorithm of this name, imported when it is asked for."""
    return algorithm_in(__name__, name)
