"""The picture of everyday tables: what is drawn beside what."""

from __future__ import annotations

from pathlib import Path

from studies.everyday_plots import pairs


def test_figures_stand_beside_those_of_before(tmp_path: Path) -> None:
    """Tables that only one file has are there, too, without a figure for the other."""
    (tmp_path / "everyday_before.csv").write_text("# note\ntable,cpu\na,10\nb,\n")
    (tmp_path / "everyday.csv").write_text("# note\ntable,cpu\nb,3\na,2.5\n")
    found = pairs(tmp_path / "everyday.csv", "cpu")
    assert found == {"b": (None, 3.0), "a": (10.0, 2.5)}
