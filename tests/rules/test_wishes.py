"""Wishes in words: what must be published, what never is, what cells cost, what is known."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import InputError, Manual, MinFrequency, TableError
from tacit.rules import from_mapping
from tacit.rules.wishes import SYNONYMS
from tacit.table import Table


@pytest.fixture
def table() -> Table:
    """Two regions and two sexes; one cell has a single contributor."""
    return Table.from_frame(
        {
            "region": ["N", "N", "S", "S"],
            "sex": ["f", "m", "f", "m"],
            "value": [10, 20, 30, 40],
            "count": [1, 5, 6, 7],
        },
        {"region": None, "sex": None},
        count="count",
    )


def named(table: Table, cells: object) -> list[str]:
    """The names of some cells."""
    return [table.labels[cell] for cell in np.flatnonzero(np.asarray(cells)).tolist()]


def test_what_must_be_published_and_what_never_is(table: Table) -> None:
    """Wishes set statuses of all cells that they stand for."""
    judged = table.apply(Manual(["region=S, sex=*: must be published", "sex=m: never publish"]))
    assert named(judged, judged.problem().must_publish) == [
        "region=S, sex=Total",
        "region=S, sex=f",
        "region=S, sex=m",
    ]
    assert named(judged, judged.is_sensitive) == ["region=Total, sex=m"]
    problem = judged.problem()
    assert problem.lower_level.tolist() == problem.upper_level.tolist() == [1.0]


def test_all_words_for_the_same(table: Table) -> None:
    """Other words give the same statuses as the word that they stand for."""
    for word, plain in SYNONYMS.items():
        first, second = (table.apply(Manual([f"region=S: {each}"])) for each in (word, plain))
        assert first.status.tolist() == second.status.tolist()
        assert np.array_equal(first.problem().must_publish, second.problem().must_publish)
    assert table.apply(Manual(["region=S: Already  Known"])).problem().must_publish.sum() == 1


def test_a_named_cell_counts_more_than_a_pattern_and_the_last_wish_more_than_others(
    table: Table,
) -> None:
    """Of several wishes for a cell the one that names it holds, whatever the order."""
    wishes = ["region=S, sex=f: safe", "region=S, sex=*: publish", "region level 1, sex=m: safe"]
    for order in (wishes, [wishes[1], wishes[0], wishes[2]]):
        judged = table.apply(Manual(order))
        assert named(judged, judged.problem().must_publish) == ["region=S, sex=Total"]
    with pytest.raises(TableError, match=r"marked more than once: \(region=S, sex=f\)"):
        table.apply(Manual(["region=S, sex=f: safe", "sex=f, region=S: publish"]))


def test_a_sensitive_cell_cannot_be_wished_published_by_a_pattern(table: Table) -> None:
    """The cell and its rule are named; `publish unless sensitive` leaves it out."""
    with pytest.raises(TableError, match=r"\(region=N, sex=f\) by minimum frequency"):
        table.apply(MinFrequency(3), Manual(["region=N, sex=*: publish"]))
    for rules in (
        (MinFrequency(3), Manual(["region=N, sex=*: publish unless sensitive"])),
        (Manual(["region=N, sex=*: publish if safe"]), MinFrequency(3)),
    ):
        judged = table.apply(*rules)
        assert named(judged, judged.is_sensitive) == ["region=N, sex=f"]
        assert named(judged, judged.problem().must_publish) == [
            "region=N, sex=Total",
            "region=N, sex=m",
        ]


def test_weights_and_factors(table: Table) -> None:
    """Weights replace and factors multiply what a cell costs otherwise, sensitive cells apart."""
    wishes = Manual(["region=S, sex=*: factor 0.5", "region=S, sex=m: weight 3", "sex=f: weight 0"])
    judged = table.apply(MinFrequency(3), wishes)
    assert judged.problem().weight.tolist() == [100, 0, 60, 30, 10, 20, 35, 15, 1.5]
    units = table.apply(wishes, weight="unit")
    assert units.problem().weight.tolist() == [1, 0, 1, 1, 1, 1, 0.5, 0.5, 1.5]
    cheap = table.apply(MinFrequency(3), Manual(["*: factor 0.1"]))
    assert cheap.problem().weight[4] == 10, "every pattern pays for what is sensitive"


def test_bounds_by_marks(table: Table) -> None:
    """What attackers know of chosen cells is added to what they know otherwise."""
    wishes = [
        "region leaves, sex=f: at most 50",
        "region=S, sex=f: within 10%",
        "sex=m: at least 5",
    ]
    problem = table.apply(Manual(wishes)).problem()
    assert problem.upper.tolist() == [np.inf] * 4 + [50, np.inf, np.inf, 33, np.inf]
    assert problem.lower.tolist() == [0, 0, 5, 0, 0, 0, 0, 27, 0]
    with pytest.raises(
        TableError, match=r"bound that the value does not meet: \(region=S, sex=m\)"
    ):
        table.apply(Manual(["region=S, sex=m: at most 39"]))


def test_patterns_in_columns(table: Table) -> None:
    """Frames and files have the same patterns, words and numbers in their columns."""
    marks = {
        "region": ["level 1", "S", "*"],
        "sex": ["*", "f", "m"],
        "status": ["publish unless sensitive", "suppress", ""],
        "factor": [np.nan, np.nan, 2.0],
    }
    judged = table.apply(MinFrequency(3), Manual(marks))
    assert named(judged, judged.is_sensitive) == ["region=N, sex=f", "region=S, sex=f"]
    assert named(judged, judged.problem().must_publish) == [
        "region=N, sex=Total",
        "region=N, sex=m",
        "region=S, sex=Total",
        "region=S, sex=m",
    ]
    assert judged.problem().weight.tolist() == [100, 40, 120, 30, 10, 40, 70, 30, 80]


def test_empty_cells_are_not_hidden_by_a_pattern() -> None:
    """Everybody knows them; named by its codes such a cell is sensitive as it is wished."""
    frame = {"region": ["N", "S", "W"], "value": [4, 0, 5], "count": [3, 0, 4]}
    table = Table.from_frame(frame, {"region": None}, count="count")
    judged = table.apply(Manual(["region leaves: suppress"]))
    assert named(judged, judged.is_sensitive) == ["region=N", "region=W"]
    assert table.apply(Manual(["region=S: suppress"])).is_sensitive[2]


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ("region=S", "'region=S' is not a wish; write cells, a colon and what is wished"),
        ("region=S: publsh", "'publsh' cannot be wished; did you mean 'publish'"),
        ("region=S: weight many", "'weight many' cannot be wished"),
        ("region=S: factor -1", r"factor is negative or infinite: \(region=S, sex=Total\)"),
        ("region=W: publish", r"there is no such cell: \(region=W, sex=Total\)"),
        ("region=W, sex=*: publish", "dimension region has no code 'W'"),
        ("region level 2: publish", "dimension region has no level 2"),
    ],
)
def test_wishes_that_are_not_understood(table: Table, wish: str, message: str) -> None:
    """What is wrong is named together with what there is."""
    with pytest.raises(TableError, match=message):
        table.apply(Manual([wish]))


def test_wishes_must_be_texts() -> None:
    """A list holds texts; jobs give it like any other parameter."""
    with pytest.raises(InputError, match="marks as a list are texts"):
        Manual([7])
    rule = from_mapping({"rule": "manual", "marks": ["region=S: publish"]})
    assert rule.marks == ["region=S: publish"]  # type: ignore[attr-defined]


def test_wishes_of_several_variables() -> None:
    """A wish is about all variables, or about the one that it names."""
    frame = {"region": ["N", "S"], "value": [4, 6]}
    tables = {name: Table.from_frame(frame, {"region": None}) for name in ("home", "abroad")}
    table = Table.of_variables(tables)
    judged = table.apply(
        Manual(["region=N: publish", "variable=home, region leaves: factor 2"]), weight="value"
    )
    assert named(judged, judged.problem().must_publish) == ["home: region=N", "abroad: region=N"]
    assert judged.problem().weight.tolist() == [10, 8, 12, 10, 4, 6]
    with pytest.raises(TableError, match="there is no variable 'hme'; did you mean 'home'"):
        table.apply(Manual(["variable=hme: publish"]))
