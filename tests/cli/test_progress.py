"""Progress and Ctrl-C."""

from __future__ import annotations

import signal

import pytest

from tacit.cli.progress import LiveLine, PlainLines, Progress
from tacit.clock import standstill


def test_ctrl_c_is_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    """Whoever asks is told to stop, and the user is told what happens."""
    with Progress(PlainLines()) as progress:
        assert not progress.should_stop()
        signal.raise_signal(signal.SIGINT)
        assert progress.should_stop()
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

    def clock() -> float:
        return now

    with Progress(PlainLines(seconds=5, clock=clock), clock=clock) as progress:
        progress.on_start("audit", total=60)
        for done in range(1, 61):
            now += 0.2
            progress.on_progress(done, 60)
    lines = capfd.readouterr().err.splitlines()
    assert lines == [
        "audit, 5 s: 42%, about 7 s left",
        "audit, 10 s: 83%, about 2 s left",
    ]


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


class _Drawn(PlainLines):
    """Lines with all that a terminal would show."""

    shows_figures = True


@pytest.mark.parametrize(
    ("display", "told"),
    [
        (
            _Drawn,
            [
                "suppress, 6 s: hypercubes 20 of 40 (50%), nothing safe yet, 54 s left",
                "suppress, 12 s: branching, best 2500, bound 2000, gap 20.00%, 48 s left",
                "suppress, 18 s: branching, best 2500, bound 2000, gap 20.00%, 7 cuts, 42 s left",
            ],
        ),
        (
            PlainLines,
            [
                "suppress, 6 s: hypercubes 50%, nothing safe yet, 54 s left",
                "suppress, 12 s: branching, 48 s left",
                "suppress, 18 s: branching, 42 s left",
            ],
        ),
    ],
)
def test_a_search_tells_pattern_bound_gap_and_time(
    display: type[PlainLines], told: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    """Each line holds what is known by then; figures, which may be values, are not for logs."""
    now = 100.0

    def clock() -> float:
        return now

    with Progress(display(seconds=5, clock=clock), time_limit=60, clock=clock) as progress:
        progress.on_start("suppress")
        progress.on_phase("hypercubes")
        progress.on_progress(20, 40)
        now += 6
        progress.should_stop()
        progress.on_solution(6.0, 2500.0)
        progress.on_phase("branching")
        now += 6
        progress.on_bound(12.0, 2000.0)
        progress.on_cuts(12.5, 7)
        now += 6
        progress.should_stop()
        progress.on_end()
        now += 6
        progress.should_stop()
    assert capfd.readouterr().err.splitlines() == told


def test_a_live_line_shows_a_search(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """On a terminal the same is drawn, whether or not there is a time limit."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    for limit in (60.0, None):
        with Progress.on_stderr(time_limit=limit) as progress:
            progress.on_start("suppress")
            progress.on_solution(1.0, 2500.0)
        assert "best 2500" in capfd.readouterr().err


def test_work_that_cannot_stop_gracefully_leaves_ctrl_c_alone(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Ctrl-C keeps its usual meaning, and a task of unknown length is not called a search."""
    now = 100.0

    def work() -> None:
        nonlocal now
        display = PlainLines(seconds=5, clock=lambda: now)
        with Progress(display, clock=lambda: now, stops_gracefully=False) as progress:
            progress.on_start("tabulate")
            now += 6
            progress.should_stop()
            now += 6
            progress.on_phase("reading")
            progress.on_progress(75, 100)
            now += 6
            progress.should_stop()
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert capfd.readouterr().err.splitlines() == [
        "tabulate, 6 s",
        "tabulate, 12 s: reading",
        "tabulate, 18 s: reading, 75%",
    ]


def test_the_live_line_says_that_kernels_are_compiled(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A task that waits for the compiler says so; logs, and whoever listens later, are spared."""
    with Progress.on_stderr(time_limit=60.0) as progress:
        progress.on_start("suppress")
        standstill.begin()
        standstill.end()
    assert capfd.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    with Progress.on_stderr(time_limit=60.0) as progress:
        progress.on_start("suppress")
        standstill.begin()
        standstill.end()
    assert "compiling, once after installation" in capfd.readouterr().err
    assert not standstill.listeners
