"""`Explanation`: why a cell is shown as it is, in words, as a picture and as JSON. Confidential."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tacit.attack.audit import NARROW
from tacit.explanation.circuits import Circuit
from tacit.explanation.words import Names, Sketch, drawn

if TYPE_CHECKING:
    from tacit.report.picture import Picture

CONFIDENTIAL = "tells which cells are sensitive, and why; do not publish"
_MOST = 8
"""Longer lists are cut off in texts."""

CellRole = Literal["primary", "secondary", "published"]
"""Sensitive itself; not published as it is to protect others, or to balance them; published."""


@dataclass(frozen=True, kw_only=True)
class Partner:
    """A sensitive cell that another cell moves together with.

    Attributes:
        cell: The sensitive cell.
        name: Its name.
        circuit: Cells that move together with both; None where none was looked for.
        sketch: The circuit as a small table.
    """

    cell: int
    name: str
    circuit: Circuit | None = None
    sketch: Sketch | None = None

    def to_json(self) -> dict[str, Any]:
        """As in the file that `tacit explain --json` writes."""
        members: dict[str, Any] = {"cell": self.cell, "name": self.name}
        if self.circuit is not None:
            moves = zip(self.circuit.cells, self.circuit.changes, strict=True)
            members["circuit"] = [[cell, change] for cell, change in moves]
        return members


@dataclass(frozen=True, kw_only=True)
class Protected(Partner):
    """A sensitive cell that another cell protects.

    Attributes:
        side: The level that would be missed: `lower`, `upper` or `sliding`.
        attacker: Who would come too close: `reader`, or a contributor.
        left: The share of the level that would be left, from 0 to 1.
        before: The share that is there now; 1 where the cell is safe.
    """

    side: str
    attacker: str
    left: float
    before: float = 1.0

    def to_json(self) -> dict[str, Any]:
        """As in the file that `tacit explain --json` writes."""
        told = {"side": self.side, "attacker": self.attacker, "left": self.left}
        if self.before < 1:
            told["before"] = self.before
        return {"cell": self.cell, **told, **super().to_json()}


@dataclass(frozen=True)
class Publishing:
    """What publishing the cell as it is would take.

    Attributes:
        possible: Whether it can be done; None where that was not found out in time.
        suppresses_instead: Cells that would have to be suppressed besides those that are now.
        cost: The weight of these cells, or what wider intervals cost more; None where they were
            not found in time.
        at_least: No other way costs less, as far as was proven.
        change: By how much the loss of the whole publication would change: `cost` without what
            the published cell costs now.
        against: Cells that stand against it, with how much of their levels would be left even if
            everything else were suppressed.
        reason: Why it is impossible, in words.
        relations: Relations that show it.
        sums: Sums that everybody would know then, though rules find them sensitive.
        widens: For published intervals, cells with the ends that they would need.
        values: For changed values, other cells with the values that they would get.
        exact: Whether no other way costs less.
    """

    possible: bool | None
    suppresses_instead: tuple[int, ...] = ()
    cost: float | None = None
    at_least: float = 0.0
    change: float | None = None
    against: tuple[Protected, ...] = ()
    reason: str = ""
    relations: tuple[str, ...] = ()
    sums: tuple[str, ...] = ()
    widens: tuple[tuple[int, float, float], ...] = ()
    values: tuple[tuple[int, float], ...] = ()
    exact: bool = False

    def to_json(self) -> dict[str, Any]:
        """As in the file that `tacit explain --json` writes."""
        members: dict[str, Any] = {
            "possible": self.possible,
            "suppresses_instead": list(self.suppresses_instead),
            "cost": _number(self.cost),
            "exact": self.exact,
            "at_least": _number(self.at_least),
            "change": _number(self.change),
        }
        if self.sums:
            members["sums"] = list(self.sums)
        if self.widens:
            members["widens"] = [[c, _number(low), _number(high)] for c, low, high in self.widens]
        if self.values:
            members["values"] = [[cell, value] for cell, value in self.values]
        if self.reason:
            members["reason"] = self.reason
        if self.possible is False:
            members["against"] = [each.to_json() for each in self.against]
            members["relations"] = list(self.relations)
        return members


@dataclass(frozen=True)
class Explanation:
    """Why a cell is shown as it is. Confidential.

    Attributes:
        cell: The number of the cell.
        name: Its name.
        status: What it is: `primary`, `secondary` or `published`.
        shown: How readers see it, in words.
        rules: For a sensitive cell, the rules that find it so.
        levels: Its lower, upper and sliding level; None for others.
        interval: What readers can deduce about it; of a published cell, what they could if it were
            not published besides; None where nothing can be deduced.
        exact: Whether the ends of the interval are proven.
        relations: Relations that determine the ends of the interval.
        width: The width of the interval as a share of the value.
        protects: Sensitive cells that would be exposed if this cell alone were published.
        helps: Sensitive cells that would be safe without it, though it takes part in what was
            found to show them safe.
        sums: Sums that everybody would know if the cell were published, though rules find them
            sensitive.
        pins: For a published cell, relations in which it tells the sum of cells that are not
            published; with these cells.
        balances: For changed values, cells that it was changed together with.
        change: How far the published value lies from the true one.
        publishing: What publishing it would take; None for cells that are published.
        notes: What else is to be said.
        seconds: How long it took to find out.
        names: What cells are called.
    """

    cell: int
    name: str
    status: CellRole
    shown: str
    rules: tuple[str, ...] = ()
    levels: tuple[float, float, float] | None = None
    interval: tuple[float, float] | None = None
    exact: bool = False
    relations: tuple[str, ...] = ()
    width: float = math.inf
    protects: tuple[Protected, ...] = ()
    helps: tuple[int, ...] = ()
    sums: tuple[str, ...] = ()
    pins: tuple[tuple[str, tuple[int, ...]], ...] = ()
    balances: tuple[Partner, ...] = ()
    change: float | None = None
    publishing: Publishing | None = None
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    names: Names | None = None

    @property
    def circuits(self) -> tuple[Partner, ...]:
        """The protected cells for which a circuit is known."""
        return tuple(each for each in (*self.protects, *self.balances) if each.sketch is not None)

    def to_json(self) -> dict[str, Any]:
        """As in the file that `tacit explain --json` writes."""
        members: dict[str, Any] = {
            "confidential": CONFIDENTIAL,
            "cell": self.cell,
            "name": self.name,
            "status": self.status,
            "shown": self.shown,
            "rules": list(self.rules),
            "levels": None
            if self.levels is None
            else dict(zip(("lower", "upper", "sliding"), self.levels, strict=True)),
            "interval": None if self.interval is None else [_number(end) for end in self.interval],
            "interval_exact": self.exact,
            "determined_by": list(self.relations),
            "protects": [each.to_json() for each in self.protects],
            "helps": list(self.helps),
            "sums": list(self.sums),
            "publishing": None if self.publishing is None else self.publishing.to_json(),
            "notes": list(self.notes),
            "seconds": self.seconds,
        }
        if self.status == "published":
            members["pins"] = [
                {"relation": relation, "hidden": list(cells)} for relation, cells in self.pins
            ]
        if self.change is not None:
            members["change"] = self.change
            members["balances"] = [each.to_json() for each in self.balances]
        return members

    def summary(self) -> str:
        """The explanation in words, with a drawing of the circuit. Confidential."""
        return "\n".join(_Telling(self).lines())

    def picture(self, which: int = 0) -> Picture:
        """One of the circuits as a small picture; confidential.

        Args:
            which: The number of the circuit, see `circuits`.

        Raises:
            InputError: There is no such circuit.
        """
        from tacit.report.circuit import circuit_picture

        return circuit_picture(self, which)

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        """In a notebook: the words, and the first circuit."""
        from html import escape

        text = f"<pre>{escape(self.summary())}</pre>"
        return text + (self.picture()._repr_html_() if self.circuits else "")


def _number(number: float | None) -> float | None:
    return float(number) if number is not None and math.isfinite(number) else None


class _Telling:
    """Puts an explanation into words."""

    def __init__(self, told: Explanation):
        assert told.names is not None
        self._told = told
        self._names = told.names

    def lines(self) -> list[str]:
        told = self._told
        what = {
            "primary": "sensitive itself (primary)",
            "secondary": "not sensitive itself (secondary)",
            "published": "not sensitive",
        }[told.status]
        return [
            f"CONFIDENTIAL: {CONFIDENTIAL}",
            f"{told.name}: {told.shown}; {what}",
            *self._about_rules(),
            *self._about_change(),
            *self._about_interval(),
            *self._about_protection(),
            *self._about_sums(),
            *self._about_pins(),
            *self._about_circuit(),
            *self._about_publishing(),
            *(f"note: {note}" for note in told.notes),
        ]

    def _about_rules(self) -> list[str]:
        told = self._told
        lines = [f"rule: {rule}" for rule in told.rules]
        if told.levels is None:
            return lines
        names = ("lower", "upper", "sliding")
        asked = [f"{n} {v:.6g}" for n, v in zip(names, told.levels, strict=True) if v > 0]
        lines.append(f"levels: {', '.join(asked) if asked else 'none, only the value is hidden'}")
        return lines

    def _about_change(self) -> list[str]:
        told = self._told
        if told.change is None:
            return []
        if told.change == 0:
            return ["its published value is the true one"]
        lines = [f"its published value lies {told.change:+.6g} from the true one"]
        if told.balances:
            cells = list(dict.fromkeys(each.cell for each in told.balances))
            lines.append(
                f"it was changed together with the sensitive {_noun(len(cells))} "
                f"{self._names.cells(cells)}, so that everything adds up"
            )
        return lines

    def _about_interval(self) -> list[str]:
        told = self._told
        if told.interval is None:
            return []
        low, high = told.interval
        ends = f"{_end(low)} to {_end(high)}"
        who = "readers can deduce"
        if told.status == "published":
            who = "if it were suppressed, too, readers could deduce"
        is_close = told.width <= NARROW
        if low == high:
            ends = f"exactly {_end(low)}"
        elif is_close:
            ends += f", to within {told.width:.2%} of its value"
        lines = [f"{who}: {ends}{'' if told.exact else ' (at least)'}"]
        if is_close or told.status == "published":
            lines += [f"  by {relation}" for relation in told.relations[:_MOST]]
            more = len(told.relations) - _MOST
            if more > 0:
                lines.append(f"  and {more} more relations")
        return lines

    def _about_protection(self) -> list[str]:
        told = self._told
        if told.interval is None or told.status == "published":
            return []
        lines = []
        if told.protects:
            cells = list(dict.fromkeys(each.cell for each in told.protects))
            lines.append(
                f"protects {len(cells)} sensitive {_noun(len(cells))}; if this one alone were "
                f"published, of {'its' if len(cells) == 1 else 'their'} levels would be left:"
            )
            lines += _levels_left(told.protects, ", against {}")
        elif not told.sums:
            others = "other " if told.status == "primary" else ""
            lines.append(f"no {others}sensitive cell would be exposed if it were published")
        if told.helps:
            one = len(told.helps) == 1
            lines.append(
                f"also takes part in protecting {self._names.cells(told.helps)}, which would stay "
                f"safe in {'another way' if one else 'other ways'}"
            )
        return lines

    def _about_sums(self) -> list[str]:
        return [f"keeps a sensitive sum from being known: {text}" for text in self._told.sums]

    def _about_pins(self) -> list[str]:
        told = self._told
        if told.status != "published" or told.interval is None:
            return []
        if not told.pins:
            return ["it stands in no relation with a cell that is not published"]
        lines = ["with it, everybody knows these sums of cells that are not published:"]
        for relation, cells in told.pins[:_MOST]:
            one = len(cells) == 1
            sums = f"the value of {self._names.cells(cells)}" if one else self._names.cells(cells)
            lines.append(f"  {sums}, by {relation}")
        if len(told.pins) > _MOST:
            lines.append(f"  and {len(told.pins) - _MOST} more")
        return lines

    def _about_circuit(self) -> list[str]:
        told = self._told
        if not told.circuits:
            return []
        first = told.circuits[0]
        assert first.circuit is not None
        assert first.sketch is not None
        others = [cell for cell in first.circuit.cells if cell not in (first.cell, told.cell)]
        roles = {first.cell: "protected", told.cell: "this cell"}
        with_others = f", together with {self._names.cells(others)}" if others else ""
        how = "if + rise and - fall together, nothing that is published changes"
        if told.interval is None:
            how = "+ was raised, - was lowered"
        return [
            f"circuit with {first.name}{with_others}: {how}",
            *(f"  {line}" for line in drawn(first.sketch, roles)),
        ]

    def _about_publishing(self) -> list[str]:
        found = self._told.publishing
        if found is None:
            return []
        return [
            *self._publishing(found),
            *(f"  then everybody would know a sensitive sum: {text}" for text in found.sums),
        ]

    def _publishing(self, found: Publishing) -> list[str]:
        if found.possible is False:
            lines = [f"publishing it: impossible: {found.reason}"]
            lines += _levels_left(found.against, " against {}, whatever else is suppressed")
            return lines + [f"  by {relation}" for relation in found.relations[:_MOST]]
        if found.possible is None:
            return [f"publishing it: {found.reason or 'not found out in time'}"]
        if found.cost is None:
            return ["publishing it: possible, but what to suppress instead was not found in time"]
        change = "" if found.change is None else f"; the loss changes by {found.change:+.6g}"
        if found.widens:
            cells = [cell for cell, _, _ in found.widens]
            return [
                f"publishing it: possible with wider intervals of {self._names.cells(cells)}, "
                f"which cost {found.cost:.6g} more{_cost_label(found)}{change}"
            ]
        if found.values:
            cells = [cell for cell, _ in found.values]
            return [
                f"publishing it: possible with other values of {self._names.cells(cells)}; the "
                f"deviations then cost {found.cost:+.6g} (something cheaper may exist)"
            ]
        if not found.suppresses_instead:
            return [f"publishing it: possible, and nothing else is needed{change}"]
        cells_text = self._names.cells(found.suppresses_instead)
        return [
            f"publishing it: possible if {cells_text} {_is(found.suppresses_instead)} suppressed "
            f"instead, at a cost of {found.cost:.6g}{_cost_label(found)}{change}"
        ]


def _levels_left(cells: Sequence[Protected], whom: str) -> list[str]:
    """What is left of levels, one line each; levels of a cell with the same share in one."""
    groups: dict[tuple[Any, ...], list[Protected]] = {}
    for each in cells:
        key = (each.cell, each.attacker, _share(each.left), each.before)
        groups.setdefault(key, []).append(each)
    lines = []
    for (_, attacker, left, before), alike in list(groups.items())[:_MOST]:
        sides = " and ".join(each.side for each in alike)
        now = "" if before >= 1 else f" (now {_share(before)})"
        told = f"  {alike[0].name}: {left} of the {sides} level{'s' * (len(alike) > 1)}{now}"
        lines.append(told + whom.format(_whom(attacker)))
    if len(groups) > _MOST:
        lines.append(f"  and {len(groups) - _MOST} more")
    return lines


def _cost_label(found: Publishing) -> str:
    if found.exact:
        return " (the least possible)"
    if found.at_least <= 0:
        return " (something cheaper may exist)"
    return f" (something cheaper may exist, but nothing below {found.at_least:.6g})"


def _is(cells: tuple[int, ...]) -> str:
    return "is" if len(cells) == 1 else "are"


def _noun(count: int) -> str:
    return "cell" if count == 1 else "cells"


def _end(end: float) -> str:
    return f"{end:.10g}" if math.isfinite(end) else "no limit"


def _share(share: float) -> str:
    """A share as a percentage; never 100 % for what is missed."""
    return f"{min(math.floor(share * 1000) / 10, 99.9):g}%"


def _whom(attacker: str) -> str:
    return "a reader" if attacker == "reader" else f"a {attacker}"
