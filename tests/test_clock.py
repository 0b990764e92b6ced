"""A clock limits whatever runs inside it, solver calls included."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tacit import clock as clocks
from tacit.clock import Clock, TimeUpError, check_time, time_left
from tacit.solver.highs import HighsModel
from tests.clocks import Hand


@pytest.fixture
def hand(monkeypatch: pytest.MonkeyPatch) -> Hand:
    """Time that passes only when told to."""
    hand = Hand()
    monkeypatch.setattr(clocks, "now", hand)
    return hand


def small_model() -> HighsModel:
    """Min -x, x <= 1."""
    return HighsModel(
        sparse.csr_array(np.ones((1, 1))),
        row_lower=np.zeros(1),
        row_upper=np.ones(1),
        lower=np.zeros(1),
        upper=np.full(1, 5.0),
        cost=-np.ones(1),
    )


def test_left_counts_down_to_the_reserve(hand: Hand) -> None:
    """What is kept for later is not left for the search."""
    clock = Clock(10, reserve=2)
    hand.at += 5
    assert (clock.seconds, clock.left, clock.is_up) == (5, 3, False)
    hand.at += 4
    assert (clock.left, clock.is_up) == (0, True)


def test_without_a_clock_there_is_no_limit() -> None:
    """Without a clock there is no limit."""
    assert time_left() == np.inf
    check_time()


def test_the_tightest_clock_counts(hand: Hand) -> None:
    """Inside several clocks the one that ends first limits."""
    with Clock(10), Clock(3):
        assert time_left() == 3
        with Clock(20):
            assert time_left() == 3
        hand.at += 1
        assert time_left() == 2
    assert time_left() == np.inf


def test_a_clock_absorbs_its_own_end(hand: Hand) -> None:
    """A turn that is over ends its block only."""
    with Clock(10) as outer:
        with Clock(3) as turn:
            hand.at += 4
            check_time()
        assert turn.ran_out
        assert time_left() == 6
    assert not outer.ran_out


def test_the_end_of_an_outer_clock_ends_all(hand: Hand) -> None:
    """Where the outer clock has run out as well, the inner one does not absorb that."""
    reached = False
    with Clock(3) as outer:
        with Clock(3) as turn:
            hand.at += 4
            check_time()
        reached = True
    assert not reached
    assert not turn.ran_out
    assert outer.ran_out


def test_other_errors_pass(hand: Hand) -> None:
    """A clock absorbs nothing but the end of its time."""
    clock = Clock(1)
    hand.at += 5
    with pytest.raises(KeyError), clock:
        raise KeyError("x")


def test_a_solver_call_inside_an_ended_clock_raises(hand: Hand) -> None:
    """No solver is started when time is up."""
    model = small_model()
    assert model.solve().status == "optimal"
    with Clock(2) as clock:
        assert model.solve().status == "optimal"
        hand.at += 3
        with pytest.raises(TimeUpError):
            model.solve()
        raise TimeUpError
    assert clock.ran_out
    assert model.solve().status == "optimal"
