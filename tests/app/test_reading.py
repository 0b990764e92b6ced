"""Reading the data: the page tells how far it is, others are served, and it can be stopped."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tacit.app import tables
from tacit.app.tables import Tables
from tacit.errors import StoppedError
from tacit.jobs import Job
from tacit.jobs import job_table as read
from tacit.observer import Observer
from tacit.table import Table
from tests.app.conftest import App

SECONDS = 30.0


class Slow:
    """Reads tables when it is told to.

    Attributes:
        go: Set to let it read.
        begun: How many readings have begun.
    """

    def __init__(self) -> None:
        self.go = threading.Event()
        self.begun = 0

    def __call__(self, job: Job, *, observer: Observer) -> Table:
        """Wait, as a large file would have us wait."""
        self.begun += 1
        observer.on_phase("adding up")
        observer.on_progress(43, 100)
        while not self.go.wait(0.01):
            if observer.should_stop():
                raise StoppedError("the tabulation was stopped")
        return read(job, observer=observer)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    """Reading that takes as long as a test wants."""
    made = Slow()
    monkeypatch.setattr(tables, "job_table", made)
    yield made
    made.go.set()


def asked(app: App, path: str) -> Any:
    """A part of a page, as the page asks for it."""
    return app.client.get(path, headers={"HX-Request": "true"})


def finish(app: App) -> None:
    """Wait until the reading is over."""
    reading = app.desk.tables.reading
    assert reading is not None
    assert reading._over.wait(SECONDS)


def test_pages_are_served_while_data_are_read(slow: Slow, firms: App) -> None:
    """Whatever needs the table says how far it is and comes by itself; other pages do not wait."""
    firms.desk.tables = Tables(0.1)
    for part in ("table-trees", "rules-effect"):
        page = asked(firms, part).text
        assert "Reading the data … adding up · 43 %" in page
        assert f"reading?what={part}" in page
    assert slow.begun == 1
    for path in ("start", "data", "table", "rules", "protect"):
        assert "<h1>" in firms.get(path)
    whole = firms.client.get("look")
    assert "Stop reading" in whole.text
    assert "Reading the data" in asked(firms, "reading?what=rules-effect").text
    slow.go.set()
    finish(firms)
    assert 'hx-get="rules-effect"' in asked(firms, "reading?what=rules-effect").text
    assert asked(firms, "reading?what=").headers["HX-Refresh"] == "true"
    assert "HX-Refresh" in asked(firms, "reading?what=start").headers
    assert "of 9 cells are sensitive" in asked(firms, "rules-effect").text
    assert "data-cell" in firms.get("look-window")


def test_reading_can_be_stopped_and_begun_again(slow: Slow, firms: App) -> None:
    """Who stops reading is told at once that there is no table, and may have it read later."""
    firms.desk.tables = Tables(0.1)
    asked(firms, "rules-effect")
    answer = firms.client.post(
        "reading-stop", headers={"HX-Current-URL": f"{firms.client.base_url}rules?x=1"}
    )
    assert answer.url.path.endswith("/rules")
    for part in ("rules-effect", "table-trees", "data-read"):
        assert "Reading the data was stopped" in asked(firms, part).text
    assert slow.begun == 1
    slow.go.set()
    firms.post("reading-again", screen="rules")
    asked(firms, "rules-effect")
    finish(firms)
    assert "of 9 cells are sensitive" in asked(firms, "rules-effect").text
    assert slow.begun == 2
    # A table that is there is not thrown away by an old page.
    firms.post("reading-again", screen="rules")
    asked(firms, "rules-effect")
    assert slow.begun == 2


def test_a_reading_that_nobody_wants_any_more_ends(slow: Slow, firms: App) -> None:
    """When the job changes meanwhile, the old reading ends, and one of the new job begins."""
    firms.desk.tables = Tables(0.1)
    asked(firms, "table-trees")
    first = firms.desk.tables.reading
    assert first is not None
    firms.post("table-merge", dimension="region", what="merge", code=["North", "South"], into="All")
    asked(firms, "table-trees")
    assert first.should_stop()
    assert not first._thread.is_alive() or first._over.is_set()
    slow.go.set()
    finish(firms)
    assert "6</b> cells" in asked(firms, "table-trees").text
    assert slow.begun == 2


def test_what_cannot_be_read_is_told_in_time(firms: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too little memory is told like any other fault, not by a page that waits for ever."""

    def starving(job: Job, *, observer: Observer) -> Table:  # noqa: ARG001
        raise MemoryError

    monkeypatch.setattr(tables, "job_table", starving)
    assert "not enough memory" in asked(firms, "rules-effect").text


def test_an_explanation_that_takes_too_long(
    protected: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wait for an explanation ends with a clear message, and the next one is as good as new."""
    run = protected.desk.runs.latest
    assert run is not None
    with monkeypatch.context() as hasty:
        hasty.setattr(run, "why", lambda cell, why=run.why: why(cell, 0.001))
        assert "no explanation within 0.001 seconds" in asked(protected, "look-why?cell=4").text
    assert "sensitive itself" in asked(protected, "look-why?cell=4").text
