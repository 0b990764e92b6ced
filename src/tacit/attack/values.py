"""Published values judged as they stand.

Where readers are not told how far adjusted values are from the true ones, nothing can be
deduced from them by any linear program. A sensitive cell is safe when its published value
lies outside the interval around the true one that its levels forbid: [Castro2012, (17)]. With a
level on one side only, that interval is open on the other side: publishing the true value,
or one that is just as good to readers, protects nothing.
"""

from __future__ import annotations

import numpy as np

from tacit.attack.exposure import Exposure
from tacit.attack.knowledge import Attacker
from tacit.attack.reach import TOLERANCE
from tacit.outcome import Solution, Values
from tacit.problem import ADDITIVITY_TOLERANCE, Booleans, Floats, Integers, Problem, Violation


def judge_values(
    problem: Problem, values: Values, attacker: Attacker, cells: Integers
) -> tuple[Exposure, ...]:
    """Sensitive cells among some whose published value comes too close to the true one.

    Args:
        problem: The true table.
        values: What is published.
        attacker: Who reads it; its own cells are not judged.
        cells: Which cells to look at.

    Returns:
        What is exposed, the worst first. A cell must lie at least its lower level below or its
        upper level above its true value, and at least its sliding level away from it. A level
        of 0 is not met by staying on its side, unless a sliding level keeps the cell away or
        there is no level at all. The nearer of lower and upper level is named.
    """
    judged = np.isin(problem.sensitive, cells) & ~attacker.spares(problem)[problem.sensitive]
    s = problem.sensitive[judged]
    deviation = values.value[s] - problem.value[s]
    # A difference of two numbers is known no better than their last digits.
    blur = 8 * np.finfo(float).eps * np.maximum(np.abs(values.value[s]), np.abs(problem.value[s]))
    down, up = problem.lower_level[judged], problem.upper_level[judged]
    sliding = problem.sliding_level[judged]
    below, above = _share(-deviation, down, blur), _share(deviation, up, blur)
    to_slide = _share(np.abs(deviation), sliding, blur)
    # Only one level: the side without one protects nothing, and has no level to be named.
    is_alone = (sliding == 0) & ((down > 0) != (up > 0))
    below[is_alone & (down == 0)] = -1.0
    above[is_alone & (up == 0)] = -1.0
    exposures = []
    for name, missed, share in (
        ("lower", (below < 1) & (above < 1) & (below >= above), below),
        ("upper", (below < 1) & (above < 1) & (below < above), above),
        ("sliding", to_slide < 1, to_slide),
    ):
        exposures += [
            Exposure(cell, problem.name_cell(cell), attacker.name, name, part)
            for cell, part in zip(s[missed].tolist(), share[missed].tolist(), strict=True)
        ]
    exposures.sort(key=lambda exposure: (exposure.share, exposure.cell))
    return tuple(exposures)


def _share(reached: Floats, level: Floats, blur: Floats) -> Floats:
    """How much of each level is reached, from 0 to 1; 1 where it is missed by rounding alone."""
    met: Booleans = np.asarray(reached + blur >= level * (1 - TOLERANCE))
    part = np.clip(reached, 0.0, None) / np.where(level > 0, level, 1.0)
    return np.where(met, 1.0, np.minimum(part, np.nextafter(1.0, 0.0)))


def faults_of_values(
    problem: Problem, solution: Solution, tolerance: float | None = ADDITIVITY_TOLERANCE
) -> tuple[Violation, ...]:
    """What is wrong with published values as a table; nothing for other solutions.

    Args:
        problem: The true table.
        solution: What is published.
        tolerance: How exactly the relations must hold (see `Problem.validate`).
    """
    if not isinstance(solution, Values):
        return ()
    tolerance = ADDITIVITY_TOLERANCE if tolerance is None else tolerance
    x = solution.value
    # The true table may itself miss its relations by so much.
    scale = np.maximum(problem.replace(value=x).scale(), problem.scale())
    broken = np.flatnonzero(np.abs(problem.residual(x)) > tolerance * scale)
    slack = tolerance * np.maximum(np.abs(x), 1.0)
    outside = np.flatnonzero((x < problem.lower - slack) | (x > problem.upper + slack))
    faults = []
    if len(broken):
        named = problem.name_relations(broken)
        faults.append(
            Violation(
                "additivity",
                f"the published values do not add up in {len(broken)} relation"
                f"{'s' * (len(broken) > 1)}: {named}",
                relations=tuple(broken.tolist()),
            )
        )
    if len(outside):
        faults.append(
            Violation(
                "bounds",
                "the published value lies outside the bounds that readers know: "
                f"{problem.name_cells(outside)}",
                cells=tuple(outside.tolist()),
            )
        )
    return tuple(faults)
