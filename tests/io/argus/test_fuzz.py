"""Whatever is in a file, readers return or refuse it with an error of tacit."""

from __future__ import annotations

from pathlib import Path

import pytest
from studies.argus_fuzz import READERS, fuzzed


@pytest.mark.parametrize("name", READERS)
def test_files_changed_at_random_are_read_or_refused(tmp_path: Path, name: str) -> None:
    """A few hundred mutations of each format; `studies.argus_fuzz` runs 100,000."""
    count = 100 if name.startswith("microdata") else 2000
    ended = [text for _, text in fuzzed(name, count, 7, tmp_path)]
    faults = [text for text in ended if text not in ("read", "refused")]
    assert not faults, faults[0]
    assert "read" in ended
    assert "refused" in ended


@pytest.mark.parametrize("name", READERS)
def test_files_as_they_are_can_be_read(tmp_path: Path, name: str) -> None:
    """What is changed at random is right before."""
    path = tmp_path / "sample.txt"
    path.write_text(READERS[name].sample)
    READERS[name].read(path)
