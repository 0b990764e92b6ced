"""Excerpts of what a reader sees."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.cli.published import Excerpt
from tacit.hierarchy import Hierarchy
from tacit.release import Published
from tacit.table import Table

TABLE = Table.from_cube(
    np.array([[1111.5, 2222], [3333, 4040], [5555, 6666]]),
    {
        "industry": Hierarchy.from_nested({"A": ["A1", "A2"], "B": None}),
        "region": Hierarchy.flat(["N", "S"]),
    },
)


def _mask(*codes: tuple[str, str]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    cells = zip(TABLE.codes("industry").tolist(), TABLE.codes("region").tolist(), strict=True)
    return np.array([cell in codes for cell in cells])


def _published(solution: tacit.Suppression | tacit.Intervals) -> Published:
    return Published.of(TABLE, tacit.Outcome(status=tacit.Status.FEASIBLE, solution=solution))


def _excerpt(*codes: tuple[str, str], most: int = 8) -> Excerpt:
    """An excerpt of the table without the cells of these codes."""
    return Excerpt.of(_published(tacit.Suppression(_mask(*codes))), most)


def test_the_excerpt_is_where_most_is_missing() -> None:
    """Of all totals with their parts, the one with most x is shown, aligned."""
    excerpt = _excerpt(("A1", "N"), ("A1", "S"), ("A2", "N"), ("A2", "S"))
    assert excerpt.title == "industry A by region Total"
    assert excerpt.plain().splitlines() == [
        "      Total       N     S",
        "A   10706.5  4444.5  6262",
        "A1   3333.5       x     x",
        "A2     7373       x     x",
    ]


def test_intervals_are_shown_with_their_ends() -> None:
    """A cell that is published as an interval shows both ends, not its value."""
    wide = _mask(("A1", "N"))
    solution = tacit.Intervals(
        np.where(wide, 1000.0, TABLE.value), np.where(wide, 1250.5, TABLE.value)
    )
    shown = Excerpt.of(_published(solution)).plain()
    assert "1000..1250.5" in shown
    assert "1111.5" not in shown


def test_a_table_of_large_families_has_an_excerpt_too() -> None:
    """Where no part is small enough, a larger one has to do."""
    assert len(_excerpt(most=1).columns) == 3


def test_a_terminal_gets_it_drawn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Elsewhere it is plain text."""
    excerpt = Excerpt("title", ("A", "B"), ("N",), (("1",), ("x",)))
    excerpt.show()
    assert capsys.readouterr().out == f"{excerpt.plain()}\n"
    monkeypatch.setenv("FORCE_COLOR", "1")
    excerpt.show()
    drawn = capsys.readouterr().out
    assert "\x1b[" in drawn
    assert "x" in drawn
