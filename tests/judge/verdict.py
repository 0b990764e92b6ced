"""The judge: is what a method hands back what it says it is?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit import Attacker
from tacit.outcome import Intervals, Outcome, Report, Status, Suppression, Values
from tacit.problem import Problem
from tests.judge import alternatives, changed
from tests.judge.reader import exposed
from tests.judge.solvers import Floats

SLACK = 1e-5
"""Costs that differ by this share count as equal."""
_SMALL = 120
"""Of larger tables no alternatives are adjusted or rounded."""


@dataclass(frozen=True)
class Fault:
    """Something that is not as it is said to be.

    Attributes:
        kind: `unsafe`, `not as asked`, `objective`, `false bound`, `false optimum` or
            `false infeasibility`.
        text: What is wrong, with numbers: these are random tables.
    """

    kind: str
    text: str


@dataclass(frozen=True, eq=False)
class Asked:
    """What a method was asked for.

    Attributes:
        problem: The table.
        method: The name of the method.
        options: What it was called with.
    """

    problem: Problem
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def weight(self) -> Floats:
        """What a cell or a unit costs."""
        return weights_of(self.problem, self.options.get("weights", "given"))

    @property
    def attackers(self) -> tuple[Attacker, ...]:
        """Who attacks; nobody is named for a reader alone."""
        named = tuple(self.options.get("attackers", ()))
        p = self.problem
        how = self.options.get("singletons", "ignore")
        if how == "respondents":
            named = named or (Attacker(),)
            for number in sorted({int(each) for each in p.singleton if each >= 0}):
                own = np.flatnonzero(p.singleton == number).tolist()
                named += (Attacker(f"respondent {number}", known=tuple(own), own=frozenset(own)),)
        return named

    @property
    def gap(self) -> float:
        """How far from the bound an optimum may be."""
        return float(self.options.get("gap", 1e-4))


def weights_of(problem: Problem, weights: Any) -> Floats:
    """Weights as they may be chosen, from what docs say of the choices."""
    size = np.where(problem.value == 0, 1.0, np.abs(problem.value))
    if isinstance(weights, str):
        named = {
            "given": problem.weight,
            "unit": np.ones(problem.cell_count),
            "value": size,
            "inverse": 1 / size,
        }
        return np.asarray(named[weights], float)
    return np.asarray(weights, float)


def judge(asked: Asked, outcome: Outcome) -> list[Fault]:
    """Everything that is wrong with an outcome; empty if nothing was found."""
    faults = [] if outcome.solution is None else _of_solution(asked, outcome)
    if not any(fault.kind in ("unsafe", "not as asked") for fault in faults):
        faults += _of_claims(asked, outcome)
    return faults


def _of_solution(asked: Asked, outcome: Outcome) -> list[Fault]:
    p, solution = asked.problem, outcome.solution
    assert solution is not None
    faults = [
        Fault("unsafe", f"cell {each.cell} has {each.share:.6f} of its {each.level} level")
        for each in exposed(p, solution, asked.attackers)[:3]
    ]
    conditions = {
        "suppress": _suppression,
        "intervals": _intervals,
        "combined": _combined,
        "adjust": _adjusted,
        "round": _rounded,
    }[asked.method](asked, outcome)
    faults += [Fault("not as asked", text) for text in conditions]
    cost = cost_of(asked, outcome)
    told = _published_objective(outcome.report)
    if told is None or abs(told - cost) > SLACK * max(abs(cost), abs(told)):
        faults.append(Fault("objective", f"said to cost {told!r}, costs {cost!r}"))
    return faults


def _published_objective(report: Report) -> float | None:
    """What is said to be the cost of what is published; the objective may be the optimum before."""
    published: float | None = getattr(report, "published_objective", None)
    return report.objective if published is None else published


def cost_of(asked: Asked, outcome: Outcome) -> float:
    """What a solution costs."""
    p, solution, weight = asked.problem, outcome.solution, asked.weight
    if isinstance(solution, Suppression):
        return float(weight[solution.suppressed].sum())
    if isinstance(solution, Intervals):
        # What lies beyond the bounds that everybody knows is no loss.
        width = np.minimum(solution.upper, p.upper) - np.maximum(solution.lower, p.lower)
        width = np.where(solution.upper > solution.lower, width, 0.0)
        if asked.method == "intervals":
            return float(weight @ width)
        each = weights_of(p, asked.options.get("width_weights", "given"))
        return float(weight[(width > 0) | p.is_sensitive].sum() + each @ width)
    assert isinstance(solution, Values)
    if asked.method == "adjust":
        return adjusting(asked, integer=False).cost(solution.value - p.value)
    return float(weight @ np.abs(solution.value - p.value))


def _suppression(asked: Asked, outcome: Outcome) -> list[str]:
    p, solution = asked.problem, outcome.solution
    assert isinstance(solution, Suppression)
    told = []
    if not solution.suppressed[p.sensitive].all():
        told.append("a sensitive cell is published")
    if (solution.suppressed & p.must_publish).any():
        told.append("a cell is suppressed that must be published")
    most = asked.options.get("max_suppressed")
    if most is not None and solution.suppressed.sum() > most:
        told.append("more cells are suppressed than asked for")
    return told


def _intervals(asked: Asked, outcome: Outcome) -> list[str]:
    p, solution = asked.problem, outcome.solution
    assert isinstance(solution, Intervals)
    told = []
    slack = 1e-9 * np.abs(p.value)
    if ((solution.lower > p.value + slack) | (solution.upper < p.value - slack)).any():
        told.append("an interval does not contain the true value")
    open_ = solution.upper > solution.lower
    if (open_ & p.must_publish).any():
        told.append("a cell is an interval that must be published")
    allowed = asked.options.get("allowed")
    if allowed is not None and (open_ & ~np.asarray(allowed)).any():
        told.append("a cell is an interval that must not be one")
    return told


def _combined(asked: Asked, outcome: Outcome) -> list[str]:
    p, solution = asked.problem, outcome.solution
    assert isinstance(solution, Intervals)
    told = _intervals(asked, outcome)
    width = solution.upper - solution.lower
    hidden = (width > 0) | p.is_sensitive
    most = asked.options.get("max_suppressed")
    if most is not None and hidden.sum() > most:
        told.append("more cells are suppressed than asked for")
    least = asked.options.get("min_width", 0.0)
    if isinstance(least, str):
        least = float(least.rstrip("%")) / 100 * np.abs(p.value)
    least = np.minimum(least, p.upper - p.lower)
    if (width < least * (1 - 1e-6))[(width > 0)].any():
        told.append("an interval is narrower than asked for")
    return told


def adjusting(asked: Asked, *, integer: bool) -> changed.Adjusting:
    """The conditions of an adjusted table."""
    p, options = asked.problem, asked.options
    up, down = np.maximum(p.upper - p.value, 0.0), np.maximum(p.value - p.lower, 0.0)
    kept = p.must_publish.copy()
    kept[list(options.get("keep", ()))] = True
    share = options.get("limits")
    if share is not None:
        most = np.where(p.is_sensitive, np.inf, share * np.abs(p.value))
        up, down = np.minimum(up, most), np.minimum(down, most)
    up, down = np.where(kept, 0.0, up), np.where(kept, 0.0, down)
    return changed.Adjusting(p, asked.weight, up, down, options.get("norm", "l1"), integer)


def is_integer(problem: Problem) -> bool:
    """Whether a table and its relations are of whole numbers."""
    return all(
        bool((each == np.rint(each)).all()) for each in (problem.value, problem.relations.data)
    )


def _adjusted(asked: Asked, outcome: Outcome) -> list[str]:
    p, solution = asked.problem, outcome.solution
    assert isinstance(solution, Values)
    told, model = _additive(p, solution.value), adjusting(asked, integer=False)
    z = solution.value - p.value
    slack = 1e-9 * np.maximum(np.abs(p.value), np.abs(solution.value))
    if ((z > model.up + slack) | (-z > model.down + slack)).any():
        told.append("a cell lies outside its bounds, limits, or was not to change")
    broken = (solution.value != np.rint(solution.value)).any()
    if is_integer(p) and broken and not outcome.message:
        told.append("there are decimals in a table of whole numbers, and nothing says so")
    return told


def _additive(problem: Problem, value: Floats) -> list[str]:
    terms = abs(problem.relations) @ np.maximum(np.abs(value), np.abs(problem.value))
    missed = np.abs(problem.relations @ value - problem.rhs)
    bad = missed > 1e-9 * (terms + np.abs(problem.rhs))
    return ["published values do not add up"] if bad.any() else []


def rounding(asked: Asked, steps: int) -> changed.Rounding:
    """The conditions of a rounding."""
    options = asked.options
    return changed.Rounding(
        asked.problem,
        asked.weight,
        float(options["base"]),
        steps,
        bool(options.get("zero_restricted", False)) or options.get("algorithm") == "random",
    )


def _rounded(asked: Asked, outcome: Outcome) -> list[str]:
    p, solution = asked.problem, outcome.solution
    assert isinstance(solution, Values)
    first = int(asked.options.get("steps", 1))
    last = int(asked.options.get("most_steps") or first)
    told: list[str] = []
    for steps in range(first, last + 1):
        told = _rounded_within(rounding(asked, steps), solution)
        if not told:
            break
    if asked.options.get("algorithm") != "random":
        told += _additive(p, solution.value)
    return told


def _rounded_within(model: changed.Rounding, solution: Values) -> list[str]:
    p, told = model.problem, []
    counts = solution.value / model.base
    slack = 1e-9 * np.maximum(np.abs(counts), 1.0)
    if (np.abs(counts - np.rint(counts)) > slack).any():
        told.append("a published value is no multiple of the base")
    low, high = model.ends()
    if ((counts < low - slack) | (counts > high + slack)).any():
        told.append("a published value lies too far away, outside its bounds, or was to stay")
    assert solution.radius is not None
    if (
        np.abs(solution.value - p.value) > solution.radius * (1 + 1e-9) + 1e-9 * np.abs(p.value)
    ).any():
        told.append("a true value lies further away than readers are told")
    if (solution.radius > model.radius * (1 + 1e-9)).any():
        told.append("readers know more than the radius says")
    return told


def _of_claims(asked: Asked, outcome: Outcome) -> list[Fault]:
    """What is claimed about all other solutions, held against alternatives."""
    faults = []
    report = outcome.report
    objective, bound = report.objective, report.bound
    if objective is not None and bound > objective * (1 + SLACK):
        faults.append(
            Fault("false bound", f"bound {bound!r} above its own objective {objective!r}")
        )
    found = list(alternatives_to(asked, outcome))
    if outcome.status is Status.INFEASIBLE and found:
        text = f"there is a safe solution of {found[0].cost!r}"
        return [*faults, Fault("false infeasibility", text)]
    for alternative in found:
        unit = max(abs(alternative.cost), 1e-300)
        if bound > alternative.cost + SLACK * unit:
            faults.append(
                Fault(
                    "false bound",
                    f"bound {bound!r}, but a safe solution costs {alternative.cost!r}",
                )
            )
        # Ends moved to round numbers cost more than the optimum that is meant.
        is_moved = asked.options.get("round_to") and _published_objective(report) == objective
        if outcome.status is not Status.OPTIMAL or is_moved:
            continue
        if objective is not None and objective * (1 - asked.gap) > alternative.cost + SLACK * unit:
            text = f"optimum of {objective!r}, but a safe solution costs {alternative.cost!r}"
            faults.append(Fault("false optimum", text))
    return faults


def alternatives_to(asked: Asked, outcome: Outcome) -> Sequence[alternatives.Alternative]:
    """Safe solutions found by other means."""
    p, options = asked.problem, asked.options
    none: tuple[alternatives.Alternative, ...] = ()
    small = p.cell_count <= _SMALL
    found: alternatives.Alternative | None = None
    if asked.method == "suppress":
        if options.get("max_suppressed") is None:
            found = alternatives.suppression(p.replace(weight=asked.weight), asked.attackers)
    elif asked.attackers:
        return none
    elif asked.method == "intervals":
        found = alternatives.intervals(p, asked.weight, options.get("allowed"))
    elif asked.method == "combined":
        if options.get("max_suppressed") is None and not options.get("min_width"):
            width = weights_of(p, options.get("width_weights", "given"))
            found = alternatives.combined(p, asked.weight, width)
    elif asked.method == "adjust":
        return _adjusted_alternatives(asked, outcome) if small else none
    elif not options.get("most_steps") and options.get("algorithm") != "random" and small:
        found = changed.rounded(rounding(asked, int(options.get("steps", 1))))
    return none if found is None else (found,)


def _adjusted_alternatives(asked: Asked, outcome: Outcome) -> list[alternatives.Alternative]:
    """A alternative with no more decimals than the data, and one with any number of them.

    The first costs no less than the second, and disproves what is said of either. The second
    is held against tables with more decimals, and against there being none.
    """
    decimals = changed.decimals_of(asked.problem)
    model = adjusting(asked, integer=False)
    is_none = outcome.status is Status.INFEASIBLE
    found = []
    if decimals is not None and not is_none:
        found.append(changed.adjusted(model.in_units(decimals)))
    if decimals is None or is_none or _has_more_decimals(outcome, decimals):
        found.append(changed.adjusted(model))
    return [each for each in found if each is not None]


def _has_more_decimals(outcome: Outcome, decimals: int) -> bool:
    """Whether a table has more decimals than the data without a word about it."""
    if outcome.message or not isinstance(outcome.solution, Values):
        return False
    counts = outcome.solution.value * 10.0**decimals
    return bool((np.abs(counts - np.rint(counts)) > 0.01).any())
