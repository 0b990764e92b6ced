"""The log book: one line per step, with its time."""

from __future__ import annotations

import stat
from datetime import datetime
from pathlib import Path

import pytest

from tacit.errors import InputError
from tacit.io.argus.logbook import Logbook


def test_lines_have_their_time_and_are_added(tmp_path: Path) -> None:
    """Each text becomes one line, after those that are there already."""
    path = tmp_path / "log.txt"
    path.write_text("earlier\n")
    book = Logbook(path, now=lambda: datetime(2026, 3, 7, 8, 5, 9))
    book.line("Start of batch procedure")
    book.line("two\n  lines é")
    assert path.read_text("utf-8").splitlines() == [
        "earlier",
        "07-Mar-2026 08:05:09 : Start of batch procedure",
        "07-Mar-2026 08:05:09 : two lines é",
    ]


def test_a_new_log_book_is_for_its_owner(tmp_path: Path) -> None:
    """It is there from the first line on, and others cannot read it."""
    path = tmp_path / "log.txt"
    book = Logbook(path)
    assert not path.exists()
    book.line("half a character: \ud800")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text().count("\n") == 1


@pytest.mark.parametrize("name", ["missing/log.txt", "", "a\0b"])
def test_a_log_book_that_cannot_be_written(name: str, tmp_path: Path) -> None:
    """The message names the file and says why."""
    with pytest.raises(InputError, match="log book cannot be written"):
        Logbook(tmp_path / name).line("text")
