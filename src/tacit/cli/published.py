"""What a reader sees of a table with two dimensions, and nothing else.

True values are turned into text here, or into an x, and are not kept: whatever is printed or
written from a `Published` cannot tell more than the publication.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.hierarchy import Hierarchy
    from tacit.problem import Booleans
    from tacit.table import Table

SUPPRESSED = "x"


@dataclass(frozen=True)
class Published:
    """A published table.

    Attributes:
        rows: The dimension of the rows.
        columns: The dimension of the columns.
        codes: For each cell its two codes.
        cells: For each cell its value as text, or `x`.
        row_codes: The hierarchy of the rows.
        column_codes: The hierarchy of the columns.
    """

    rows: str
    columns: str
    codes: tuple[tuple[str, str], ...]
    cells: tuple[str, ...]
    row_codes: Hierarchy
    column_codes: Hierarchy

    @classmethod
    def of(cls, table: Table, suppressed: Booleans) -> Published:
        """Publish all cells of a table but the suppressed ones."""
        (rows, row_codes), (columns, column_codes) = table.dimensions.items()
        shown = zip(table.value.tolist(), suppressed.tolist(), strict=True)
        return cls(
            rows,
            columns,
            tuple(zip(table.codes(rows).tolist(), table.codes(columns).tolist(), strict=True)),
            tuple(SUPPRESSED if hidden else f"{value:.15g}" for value, hidden in shown),
            row_codes,
            column_codes,
        )

    def write_csv(self, path: Path, value: str) -> None:
        """One line a cell: its codes, and its value or x."""
        from tacit.io.files import replacing

        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([self.rows, self.columns, value])
        writer.writerows((*codes, cell) for codes, cell in zip(self.codes, self.cells, strict=True))
        with replacing(path) as stream:
            stream.write(text.getvalue().encode())

    def excerpt(self, most: int = 8) -> Excerpt:
        """A total with its parts in both dimensions; of the small ones that with most x.

        Args:
            most: The largest number of parts in either dimension.
        """
        cells = dict(zip(self.codes, self.cells, strict=True))
        found = [
            Excerpt(
                f"{self.rows} {row} by {self.columns} {column}",
                rows,
                columns,
                tuple(tuple(cells[above, beside] for beside in columns) for above in rows),
            )
            for row, rows in _families(self.row_codes, most)
            for column, columns in _families(self.column_codes, most)
        ]
        return max(found, key=Excerpt.suppressed_count)


@dataclass(frozen=True)
class Excerpt:
    """A small part of a published table, totals first.

    Attributes:
        title: What it is a part of.
        rows: Codes of the rows.
        columns: Codes of the columns.
        cells: Values or x, row by row.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]

    def suppressed_count(self) -> int:
        """How many cells are not published."""
        return sum(row.count(SUPPRESSED) for row in self.cells)

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
