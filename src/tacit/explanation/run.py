"""`explain`: why a cell is shown as it is, found out by attacking the publication without it.

A cell protects another one if publishing it alone would expose that one. So the cell is published
and the audit asked again. What shows other cells safe without moving this one still shows it, and
is suggested to the audit: only what relies on the cell is attacked anew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.audit import Audit, audit, hidden_cells, refuse_contradictions
from tacit.attack.exposure import Exposure
from tacit.attack.knowledge import Attacker, Knowledge, PublishedAs, as_solution, with_reader
from tacit.attack.reach import GAP_TOLERANCE
from tacit.attack.shrink import Structure
from tacit.clock import Clock
from tacit.explanation.cells import CellChoice, find_cell
from tacit.explanation.circuits import (
    Circuit,
    Circuits,
    arranged,
    circuits_of,
    exposure_key,
    missed_level,
)
from tacit.explanation.nearby import around, components, restricted
from tacit.explanation.publishing import replacement
from tacit.explanation.rebalancing import balanced_anew, widened
from tacit.explanation.result import CellRole, Explanation, Partner, Protected, Publishing
from tacit.explanation.words import Names, rules_in_words
from tacit.outcome import Intervals, Outcome, Solution, Suppression, Values
from tacit.problem import (
    ADDITIVITY_TOLERANCE,
    Booleans,
    Floats,
    Integers,
    Problem,
)
from tacit.release.run import faced, is_about
from tacit.rules.sums import newly_sensitive_sums
from tacit.table import CellStatus, Table
from tacit.table.insiders import Choice

_RELATIONS = 50
"""So many of the relations that determine a cell are named."""
_PATIENCE = 5.0
"""How many times as long wider intervals may take."""
_SECONDS = 1.0
"""How long to look for something cheaper that could be suppressed instead."""


def explain(
    source: Problem | Table,
    solution: PublishedAs,
    cell: CellChoice,
    *,
    attackers: Sequence[Attacker] = (),
    insiders: Choice | None = None,
    coalition: int = 1,
    seconds: float = _SECONDS,
    tolerance: float = ADDITIVITY_TOLERANCE,
) -> Explanation:
    """Find out why a cell is suppressed, or shown as it is, and what publishing it would take.

    The explanation is confidential: it tells which cells are sensitive, and why.

    Args:
        source: The true table.
        solution: What is published: an outcome, or anything else that `audit` takes.
        cell: The cell: its number, or its codes, as in `{"industry": "C10", "region": "North"}`.
        attackers: Who attacks, as for `audit`.
        insiders: Which contributors of a table attack besides, as for `protect`.
        coalition: How many of them may pool what they know.
        seconds: How long to look for something cheaper that could be suppressed instead, and for
            a proof that there is nothing.
        tolerance: How exactly the relations must hold (see `Problem.validate`).

    Raises:
        ProblemError: The table contradicts itself.
        InputError: There is no such cell, or the solution does not fit the table.

    >>> import tacit
    >>> table = tacit.examples.get("002-figure-2.4").table.apply(tacit.PPercent(10))
    >>> release = tacit.protect(table, "suppress", time_limit=10)
    >>> told = release.explain({"business": "A", "location": "1"})
    >>> told.status
    'secondary'
    """
    problem = faced(source, {}, insiders, coalition)
    table = source if isinstance(source, Table) else None
    found = solution.audit if isinstance(solution, Outcome) else None
    if not attackers and found is not None:
        attackers = [each.attacker for each in found.findings]
    explainer = Explainer(
        problem, solution, table=table, attackers=attackers, audit=found, tolerance=tolerance
    )
    return explainer.explain(cell, seconds=seconds)


class Explainer:
    """Explains the cells of one publication; what they have in common is worked out once.

    Attributes:
        problem: The table as algorithms see it.
        solution: What is published.
        names: What its cells are called.
        hidden: Cells that are not published as they are.
    """

    def __init__(
        self,
        problem: Problem,
        solution: PublishedAs,
        *,
        table: Table | None = None,
        attackers: Sequence[Attacker] = (),
        audit: Audit | None = None,
        weight: Floats | None = None,
        tolerance: float | None = ADDITIVITY_TOLERANCE,
    ):
        """Prepare.

        Args:
            problem: The table as algorithms see it, with those contributors who attack.
            solution: What is published.
            table: The table itself, if there is one.
            attackers: Who attacks besides; by default a reader.
            audit: An audit, if there is one: if it is about this publication, it saves time.
            weight: What it costs to lose each cell; by default as the audit or the problem says.
            tolerance: How exactly the relations must hold (see `Problem.validate`); None if the
                table is known to be sound.

        Raises:
            ProblemError: The table contradicts itself.
            InputError: The solution does not fit the table.
        """
        if tolerance is not None:
            refuse_contradictions(problem, tolerance)
        self.problem = problem
        self.solution: Solution = as_solution(problem, solution)
        self.names = Names(problem, table)
        self._table = table
        self._attackers = with_reader(problem, attackers)
        if audit is not None and not is_about(problem, self.solution, audit, self._attackers):
            audit = None
        self._audit = audit
        if weight is None:
            weight = problem.weight if audit is None else audit.problem.weight
        self._weight = weight
        self._left_out = solution.left_out if isinstance(solution, Outcome) else ()
        self._knowledge = Knowledge.of(problem, self.solution)
        self.hidden = hidden_cells(problem, self.solution, self._knowledge)
        self.hidden = self.hidden | np.isin(np.arange(problem.cell_count), list(self._left_out))

    @cached_property
    def _structure(self) -> Structure:
        return Structure.of(self.problem)

    @cached_property
    def _component(self) -> Integers:
        """The component of each cell among those that can move; -1 for cells that cannot."""
        return components(self.problem, self._knowledge)

    @cached_property
    def _circuits(self) -> Circuits:
        return Circuits(self._attackers, self._knowledge, self._structure)

    def explain(self, cell: CellChoice, *, seconds: float = _SECONDS) -> Explanation:
        """Explain one cell.

        Args:
            cell: The cell: its number, or its codes.
            seconds: How long to look for something cheaper that could be suppressed instead.

        Raises:
            InputError: There is no such cell.
        """
        clock = Clock()
        number = find_cell(self.problem if self._table is None else self._table, cell)
        is_sensitive = bool(self.problem.is_sensitive[number])
        status: CellRole = "published"
        if is_sensitive:
            status = "primary"
        elif self.hidden[number]:
            status = "secondary"
        told: dict[str, Any] = {"rules": (), "levels": None, "notes": list(self._marks(number))}
        if is_sensitive:
            told["rules"] = rules_in_words(self._table, number) or ("given as sensitive",)
            told["levels"] = self._levels(number)
        if isinstance(self.solution, Values) and self.solution.radius is None:
            told |= self._changed(number, is_sensitive)
        else:
            told |= self._deduced(number)
            if self.hidden[number]:
                told |= self._protection(number, is_sensitive, seconds, told["notes"])
            else:
                told["pins"] = self._pins(number)
        if isinstance(self.solution, Values):
            told["change"] = float(self.solution.value[number] - self.problem.value[number])
        return Explanation(
            cell=number,
            name=self.names.cell(number),
            status=status,
            shown=self._shown(number),
            names=self.names,
            seconds=clock.seconds,
            **{**told, "notes": tuple(told["notes"])},
        )

    def _shown(self, cell: int) -> str:
        """How readers see a cell."""
        solution = self.solution
        if isinstance(solution, Values) and solution.radius is not None:
            return "published with a rounded value"
        if isinstance(solution, Values):
            same = solution.value[cell] == self.problem.value[cell]
            return "published with its true value" if same else "published with a changed value"
        if not self.hidden[cell]:
            return "published"
        ends_told = isinstance(solution, Intervals) and cell not in self._left_out
        if isinstance(solution, Intervals) and ends_told:
            low, high = solution.lower[cell], solution.upper[cell]
            if np.isfinite(high) or low > self.problem.lower[cell]:
                return f"published as an interval from {low:.10g} to {high:.10g}"
        return "suppressed"

    def _levels(self, cell: int) -> tuple[float, float, float]:
        problem = self.problem
        place = int(np.searchsorted(problem.sensitive, cell))
        return (
            float(problem.lower_level[place]),
            float(problem.upper_level[place]),
            float(problem.sliding_level[place]),
        )

    def _marks(self, cell: int) -> list[str]:
        """What was decided about a cell by hand, or is known to everybody."""
        notes = []
        if cell in self.problem.overridden:
            rules = rules_in_words(self._table, cell)
            notes.append(
                "published by decision although a rule finds it sensitive"
                + (f" ({'; '.join(rules)})" if rules else "")
            )
        if self._table is not None and self._table.status[cell] == CellStatus.EMPTY.value:
            notes.append("nobody contributes to it, as everybody knows")
        elif self.problem.must_publish[cell]:
            notes.append("it is marked as a cell that must be published")
        return notes

    # What readers can deduce about the cell itself.

    def _deduced(self, cell: int) -> dict[str, Any]:
        """What readers can deduce about a cell; of a published one, if it were suppressed."""
        solution = self.solution if self.hidden[cell] else self._with(cell, hidden=True)
        nothing = restricted(self.problem, np.zeros(0, np.int64)).with_insiders(None)
        found = audit(
            nothing,
            around(self.problem, solution, np.array([cell])),
            cells=[cell],
            structure=self._structure,
            tolerance=None,
        ).findings[0]
        low, high = float(found.lower[0]), float(found.upper[0])
        size = np.asarray(abs(found.evidence.multipliers).sum(axis=0)).ravel()
        rows = np.flatnonzero(size)
        rows = rows[np.argsort(-size[rows], kind="stable")]
        value = abs(float(self.problem.value[cell]))
        return {
            "interval": (low, high),
            "exact": bool(found.exact[0]),
            "width": 0.0 if low == high else ((high - low) / value if value else math.inf),
            "relations": tuple(self.names.relation(row) for row in rows[:_RELATIONS].tolist()),
        }

    def _pins(self, cell: int) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Sums of cells that are not published which a published cell tells."""
        A = self.problem.relations
        found = []
        for row in self._structure.columns[:, [cell]].indices.tolist():
            cells = A.indices[A.indptr[row] : A.indptr[row + 1]]
            hidden = cells[self.hidden[cells]]
            if len(hidden):
                found.append((self.names.relation(row), tuple(hidden.tolist())))
        return tuple(sorted(found, key=lambda each: len(each[1])))

    # Whom the cell protects.

    def _protection(
        self, cell: int, is_sensitive: bool, seconds: float, notes: list[str]
    ) -> dict[str, Any]:
        now = self._audit_around(cell)
        # What shows a cell safe without moving this one shows it safe without it, too.
        relying = _relying(now, cell)
        open_ones = np.array([*(each.cell for each in now.exposures), *now.unchecked], np.int64)
        open_ones = open_ones[self._component[open_ones] == self._component[cell]]
        related = np.setdiff1d(np.union1d(relying, open_ones), [cell])
        part = restricted(self.problem, related)
        pinned = self._with(cell, hidden=False)
        then = self._audited(part, pinned, _deviations(now))
        if now.exposures:
            cells = sorted({each.cell for each in now.exposures})
            notes.append(
                f"the publication is not safe as it is: {self.names.cells(cells)} "
                f"{'is' if len(cells) == 1 else 'are'} exposed; see tacit audit"
            )
        if then.unchecked:
            notes.append(f"no verdict on {self.names.cells(then.unchecked)}")
        before = {exposure_key(each): each.share for each in now.exposures}
        lost = [
            each
            for each in then.exposures
            if each.share < before.get(exposure_key(each), 1.0) * (1 - GAP_TOLERANCE)
        ]
        circuits = self._circuits.through(part, lost, cell)
        protects = tuple(
            self._protected(
                each, before.get(exposure_key(each), 1.0), circuits.get(exposure_key(each))
            )
            for each in lost
        )
        told: dict[str, Any] = {
            "protects": protects,
            "helps": tuple(np.setdiff1d(relying, [cell, *(each.cell for each in lost)]).tolist()),
            "sums": self._sums(pinned),
        }
        told["publishing"] = self._publishing(cell, is_sensitive, then, seconds)
        return told

    def _audit_around(self, cell: int) -> Audit:
        """The audit that is at hand, or one of what has to do with a cell."""
        if self._audit is not None:
            return self._audit
        sensitive = self.problem.sensitive
        label = self._component[cell]
        related = sensitive[(self._component[sensitive] == label) & (label >= 0)]
        return self._audited(restricted(self.problem, related), self.solution)

    def _with(self, cell: int, *, hidden: bool) -> Solution:
        """The same publication with one cell suppressed, or published as it is."""
        solution, problem = self.solution, self.problem
        if isinstance(solution, Suppression):
            suppressed = solution.suppressed.copy()
            suppressed[cell] = hidden
            return Suppression(suppressed)
        if isinstance(solution, Values):
            assert solution.radius is not None
            low, high = solution.value - solution.radius, solution.value + solution.radius
        else:
            low, high = solution.lower.copy(), solution.upper.copy()
        low[cell] = problem.lower[cell] if hidden else problem.value[cell]
        high[cell] = problem.upper[cell] if hidden else problem.value[cell]
        return Intervals(low, high)

    def _audited(
        self,
        part: Problem,
        solution: Solution,
        suggested: sparse.csr_array[Any, Any] | None = None,
    ) -> Audit:
        return audit(
            part,
            around(part, solution, part.sensitive),
            cells="sensitive",
            exact=False,
            attackers=self._attackers,
            structure=self._structure,
            suggested=suggested,
            tolerance=None,
        )

    def _protected(
        self, exposure: Exposure, before: float = 1.0, circuit: Circuit | None = None
    ) -> Protected:
        return Protected(
            cell=exposure.cell,
            name=self.names.cell(exposure.cell),
            side=exposure.level,
            attacker=self._attacker(exposure),
            left=exposure.share,
            before=before,
            circuit=circuit,
            sketch=None if circuit is None else self.names.sketch(circuit),
        )

    def _attacker(self, exposure: Exposure) -> str:
        if exposure.members:
            return exposure.attacker
        readers = [each.name for each in self._attackers if each.is_reader]
        return "reader" if exposure.attacker in readers else exposure.attacker

    def _sums(self, pinned: Solution) -> tuple[str, ...]:
        """Sensitive sums that everybody would know if the cell were published."""
        if self._table is None or not isinstance(pinned, Suppression):
            return ()
        found = newly_sensitive_sums(self._table, self.hidden, pinned.suppressed)
        return tuple(each.label(self._table) for each in found)

    # What publishing the cell would take.

    def _publishing(self, cell: int, is_sensitive: bool, then: Audit, seconds: float) -> Publishing:
        if is_sensitive:
            return Publishing(False, reason="it is sensitive itself")
        exposed = [*(each.cell for each in then.exposures), *then.unchecked]
        part = restricted(self.problem, np.unique(np.array(exposed, np.int64)))
        part = part.replace(weight=self._weight)
        if not isinstance(self.solution, Suppression):
            return self._wider(cell, part, seconds)
        own = float(self._weight[cell])
        found = replacement(
            part, self.hidden, cell, self._attackers, self._structure, seconds=seconds
        )
        if found.possible is False:
            return Publishing(
                False,
                against=tuple(self._protected(each) for each in found.against),
                reason=self._why_impossible(found.relations, cell),
                relations=tuple(self.names.relation(row) for row in found.relations[:_RELATIONS]),
            )
        cost = found.cost
        pattern = self.hidden.copy()
        pattern[[cell, *found.cells]] = [False, *[True] * len(found.cells)]
        return Publishing(
            found.possible,
            suppresses_instead=found.cells,
            cost=cost,
            at_least=found.at_least,
            change=None if cost is None else cost - own,
            exact=found.exact,
            sums=self._sums(Suppression(pattern)) if found.possible else (),
        )

    def _wider(self, cell: int, part: Problem, seconds: float) -> Publishing:
        """What publishing takes where others are intervals, or rounded."""
        pinned = self._with(cell, hidden=False)
        assert isinstance(pinned, Intervals)
        if not isinstance(self.solution, Intervals):
            if not len(part.sensitive):
                return Publishing(True, cost=0.0, exact=True)
            return Publishing(
                None, reason="it would expose the cells above, unless others are rounded further"
            )
        width = float(self.solution.upper[cell] - self.solution.lower[cell])
        before = float(self._weight[cell]) * width if math.isfinite(width) else 0.0
        if not len(part.sensitive):
            return Publishing(True, cost=0.0, change=-before, exact=True)
        found = widened(
            part,
            pinned,
            cell,
            self._attackers,
            self._structure,
            missed_level,
            seconds=_PATIENCE * seconds,
        )
        if found is None:
            return Publishing(None)
        if not isinstance(found, Intervals):
            return Publishing(
                False,
                against=tuple(self._protected(each) for each in found),
                reason="no wider intervals protect these cells",
            )
        more = (found.upper - pinned.upper) + (pinned.lower - found.lower)
        wider = np.flatnonzero(more > 0)
        cost = float((self._weight * np.where(more > 0, more, 0.0)).sum())
        ends = zip(
            wider.tolist(), found.lower[wider].tolist(), found.upper[wider].tolist(), strict=True
        )
        return Publishing(True, cost=cost, change=cost - before, widens=tuple(ends))

    def _why_impossible(self, relations: Sequence[int], cell: int) -> str:
        """Why nothing can take the place of a cell, given relations that show it."""
        A = self.problem.relations
        cells = np.unique(A[list(relations)].indices).astype(np.int64)
        marked = cells[self.problem.must_publish[cells] & (cells != cell)]
        text = "nothing else can protect these cells"
        if not len(marked):
            return text
        return f"{text}, as {self.names.cells(marked.tolist())} must be published"

    # Values that were changed.

    def _changed(self, cell: int, is_sensitive: bool) -> dict[str, Any]:
        """Why a value was changed: with which sensitive cells it had to be balanced."""
        assert isinstance(self.solution, Values)
        problem = self.problem
        x = self.solution.value - problem.value
        partners: dict[int, Partner] = {}
        nothing = np.full(problem.cell_count, np.inf)
        for cells, moves in circuits_of(problem.relations, x, cell, cell):
            for other in cells[problem.is_sensitive[cells] & (cells != cell)].tolist():
                if other not in partners:
                    circuit = arranged(problem.relations, cells, moves, (nothing, nothing), other)
                    sketch = self.names.sketch(circuit)
                    name = self.names.cell(other)
                    partners[other] = Partner(cell=other, name=name, circuit=circuit, sketch=sketch)
        told: dict[str, Any] = {"balances": tuple(partners.values())}
        if is_sensitive:
            told["publishing"] = Publishing(False, reason="it is sensitive itself")
        elif x[cell]:
            told["publishing"] = self._balanced(cell, self.solution, x)
        return told

    def _balanced(self, cell: int, solution: Values, x: Floats) -> Publishing:
        """What it takes to publish a cell with its true value where others are changed."""
        found = balanced_anew(self.problem, solution, cell, self._weight)
        if found is None:
            return Publishing(
                None,
                reason="not while every sensitive cell stays on its side of the true value; "
                "protect again with the cell marked as one to publish",
            )
        new = found.value - self.problem.value
        cost = float((self._weight * (np.abs(new) - np.abs(x))).sum())
        others = np.flatnonzero(found.value != solution.value)
        others = others[others != cell]
        values = zip(others.tolist(), found.value[others].tolist(), strict=True)
        return Publishing(True, cost=cost, change=cost, values=tuple(values))


def _deviations(found: Audit) -> sparse.csr_array[Any, Any]:
    """All deviations that an audit found."""
    parts = [each.evidence.tables for each in found.findings]
    if found.insiders is not None:
        parts.append(found.insiders.evidence.tables)
    return sparse.csr_array(sparse.vstack(parts))


def _relying(found: Audit, cell: int) -> Integers:
    """Sensitive cells whose evidence moves a cell."""
    evidence = [each.evidence for each in found.findings]
    if found.insiders is not None:
        evidence.append(found.insiders.evidence)
    cells = [np.zeros(0, np.int64)]
    for each in evidence:
        moved: Booleans = np.asarray(each.tables[:, [cell]].toarray()).ravel() != 0
        cells.append(each.cells[moved[each.row]])
    return np.intersect1d(np.concatenate(cells), found.problem.sensitive)
