"""Clocks for tests: time passes only when somebody looks, or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from tacit import clock as clocks


class Hand:
    """A clock's hand that moves by a step whenever somebody looks at it."""

    def __init__(self, step: float = 0.0):
        self.at = 100.0
        self.step = step

    def __call__(self) -> float:
        """The time."""
        self.at += self.step
        return self.at


def with_hand(monkeypatch: pytest.MonkeyPatch, step: float = 0.0) -> Hand:
    """Time that passes when somebody looks at the clock."""
    hand = Hand(step)
    monkeypatch.setattr(clocks, "now", hand)
    return hand


def slow(monkeypatch: pytest.MonkeyPatch, hand: Hand, owner: Any, name: str, lasts: float) -> None:
    """Make a step last so long."""
    step = getattr(owner, name)

    def lasting(*arguments: Any, **named: Any) -> Any:
        hand.at += lasts
        return step(*arguments, **named)

    monkeypatch.setattr(owner, name, lasting)
