"""Flags and marks: how readers see how cells are published."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.errors import InputError
from tacit.release.flags import flag_columns, flag_meanings
from tacit.release.marks import cell_texts, decimals, legend, mark_column, number_texts
from tests.release.tables import HIDDEN, TABLE, intervals, mask, published


def test_readers_are_not_told_which_cells_are_primary() -> None:
    """All cells without a value have the same flags, unless requested otherwise."""
    hidden = mask(*HIDDEN)
    for flags in ("status", "sdmx"):
        for column in flag_columns(published(), flags).values():
            assert len(set(column[hidden].tolist())) == 1
            assert not set(column[hidden].tolist()) & set(column[~hidden].tolist())
    assert published().primary is None


def test_sdmx_codes() -> None:
    """F and A for values, N and Q for others, C and D with `tell_primary`."""
    hidden, primary = mask(*HIDDEN), mask(HIDDEN[0])
    columns = flag_columns(published(), "sdmx")
    assert list(columns) == ["CONF_STATUS", "OBS_STATUS"]
    assert columns["CONF_STATUS"].tolist() == ["N" if cell else "F" for cell in hidden]
    assert columns["OBS_STATUS"].tolist() == ["Q" if cell else "A" for cell in hidden]
    told = flag_columns(published(primary=True), "sdmx")["CONF_STATUS"]
    assert told[primary].tolist() == ["C"]
    assert told[hidden & ~primary].tolist() == ["D"] * 3
    assert set(told[~hidden].tolist()) == {"F"}
    meanings = dict(flag_meanings(flag_columns(published(primary=True), "sdmx")))
    assert meanings["CONF_STATUS D"].startswith("secondary confidentiality")
    assert len(meanings) == 5


def test_statuses_and_none() -> None:
    """The words of tacit are one column, and a second one with `tell_primary`."""
    assert list(flag_columns(published(), "none")) == []
    columns = flag_columns(published(primary=True), "status")
    assert columns["confidentiality"][mask(HIDDEN[0])].tolist() == ["primary"]
    assert columns["confidentiality"][mask(HIDDEN[1])].tolist() == ["secondary"]
    assert set(columns["confidentiality"][~mask(*HIDDEN)].tolist()) == {""}
    with pytest.raises(InputError, match="there are no flags 'sdm'; did you mean 'sdmx'"):
        flag_columns(published(), "sdm")  # type: ignore[arg-type]  # what users may write
    assert "CONF_STATUS" in published().to_frame("dict", flags="sdmx")


def test_marks_stand_for_suppressed_cells_only() -> None:
    """One mark for all, or two with `tell_primary`."""
    hidden = mask(*HIDDEN)
    assert mark_column(published(), "c").tolist() == ["c" if cell else "" for cell in hidden]
    two = {"primary": "c", "secondary": "..."}
    marks = mark_column(published(primary=True), two)
    assert marks[mask(HIDDEN[0])].tolist() == ["c"]
    assert marks[mask(HIDDEN[3])].tolist() == ["..."]
    with pytest.raises(InputError, match="which cells are primary is not told"):
        mark_column(published(), two)
    with pytest.raises(InputError, match="two texts under 'primary' and 'secondary'"):
        mark_column(published(), {"first": "x"})


def test_cells_as_texts() -> None:
    """Values, intervals with one end or two, and marks."""
    texts = np.array(cell_texts(intervals(), "c", between=".."))
    assert texts[mask(HIDDEN[0])].tolist() == ["1000..1250.25"]
    assert texts[mask(HIDDEN[1])].tolist() == ["≥2000"]
    assert texts[mask(HIDDEN[2])].tolist() == ["c"]
    assert texts[mask(("A", "N"))].tolist() == ["4444.5"]
    same = np.array(cell_texts(intervals(), grouping=" ", same_decimals=True))
    assert same[mask(HIDDEN[0])].tolist() == ["1 000.0–1 250.3"]
    assert same[mask(HIDDEN[3])].tolist() == ["4 040.0"]


def test_decimals_are_those_of_the_published_numbers() -> None:
    """A hidden cell with more decimals than others does not show in how they are written."""
    assert decimals(published()) == 1
    assert decimals(intervals()) == 1
    ends = intervals()
    assert decimals(ends.replace(value=np.full(ends.cell_count, np.nan))) == 2
    value = TABLE.value.copy()
    value[mask(HIDDEN[0])] += 0.125
    finer = published(tacit.Suppression(mask(*HIDDEN)), table=TABLE.replace(value=value))
    assert decimals(finer) == 1
    assert decimals(published(tacit.Values(TABLE.value / 3))) is None
    assert number_texts(np.array([-0.0, 1234567.25]), 1, " ") == ["0.0", "1 234 567.2"]
    low, high = np.array([0.3, 1.25, -1.25]), np.array([0.3, 1.25, -1.25])
    assert number_texts(low, 1, to="down") == ["0.3", "1.2", "-1.3"]
    assert number_texts(high, 1, to="up") == ["0.3", "1.3", "-1.2"]


def test_the_legend_names_what_occurs() -> None:
    """Marks, intervals and changed values are explained where there are any."""
    assert legend(published(), "c") == [("c", "not published, to protect respondents")]
    assert [mark for mark, _ in legend(intervals(), "c")] == ["c", "a–b"]
    altered = legend(published(tacit.Values(TABLE.value + 1)))
    assert altered == [("values", "may differ from the true ones, to protect respondents")]
    told = legend(published(tacit.Values(TABLE.value, radius=np.full(TABLE.cell_count, 5.0))))
    assert told[0][1].startswith("may differ from the true ones by up to 5,")
    two = legend(published(primary=True), {"primary": "c", "secondary": "s"})
    assert [mark for mark, _ in two] == ["c", "s"]
    assert legend(published(tacit.Suppression(mask()))) == []
