"""The report on a table of a tau-ARGUS job."""

from __future__ import annotations

import re
import stat
from html import unescape
from pathlib import Path

import pytest

from tacit.errors import InputError
from tacit.io.argus.sheet import Described
from tacit.report import write_argus_report
from tests.io.argus.releases import rounded_release, small_release


def _cells(text: str) -> list[list[str]]:
    """The rows of all tables of a page, as texts."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", text, re.S)
    return [
        [unescape(re.sub(r"<[^>]+>", "", cell)) for cell in re.findall(r"<t[hd].*?</t[hd]>", row)]
        for row in rows
    ]


def test_cells_are_counted_by_status(tmp_path: Path) -> None:
    """For each status there are cells, contributors, values and costs, and sums of all."""
    path = write_argus_report(
        small_release(),
        tmp_path / "out.confidential.html",
        specification={"safety rule": "P(15,1)|FREQ(2,15)", "suppression": "OPT(1,1) <&>"},
        files=[Path("/elsewhere/out.txt")],
        described=Described(response="Var2"),
    )
    rows = _cells(path.read_text())
    assert ["explanatory variables", "Size and Region"] in rows
    assert ["suppression", "OPT(1,1) <&>"] in rows
    assert ["written", "out.txt"] in rows
    assert ["status", "cells", "contributors", "value", "cost"] in rows
    counts = {row[0]: row[1] for row in rows if len(row) == 5}
    hidden = int(small_release().published.is_hidden.sum())
    assert counts["3 unsafe"] == "5"
    assert int(counts["11 secondary"]) == hidden - 5
    assert int(counts["14 empty"]) == 8
    assert counts["all"] == "30"
    assert int(counts["1 safe"]) == 30 - 8 - hidden


def test_it_is_confidential(tmp_path: Path) -> None:
    """The name and the first line say so, and only the owner can read it."""
    with pytest.raises(InputError, match="its name must say so"):
        write_argus_report(small_release(), tmp_path / "out.html")
    path = write_argus_report(rounded_release(), tmp_path / "out.confidential.html")
    assert "CONFIDENTIAL" in path.read_text().splitlines()[0]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert _cells(path.read_text())
