"""Clocks stand still while kernels are compiled."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from numba.core.errors import TypingError

from tacit import clock as clocks
from tacit.clock import Clock, standstill
from tacit.compiling import njit
from tests.clocks import Hand

SECONDS = 10.0
"""So long every compilation takes."""


@pytest.fixture
def hand(monkeypatch: pytest.MonkeyPatch) -> Hand:
    """Time that passes only when told to, and whenever something is compiled."""
    hand = Hand()
    monkeypatch.setattr(clocks, "time", SimpleNamespace(monotonic=hand))

    def compiled() -> None:
        hand.at += SECONDS

    monkeypatch.setattr(standstill, "listeners", [compiled])
    return hand


def test_compiling_takes_no_time_of_a_limit(hand: Hand) -> None:
    """A limit shorter than a compilation is not used up by it, and goes on counting after it."""
    began = hand.at

    @njit(nogil=True)
    def double(x: float) -> float:
        return 2 * x

    with Clock(5) as clock:
        assert double(2.0) == 4.0
        assert hand.at == began + SECONDS
        assert (clock.seconds, clock.is_up) == (0, False)
        assert double(3.0) == 6.0
        assert hand.at == began + SECONDS
        hand.at += 2
        assert clock.seconds == 2


def test_kernels_that_call_others_are_counted_once(hand: Hand) -> None:
    """Clocks run again when the outermost of several compilations has ended."""

    @njit(nogil=True)
    def inner(x: float) -> float:
        return x + 1

    @njit(nogil=True)
    def outer(x: float) -> float:
        return float(inner(x) * 2)

    with Clock(5) as clock:
        assert outer(1.0) == 4.0
        assert clock.seconds == 0
        hand.at += 6
        assert clock.is_up


def test_a_compilation_that_fails_lets_clocks_run_again(hand: Hand) -> None:
    """Time goes on after an error of the compiler."""

    @njit(nogil=True)
    def wrong(x: float) -> float:
        return x + "text"  # type: ignore[operator]

    with Clock(5) as clock:
        with pytest.raises(TypingError):
            wrong(1.0)
        assert clock.seconds == 0
        hand.at += 3
        assert clock.seconds == 3


def test_clocks_stand_still_from_the_first_to_the_last(hand: Hand) -> None:
    """Two that overlap count together, from where the first begins to where the last ends."""
    clock = Clock(5)
    standstill.begin()
    hand.at += 1
    standstill.begin()
    standstill.end()
    hand.at += 1
    assert clock.seconds == 0
    standstill.end()
    hand.at += 1
    assert clock.seconds == 1
