"""`audit`: is this publication safe, and how do we know?

The audit shares no state with whatever produced the solution. It takes the true table and what
is published, lets each attacker deduce as much as possible, and keeps the evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from tacit.attack.evidence import Capacities, Evidence, EvidenceError
from tacit.attack.exposure import Exposure, name_exposures
from tacit.attack.findings import AttackerFindings
from tacit.attack.insider_audit import InsiderAudit, audit_insiders
from tacit.attack.joint_moves import Moves
from tacit.attack.knowledge import (
    Attacker,
    Knowledge,
    PublishedAs,
    as_solution,
    with_reader,
)
from tacit.attack.mending import mended
from tacit.attack.reach import TOLERANCE, Requests
from tacit.attack.shrink import Structure
from tacit.attack.suggestions import Deviations, Suggestions
from tacit.attack.sweep import Attack
from tacit.attack.values import faults_of_values, judge_values
from tacit.errors import InputError
from tacit.observer import Observer
from tacit.outcome import Solution, Suppression, Values
from tacit.problem import (
    ADDITIVITY_TOLERANCE,
    Booleans,
    Floats,
    Integers,
    Problem,
    Violation,
    refuse,
)

CellChoice = Literal["sensitive", "suppressed", "all"] | Sequence[int] | Integers
NARROW = 0.01
"""A cell counts as narrowly determined when its interval is no wider than this share of it."""
_NO_CELLS = np.zeros(0, np.int64)
_MOST_ATTACKERS = 5


@dataclass(frozen=True, eq=False)
class Audit:
    """The result of an audit. It contains confidential figures: do not publish it.

    Attributes:
        problem: The table.
        knowledge: What everyone knows from the publication.
        findings: One entry per attacker.
        hidden: Cells that are not published with their exact value.
        adjusted: The published values where readers are not told how far away the true ones
            are. Nothing can be deduced from those; they are judged as they stand.
        rounded: Published values of which readers know how far the true ones may be.
        faults: What is wrong with published values as a table: where they do not add up, or lie
            outside the bounds. Adjusted values are not safe then, because a reader would see
            that they were changed, and where.
        insiders: What contributors can deduce who know their own figures; None where they were
            not looked at.
    """

    problem: Problem
    knowledge: Knowledge
    findings: tuple[AttackerFindings, ...]
    hidden: Booleans
    adjusted: Values | None = None
    rounded: Values | None = None
    faults: tuple[Violation, ...] = ()
    insiders: InsiderAudit | None = None

    @property
    def safe(self) -> bool:
        """Every sensitive cell has been checked against every attacker, and none is exposed.

        Insiders count as attackers where they were looked at.
        """
        flawed = self.adjusted is not None and self.faults
        return not self.unchecked and not self.exposures and not flawed

    @property
    def unchecked(self) -> tuple[int, ...]:
        """Sensitive cells without a verdict: the audit was stopped, or no answer passed the check.

        The numbers of the cells, increasing.
        """
        undecided = {cell for found in self.findings for cell in found.undecided}
        if self.insiders is not None:
            undecided.update(self.insiders.undecided)
        return tuple(sorted(undecided))

    @property
    def exposures(self) -> tuple[Exposure, ...]:
        """All exposures, attacker by attacker, insiders last."""
        found = tuple(exposure for found in self.findings for exposure in found.exposures)
        return found if self.insiders is None else (*found, *self.insiders.exposures)

    @property
    def exposed_cells(self) -> list[int]:
        """Numbers of the exposed cells, increasing."""
        return sorted({exposure.cell for exposure in self.exposures})

    @property
    def checked(self) -> int:
        """How many claims about a cell and a side the evidence supports.

        For adjusted values, how many sensitive cells were compared with their true values.
        """
        if self.adjusted is not None:
            return sum(int(self.problem.is_sensitive[f.cells].sum()) for f in self.findings)
        own = 0 if self.insiders is None else len(self.insiders.evidence)
        return own + sum(len(found.evidence) for found in self.findings)

    @property
    def exactly_disclosed(self) -> list[int]:
        """Cells that are not published, but whose value the first attacker can compute."""
        found = self.findings[0]
        return _numbers(found.cells[self._width_share(found) <= TOLERANCE])

    @property
    def narrowly_determined(self) -> list[int]:
        """Cells that are not sensitive whose interval is narrow, though not a single value."""
        found = self.findings[0]
        share = self._width_share(found)
        narrow = (share > TOLERANCE) & (share <= NARROW)
        return _numbers(found.cells[narrow & ~self.problem.is_sensitive[found.cells]])

    def _width_share(self, found: AttackerFindings) -> Floats:
        """Interval widths as shares of the cells' values; inf where not known exactly."""
        size = np.maximum(np.abs(self.problem.value[found.cells]), np.finfo(float).tiny)
        known = found.exact & self.hidden[found.cells]
        # Any width is an infinite share of an empty cell.
        with np.errstate(over="ignore"):
            return np.where(known, (found.upper - found.lower) / size, np.inf)

    def check(self) -> None:
        """Verify the audit from scratch: its evidence, and that its verdict follows from it.

        Every sensitive cell is covered on both sides for every attacker, or counts as unchecked.
        See `Evidence.check`, and `InsiderAudit.check` for insiders. Adjusted values are their own
        evidence: they are judged again.

        Raises:
            EvidenceError: Something is claimed that is not shown.
        """
        if not self.findings:
            raise EvidenceError(
                "the audit covers no attacker and shows nothing; audit again", _NO_CELLS
            )
        for found in self.findings:
            if self.adjusted is None:
                found.evidence.check(self.problem, self.knowledge, found.attacker)
                again = AttackerFindings.of(
                    self.problem, found.attacker, found.evidence, found.cells
                )
            else:
                cells = np.union1d(found.cells, self.problem.sensitive)
                again = findings_of_values(
                    self.problem, self.adjusted, self.knowledge, found.attacker, cells
                )
            if not _same_verdict(found, again):
                cells = np.union1d([e.cell for e in found.exposures], found.undecided)
                others = np.union1d([e.cell for e in again.exposures], again.undecided)
                wrong = np.setxor1d(cells, others).astype(np.int64)
                raise EvidenceError(
                    "the verdict of the audit does not follow from its evidence"
                    + (f": {self.problem.name_cells(wrong)}" if len(wrong) else "")
                    + "; audit again, and do not rely on this one",
                    wrong,
                )
        if self.insiders is not None:
            self._check_insiders(self.insiders)

    def _check_insiders(self, insiders: InsiderAudit) -> None:
        """Verify the findings about insiders; those about readers have been verified."""
        insiders.refuse_strangers(self.problem)
        if self.adjusted is not None:
            again = InsiderAudit.of_values(self.problem)
            insiders.refuse_another_verdict(self.problem, again)
            return
        reader = next((found for found in self.findings if found.attacker.is_reader), None)
        if reader is None:
            raise EvidenceError(
                "the audit looks at contributors, but not at readers, and shows nothing; "
                "audit again",
                _NO_CELLS,
            )
        insiders.check(self.problem, self.knowledge, reader)

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] | None = None) -> Any:
        """One row for each attacker and cell: interval, whether exact, whether exposed.

        Insiders have no intervals; what is exposed to them is in `exposures`.

        Args:
            backend: `pandas`, `polars` or `pyarrow`; by default a mapping of columns.
        """
        columns: dict[str, list[Any]] = {
            name: []
            for name in (
                "attacker",
                "cell",
                "label",
                "lower",
                "upper",
                "exact",
                "sensitive",
                "exposed",
            )
        }
        sensitive = self.problem.is_sensitive
        for found in self.findings:
            exposed = {exposure.cell for exposure in found.exposures}
            cells = found.cells.tolist()
            columns["attacker"] += [found.attacker.name] * len(cells)
            columns["cell"] += cells
            columns["label"] += [self.problem.name_cell(cell) for cell in cells]
            columns["lower"] += found.lower.tolist()
            columns["upper"] += found.upper.tolist()
            columns["exact"] += found.exact.tolist()
            columns["sensitive"] += sensitive[found.cells].tolist()
            columns["exposed"] += [cell in exposed for cell in cells]
        if backend is None:
            return columns
        import narwhals as nw

        return nw.from_dict(columns, backend=backend).to_native()

    def summary(self) -> str:
        """A few lines for people. It names cells, but no values."""
        problem = self.problem
        count = len(problem.sensitive)
        verdict = "safe" if self.safe else "NOT SAFE"
        lines = [
            f"{verdict}: {count} sensitive cell{'s' * (count != 1)}, "
            f"{int(self.hidden.sum())} of {problem.cell_count} cells not published as they are"
        ]
        # Of many attackers those who come too close matter.
        shown = sorted(self.findings, key=lambda found: not found.exposures)[:_MOST_ATTACKERS]
        for found in self.findings if len(shown) == len(self.findings) else shown:
            exposed = len({exposure.cell for exposure in found.exposures})
            lines.append(f"attacker {found.attacker.name}: {exposed} exposed")
            lines.extend(f"  {line}" for line in name_exposures(found.exposures))
        rest = len(self.findings) - len(shown)
        if rest > 0:
            close = sum(bool(found.exposures) for found in self.findings)
            lines.append(f"and {rest} more attackers; {close} of all expose a cell")
        lines.extend(self._about_insiders())
        if self.exactly_disclosed:
            lines.append(
                "can be computed exactly although not published: "
                + problem.name_cells(self.exactly_disclosed)
            )
        if self.narrowly_determined:
            lines.append(
                f"not sensitive, determined to within {NARROW:.0%}: "
                + problem.name_cells(self.narrowly_determined)
            )
        lines.extend(fault.message for fault in self.faults)
        unasked = {
            cell
            for found in self.findings
            for cell in found.undecided
            if np.count_nonzero(found.evidence.cells == cell) < 2
        }
        if unasked:
            lines.append(f"not checked (stopped early): {problem.name_cells(sorted(unasked))}")
        undecided = {cell for found in self.findings for cell in found.undecided}
        unclear = sorted(undecided - unasked)
        if unclear:
            lines.append(
                f"no verdict (no answer passed the check): {problem.name_cells(unclear)}; look for "
                "extreme magnitudes among the bounds"
            )
        return "\n".join(lines)

    def _about_insiders(self) -> list[str]:
        """What the summary says of insiders."""
        if self.problem.insiders is None:
            return []
        if self.insiders is None:
            return ["contributors who know their own figures: not looked at"]
        found = self.insiders
        together = f", up to {found.coalition} together" if found.coalition > 1 else ""
        start = (
            f"{found.count} contributor{'s' * (found.count != 1)} who know their own "
            f"figures{together}: "
        )
        if self.adjusted is not None:
            return [start + "they learn no more than these from adjusted values"]
        exposed = len({exposure.cell for exposure in found.exposures})
        lines = [
            start + f"{exposed} exposed, {found.pairs} pair{'s' * (found.pairs != 1)} of a level "
            "and a contributor looked at apart from readers"
        ]
        shown = name_exposures(found.exposures, with_attackers=True)
        lines.extend(f"  {line}" for line in shown)
        if found.undecided:
            lines.append(
                f"  no verdict against them: {self.problem.name_cells(found.undecided)}; audit "
                "again with more time"
            )
        return lines

    def __repr__(self) -> str:
        state = "safe" if self.safe else f"{len(self.exposed_cells)} exposed"
        return f"Audit({state}, {self.checked} claims)"


def audit(
    problem: Problem,
    solution: PublishedAs,
    *,
    cells: CellChoice = "suppressed",
    exact: bool = True,
    attackers: Sequence[Attacker] = (),
    insiders: bool = True,
    executor: Executor | None = None,
    observer: Observer | None = None,
    structure: Structure | None = None,
    suggested: Deviations | None = None,
    tolerance: float | None = ADDITIVITY_TOLERANCE,
) -> Audit:
    """Find out what can be deduced from a publication.

    Args:
        problem: The true table.
        solution: What is published: an outcome, a suppression, intervals, values, a mask of
            the suppressed cells or their numbers. Values with a radius (see `Values`) are what
            a reader takes for intervals. Values without are safe where they add up, respect
            the bounds, and differ from the true value of each sensitive cell by at least its
            lower level downwards or its upper level upwards, and by its sliding level.
        cells: Whose intervals to compute: `sensitive`, `suppressed` (everything not published
            as it is), `all`, or cell numbers. Sensitive cells are always looked at.
        exact: Compute exact intervals; if False, stop for each sensitive cell once its levels
            are known to be met, which is faster and enough to say safe or not.
        attackers: Who attacks; by default a reader who knows nothing more than the
            publication, the relations and the bounds.
        insiders: Also look at the contributors of the problem, if it has them (see `Insiders`),
            each with what it knows and the levels against it. Readers are looked at then, too.
        executor: Runs the work in threads, processes or on a cluster.
        observer: Listens; may stop the audit, which is then not called safe.
        structure: The examined relations, if at hand.
        suggested: Deviations from the true table, one row each, that may show cells safe. Each
            is checked before it is used, and saves the search for one like it.
        tolerance: How exactly the relations must hold (see `Problem.validate`); None if the
            table is known to be sound.

    Raises:
        ProblemError: The table contradicts itself.
        InputError: The solution or the choice of cells does not fit the table.

    >>> from tacit import examples
    >>> example = examples.get("003-figure-11")
    >>> found = audit(example.problem, example.suppressed)
    >>> found.safe
    True
    >>> cell = example.cell("M2P3")
    >>> row = found.to_frame()["cell"].index(cell)
    >>> found.to_frame()["lower"][row], found.to_frame()["upper"][row]
    (20.0, 68.0)
    """
    if tolerance is not None:
        refuse_contradictions(problem, tolerance)
    solution = as_solution(problem, solution)
    knowledge = Knowledge.of(problem, solution)
    hidden = hidden_cells(problem, solution, knowledge)
    chosen = _choose(problem, cells, hidden)
    observer = observer or Observer()
    faces_insiders = insiders and problem.insiders is not None
    attackers = with_reader(problem if insiders else problem.with_insiders(None), attackers)
    if isinstance(solution, Values) and solution.radius is None:
        observer.on_start("audit", total=len(chosen) * len(attackers))
        found_all = tuple(
            findings_of_values(problem, solution, knowledge, attacker, chosen)
            for attacker in attackers
        )
        faults = faults_of_values(problem, solution, tolerance)
        observer.on_end()
        return Audit(
            problem,
            knowledge,
            found_all,
            hidden,
            adjusted=solution,
            faults=faults,
            insiders=InsiderAudit.of_values(problem) if faces_insiders else None,
        )
    structure = structure or Structure.of(problem)
    observer.on_start("audit", total=2 * len(chosen) * len(attackers))
    findings: list[AttackerFindings] = []
    suggestions = Suggestions(problem, suggested)
    # What is found for one serves the others as well, if few cells move.
    moves: Moves = "some" if faces_insiders or len(attackers) > 1 else "any"
    done = 0
    for attacker in attackers:
        before = done

        def progress(answered: int, before: int = before) -> bool:
            observer.on_progress(before + answered, 2 * len(chosen) * len(attackers))
            return observer.should_stop()

        findings.append(
            _attack(
                problem,
                knowledge,
                attacker,
                chosen,
                exact,
                structure,
                suggestions,
                moves,
                executor,
                progress,
            )
        )
        done += 2 * len(chosen)
    found_insiders = None
    if faces_insiders:
        reader = next(found for found in findings if found.attacker.is_reader)
        attack = cache(lambda: Attack(problem, knowledge, structure=structure))
        found_insiders = audit_insiders(
            problem,
            knowledge,
            reader,
            attack,
            suggestions,
            executor=executor,
            should_stop=observer.should_stop,
        )
    observer.on_end()
    faults = faults_of_values(problem, solution, tolerance)
    return Audit(
        problem,
        knowledge,
        tuple(findings),
        hidden,
        rounded=solution if isinstance(solution, Values) else None,
        faults=faults,
        insiders=found_insiders,
    )


def findings_of_values(
    problem: Problem,
    values: Values,
    knowledge: Knowledge,
    attacker: Attacker,
    cells: Integers,
) -> AttackerFindings:
    """What an attacker learns from adjusted values: no more than it knew before."""
    cells = cells[~attacker.spares(problem)[cells]]
    told = attacker.learn(problem, knowledge)
    return AttackerFindings(
        attacker,
        cells,
        problem.value[cells] - told.down[cells],
        problem.value[cells] + told.up[cells],
        np.zeros(len(cells), bool),
        judge_values(problem, values, attacker, cells),
        Evidence.none(problem),
    )


def _same_verdict(found: AttackerFindings, again: AttackerFindings) -> bool:
    """Whether two findings say the same of sensitive cells and of intervals."""
    return (
        found.exposures == again.exposures
        and found.undecided == again.undecided
        and bool(np.isin(again.cells, found.cells).all())
        and np.array_equal(found.lower, again.lower)
        and np.array_equal(found.upper, again.upper)
        and np.array_equal(found.exact, again.exact)
    )


def _numbers(cells: Integers) -> list[int]:
    return [int(cell) for cell in cells]


def refuse_contradictions(problem: Problem, tolerance: float) -> None:
    """Refuse a table that contradicts itself: nothing can be deduced about it."""
    found = problem.violations(tolerance)
    refuse([each for each in found if each.condition in ("additivity", "bounds")])


def hidden_cells(problem: Problem, solution: Solution, knowledge: Knowledge) -> Booleans:
    """Cells that are not published with their exact value."""
    if isinstance(solution, Suppression):
        return solution.suppressed
    if isinstance(solution, Values) and solution.radius is None:
        return np.asarray(solution.value != problem.value)
    return (knowledge.up > 0) | (knowledge.down > 0)


def _choose(problem: Problem, cells: CellChoice, hidden: Booleans) -> Integers:
    if isinstance(cells, str):
        masks = {
            "sensitive": problem.is_sensitive,
            "suppressed": hidden | problem.is_sensitive,
            "all": np.ones(problem.cell_count, bool),
        }
        if cells not in masks:
            raise InputError(f"cells must be one of {', '.join(masks)}, or cell numbers")
        return np.flatnonzero(masks[cells])
    numbers = np.asarray(cells, np.int64)
    outside = numbers[(numbers < 0) | (numbers >= problem.cell_count)]
    if len(outside):
        raise InputError(
            f"there is no cell {outside[0]}; cells are numbered 0 to {problem.cell_count - 1}"
        )
    return np.union1d(numbers, problem.sensitive)


def _attack(
    problem: Problem,
    knowledge: Knowledge,
    attacker: Attacker,
    chosen: Integers,
    exact: bool,
    structure: Structure,
    suggestions: Suggestions,
    moves: Moves,
    executor: Executor | None,
    progress: Any,
) -> AttackerFindings:
    """Let one attacker deduce."""
    cells = chosen[~attacker.spares(problem)[chosen]]
    told = attacker.learn(problem, knowledge)
    requests = Requests.both_sides(cells)
    if not exact:
        up_level, down_level, sliding = np.zeros((3, problem.cell_count))
        up_level[problem.sensitive] = problem.upper_level
        down_level[problem.sensitive] = problem.lower_level
        sliding[problem.sensitive] = problem.sliding_level
        # A sliding level is about both sides together, so that it needs the exact interval.
        early = problem.is_sensitive[cells] & (sliding[cells] == 0)
        up = np.where(early, up_level[cells], np.inf)
        down = np.where(early, down_level[cells], np.inf)
        requests = Requests.both_sides(cells, up, down)
    requests = attacker.ask(problem, knowledge, requests)
    keep = attacker.reopened(problem)
    reaches = suggestions.reach(
        lambda: Attack(problem, told, structure=structure, keep=keep),
        told,
        requests,
        reopened=keep,
        moves=moves,
        executor=executor,
        progress=progress,
    )
    capacities = Capacities.of(problem, knowledge, attacker, requests.cells, requests.sides)
    evidence = Evidence.of(requests, mended(problem, capacities, reaches))
    return AttackerFindings.of(problem, attacker, evidence, cells)
