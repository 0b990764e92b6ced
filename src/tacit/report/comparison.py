"""Several methods side by side: what each costs, and what each leaves to be deduced."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tacit.errors import InputError
from tacit.report.page import Page, PageSection, figure, numbers_table, paragraph
from tacit.report.picture import REPORT_SUFFIX, Numbers, Picture, check_name
from tacit.report.svg import Drawing, element, number, round_steps, spread, text_width

INTERNAL_ONLY = "Internal: this compares methods on the true table; not for publication"


@dataclass(frozen=True, kw_only=True)
class ComparedMethod:
    """What one method made of a table. It holds no value of any cell.

    Attributes:
        method: `suppress`, `intervals`, ...
        algorithm: Which of its algorithms.
        status: How it ended.
        seconds: How long it took.
        cells: Number of cells of the table.
        gap: How far the objective is from the proven bound, as a share; None if not known.
        suppressed: Number of cells that are not published at all.
        spread: Number of cells published as intervals.
        changed: Number of cells published with another value than the true one.
        sum_width: Sum of the widths of the published intervals.
        mean_width: Mean width, as a share of the cells' values, of what readers can deduce for
            cells that are not published exactly.
        mean_deviation: Mean over all cells of |guess - true| / |true|, where the guess is the
            published value or, where there is none, the middle of what can be deduced.
        max_deviation: The largest of these.
        exposed: Share of the sensitive cells that can be deduced more closely than their
            protection levels allow; 0 for a safe outcome.
        deducible_width: Mean width, as a share of the value, of the narrowest intervals that
            an attacker can deduce for sensitive cells; wider is safer.
        utility_loss: Share of the information lost, from 0 (published as it is) to 1.
        note: A sentence for people, such as why there is no outcome.
    """

    method: str
    algorithm: str
    status: str
    seconds: float
    cells: int
    gap: float | None = None
    suppressed: int = 0
    spread: int = 0
    changed: int = 0
    sum_width: float | None = None
    mean_width: float | None = None
    mean_deviation: float | None = None
    max_deviation: float | None = None
    exposed: float | None = None
    deducible_width: float | None = None
    utility_loss: float | None = None
    note: str = ""

    @property
    def is_placed(self) -> bool:
        """Whether both risk and utility are known."""
        return self.utility_loss is not None and self.deducible_width is not None

    @property
    def suppressed_share(self) -> float:
        """Share of the cells that are not published at all."""
        return self.suppressed / max(self.cells, 1)

    @property
    def spread_share(self) -> float:
        """Share of the cells published as intervals."""
        return self.spread / max(self.cells, 1)

    @property
    def changed_share(self) -> float:
        """Share of the cells published with another value than the true one."""
        return self.changed / max(self.cells, 1)


def comparison_numbers(rows: Sequence[ComparedMethod]) -> Numbers:
    """The methods as a table of text, one row per method; empty columns are left out."""
    columns: dict[str, Callable[[ComparedMethod], str]] = {
        "algorithm": lambda row: row.algorithm,
        "status": lambda row: row.status,
        "seconds": lambda row: f"{row.seconds:.1f}",
        "gap": lambda row: _percent(row.gap),
        "suppressed": lambda row: _counted(row.suppressed, row.suppressed_share),
        "intervals": lambda row: _counted(row.spread, row.spread_share),
        "changed": lambda row: _counted(row.changed, row.changed_share),
        "sum of widths": lambda row: "" if row.sum_width is None else f"{row.sum_width:.6g}",
        "mean width": lambda row: _percent(row.mean_width),
        "mean deviation": lambda row: _percent(row.mean_deviation),
        "largest deviation": lambda row: _percent(row.max_deviation),
        "exposed": lambda row: _percent(row.exposed),
        "deducible width": lambda row: _percent(row.deducible_width),
        "information lost": lambda row: _percent(row.utility_loss),
    }
    told = {name: [column(row) for row in rows] for name, column in columns.items()}
    told = {name: texts for name, texts in told.items() if any(texts)}
    methods = [row.method for row in rows]
    return Numbers(("method", *told), tuple(zip(methods, *told.values(), strict=True)))


def risk_and_utility(rows: Sequence[ComparedMethod]) -> Picture:
    """What readers lose (across) against how closely attackers get (up), a mark per method.

    Down and to the left is better: little lost, and sensitive cells far from being known.

    Args:
        rows: The methods; those without an outcome are left out.

    Raises:
        InputError: There is none with both figures.
    """
    shown = [row for row in rows if row.is_placed]
    if not shown:
        raise InputError("no method has an outcome to compare; allow more time")
    width, height, left, top, right, bottom = 920.0, 380.0, 66.0, 30.0, 150.0, 56.0
    drawing = Drawing(width, height)
    across = round_steps(0, max(100 * _known(row.utility_loss) for row in shown) or 1)
    risks = [100 * _risk(row) for row in shown]
    upwards = round_steps(0, max(risks) or 1)
    plot_width, plot_height = width - left - right, height - top - bottom
    for step in across:
        x = left + plot_width * step / across[-1]
        drawing.line(x, top, x, top + plot_height)
        drawing.text(x, top + plot_height + 16, f"{step:g}%", "t-soft", anchor="middle")
    for step in upwards:
        y = top + plot_height * (1 - step / upwards[-1])
        drawing.line(left, y, left + plot_width, y)
        drawing.text(left - 8, y + 4, f"{step:g}%", "t-soft", anchor="end")
    drawing.text(left + plot_width, height - 12, "information lost →", anchor="end")
    drawing.text(left, 14, "↑ how closely sensitive cells can be deduced")
    places = [
        (
            left + plot_width * 100 * _known(row.utility_loss) / across[-1],
            top + plot_height * (1 - risk / upwards[-1]),
        )
        for row, risk in zip(shown, risks, strict=True)
    ]
    labels = spread([y for _, y in places], 15)
    for place, (row, (x, y), label) in enumerate(zip(shown, places, labels, strict=True)):
        exposed = bool(row.exposed)
        told = f"{row.method} ({row.algorithm})" if _several(row, shown) else row.method
        told += ", not safe" if exposed else ""
        drawing.add(_marker(place, x, y, "t-line-two-ink" if exposed else "t-line-ink", told))
        before = x + 12 + text_width(told) > width
        drawing.text(
            x - 11 if before else x + 11,
            # Above the numbers of the scale.
            min(label + 4, top + plot_height - 6),
            told,
            "t-strong",
            anchor="end" if before else None,
        )
    best = min(shown, key=lambda row: _known(row.utility_loss))
    return Picture(
        "comparison",
        "Risk against utility",
        f"{len(shown)} methods by information lost and by how closely sensitive cells can be "
        f"deduced; {best.method} loses least.",
        drawing,
        "Each mark is a method. Further left loses less; further down leaves sensitive cells "
        "further from being known. How closely is 1 / (1 + w), where w is the mean width of the "
        "intervals that an attacker can deduce for sensitive cells, as a share of their values: "
        "100% is the exact value.",
        comparison_numbers(rows),
        confidential=False,
    )


def comparison_report(
    rows: Sequence[ComparedMethod], path: str | Path, *, table: str = "one table"
) -> Path:
    """Write a page that compares methods, to help choose.

    Args:
        rows: The methods.
        path: The file, ending in .html.
        table: What was protected, in a few words such as the name of the input.

    Raises:
        InputError: There is nothing to compare, or the file cannot be written.
    """
    target = Path(path)
    check_name(target, REPORT_SUFFIX, confidential=False)
    if not rows:
        raise InputError("there are no methods to compare")
    sections = []
    if any(row.is_placed for row in rows):
        sections.append(PageSection("picture", "Risk against utility", _figure_alone(rows)))
    notes = "".join(paragraph(f"{row.method}: {row.note}") for row in rows if row.note)
    sections.append(
        PageSection("methods", "The methods in numbers", _wide(comparison_numbers(rows)) + notes)
    )
    sections.append(PageSection("reading", "How to read the columns", _columns()))
    safe = sum(row.exposed == 0 for row in rows)
    Page(
        kind="Comparison of methods",
        title=f"Ways to protect {table}",
        lead="The same table, protected by several methods.",
        figures={
            "methods": str(len(rows)),
            "with a safe outcome": str(safe),
            "cells": f"{max(row.cells for row in rows):,}".replace(",", "\u202f"),
        },
        sections=sections,
        warning=INTERNAL_ONLY,
    ).write(target)
    return target


def _figure_alone(rows: Sequence[ComparedMethod]) -> str:
    # The page has the numbers in a separate section.
    return figure(replace(risk_and_utility(rows), numbers=None))


def _wide(numbers: Numbers) -> str:
    """Methods as columns: names of figures are longer than those of methods."""
    turned = zip(*numbers.rows, strict=True)
    methods = next(turned)
    body = tuple((name, *texts) for name, texts in zip(numbers.header[1:], turned, strict=True))
    return numbers_table(Numbers(("", *methods), body), "One column per method")


def _columns() -> str:
    told = {
        "suppressed, intervals, changed": "cells that are not published with their true value, and "
        "their share of all cells",
        "mean width": "of what readers can deduce for cells that are not published exactly, as a "
        "share of their values",
        "deviation": "of a reader's best guess from the true value, as a share of that: the "
        "published value or, where there is none, the middle of what can be deduced",
        "exposed": "sensitive cells that can be deduced more closely than their levels allow; 0% "
        "is safe",
        "deducible width": "mean width of what an attacker can deduce for sensitive cells, as a "
        "share of their values; wider is safer",
        "information lost": "0% where everything is published as it is",
    }
    return "".join(paragraph(f"{name}: {text}.") for name, text in told.items())


def _risk(row: ComparedMethod) -> float:
    return 1 / (1 + _known(row.deducible_width))


def _known(value: float | None) -> float:
    return 0.0 if value is None else value


def _several(row: ComparedMethod, rows: Sequence[ComparedMethod]) -> bool:
    return sum(other.method == row.method for other in rows) > 1


def _marker(place: int, x: float, y: float, class_: str, title: str) -> str:
    """A different shape for each method."""
    r = 6.0
    corners = (
        ((-r, -r), (r, -r), (r, r), (-r, r)),
        ((0, -r - 1), (r + 1, r), (-r - 1, r)),
        ((0, -r - 2), (r + 2, 0), (0, r + 2), (-r - 2, 0)),
        ((-r - 1, -r), (r + 1, -r), (0, r + 1)),
    )
    inside = element("title", title)
    if place % 5 == 0:
        return element("circle", inside, cx=x, cy=y, r=r, class_=class_)
    points = " ".join(f"{number(x + dx)},{number(y + dy)}" for dx, dy in corners[place % 5 - 1])
    return element("polygon", inside, points=points, class_=class_)


def _counted(count: int, share: float) -> str:
    return f"{count} ({share:.1%})" if count else ""


def _percent(share: float | None) -> str:
    if share is None:
        return ""
    return f"{share:.2%}" if math.isfinite(share) else "unlimited"
