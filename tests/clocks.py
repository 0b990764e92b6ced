"""Clocks for tests: time passes only when somebody looks, or not at all."""

from __future__ import annotations


class Hand:
    """A clock's hand that moves by a step whenever somebody looks at it."""

    def __init__(self, step: float = 0.0):
        self.at = 100.0
        self.step = step

    def __call__(self) -> float:
        """The time."""
        self.at += self.step
        return self.at
