"""What installation does once: every algorithm runs on a small table."""

from __future__ import annotations

from typing import get_args, get_type_hints

from tacit.methods.registry import METHODS
from tacit.precompile import precompile


def test_every_algorithm_runs() -> None:
    """Each algorithm of each method takes at least one of the tables."""
    algorithms = sum(
        len(get_args(get_type_hints(method.options())["algorithm"])) for method in METHODS.values()
    )
    assert precompile() >= algorithms
