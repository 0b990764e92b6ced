"""A priori files: what can be decided about which cells, and what is passed over."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.errors import InputError
from tacit.table import CellStatus, Table
from tests.jobs.argus.small_jobs import Office


def _applied(office: Office, text: str, switches: str = "0,1") -> Table:
    (office.folder / "a.hst").write_text(text)
    office.run(f'<APRIORI> "A.hst",1,",",{switches}', rules="FREQ(9,20)|MAN(15)")
    return office.heard.tables[1]


def _cell(table: Table, region: str, size: str) -> int:
    chosen = (table.codes("region") == region) & (table.codes("size") == size)
    return int(np.flatnonzero(chosen)[0])


def test_every_command_does_what_it_says(office: Office) -> None:
    """Safe, sensitive, published, suppressed, costs and levels."""
    office.run(rules="FREQ(9,20)|MAN(15)")
    before = office.heard.tables[1]
    sensitive = _cell(before, "99", "Total")
    assert before.is_sensitive[sensitive]
    table = _applied(
        office,
        "99,,s\nNo,1,U\nSo,Total,p\n10,2,M\n1,3,ml\n2,4,c,77\nNo,2,u\nNo,2,PL,3,5\n",
    )
    assert table.status[sensitive] == CellStatus.SAFE
    assert table.overridden[sensitive]
    by_hand = _cell(table, "No", "1")
    assert table.is_sensitive[by_hand]
    assert table.upper_level is not None
    assert table.lower_level is not None
    assert np.isclose(table.upper_level[by_hand], 0.15 * table.value[by_hand])
    assert table.status[_cell(table, "So", "Total")] == CellStatus.PUBLISH
    assert table.weight is not None
    assert table.weight[_cell(table, " 2", "4")] == 77
    levels = _cell(table, "No", "2")
    assert (table.lower_level[levels], table.upper_level[levels]) == (3, 5)
    for region, size in (("10", "2"), (" 1", "3")):
        assert table.is_sensitive[_cell(table, region, size)]
        assert table.reason is not None
        assert table.reason[_cell(table, region, size)] == "secondary by hand"


def test_cells_decided_by_hand_are_published_as_decided(office: Office) -> None:
    """Suppressed cells are without a value, those to be published have one."""
    (office.folder / "a.hst").write_text("10,2,M\nSo,,P\n")
    (release,) = office.run('<APRIORI> "a.hst",1,","', "<SUPPRESS> OPT(1,1)")
    table = release.papers.table
    assert table is not None
    hidden = release.published.is_hidden
    assert hidden[_cell(table, "10", "2")]
    assert not hidden[_cell(table, "So", "Total")]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("99,Total,p", "is sensitive"),
        ("99,Total,m", "is sensitive"),
        ("No,1,PL,1,1", "is safe"),
        ("XX,1,u", "no code 'XX'"),
        ("No,1,AB,1,1", "does nothing"),
        ("No,1", "write 2 codes and a command"),
    ],
)
def test_what_cannot_be_decided(office: Office, line: str, told: str) -> None:
    """It is refused with its line, or passed over where errors are ignored, and then said."""
    with pytest.raises(InputError, match=told) as caught:
        _applied(office, f"No,2,u\n{line}\n")
    assert "a.hst:2" in str(caught.value)
    table = _applied(office, f"No,2,u\n{line}\n", "1,1")
    assert table.is_sensitive[_cell(table, "No", "2")]
    assert any("1 line could not be applied" in note for note in office.heard.notes)


def test_cells_that_are_equal_are_decided_together(office: Office) -> None:
    """A code with a single one below it has the same cells, if trivial levels are expanded."""
    (office.folder / "region.hrc").write_text("No\n@ 1\n@ 2\nSo\n@ 3\n@X\n@@10\n")
    for switches, together in (("0,1", True), ("0,0", False)):
        table = _applied(office, "10,1,u\n", switches)
        assert table.is_sensitive[_cell(table, "10", "1")]
        assert table.is_sensitive[_cell(table, "X", "1")] == together


def test_recoding_after_decisions_is_refused(office: Office) -> None:
    """The table would be made anew, and decisions would be lost."""
    (office.folder / "a.hst").write_text("No,1,u\n")
    with pytest.raises(InputError, match="recode first"):
        office.run('<APRIORI> "a.hst",1,","', "<RECODE> 1,region,1")
