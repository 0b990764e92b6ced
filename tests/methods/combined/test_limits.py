"""Time limits of combined suppression hold in every loop, by a clock of these tests."""

from __future__ import annotations

import pytest

from tacit.generators import generate_by_name
from tacit.methods.combined.run import combined
from tacit.methods.combined.sides import Sides
from tacit.methods.intervals import publication
from tacit.methods.intervals.cuts import Separation
from tests.clocks import slow, with_hand

NETWORK = generate_by_name("2d", "12-12-30", seed=3)
"""Flows do the work, which ask no clock."""
LIMIT = 10.0
LATEST = LIMIT + 1.0


def test_mixed_cuts_are_sought_as_long_as_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each request takes long, a round of mixed cuts ends in the middle."""
    hand = with_hand(monkeypatch, 1e-5)
    slow(monkeypatch, hand, Sides, "missed", 0.4)
    began = hand.at
    outcome = combined(NETWORK, time_limit=LIMIT, gap=0.0)
    assert hand.at - began <= LATEST
    assert outcome.audit is not None
    assert outcome.audit.safe


def test_a_search_whose_time_is_up_gets_none_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look that is quicker than expected does not undo that the time was over."""
    hand = with_hand(monkeypatch, 1e-5)
    slow(monkeypatch, hand, publication, "_out_of_reach", 2.0)
    slow(monkeypatch, hand, Separation, "approach", 2.0)
    outcome = combined(NETWORK, time_limit=LIMIT, gap=0.0)
    assert outcome.stopped_by == "time"
    assert outcome.audit is not None
    assert outcome.audit.safe
