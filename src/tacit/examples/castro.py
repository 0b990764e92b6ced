"""The tables of [Castro2012]."""

from __future__ import annotations

import numpy as np

from tacit.examples.example import Example
from tacit.examples.sheet import Sheet, axis
from tacit.outcome import Values

PERSONS = Sheet(
    {
        "municipality": axis("M1 M2 M3 TOTAL", total="TOTAL"),
        "profession": axis("P1 P2 P3 P4 P5 TOTAL", total="TOTAL"),
    },
    [
        [20, 15, 30, 20, 10, 95],
        [72, 20, 1, 30, 10, 133],
        [38, 38, 15, 40, 11, 142],
        [130, 73, 46, 90, 31, 370],
    ],
)
SALARIES = Sheet(
    PERSONS.dimensions,
    [
        [360, 450, 720, 400, 360, 2290],
        [1440, 540, 22, 570, 320, 2892],
        [722, 1178, 375, 800, 363, 3438],
        [2522, 2168, 1117, 1770, 1043, 8620],
    ],
)
REGIONS = Sheet(
    {
        "place": axis("R1 R2 R3 R21 R22 R211 R212", total="R3", R2="R21 R22", R21="R211 R212"),
        "profession": axis("C1 C2 C3", total="C3"),
    },
    [
        [5, 6, 11],
        [10, 15, 25],
        [15, 21, 36],
        [8, 10, 18],
        [2, 5, 7],
        [6, 6, 12],
        [2, 4, 6],
    ],
)
RECODED = Sheet(
    {
        "municipality": axis("M1 M2 M3 TOTAL", total="TOTAL"),
        "profession": axis("P1 P2+P3 P4 P5 TOTAL", total="TOTAL"),
    },
    [
        [20, 45, 20, 10, 95],
        [72, 21, 30, 10, 133],
        [38, 53, 40, 11, 142],
        [130, 119, 90, 31, 370],
    ],
)
THREE_BY_THREE = Sheet(
    {
        "municipality": axis("M1 M2 M3 TOTAL", total="TOTAL"),
        "profession": axis("P1 P2 P3 TOTAL", total="TOTAL"),
    },
    [[20, 24, 28, 72], [38, 38, 40, 116], [40, 39, 42, 121], [98, 101, 110, 309]],
)
LONELY = PERSONS.mask("M2P3")


def figure_1() -> Example:
    """A frequency table."""
    sensitive = {"M2P3": (0, 0)}
    return Example(
        name="003-figure-1",
        paper="Castro2012, Figure 1",
        text="How many persons of each profession live in each municipality. One cell counts a "
        "single person: together with Figure 2 it tells that person's salary.",
        problem=PERSONS.problem(sensitive, singleton=np.where(LONELY, 0, -1)),
        table=PERSONS.table(sensitive, counts=PERSONS.values),
    )


def figure_2() -> Example:
    """A magnitude table over the same cells."""
    sensitive = {"M2P3": (0, 0)}
    return Example(
        name="003-figure-2",
        paper="Castro2012, Figure 2",
        text="The salaries (in thousands) of the persons of Figure 1. Published as it is, anybody "
        "learns the salary behind M2P3; with two persons in the cell each would learn the "
        "other's.",
        problem=SALARIES.problem(sensitive, singleton=np.where(LONELY, 0, -1)),
        table=SALARIES.table(sensitive, counts=PERSONS.values),
    )


def figure_3() -> Example:
    """Three subtables that make one hierarchical table."""
    return Example(
        name="003-figure-3",
        paper="Castro2012, Figure 3",
        text="Three subtables, each zooming in on one row of the one before: a two-dimensional "
        "table with one hierarchical variable (1H2D). Such tables are networks.",
        problem=REGIONS.problem(),
        table=REGIONS.table(),
    )


def figure_9() -> Example:
    """Figure 1 with two professions merged."""
    return Example(
        name="003-figure-9",
        paper="Castro2012, Figure 9",
        text="The table of Figure 1 recoded: professions P2 and P3 appear as one, and no cell "
        "counts a single person any more.",
        problem=RECODED.problem(),
        table=RECODED.table(),
    )


def figure_10() -> Example:
    """A table rounded to multiples of five."""
    rounded = [20, 25, 30, 75, 40, 40, 40, 120, 40, 40, 40, 120, 100, 105, 110, 315]
    return Example(
        name="003-figure-10",
        paper="Castro2012, Figure 10",
        text="Controlled rounding to base 5: every cell becomes a multiple of 5 and the table "
        "still adds up, for which the grand total cannot be rounded to the nearest multiple.",
        problem=THREE_BY_THREE.problem(),
        table=THREE_BY_THREE.table(),
        published={"rounded to 5": Values(np.array(rounded, float))},
    )


def figure_11() -> Example:
    """One sensitive cell and three secondary suppressions."""
    sensitive = {"M2P3": (10, 10)}
    cell = THREE_BY_THREE.cell
    corners = ("M1P1", "M1P3", "M2P1", "M2P3")
    around_total = ("M2P3", "M2TOTAL", "TOTALP3", "TOTALTOTAL")
    return Example(
        name="003-figure-11",
        paper="Castro2012, Figure 11, problems (4), Figures 12 and 13",
        text="M2P3 is sensitive, with levels of 10 as an instance. Alone it could be retrieved "
        "from the totals; with three more cells suppressed an attacker finds it between 20 and "
        "68, which is wide enough. Going around by the totals would protect it without any upper "
        "limit, but totals are wanted in the publication.",
        problem=THREE_BY_THREE.problem(sensitive),
        table=THREE_BY_THREE.table(sensitive),
        suppressed=THREE_BY_THREE.mask(*corners),
        intervals={cell("M2P3"): (20, 68)},
        paths={
            tuple(cell(label) for label in corners): (20, 28),
            tuple(cell(label) for label in around_total): (40, np.inf),
        },
    )


def figure_16() -> Example:
    """The same table adjusted instead of suppressed."""
    sensitive = {"M2P3": (5, 5)}
    lower = [15, 24, 33, 72, 43, 38, 35, 116, 40, 39, 42, 121, 98, 101, 110, 309]
    upper = [25, 24, 23, 72, 33, 38, 45, 116, 40, 39, 42, 121, 98, 101, 110, 309]
    return Example(
        name="003-figure-16",
        paper="Castro2012, Figure 16",
        text="Controlled tabular adjustment: the published value of M2P3 lies at least its level "
        "below (lower sense) or above (upper sense) the true one, and other cells move as little "
        "as possible so that the table still adds up.",
        problem=THREE_BY_THREE.problem(sensitive),
        table=THREE_BY_THREE.table(sensitive),
        published={
            "adjusted, lower sense": Values(np.array(lower, float)),
            "adjusted, upper sense": Values(np.array(upper, float)),
        },
    )
