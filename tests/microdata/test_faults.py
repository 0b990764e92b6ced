"""What is wrong with records is reported without telling what they report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit.microdata import Fault, Finding, MicrodataError, TabulationReport, tabulate
from tests.microdata.obvious import BY, assert_same_tables

GOOD: dict[str, list[Any]] = {
    "region": ["N1a", "South", "N2"],
    "industry": ["01", "02", "11"],
    "firm": ["f", "g", "f"],
    "turnover": ["5", "6", "7.5"],
    "weight": ["1", "2", "1"],
    "asks": ["no", "yes", ""],
}
OPTIONS: dict[str, Any] = {"contributor": "firm", "weight": "weight", "request": "asks"}
DROP: dict[str, Any] = {"unknown": "drop", "missing": "drop", "unreadable": "drop"}


def with_row(**changes: Any) -> dict[str, list[Any]]:
    """The good records and one more."""
    row = {name: column[0] for name, column in GOOD.items()} | changes
    return {name: [*column, row[name]] for name, column in GOOD.items()}


FAULTS = [
    ({"region": "N9"}, Finding("region", Fault.UNKNOWN_CODE, 1, ("N9",)), "unknown"),
    ({"region": "North"}, Finding("region", Fault.INNER_CODE, 1, ("North",)), "unknown"),
    ({"region": "Total"}, Finding("region", Fault.INNER_CODE, 1, ("Total",)), "unknown"),
    ({"region": None}, Finding("region", Fault.MISSING, 1), "missing"),
    ({"region": ""}, Finding("region", Fault.MISSING, 1), "missing"),
    ({"firm": None}, Finding("firm", Fault.MISSING, 1), "missing"),
    ({"turnover": None}, Finding("turnover", Fault.MISSING, 1), "missing"),
    ({"turnover": " "}, Finding("turnover", Fault.MISSING, 1), "missing"),
    ({"turnover": "NaN"}, Finding("turnover", Fault.MISSING, 1), "missing"),
    (
        {"turnover": "n/a"},
        Finding(
            "turnover",
            Fault.NOT_A_NUMBER,
            1,
            ("n/a",),
            cause="a mark in place of a figure: leave it empty where there is none",
        ),
        "unreadable",
    ),
    (
        {"turnover": "9,871"},
        Finding(
            "turnover",
            Fault.NOT_A_NUMBER,
            1,
            ("#,#",),
            cause="a comma that separates thousands, or a decimal comma: "
            'write thousands = "," if it separates thousands',
        ),
        "unreadable",
    ),
    (
        {"turnover": "9_871"},
        Finding(
            "turnover",
            Fault.NOT_A_NUMBER,
            1,
            ("#_#",),
            cause="an underscore between digits: remove it",
        ),
        "unreadable",
    ),
    (
        {"turnover": "inf"},
        Finding(
            "turnover", Fault.NOT_A_NUMBER, 1, ("inf",), cause="an infinite number: correct it"
        ),
        "unreadable",
    ),
    ({"weight": None}, Finding("weight", Fault.MISSING, 1), "missing"),
    ({"weight": "-1"}, Finding("weight", Fault.NEGATIVE_WEIGHT, 1), "unreadable"),
    ({"asks": "maybe"}, Finding("asks", Fault.NOT_A_FLAG, 1, ("maybe",)), "unreadable"),
]


@pytest.mark.parametrize(("changes", "finding", "policy"), FAULTS)
def test_faults_are_refused_or_dropped(
    changes: dict[str, Any], finding: Finding, policy: str
) -> None:
    """Each fault is named with its column and examples, and left out where the user says so."""
    data = with_row(**changes)
    told: list[TabulationReport] = []
    with pytest.raises(MicrodataError, match=f"{finding.column}: {finding.fault}") as caught:
        tabulate(data, BY, "turnover", report=told.append, **OPTIONS)
    assert f"{policy}='drop'" in str(caught.value)
    assert caught.value.report == told[0]
    assert told[0].findings == (finding,)
    assert told[0].tabulated == {}
    others = {name: how for name, how in DROP.items() if name != policy}
    with pytest.raises(MicrodataError):
        tabulate(data, BY, "turnover", **OPTIONS, **others)
    dropping: dict[str, Any] = {policy: "drop"}
    table = tabulate(data, BY, "turnover", report=told.append, **OPTIONS, **dropping)
    assert told[-1] == TabulationReport(4, {"turnover": 3}, (finding,))
    assert_same_tables(table, tabulate(GOOD, BY, "turnover", **OPTIONS))


def test_reports_count_and_sum_up() -> None:
    """Faults are counted, the most frequent examples come first, the summary has a line each."""
    data = {"r": ["a", "b", "b", "c", None, "x"], "v": [1, 2, 3, 4, 5, None]}
    hierarchy = BY["region"].flat(["x"])
    told: list[TabulationReport] = []
    with pytest.raises(MicrodataError, match="no records are left to tabulate v"):
        tabulate(data, {"r": hierarchy}, "v", report=told.append, **DROP)
    assert told[0].findings == (
        Finding("r", Fault.UNKNOWN_CODE, 4, ("b", "a", "c")),
        Finding("r", Fault.MISSING, 1),
        Finding("v", Fault.MISSING, 1),
    )
    assert told[0].summary().splitlines() == [
        "6 records read",
        "v: 0 records tabulated, 6 dropped",
        "r: unknown code in 4 records (b, a, c)",
        "r: missing in 1 record",
        "v: missing in 1 record",
    ]
    with pytest.raises(MicrodataError, match="no records are left"):
        tabulate({"r": ["a"], "v": [1]}, {"r": hierarchy}, "v", **DROP)


def test_clean_records_are_reported_too() -> None:
    """A report comes with every table."""
    told: list[TabulationReport] = []
    tabulate(GOOD, BY, "turnover", report=told.append)
    assert told == [TabulationReport(3, {"turnover": 3})]


def test_a_value_at_fault_leaves_other_values_alone() -> None:
    """With several values, a record is left out only where its own value is at fault."""
    data = {"r": ["x", "x", "y"], "a": [1.0, np.nan, 3.0], "b": [4.0, 5.0, np.inf]}
    told: list[TabulationReport] = []
    tables = tabulate(pd.DataFrame(data), {"r": None}, ["a", "b"], report=told.append, **DROP)
    assert tables["a"].value.tolist() == [4, 1, 3]
    assert tables["b"].value.tolist() == [9, 9]
    assert tables["b"].codes("r").tolist() == ["Total", "x"]
    assert told[0].tabulated == {"a": 2, "b": 2}


def test_records_at_fault_still_speak_for_their_contributor() -> None:
    """A dropped record may be the one that names the holding, or asks for protection."""
    data = {
        "r": ["x", "?", "x"],
        "f": ["f", "f", "g"],
        "h": [None, "h", "h"],
        "q": [False, True, False],
        "v": [1, 2, 3],
    }
    table = tabulate(
        data,
        {"r": BY["region"].flat(["x"])},
        "v",
        contributor="f",
        holding="h",
        request="q",
        unknown="drop",
    )
    assert table.holding_count is not None
    assert table.holding_count.tolist() == [1, 1]
    assert table.requested is not None
    assert table.requested.tolist() == [1, 1]


def test_messages_do_not_tell_values() -> None:
    """No number of a record occurs in a message or report."""
    data = with_row(turnover="987123,50", weight="-456")
    with pytest.raises(MicrodataError) as caught:
        tabulate(data, BY, "turnover", **OPTIONS)
    for text in (str(caught.value), caught.value.report.summary()):
        assert "987123" not in text
        assert "456" not in text
