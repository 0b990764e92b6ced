"""Excerpts of a published table for terminals: of all that readers see, a part worth looking at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.hierarchy import Hierarchy
    from tacit.release import Published

SUPPRESSED = "x"
BETWEEN = ".."
"""What stands between the ends of an interval."""


@dataclass(frozen=True)
class Excerpt:
    """A small part of a published table, totals first.

    Attributes:
        title: What it is a part of.
        rows: Codes of the rows.
        columns: Codes of the columns.
        cells: Values, intervals or x, row by row; nothing where there is no cell.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, published: Published, most: int = 8) -> Excerpt:
        """A total with its parts in both dimensions; of the small ones where most is hidden.

        Args:
            published: A table with two dimensions.
            most: The largest number of parts in either dimension.
        """
        from tacit.release.marks import cell_texts

        (row_name, row_codes), (column_name, column_codes) = published.dimensions.items()
        codes = zip(
            published.codes[row_name].tolist(), published.codes[column_name].tolist(), strict=True
        )
        cells = dict(zip(codes, cell_texts(published, SUPPRESSED, between=BETWEEN), strict=True))
        found = [
            cls(
                f"{row_name} {row} by {column_name} {column}",
                rows,
                columns,
                tuple(
                    tuple(cells.get((above, beside), "") for beside in columns) for above in rows
                ),
            )
            for row, rows in _families(row_codes, most)
            for column, columns in _families(column_codes, most)
        ]
        return max(found, key=Excerpt.hidden_count)

    def hidden_count(self) -> int:
        """How many cells are not published with a value."""
        return sum(cell == SUPPRESSED or BETWEEN in cell for row in self.cells for cell in row)

    def plain(self) -> str:
        """As lines of text with aligned columns."""
        lines = [["", *self.columns]]
        lines += [[code, *row] for code, row in zip(self.rows, self.cells, strict=True)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])])
            for line in lines
        )

    def show(self) -> None:
        """Print it: drawn on a terminal, as plain text elsewhere."""
        from rich.console import Console

        console = Console()
        if not console.is_terminal:
            print(self.plain())
            return
        from rich import box
        from rich.table import Table as RichTable

        drawn = RichTable("", box=box.SIMPLE_HEAD, padding=(0, 1))
        for code in self.columns:
            drawn.add_column(code, justify="right")
        for code, row in zip(self.rows, self.cells, strict=True):
            drawn.add_row(code, *(_drawn(cell) for cell in row))
        console.print(drawn)


def _drawn(cell: str) -> str:
    return f"[bold red]{cell}[/]" if cell == SUPPRESSED else cell


def _families(hierarchy: Hierarchy, most: int) -> Sequence[tuple[str, tuple[str, ...]]]:
    """Codes with neither too many nor too few children, each followed by them."""
    families = [(code, (code, *hierarchy.children(code))) for code in hierarchy.codes]
    small = [family for family in families if 2 < len(family[1]) <= most + 1]
    return small or [family for family in families if len(family[1]) > 1]
