"""Finished tables in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tacit.errors import InputError
from tacit.io.argus.metadata import read_metadata
from tacit.io.argus.tables import TabFile, read_tab

METADATA = '<SEPARATOR> "{}"\na\n <RECODEABLE>\nv\n <NUMERIC>\ns\n <STATUS>\n'


def _read(folder: Path, text: str, separator: str = ";") -> TabFile:
    (folder / "x.rda").write_text(METADATA.format(separator))
    (folder / "x.tab").write_bytes(text.encode("cp1252"))
    return read_tab(folder / "x.tab", read_metadata(folder / "x.rda", tabular=True))


@pytest.mark.parametrize(
    "text",
    [
        'été;1,5;S\r\n" 2";-;E\r\n',
        '"été"; 1.5; S\n" 2"; ; E\n\n',
        "été;1.50;S;\n 2;.;E;\n",
    ],
)
def test_cells_are_read_whatever_their_form(tmp_path: Path, text: str) -> None:
    """Decimal commas, quotes, blanks and separators at the end are all the same."""
    found = _read(tmp_path, text)
    assert found.texts == {"a": ["été", "2"], "s": ["S", "E"]}
    assert np.array_equal(found.numbers["v"], [1.5, np.nan], equal_nan=True)
    assert found.lines == (1, 2)


def test_commas_between_entries(tmp_path: Path) -> None:
    """With commas between entries, numbers have points."""
    assert _read(tmp_path, "x,10.25,U\n", ",").numbers["v"].tolist() == [10.25]


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("a;1;S\nb;2\n", 2, "there are 2 entries"),
        ("a;1;S\nb;12x;S\n", 2, "variable v is not a number"),
        ("a;1_0;S\n", 1, "variable v is not a number"),
        ("a;inf;S\n", 1, "variable v is not a number"),
        ("\n", None, "no cells"),
    ],
)
def test_what_is_wrong_is_refused(tmp_path: Path, text: str, line: int | None, told: str) -> None:
    """The message names the line and shows no value."""
    with pytest.raises(InputError, match=told) as caught:
        _read(tmp_path, text)
    assert caught.value.line == line
    assert "12x" not in str(caught.value)
