"""Methods side by side."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

import tacit
from tacit.report import ComparedMethod, comparison_report, risk_and_utility
from tests.report.markup import Outline, references

SUPPRESS = ComparedMethod(
    method="suppress",
    algorithm="auto",
    status="optimal",
    seconds=1.25,
    cells=100,
    gap=0.0,
    suppressed=12,
    exposed=0.0,
    deducible_width=0.8,
    utility_loss=0.12,
)
ROWS = (
    SUPPRESS,
    replace(
        SUPPRESS,
        method="intervals",
        suppressed=0,
        spread=14,
        sum_width=123.0,
        mean_width=0.3,
        deducible_width=0.4,
        utility_loss=0.05,
    ),
    replace(
        SUPPRESS,
        method="adjust",
        suppressed=0,
        changed=30,
        mean_deviation=0.02,
        max_deviation=0.1,
        deducible_width=math.inf,
        utility_loss=0.02,
    ),
    ComparedMethod(
        method="round",
        algorithm="auto",
        status="infeasible",
        seconds=0.1,
        cells=100,
        note="no rounding <exists>",
    ),
)


def test_a_page_with_picture_and_numbers(tmp_path: Path) -> None:
    """All methods are in the table, those with an outcome in the picture, with notes."""
    path = comparison_report(ROWS, tmp_path / "c.html", table="targus.jj")
    page = path.read_text()
    outline = Outline.of(page)
    assert references(page) == []
    assert outline.headings[0][1] == "Ways to protect targus.jj"
    assert "not for publication" in page.splitlines()[0]
    text = " ".join(outline.text)
    for told in ("12 (12.0%)", "14 (14.0%)", "30 (30.0%)", "unlimited", "no rounding <exists>"):
        assert told in text


def test_the_picture_leaves_out_methods_without_an_outcome() -> None:
    """A mark per method, of different shapes, with its name beside it."""
    picture = risk_and_utility(ROWS)
    assert picture.svg.count("<circle") + picture.svg.count("<polygon") == 3
    assert ">adjust<" in picture.svg
    assert ">round<" not in picture.svg
    assert "adjust loses least" in picture.description


def test_unsafe_outcomes_are_named() -> None:
    """A method that leaves cells exposed is marked in words as well as by colour."""
    assert "suppress, not safe" in risk_and_utility([replace(SUPPRESS, exposed=0.5)]).svg


def test_two_algorithms_of_a_method_are_told_apart() -> None:
    """Where a method occurs twice, its algorithm is named."""
    picture = risk_and_utility([SUPPRESS, replace(SUPPRESS, algorithm="hypercube")])
    assert ">suppress (hypercube)<" in picture.svg


def test_nothing_to_compare(tmp_path: Path) -> None:
    """No methods are refused; methods without any outcome make a page without a picture."""
    with pytest.raises(tacit.InputError, match="no methods"):
        comparison_report([], tmp_path / "c.html")
    with pytest.raises(tacit.InputError, match="allow more time"):
        risk_and_utility(ROWS[3:])
    page = comparison_report(ROWS[3:], tmp_path / "c.html").read_text()
    assert "<svg" not in page
