"""Runs by number: a table, a method, an algorithm and options, run and judged."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

import numpy as np

from tacit import Attacker
from tacit.errors import InputError, ProblemError, TacitError
from tacit.methods.registry import METHODS
from tacit.outcome import Outcome
from tests.judge.tables import MAGNITUDES, Drawn, draw
from tests.judge.verdict import Asked, Fault, judge

ALGORITHMS: dict[str, tuple[str, ...]] = {
    name: get_args(get_type_hints(method.options())["algorithm"])
    for name, method in METHODS.items()
}
ROADS = tuple((method, name) for method in METHODS for name in ALGORITHMS[method])
"""Every algorithm of every method."""


@dataclass(frozen=True, eq=False)
class Case:
    """A table and what is asked of it.

    Attributes:
        seed: Its number.
        drawn: The table.
        method: The name of the method.
        algorithm: The name of the algorithm.
        options: What else it is called with.
    """

    seed: int
    drawn: Drawn
    method: str
    algorithm: str
    options: dict[str, Any]

    def run(self) -> Outcome:
        """What the method makes of it."""
        function = METHODS[self.method].run()
        return function(self.drawn.problem, algorithm=self.algorithm, **self.options)


@dataclass(frozen=True)
class Result:
    """How a case ended.

    Attributes:
        status: The status of the outcome, `refused` or `crash`.
        faults: What the judge found.
    """

    status: str
    faults: tuple[Fault, ...] = ()


def case(
    seed: int,
    only: tuple[str, str] | None = None,
    *,
    time_limit: float = 2.0,
    largest: int | None = None,
    magnitude: float | None = None,
) -> Case:
    """The case of a seed.

    Args:
        seed: The same seed gives the same case. Methods, algorithms and magnitudes take turns.
        only: Method and algorithm, instead of the ones whose turn it is.
        time_limit: Seconds for the method.
        largest: No more cells than this, roughly.
        magnitude: How large a typical value is, instead of the one whose turn it is.
    """
    method, algorithm = only or ROADS[seed % len(ROADS)]
    drawn = draw(seed, magnitude=magnitude or MAGNITUDES[seed % len(MAGNITUDES)], largest=largest)
    rng = np.random.default_rng([seed, 11])
    options: dict[str, Any] = {
        "time_limit": time_limit,
        "gap": float(rng.choice([1e-4, 1e-4, 0.0])),
        "seed": int(rng.integers(1, 100)),
    }
    add = {
        "suppress": _suppress,
        "intervals": _intervals,
        "combined": _combined,
        "adjust": _adjust,
        "round": _round,
    }[method]
    options |= add(rng, drawn, algorithm)
    return Case(seed, drawn, method, algorithm, options)


def attempt(one: Case) -> Outcome | Result:
    """Run a case: what came out, or how it failed."""
    try:
        return one.run()
    except (InputError, ProblemError) as error:
        return Result("refused", _of_refusal(one, error))
    except TacitError as error:
        return Result("crash", (Fault("crash", f"{type(error).__name__}: {error}"),))
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{last.filename.rpartition('/tacit/')[2]}:{last.lineno}"
        return Result("crash", (Fault("crash", f"{type(error).__name__} at {place}: {error}"),))


def judged(one: Case, outcome: Outcome | Result) -> Result:
    """What the judge says of what came out."""
    if isinstance(outcome, Result):
        return outcome
    asked = Asked(one.drawn.problem, one.method, one.options | {"algorithm": one.algorithm})
    return Result(outcome.status.value, tuple(judge(asked, outcome)))


def run(one: Case) -> Result:
    """Run and judge a case; whatever goes wrong is a result."""
    return judged(one, attempt(one))


def _of_refusal(one: Case, error: TacitError) -> tuple[Fault, ...]:
    """A refusal is a fault unless it is one that is documented."""
    if one.algorithm == "flow" and "not a network" in str(error):
        return ()
    return (Fault("crash", f"refused, {type(error).__name__}: {error}"),)


def _attackers(rng: np.random.Generator, drawn: Drawn) -> dict[str, Any]:
    """Sometimes a reader and somebody who knows some cells."""
    if rng.random() > 0.1:
        return {}
    p = drawn.problem
    known = tuple(np.flatnonzero((rng.random(p.cell_count) < 0.1) & ~p.is_sensitive).tolist())
    part = rng.integers(p.cell_count)
    at_least = {} if p.value[part] <= 0 else {int(part): float(0.7 * p.value[part])}
    return {"attackers": (Attacker(), Attacker("insider", known=known, at_least=at_least))}


def _suppress(rng: np.random.Generator, drawn: Drawn, algorithm: str) -> dict[str, Any]:
    options = _attackers(rng, drawn)
    if (drawn.problem.singleton >= 0).any() and not options and rng.random() < 0.5:
        options["singletons"] = "respondents"
    if rng.random() < 0.05:
        sensitive = len(drawn.problem.sensitive)
        options["max_suppressed"] = int(rng.integers(sensitive, 4 * sensitive + 1))
    if algorithm in ("benders", "stabilized"):
        options["subproblem"] = f"meth{rng.integers(1, 6)}"
        options["own_cuts"] = bool(rng.random() < 0.5)
    return options


def _intervals(rng: np.random.Generator, drawn: Drawn, algorithm: str) -> dict[str, Any]:
    del algorithm
    options = _attackers(rng, drawn)
    if rng.random() < 0.1:
        options["round_to"] = float(0.5 * drawn.magnitude)
    if rng.random() < 0.1:
        p = drawn.problem
        options["allowed"] = p.is_sensitive | (rng.random(p.cell_count) < 0.7)
    return options


def _combined(rng: np.random.Generator, drawn: Drawn, algorithm: str) -> dict[str, Any]:
    del algorithm
    options = _attackers(rng, drawn)
    options["width_weights"] = str(rng.choice(["given", "unit", "value"]))
    if rng.random() < 0.1:
        options["round_to"] = float(0.5 * drawn.magnitude)
    elif rng.random() < 0.1:
        options["min_width"] = "5%"
    if rng.random() < 0.05:
        sensitive = len(drawn.problem.sensitive)
        options["max_suppressed"] = int(rng.integers(sensitive, 4 * sensitive + 1))
    return options


def _adjust(rng: np.random.Generator, drawn: Drawn, algorithm: str) -> dict[str, Any]:
    norm = str(rng.choice(["l1", "l1", "l1", "l2", "linf"]))
    options: dict[str, Any] = {"norm": norm}
    if rng.random() < 0.2:
        options["weights"] = "inverse"
    if rng.random() < 0.1:
        options["limits"] = float(rng.choice([0.2, 1.0]))
    if rng.random() < 0.1:
        free = np.flatnonzero(~drawn.problem.is_sensitive)
        if len(free):
            options["keep"] = tuple(rng.choice(free, 1).tolist())
    if algorithm == "milp" and norm != "l2" and rng.random() < 0.25:
        options["solver"] = "scip"
    return options


def _round(rng: np.random.Generator, drawn: Drawn, algorithm: str) -> dict[str, Any]:
    base = float(f"{rng.choice([0.05, 0.2, 1.0, 5.0]) * drawn.magnitude:.6g}")
    if drawn.numbers == "whole" and drawn.magnitude >= 1:
        base = max(1.0, float(np.rint(base)))
    options = {"base": base} | _attackers(rng, drawn)
    if rng.random() < 0.3:
        options["zero_restricted"] = True
    if algorithm != "random":
        options["steps"] = int(rng.choice([1, 1, 2]))
        if rng.random() < 0.2:
            options["most_steps"] = options["steps"] + 2
    return options
