"""Pictures of circuits."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

import tacit
from tests.report.releases import small_release

SVG = "{http://www.w3.org/2000/svg}"


def _secondary(release: tacit.Release) -> int:
    problem = release.papers.problem
    hidden = release.papers.outcome.suppressed.tolist()
    return int(next(cell for cell in hidden if not problem.is_sensitive[cell]))


def test_every_cell_of_the_circuit_is_drawn() -> None:
    """There is a box with a title for each cell, and a ring through all of them."""
    told = small_release().explain(_secondary(small_release()))
    picture = told.picture()
    assert picture.confidential
    root = ElementTree.fromstring(picture.svg)
    circuit = told.circuits[0].circuit
    assert circuit is not None
    titles = [each.text for each in root.iterfind(f"{SVG}rect/{SVG}title")]
    assert len(titles) == len(circuit.cells)
    assert all(re.search(r"(rises|falls)$", str(title)) for title in titles)
    assert root.find(f"{SVG}path") is not None
    assert picture.numbers is not None
    assert len(picture.numbers.rows) == len(circuit.cells)


def test_a_table_without_codes_is_drawn_by_relations() -> None:
    """Rows are relations then, and a cell stands in each of its own."""
    example = tacit.examples.get("003-figure-11")
    assert example.suppressed is not None
    problem = example.problem.replace(labels=None)
    cell = next(c for c in example.suppressed.nonzero()[0] if not problem.is_sensitive[c])
    told = tacit.explain(problem, example.suppressed, int(cell))
    sketch = told.circuits[0].sketch
    assert sketch is not None
    assert all(row.startswith("parts of cell") or " = " in row for row in sketch.rows)
    assert len(sketch.entries) == 2 * len(sketch.rows)
    ElementTree.fromstring(told.picture().svg)


def test_without_a_circuit_there_is_nothing_to_draw() -> None:
    """A published cell has none."""
    release = small_release()
    with pytest.raises(tacit.InputError, match="there is no circuit 0 to draw"):
        release.explain(0).picture()
