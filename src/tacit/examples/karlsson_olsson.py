"""The tables of [KarlssonOlsson2015]."""

from __future__ import annotations

import numpy as np

from tacit.examples.example import Deduction, Example
from tacit.examples.sheet import Contributions, Sheet, axis, linked, with_margins
from tacit.outcome import Intervals

TWO_BY_TWO = Sheet(
    {"business": axis("A B Total"), "location": axis("1 2 Total")},
    [[250, 100, 350], [300, 200, 500], [550, 300, 850]],
)
HIERARCHICAL = Sheet(
    {
        "business": axis("A Aa Ab B Ba Bb Bc Total", A="Aa Ab", B="Ba Bb Bc"),
        "location": axis("1 2 Total"),
    },
    [
        [250, 100, 350],
        [100, 50, 150],
        [150, 50, 200],
        [300, 200, 500],
        [115, 60, 175],
        [175, 125, 300],
        [10, 15, 25],
        [550, 300, 850],
    ],
)
OTHER_COLUMNS = Sheet(
    {"business": axis("A B Total"), "class": axis("I II Total")},
    [[150, 200, 350], [55, 445, 500], [205, 645, 850]],
)
THREE_BY_TWO = Sheet(
    {"business": axis("A B C Total"), "location": axis("1 2 Total")},
    [[50, 100, 150], [80, 120, 200], [70, 80, 150], [200, 300, 500]],
)
TWO_BY_THREE = Sheet(
    {"row": axis("A B Total"), "column": axis("1 2 3 Total")},
    [[255, 90, 45, 390], [290, 230, 65, 585], [545, 320, 110, 975]],
)
FOUR_CORNERS = THREE_BY_TWO.mask("A1", "A2", "B1", "B2")
A1, B1 = THREE_BY_TWO.cell("A1"), THREE_BY_TWO.cell("B1")


def figure_2_1() -> Example:
    """A plain two-dimensional table."""
    return Example(
        name="002-figure-2.1",
        paper="KarlssonOlsson2015, Figure 2.1",
        text="A two-dimensional table without hierarchy: each row and each column adds up, the "
        "six relations of Example 2.1.",
        problem=TWO_BY_TWO.problem(),
        table=TWO_BY_TWO.table(),
    )


def figure_2_2() -> Example:
    """The same table with one hierarchical variable."""
    return Example(
        name="002-figure-2.2",
        paper="KarlssonOlsson2015, Figure 2.2",
        text="A two-dimensional table whose rows have two levels: A divides into two and B into "
        "three finer codes. The left-hand relations of Example 2.2 hold.",
        problem=HIERARCHICAL.problem(),
        table=HIERARCHICAL.table(),
    )


def figure_2_3() -> Example:
    """Two tables linked by their common totals."""
    return Example(
        name="002-figure-2.3",
        paper="KarlssonOlsson2015, Figure 2.3",
        text="Two tables that share the totals of A, of B and of everything, divided by another "
        "variable in each. Seen as one linked table, each common cell counts once.",
        problem=linked(HIERARCHICAL, OTHER_COLUMNS),
        table=HIERARCHICAL.table().link(OTHER_COLUMNS.table()),
    )


def figure_2_4() -> Example:
    """The table of Figure 2.1 with the contributions behind its cells."""
    contributions: Contributions = {
        "A1": (120, 80, 40, 10),
        "A2": (55, 45),
        "B1": (280, 15, 5),
        "B2": (99, 99, 2),
    }
    # The paper argues that these three should be sensitive; it computes no levels for them.
    sensitive = {"A2": (0, 0), "B1": (0, 0), "B2": (0, 0)}
    return Example(
        name="002-figure-2.4",
        paper="KarlssonOlsson2015, Figure 2.4, Table 2.1",
        text="Turnover of companies by business and location, with each company's contribution. "
        "In A2, B1 and B2 the second largest contributor learns the largest contribution too "
        "well. Rules differ in which of these three they find; the prior-posterior rule finds all "
        "and is consistent, the dominance rule with n = 2 finds all and is not.",
        problem=TWO_BY_TWO.problem(sensitive),
        table=TWO_BY_TWO.table(sensitive, contributions),
        contributions=with_margins(TWO_BY_TWO, contributions),
        sensitive_by={
            "minimum frequency 3": ("A2",),
            "(1, 90)-dominance": ("B1",),
            "(2, 90)-dominance": ("A2", "B1", "B2"),
            "(20, 50)-prior-posterior": ("A2", "B1", "B2"),
        },
    )


def figure_3_1() -> Example:
    """Only the sensitive cells suppressed: the totals give them away."""
    sensitive = {"A1": (0, 0), "B1": (0, 0)}
    return Example(
        name="002-figure-3.1",
        paper="KarlssonOlsson2015, Figure 3.1",
        text="The two sensitive cells are suppressed and nothing else. Each is the only unknown "
        "of its row, so anybody can compute it exactly.",
        problem=THREE_BY_TWO.problem(sensitive),
        table=THREE_BY_TWO.table(sensitive),
        suppressed=THREE_BY_TWO.mask("A1", "B1"),
        intervals={A1: (50, 50), B1: (80, 80)},
    )


def figure_3_2() -> Example:
    """Two secondary suppressions added to Figure 3.1."""
    sensitive = {"A1": (0, 0), "B1": (0, 0)}
    return Example(
        name="002-figure-3.2",
        paper="KarlssonOlsson2015, Figure 3.2",
        text="With A2 and B2 suppressed as well, an external attacker who knows that values are "
        "not negative finds B1 between 0 and 130. Whether that is enough depends on the "
        "contributions: see Figures 3.3 to 3.5.",
        problem=THREE_BY_TWO.problem(sensitive),
        table=THREE_BY_TWO.table(sensitive),
        suppressed=FOUR_CORNERS,
        intervals={B1: (0, 130)},
    )


def figure_3_3() -> Example:
    """Contributions for which the pattern of Figure 3.2 is safe."""
    return _contributed(
        "3.3",
        "With these contributions the suppressed table is safe under the p% rule with p = 10: "
        "the attacker's interval must reach from 47 to 53 for A1 and from 78.5 to 81.5 for B1, "
        "and no single contributor gets closer than that.",
        {"A1": (30, 20), "B1": (65, 10, 5)},
        {"A1": (3, 3), "B1": (1.5, 1.5)},
        deductions=(
            Deduction(attacker=A1, contribution=30, cell=B1, upper=100, required=81.5),
            Deduction(attacker=B1, contribution=65, cell=A1, upper=65, required=53),
        ),
    )


def figure_3_4() -> Example:
    """Two singletons in one column."""
    return _contributed(
        "3.4",
        "A1 and B1 have one contributor each. Either of them subtracts its own contribution "
        "from what the column leaves and finds the other's value as an upper bound: the table is "
        "not safe, although an external attacker still sees wide intervals.",
        {"A1": (50,), "B1": (80,)},
        {"A1": (5, 5), "B1": (8, 8)},
        deductions=(
            Deduction(attacker=A1, contribution=50, cell=B1, upper=80, required=88),
            Deduction(attacker=B1, contribution=80, cell=A1, upper=50, required=55),
        ),
    )


def figure_3_5() -> Example:
    """No singleton, and yet one contributor gets too close."""
    return _contributed(
        "3.5",
        "There are no singletons, but the largest contributor to A1 finds B1 to be at most 82, "
        "where the p% rule with p = 10 asks for 85: not safe. As an estimate of B1's largest "
        "contribution (70) the same 82 would not be too close.",
        {"A1": (48, 2), "B1": (70, 8, 2)},
        {"A1": (4.8, 4.8), "B1": (5, 5)},
        deductions=(Deduction(attacker=A1, contribution=48, cell=B1, upper=82, required=85),),
    )


def _contributed(
    figure: str,
    text: str,
    sensitive_cells: Contributions,
    levels: dict[str, tuple[float, float]],
    deductions: tuple[Deduction, ...],
) -> Example:
    """One of Figures 3.3 to 3.5: they differ in the contributions to A1 and B1."""
    contributions: Contributions = {
        **sensitive_cells,
        "A2": (40, 30, 30),
        "B2": (40, 40, 40),
        "C1": (30, 20, 20),
        "C2": (30, 30, 20),
    }
    singleton = np.full(len(THREE_BY_TWO.labels), -1)
    alone = [THREE_BY_TWO.cell(label) for label, parts in contributions.items() if len(parts) == 1]
    singleton[alone] = np.arange(len(alone))
    return Example(
        name=f"002-figure-{figure}",
        paper=f"KarlssonOlsson2015, Figure {figure}",
        text=text,
        problem=THREE_BY_TWO.problem(levels, singleton=singleton),
        table=THREE_BY_TWO.table(levels, contributions),
        suppressed=FOUR_CORNERS,
        intervals={B1: (0, 130)},
        contributions=with_margins(THREE_BY_TWO, contributions),
        deductions=deductions,
    )


def figure_3_6() -> Example:
    """One sensitive cell and its suppression pattern."""
    sensitive = {"A1": (0, 0)}
    corners = [TWO_BY_THREE.cell(label) for label in ("A1", "A3", "B1", "B3")]
    found: list[tuple[float, float]] = [(190, 300), (0, 110), (245, 355), (0, 110)]
    return Example(
        name="002-figure-3.6",
        paper="KarlssonOlsson2015, Figure 3.6, Examples 3.4 and 3.5",
        text="A1 is sensitive; A3, B1 and B3 are suppressed with it. An external attacker who "
        "knows that every cell lies between 0 and 1000 deduces these intervals. The paper states "
        "no protection levels.",
        problem=TWO_BY_THREE.problem(sensitive, upper=1000.0),
        table=TWO_BY_THREE.table(sensitive, upper=1000.0),
        suppressed=TWO_BY_THREE.mask("A1", "A3", "B1", "B3"),
        intervals=dict(zip(corners, found, strict=True)),
    )


def figure_3_7() -> Example:
    """The table of Figure 3.6 published with intervals instead."""
    sensitive = {"A1": (15, 19)}
    lower, upper = (np.ravel(TWO_BY_THREE.values).astype(float) for _ in range(2))
    corners = [TWO_BY_THREE.cell(label) for label in ("A1", "A3", "B1", "B3")]
    lower[corners] = [240, 26, 271, 50]
    upper[corners] = [274, 60, 305, 84]
    return Example(
        name="002-figure-3.7",
        paper="KarlssonOlsson2015, Figure 3.7",
        text="The table of Figure 3.6 protected by partial suppression: the same four cells are "
        "published as intervals no wider than protection needs. The levels are read off the "
        "interval printed for A1; the paper does not state them.",
        problem=TWO_BY_THREE.problem(sensitive, upper=1000.0),
        table=TWO_BY_THREE.table(sensitive, upper=1000.0),
        published={"intervals": Intervals(lower, upper)},
    )


def figure_3_8a() -> Example:
    """Four suppressed cells that are hardly uncertain."""
    return _four_unknown("a", [[100, 1, 101], [1, 1, 2], [101, 2, 103]], narrow=2)


def figure_3_8b() -> Example:
    """As many suppressed cells with the same sum, far more uncertain."""
    return _four_unknown("b", [[64, 13, 77], [13, 13, 26], [77, 26, 103]], narrow=26)


def _four_unknown(part: str, values: list[list[float]], narrow: float) -> Example:
    """Half of Figure 3.8: all four inner cells suppressed, each of which can move by the same."""
    sheet = Sheet({"row": axis("A B Total"), "column": axis("1 2 Total")}, values)
    corners = [sheet.cell(label) for label in ("A1", "A2", "B1", "B2")]
    total = values[0][2]
    found: list[tuple[float, float]] = [(total - narrow, total), *([(0, narrow)] * 3)]
    lower, upper = (np.ravel(values).astype(float) for _ in range(2))
    lower[corners] = [below for below, _ in found]
    upper[corners] = [above for _, above in found]
    return Example(
        name=f"002-figure-3.8{part}",
        paper=f"KarlssonOlsson2015, Figure 3.8({part}), Example 3.6",
        text="Two tables with four suppressed cells each, whose values sum to 103: by the number "
        "of suppressed cells and by their sum both lose the same. By the widths of what an "
        "attacker deduces 3.8(a) loses 8 and 3.8(b) 104 (printed: 128). The paper prints the "
        "totals and the intervals; the values of the inner cells are the middles of these.",
        problem=sheet.problem(),
        table=sheet.table(),
        suppressed=sheet.mask("A1", "A2", "B1", "B2"),
        intervals=dict(zip(corners, found, strict=True)),
        published={"intervals": Intervals(lower, upper)},
        loss={"number": 4, "sum": 103, "widths": 4 * narrow},
    )
