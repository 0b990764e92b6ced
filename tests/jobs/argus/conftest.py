"""What tests of batch files share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.jobs.argus.small_jobs import Office


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """A folder with records, metadata and hierarchies."""
    return Office(tmp_path)
