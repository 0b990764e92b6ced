"""`Former`: what was published of the same table before, and what readers learn from both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tacit.problem import Booleans, Floats, Integers
from tacit.table.grid import Relations


@dataclass(frozen=True)
class Changes:
    """How a publication differs from the former one; confidential, as the papers are.

    Attributes:
        kept: Cells that were hidden then and are hidden again.
        published: Cells that were hidden then and are published.
        added: Cells that were published then and are hidden.
        new: Cells that the former publication did not have.
        new_hidden: How many of these are hidden.
    """

    kept: int
    published: int
    added: int
    new: int
    new_hidden: int

    def __str__(self) -> str:
        before = self.kept + self.published
        text = f"{self.kept} of {before} cells without a value then have none again"
        text += f", {self.published} are published, {self.added} others have none any more"
        if self.new:
            text += f"; {self.new_hidden} of {self.new} new cells have none"
        return text


@dataclass(frozen=True, eq=False)
class Former:
    """A former publication in the cells of this table; one entry per cell.

    Attributes:
        there: Whether the former publication has the cell at all.
        hidden: Whether it was there without its exact value.
        unchanged: Cells that are the same now as then: what readers knew of them then they know
            now.
    """

    there: Booleans
    hidden: Booleans
    unchanged: Booleans

    @classmethod
    def joined(cls, parts: Sequence[tuple[Former, Integers]], cell_count: int) -> Former:
        """Of a table with these parts, each with the numbers that its cells have there."""
        columns = np.zeros((3, cell_count), bool)
        for part, cells in parts:
            columns[:, cells] = part.there, part.hidden, part.unchanged
        return cls(*columns)

    def among(self, cells: Integers) -> Former:
        """Of some of the cells."""
        return Former(self.there[cells], self.hidden[cells], self.unchanged[cells])

    def changes(self, hidden: Booleans) -> Changes:
        """What is different in a publication that hides these cells."""
        return Changes(
            kept=int((self.hidden & hidden).sum()),
            published=int((self.hidden & ~hidden).sum()),
            added=int((hidden & ~self.hidden & self.there).sum()),
            new=int((~self.there).sum()),
            new_hidden=int((~self.there & hidden).sum()),
        )

    def known_sums(self, relations: Relations) -> Relations:
        """Sums of cells that were hidden then and are unchanged, and that readers know from then.

        Where a relation held then, too, and all of its cells without a value are unchanged, their
        sum follows from the others. A cell is also unchanged where all others of a relation are.

        Args:
            relations: The relations of the table.
        """
        parts: Relations = sparse.csr_array(abs(relations).sign())
        held = parts @ (~self.there).astype(np.float64) == 0
        same = self.unchanged & self.there
        while True:
            others = parts @ (~same).astype(np.float64)
            implied = held & (others == 1)
            found = (parts[implied].sum(axis=0) > 0) & ~same
            if not found.any():
                break
            same = same | found
        hidden = self.hidden & same
        # Then the sum of the hidden ones was the rest of the relation.
        blank = parts @ self.hidden.astype(np.float64)
        told = held & (blank > 0) & (blank == parts @ hidden.astype(np.float64))
        sums = sparse.csr_array(relations[told] @ sparse.diags_array(hidden.astype(np.float64)))
        sums.eliminate_zeros()
        return _without_repeats(sums)


def _without_repeats(rows: Relations) -> Relations:
    """Rows, each once, without those that are relations of nothing."""
    seen: dict[tuple[bytes, bytes], int] = {}
    for number in range(rows.shape[0]):
        entries = slice(rows.indptr[number], rows.indptr[number + 1])
        if entries.stop > entries.start:
            key = (rows.indices[entries].tobytes(), rows.data[entries].tobytes())
            seen.setdefault(key, number)
    return sparse.csr_array(rows[sorted(seen.values())])


def rhs_of(sums: Relations, value: Floats) -> Floats:
    """What sums add up to."""
    return np.asarray(sums @ value, np.float64)
