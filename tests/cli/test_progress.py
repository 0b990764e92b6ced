"""Progress and Ctrl-C."""

from __future__ import annotations

import signal
import threading

import pytest

from tacit.cli.progress import LiveLine, PlainLines, Progress, Silence


def test_ctrl_c_once_stops_and_twice_interrupts(capfd: pytest.CaptureFixture[str]) -> None:
    """The first Ctrl-C asks to stop, the second ends at once, and afterwards all is as before."""
    before = signal.getsignal(signal.SIGINT)
    with Progress(PlainLines()) as progress:
        assert not progress.should_stop()
        signal.raise_signal(signal.SIGINT)
        assert progress.should_stop()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    assert "press Ctrl-C again" in capfd.readouterr().err


def test_quiet_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """Neither progress nor a stop shows when nothing is wanted."""
    with Progress.on_stderr(quiet=True) as progress:
        progress.on_start("audit", total=10)
        progress.on_progress(5, 10)
        signal.raise_signal(signal.SIGINT)
        assert progress.should_stop()
    assert capfd.readouterr() == ("", "")


def test_lines_are_few(capfd: pytest.CaptureFixture[str]) -> None:
    """A log gets a line only when the last one is old enough."""
    now = 100.0
    with Progress(PlainLines(seconds=5, clock=lambda: now)) as progress:
        progress.on_start("audit", total=60)
        for done in range(1, 61):
            now += 0.2
            progress.on_progress(done, 60)
    lines = capfd.readouterr().err.splitlines()
    assert lines == ["audit: 25 of 60 (42%), 5 s", "audit: 50 of 60 (83%), 10 s"]


def test_a_pipe_gets_plain_lines_and_a_terminal_a_live_one(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """What is drawn depends on who looks; a live line is wiped out at the end."""
    assert isinstance(Progress.on_stderr()._display, PlainLines)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with Progress.on_stderr() as progress:
        assert isinstance(progress._display, LiveLine)
        progress.on_start("audit", total=4)
        progress.on_progress(2, 4)
        signal.raise_signal(signal.SIGINT)
        assert progress.should_stop()
    assert "press Ctrl-C again" in capfd.readouterr().err


def test_other_threads_leave_signals_alone() -> None:
    """Progress works where signals cannot be handled."""
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def work() -> None:
        with Progress(Silence()) as progress:
            seen.append(progress.should_stop())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False]
    assert signal.getsignal(signal.SIGINT) is before
