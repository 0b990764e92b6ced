"""Metadata of fixed and separated microdata and of finished tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.errors import InputError
from tacit.io.argus.metadata import Metadata, read_metadata


def _read(folder: Path, text: str, *, tabular: bool = False) -> Metadata:
    path = folder / "data.rda"
    path.write_bytes(text.encode("cp1252"))
    return read_metadata(path, tabular=tabular)


def test_fixed_width(tmp_path: Path) -> None:
    """Variables have a first column, a width and codes for missing values."""
    found = _read(
        tmp_path,
        "Size 9 2 99 \n  <RECODEABLE>\n  <TOTCODE> Ensemble\n  <DISTANCE> 1 2 3\n"
        "Activité 11 5 99999 00000\n  <RECODABLE>\n  <HIERARCHICAL>\n  <HIERLEVELS> 3 1 1 0 0\n"
        "Wgt 16 4\n  <DECIMALS> 1\n  <WEIGHT>\n"
        'Request 20 1\n  <REQUEST> "1" "2"\nHold 21 3\n <HOLDING>\n',
    )
    size, activity = found.variables["Size"], found.variables["Activité"]
    assert found.separator is None
    assert (size.start, size.width, size.missing) == (9, 2, ("99",))
    assert (size.total, size.distance, size.is_explanatory) == ("Ensemble", (1, 2, 3), True)
    assert activity.missing == ("99999", "00000")
    assert (activity.levels, activity.is_hierarchical) == ((3, 1, 1), True)
    assert found.variables["Wgt"].is_weight
    assert found.variables["Request"].requests == ("1", "2")
    assert found.the_one(lambda variable: variable.is_holding) == found.variables["Hold"]
    assert found.variable("SIZE") == size
    assert found.variable("size2") is None


def test_separated(tmp_path: Path) -> None:
    """The separator stands in the first line; variables have a width and quotes are optional."""
    found = _read(
        tmp_path,
        '<SEPARATOR> ";"\nregion 1\n  <RECODEABLE>\n  <HIERCODELIST> r.hrc\n  <HIERLEADSTRING> @\n'
        "turnover 8 99999999\n <NUMERIC> <DECIMALS> 2\n",
    )
    region, turnover = found.variables.values()
    assert (found.separator, region.start, region.width) == (";", None, 1)
    assert (region.hierarchy, region.lead, region.is_hierarchical) == ("r.hrc", "@", True)
    assert (turnover.is_numeric, turnover.decimals) == (True, 2)


def test_finished_tables(tmp_path: Path) -> None:
    """What stands behind a name is a missing value, and letters of statuses can be chosen."""
    found = _read(
        tmp_path,
        '   <SEPARATOR> ","\n<SAFE> "s"\n<UNSAFE> "X"\n<PROTECT> "Z"\nSize "99"\n <RECODEABLE>\n'
        "Var2\n <NUMERIC>\nf\n <FREQUENCY>\nt\n <MAXSCORE>\nst\n <STATUS>\n"
        "a\n <NUMERIC> <SHADOW>\nb\n <NUMERIC> <COSTVAR>\nl\n <NUMERIC> <LOWERPL>\n"
        "u\n <NUMERIC> <UPPERPL>\n",
        tabular=True,
    )
    assert (found.separator, found.safe, found.unsafe, found.protect) == (",", "s", "X", "Z")
    assert found.variables["Size"].missing == ("99",)
    assert found.variables["Size"].width is None
    roles = ("is_frequency", "is_top", "is_status", "is_shadow", "is_cost", "is_lower_level")
    for name, role in zip(("f", "t", "st", "a", "b", "l"), roles, strict=True):
        assert getattr(found.variables[name], role)
        assert not getattr(found.variables["Var2"], role)


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("<SPSS>\n", 1, "SPSS files are not read"),
        ("a 1 2\nA 3 1\n", 2, "described twice"),
        ("a 1\n", 1, "needs its first column and its width"),
        ("a x 2\n", 1, "the first column is 'x'"),
        ("a 1 0\n", 1, "the width is '0'"),
        ("a 1 2 3 4 5\n", 1, "codes for missing values"),
        ("<NUMERIC>\n", 1, "stands before the first variable"),
        ("a 1 2\n<NUMERICAL>\n", 2, "did you mean 'NUMERIC'?"),
        ("a 1 2\n<\n", 2, "a key stands in < and >"),
        ('a 1 2\n<SEPARATOR> ";"\n', 2, "before the first variable"),
        ('<SEPARATOR> ";;"\na 1\n', 1, "one character"),
        ("a 1 5\n <HIERLEVELS> 3 1\n", 1, "adds up to 4"),
        ("a 1 2\n <HIERLEVELS> 0 0\n", 2, "gives no level"),
        ("a 1 2\n <HIERARCHICAL>\n", 1, "say how with"),
        ('a 1 2\n <HIERLEVELS> 1 1\n <HIERCODELIST> "x"\n', 1, "leave out one"),
        ("a 1 2\n <DECIMALS> x\n", 2, "DECIMALS is 'x'"),
        ("a 1 2\n <HIERCODELIST>\n", 2, "nothing stands behind"),
        ('a 1 2\n <REQUEST> "1" "2" "3"\n', 2, "two codes at most"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, told: str
) -> None:
    """The message names file and line."""
    with pytest.raises(InputError) as caught:
        _read(tmp_path, text)
    assert (caught.value.line, caught.value.path) == (line, tmp_path / "data.rda")
    assert told in str(caught.value)


def test_metadata_without_variables_are_refused(tmp_path: Path) -> None:
    """An empty file describes nothing."""
    with pytest.raises(InputError, match="no variable is described"):
        _read(tmp_path, "\n")
