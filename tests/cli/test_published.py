"""What a reader sees of a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tacit.cli.published import Excerpt, Published
from tacit.hierarchy import Hierarchy
from tacit.table import Table

TABLE = Table.from_cube(
    np.array([[1111.5, 2222], [3333, 4040], [5555, 6666]]),
    {
        "industry": Hierarchy.from_nested({"A": ["A1", "A2"], "B": None}),
        "region": Hierarchy.flat(["N", "S"]),
    },
)


def _published(*codes: tuple[str, str]) -> Published:
    """The table without the cells of these codes."""
    cells = zip(TABLE.codes("industry").tolist(), TABLE.codes("region").tolist(), strict=True)
    return Published.of(TABLE, np.array([cell in codes for cell in cells]))


def test_a_csv_holds_values_or_x(tmp_path: Path) -> None:
    """Each cell has a line; values keep their decimals, and suppressed ones leave no trace."""
    out = tmp_path / "published.csv"
    published = _published(("A1", "S"), ("A2", "S"))
    published.write_csv(out, "turnover")
    lines = out.read_text().splitlines()
    assert lines[0] == "industry,region,turnover"
    assert len(lines) == TABLE.cell_count + 1
    assert "A1,N,1111.5" in lines
    assert "A1,S,x" in lines
    for secret in ("2222", "4040"):
        assert secret not in out.read_text()
        assert secret not in repr(published)


def test_the_excerpt_is_where_most_is_missing() -> None:
    """Of all totals with their parts, the one with most x is shown, aligned."""
    excerpt = _published(("A1", "N"), ("A1", "S"), ("A2", "N"), ("A2", "S")).excerpt()
    assert excerpt.title == "industry A by region Total"
    assert excerpt.plain().splitlines() == [
        "      Total       N     S",
        "A   10706.5  4444.5  6262",
        "A1   3333.5       x     x",
        "A2     7373       x     x",
    ]


def test_a_table_of_large_families_has_an_excerpt_too() -> None:
    """Where no part is small enough, a larger one has to do."""
    assert len(_published().excerpt(most=1).columns) == 3


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
