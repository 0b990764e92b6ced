"""Queries that are watched while they run."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from unittest import mock

import duckdb
import pytest

import tacit
from tacit.errors import StoppedError
from tacit.microdata.duck_watch import WatchedConnection
from tacit.observer import Observer

ENDLESS = "SELECT count(*) FROM range(1000000000) AS a(i), range(1000000) AS b(j) WHERE i % 7 = j"


class Impatient(Observer):
    """Wants to stop when it is asked for the third time, and remembers what it was told."""

    def __init__(self) -> None:
        self.asked = 0
        self.told: list[tuple[int, int]] = []

    def on_progress(self, done: int, total: int) -> None:
        """Remember."""
        self.told.append((done, total))

    def should_stop(self) -> bool:
        """Not at first."""
        self.asked += 1
        return self.asked > 2


def test_an_observer_stops_a_query() -> None:
    """A query that would never end does, and the connection can be used again."""
    observer = Impatient()
    with WatchedConnection(observer) as duck:
        began = time.monotonic()
        with pytest.raises(StoppedError, match="was stopped"):
            duck.execute(ENDLESS)
        assert time.monotonic() - began < 20
        assert duck.execute("SELECT 1 + ?", [1]).fetchall() == [(2,)]
    assert observer.asked > 2
    assert all(0 <= done <= total == 100 for done, total in observer.told)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise on Windows")
def test_ctrl_c_stops_a_query() -> None:
    """Ctrl-C does not wait for the end of a query, and leaves nothing running."""
    with WatchedConnection(Observer()) as duck:
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            duck.execute(ENDLESS)
        timer.join()
        assert time.monotonic() - began < 20
        assert duck.execute("SELECT 1").fetchall() == [(1,)]


def test_errors_come_through() -> None:
    """What DuckDB refuses in its thread is raised where it was asked."""
    with WatchedConnection(Observer()) as duck, pytest.raises(duckdb.ParserException):
        duck.execute("SELCT 1")


def test_phases_are_told_in_order() -> None:
    """An observer learns which phase a tabulation is in."""
    phases: list[str] = []

    class Listener(Observer):
        def on_phase(self, name: str) -> None:
            phases.append(name)

    tacit.tabulate({"r": ["x", "y"]}, {"r": None}, observer=Listener())
    assert phases == ["reading", "numbering codes and contributors", "adding up"]


def test_ctrl_c_while_a_frame_is_looked_at_is_still_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB wraps what Python raises; other errors stay what they are."""
    with WatchedConnection(Observer()) as duck:
        for text, expected in (
            ("Python exception occurred: KeyboardInterrupt", KeyboardInterrupt),
            ("not a frame", duckdb.InvalidInputException),
        ):
            registering = mock.Mock()
            registering.register.side_effect = duckdb.InvalidInputException(text)
            with monkeypatch.context() as patched:
                patched.setattr(duck, "_duck", registering)
                with pytest.raises(expected):
                    duck.register("codes", None)
