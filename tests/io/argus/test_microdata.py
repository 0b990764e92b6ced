"""Records of fixed width and separated ones, in any code page and with any line ends."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.errors import InputError
from tacit.io.argus.metadata import read_metadata
from tacit.io.argus.microdata import MicrodataFile

FIXED = "région 1 2\n <RECODEABLE>\nfirm 3 3\n <HOLDING>\nturnover 6 6\n <NUMERIC>\nask 12 1\n"
FIXED += ' <REQUEST> "1" "2"\n'
SEPARATED = '<SEPARATOR> "{}"\nrégion 2\n <RECODEABLE>\nfirm 3\n <HOLDING>\nturnover 6\n'
SEPARATED += ' <NUMERIC>\nask 1\n <REQUEST> "1" "2"\n'
ROWS = [("é1", "abc", "12.5", "0"), ("2", "abc", "7", "1"), ("é1", "xy", "0.25", "2")]


def _tabulated(folder: Path, content: bytes, metadata: str) -> tacit.Table:
    (folder / "data.rda").write_bytes(metadata.encode("cp1252"))
    (folder / "data.asc").write_bytes(content)
    described = read_metadata(folder / "data.rda", tabular=False)
    with MicrodataFile(folder / "data.asc", described) as records:
        found = records.codes([described.variables["région"]])
        assert found == {"région": (" 2", "é1")}
        return tacit.tabulate(
            records.source(), {"région": None}, "turnover", holding="firm", request="ask"
        )


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r\r\n", "\r"])
@pytest.mark.parametrize("separator", [None, ",", ";", "\t"])
def test_records_are_read_whatever_their_form(
    tmp_path: Path, encoding: str, end: str, separator: str | None
) -> None:
    """The same records give the same table."""
    if separator is None:
        lines = [f"{a:>2}{b:<3}{c:>6}{d}" for a, b, c, d in ROWS]
    else:
        lines = [separator.join(row) for row in ROWS]
    content = (end.join(lines) + end).encode(encoding)
    metadata = FIXED if separator is None else SEPARATED.format(separator)
    table = _tabulated(tmp_path, content, metadata)
    assert table.value.tolist() == [19.75, 7.0, 12.75]
    assert table.holding_count is not None
    assert table.holding_count.tolist() == [2, 1, 2]
    assert table.requested is not None
    assert table.requested.tolist() == [2, 1, 1]


def test_quotes_decimal_commas_and_separators_at_the_end(tmp_path: Path) -> None:
    """Entries may be quoted, and a separator at the end of lines means nothing."""
    content = '"é1";abc;12,5;0;\n2;abc;7;1;\n"é1";"xy";0,25;2;\n'.encode()
    table = _tabulated(tmp_path, content, SEPARATED.format(";"))
    assert table.value.tolist() == [19.75, 7.0, 12.75]


def test_codes_are_aligned_wherever_they_stand_in_their_columns(tmp_path: Path) -> None:
    """A code at the left of its columns is the same as at the right."""
    content = "é1abc  12.50\n2 abc     71\né1xy   0.252\n".encode()
    assert _tabulated(tmp_path, content, FIXED).value.tolist() == [19.75, 7.0, 12.75]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"a;b\n", "there are 2 entries"),
        (b"a;b;1;0;x\n", "there are 5 entries"),
        (b"", "the file is empty"),
        (b"a;b;1;0\na;b;1;0;9\n", "entries, but the metadata describe 4"),
    ],
)
def test_records_of_another_form_are_refused(tmp_path: Path, content: bytes, told: str) -> None:
    """The message names file and line, and nothing that records report."""
    with pytest.raises(InputError, match=told) as caught:
        _tabulated(tmp_path, content, SEPARATED.format(";"))
    assert caught.value.path == tmp_path / "data.asc"


def test_numbers_that_are_none_are_refused(tmp_path: Path) -> None:
    """A blank is not zero."""
    with pytest.raises(tacit.MicrodataError, match="turnover"):
        _tabulated(tmp_path, "é1abc  12.50\n 2abc      1\n".encode(), FIXED)


def test_tables_agree_with_plain_python(tmp_path: Path) -> None:
    """Random records of fixed width add up as a loop adds them."""
    chance = random.Random(5)
    rows = [
        (f"{chance.randint(1, 12):>2}", f"{chance.randint(1, 9):>3}", chance.randint(0, 99999))
        for _ in range(500)
    ]
    content = "".join(f"{a}{b}{c:>6}0\n" for a, b, c in rows).encode()
    (tmp_path / "data.rda").write_text(FIXED.replace("é", "e"))
    (tmp_path / "data.asc").write_bytes(content)
    described = read_metadata(tmp_path / "data.rda", tabular=False)
    with MicrodataFile(tmp_path / "data.asc", described) as records:
        by: dict[str, tacit.Hierarchy | None] = {"region": None}
        table = tacit.tabulate(records.source(), by, "turnover")
    for code, value in zip(table.codes("region"), table.value, strict=True):
        expected = sum(c for a, _, c in rows if code in (a, "Total"))
        assert np.isclose(value, expected)
