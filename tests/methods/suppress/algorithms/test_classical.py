"""The algorithms of the papers: compact model, Benders' decomposition, stabilized or not."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit import examples
from tacit.attack.cuts import Cuts
from tacit.errors import InputError
from tacit.generators import generate_1h2d
from tacit.io.jj import read_jj
from tacit.methods.suppress.algorithms import monolithic, stabilized
from tacit.methods.suppress.algorithms.benders import Answer, TrustRegionMaster
from tacit.methods.suppress.attackers import AttackerState
from tacit.methods.suppress.model import Search
from tacit.methods.suppress.options import SuppressOptions
from tacit.methods.suppress.run import suppress
from tacit.methods.suppress.subproblems import DualForm, Subproblems
from tacit.methods.suppress.trust_regions import Region, TrustRegions
from tacit.observer import Observer
from tacit.outcome import Outcome, Status
from tacit.problem import Booleans, Problem
from tacit.solver.highs_mip import HighsMip
from tacit.solver.mip import MipSolution
from tests.attack.tables import crossed, flat
from tests.methods.suppress.tables import (
    ATTACKER_KIND,
    KINDS,
    SINGLETON_KINDS,
    BruteForce,
    Instance,
    assert_consistent,
    hidden_by,
    same_weight,
    seeded_instance,
)

CLASSICAL = ["monolithic", "benders", "stabilized"]
EVERY_KIND = [*KINDS, *SINGLETON_KINDS, ATTACKER_KIND]
FORMS = ["meth1", "meth2", "meth3", "meth4", "meth5"]
VARIANTS = list(product(["benders", "stabilized"], FORMS, [True, False]))


@functools.cache
def table(kind: str, seed: int) -> Instance:
    """A random table of some kind, small enough for the brute force to be quick."""
    return seeded_instance(kind, seed, most=9)


@functools.cache
def brute_force(instance: Instance) -> tuple[BruteForce, float | None]:
    """The obvious way to the optimum, and the optimum; gone once for each table."""
    brute = instance.brute_force()
    return brute, brute.optimum()


@functools.cache
def cube(seed: int, *, slides: bool = False, colludes: bool = False) -> Instance:
    """A 2x2x2 table with margins where a few boxes around a sensitive cell may be suppressed.

    Tables of this kind are no networks, and most choices of cells would not protect anything.
    """
    rng = np.random.default_rng([seed, slides, colludes])
    A, sums = crossed([flat(2), flat(2), flat(2)])
    assert sums is not None
    value = sums @ rng.integers(1, 30, sums.shape[1]).astype(float)
    place = np.arange(27).reshape(3, 3, 3)
    first = int(rng.integers(27))
    free = np.zeros(27, bool)
    while True:
        corners = np.unravel_index(first, place.shape)
        box = place[np.ix_(*[[i, (i + int(rng.integers(1, 3))) % 3] for i in corners])]
        wider = free.copy()
        wider[box] = True
        if wider.sum() > 15:
            break
        free = wider
    sensitive = np.sort([first, rng.choice(np.setdiff1d(np.flatnonzero(free), first))])
    level = np.ceil(value[sensitive] * rng.choice([0.05, 0.2]))
    problem = Problem(
        value=value,
        upper=value * rng.choice([1.5, 2.0, 50.0]) + 3,
        weight=rng.integers(1, 9, 27) * rng.choice([1.0, 0.37]),
        relations=A,
        rhs=A @ value,
        sensitive=sensitive,
        upper_level=level * (not slides),
        lower_level=np.minimum(level, value[sensitive]) * rng.integers(0, 2, 2),
        sliding_level=2.5 * level * slides,
        must_publish=~free,
        singleton=np.where(np.arange(27) == sensitive[0], 0, -1) if colludes else None,
    )
    return Instance(problem.validate(), singletons="global" if colludes else "ignore")


def assert_optimal(instance: Instance, outcome: Outcome) -> None:
    """The outcome is what brute force finds, and no bound on the way was above it."""
    brute, optimum = brute_force(instance)
    assert_consistent(outcome, instance.problem, brute)
    assert outcome.status is (Status.INFEASIBLE if optimum is None else Status.OPTIMAL)
    assert same_weight(outcome.report.objective, optimum)
    if optimum is not None:
        assert all(point.bound <= optimum * (1 + 1e-7) for point in outcome.report.trace)


def search_of(instance: Instance, **options: Any) -> Search:
    """A search as `suppress` would begin it."""
    chosen = SuppressOptions(singletons=instance.singletons, **options)  # type: ignore[arg-type]
    return Search(instance.problem, chosen, instance.attackers)


@pytest.mark.parametrize("algorithm", CLASSICAL)
@pytest.mark.parametrize("kind", EVERY_KIND)
def test_optimum_is_that_of_brute_force(kind: str, algorithm: str) -> None:
    """Every algorithm finds the optimum of every kind of table."""
    for seed in (101, 102):
        instance = table(kind, seed)
        assert_optimal(instance, instance.suppress(algorithm))


@pytest.mark.parametrize("algorithm", CLASSICAL)
@pytest.mark.parametrize("colludes", [False, True])
@pytest.mark.parametrize("slides", [False, True])
def test_optimum_of_cubes(slides: bool, colludes: bool, algorithm: str) -> None:
    """Outside networks, too, with sliding levels and colluding singletons."""
    for seed in (1, 8):
        instance = cube(seed, slides=slides, colludes=colludes)
        assert_optimal(instance, instance.suppress(algorithm))


@pytest.mark.parametrize(("algorithm", "form", "own"), VARIANTS)
def test_every_subproblem_leads_to_the_optimum(algorithm: str, form: str, own: bool) -> None:
    """Whatever the form of the subproblem, strengthened or not, the optimum is found."""
    number = VARIANTS.index((algorithm, form, own))
    for kind in (EVERY_KIND[number % len(EVERY_KIND)], EVERY_KIND[(number + 5) % len(EVERY_KIND)]):
        instance = table(kind, 103)
        outcome = instance.suppress(algorithm, subproblem=form, own_cuts=own)
        assert_optimal(instance, outcome)
    instance = cube(11, slides=number % 2 == 0)
    assert_optimal(instance, instance.suppress(algorithm, subproblem=form, own_cuts=own))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("kind", ["2-D", "coefficients", "infinite", "sliding", "global", "cube"])
def test_cuts_object_to_unsafe_patterns_only(kind: str, own: bool, form: str) -> None:
    """Exposed patterns violate some cut, and no safe pattern violates any."""
    instance = cube(1, slides=True, colludes=True) if kind == "cube" else table(kind, 101)
    search = search_of(instance, subproblem=form, own_cuts=own)
    subproblems = Subproblems(search)
    rng = np.random.default_rng(1)
    patterns = [
        search.sensitive | (search.secondary & (rng.random(len(search.secondary)) < share))
        for share in np.linspace(0, 1, 13)
    ]
    is_exposed = [bool(search.exposed(hidden)) for hidden in patterns]
    safe = [hidden for hidden, exposed in zip(patterns, is_exposed, strict=True) if not exposed]
    assert 0 < len(safe) < len(patterns)
    for hidden, exposed in zip(patterns, is_exposed, strict=True):
        found = list(subproblems.cuts(hidden))
        assert bool(sum(map(len, found))) == exposed
        for cuts in found:
            coefficients = cuts.coefficients[:, np.flatnonzero(search.secondary)]
            assert (cuts.violation(hidden.astype(float)) > 0).all()
            for other in safe:
                met = coefficients @ other[search.secondary]
                assert (met >= 1 - 1e-7).all(), f"{kind}: a safe pattern is cut off"


@pytest.mark.parametrize("algorithm", CLASSICAL)
def test_figure_11_of_paper_003(algorithm: str) -> None:
    """The worked example needs four suppressed cells."""
    problem = examples.get("003-figure-11").problem
    outcome = suppress(problem, algorithm=algorithm, weights="unit")  # type: ignore[arg-type]
    assert (outcome.status, outcome.report.objective) == (Status.OPTIMAL, 4.0)


@pytest.mark.parametrize("algorithm", CLASSICAL)
@pytest.mark.parametrize(("name", "optimum"), [("small", 14.0), ("targus", 2440.0)])
def test_public_tables(shared: Path, name: str, optimum: float, algorithm: str) -> None:
    """The optima of public tables are found and proven."""
    problem = read_jj(shared / "instances" / f"{name}.jj")
    outcome = suppress(problem, algorithm=algorithm)  # type: ignore[arg-type]
    assert (outcome.status, outcome.report.objective) == (Status.OPTIMAL, optimum)
    assert outcome.audit is not None
    assert outcome.audit.safe
    assert outcome.report.iterations >= 1
    assert (outcome.report.cuts > 0) == (algorithm != "monolithic")


@pytest.mark.parametrize(("form", "own"), list(product(FORMS, [True, False])))
def test_public_tables_by_every_form(shared: Path, form: str, own: bool) -> None:
    """Every form of the subproblem leads to the optima of public tables."""
    for name, algorithm, optimum in (("small", "stabilized", 14.0), ("targus", "benders", 2440.0)):
        problem = read_jj(shared / "instances" / f"{name}.jj")
        outcome = suppress(problem, algorithm=algorithm, subproblem=form, own_cuts=own)  # type: ignore[arg-type]
        assert (outcome.status, outcome.report.objective) == (Status.OPTIMAL, optimum)


@pytest.mark.parametrize("algorithm", CLASSICAL)
@pytest.mark.parametrize("extra", [0, 1, 2, 4])
def test_number_of_cells_is_limited(algorithm: str, extra: int) -> None:
    """With a limit on the number of cells the optimum changes, or there is none."""
    for seed in (105, 106):
        problem = table("2-D", seed).problem
        limit = len(problem.sensitive) + extra
        instance = Instance(problem, max_suppressed=limit)
        assert_optimal(instance, instance.suppress(algorithm))


@pytest.mark.parametrize("algorithm", CLASSICAL)
def test_large_values_do_no_harm(algorithm: str) -> None:
    """A table in units of a thousand millions has the same optimum."""
    problem = table("3-D", 107).problem
    scaled = ["value", "lower", "upper", "rhs", "sliding_level", "upper_level", "lower_level"]
    big = problem.replace(**{name: 1e9 * getattr(problem, name) for name in scaled})
    small, large = Instance(problem).suppress(algorithm), Instance(big).suppress(algorithm)
    assert small.status is large.status is Status.OPTIMAL
    assert small.report.objective == large.report.objective


@pytest.fixture
def no_relaxation(monkeypatch: pytest.MonkeyPatch) -> list[Region | None]:
    """`stabilized` begins with its master problems; the regions that they are solved in.

    Otherwise the relaxation alone solves almost every table that brute force can.
    """
    monkeypatch.setattr(stabilized, "is_too_large", lambda _: True)
    asked: list[Region | None] = []
    solve = TrustRegionMaster.solve

    def noted(self: TrustRegionMaster, region: Region | None = None, **limits: Any) -> Answer:
        asked.append(region)
        return solve(self, region, **limits)

    monkeypatch.setattr(TrustRegionMaster, "solve", noted)
    return asked


@pytest.mark.parametrize("radius", [(0.5,), (1.0, 2.0, 3.0), (100.0,)])
@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize("improvement", [0.1, 1.0])
def test_any_radii_lead_to_the_optimum(
    no_relaxation: list[Region | None],
    radius: tuple[float, ...],
    reset: bool,
    improvement: float,
) -> None:
    """Small, growing and pointless trust regions only change the way to the optimum."""
    for kind in ("3-D", "local", "2-D"):
        instance = table(kind, 108)
        outcome = instance.suppress(
            "stabilized", radius=radius, reset_radius=reset, improvement=improvement
        )
        assert_optimal(instance, outcome)
    assert (radius == (100.0,)) == all(region is None for region in no_relaxation)


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_regions_alone_lead_to_the_optimum(no_relaxation: list[Region | None], kind: str) -> None:
    """Without cuts of the relaxation every kind of table is solved by Figure 2 itself."""
    for seed in (101, 102):
        instance = table(kind, seed)
        assert_optimal(instance, instance.suppress("stabilized", own_cuts=seed == 101))
    assert no_relaxation


def test_radius_goes_back_after_progress_if_asked() -> None:
    """With `reset_radius` the first radius comes again after a larger one."""
    problem = generate_1h2d("10-10-10", 3, weight="value")
    for resets in (False, True):
        search = Search(problem, SuppressOptions())
        search.best = search.sensitive | search.secondary
        regions = TrustRegions(search, (0.01, 0.02, 0.5), goes_back=resets)
        first = regions.region()
        regions.grow()
        second = regions.region()
        search.best = search.best & (np.arange(problem.cell_count) % 7 > 0) | search.sensitive
        third = regions.region()
        assert first is not None
        assert second is not None
        assert third is not None
        assert first.radius < second.radius
        assert third.radius == (first if resets else second).radius
        assert np.array_equal(third.centre, search.best)


COMBINATIONS = [
    (form, solver)
    for form in FORMS
    for solver in ("primal", "dual", "interior-point")
    if (form, solver) != ("meth2", "interior-point")
]


@pytest.mark.parametrize(("form", "solver"), COMBINATIONS)
@pytest.mark.parametrize("algorithm", ["benders", "stabilized"])
@pytest.mark.usefixtures("no_relaxation")
def test_every_combination_of_the_paper_leads_to_the_optimum(
    algorithm: str, form: str, solver: str
) -> None:
    """All 28 combinations of master, form and method of [BaenaCastroFrangioni2020] agree."""
    number = COMBINATIONS.index((form, solver))
    kinds = [EVERY_KIND[number % len(EVERY_KIND)], "3-D", "sliding"]
    for kind in kinds:
        instance = table(kind, 104)
        outcome = instance.suppress(
            algorithm, subproblem=form, subproblem_solver=solver, own_cuts=False
        )
        assert_optimal(instance, outcome)


@pytest.mark.parametrize("form", ["meth4", "meth5"])
@pytest.mark.parametrize("weights", ["unit", "capacity", "cost"])
def test_weights_of_the_normalization_change_the_way_only(form: str, weights: str) -> None:
    """Whatever the weights of (21), the optimum is that of brute force."""
    for kind in ("2-D", "3-D", "global"):
        instance = table(kind, 105)
        outcome = instance.suppress("benders", subproblem=form, subproblem_weights=weights)
        assert_optimal(instance, outcome)


def test_cuts_of_the_relaxation_are_met_by_safe_patterns() -> None:
    """Points of the relaxation are cut off by what every safe pattern meets."""
    rng = np.random.default_rng(5)
    found = 0
    for kind, own in product(["2-D", "3-D", "sliding", "global", "infinite"], [True, False]):
        search = search_of(table(kind, 101), own_cuts=own)
        everything = search.sensitive | search.secondary
        safe = [everything]
        for _ in range(40):
            hidden = search.sensitive | (search.secondary & (rng.random(len(everything)) < 0.8))
            if not search.exposed(hidden):
                safe.append(hidden)
        points = [search.sensitive.astype(np.float64)]
        for _ in range(5):
            y = np.where(search.sensitive, 1.0, rng.random(len(everything)) * search.secondary)
            points.append(0.6 * y + 0.4 * search.sensitive)
        for point in points:
            for cuts in Subproblems(search).cuts_at(point):
                found += len(cuts)
                coefficients = cuts.coefficients[:, np.flatnonzero(search.secondary)]
                for hidden in safe:
                    assert (coefficients @ hidden[search.secondary] >= 1 - 1e-7).all()
    assert found > 0


def test_forms_are_asked_about_patterns_of_master_problems_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where hundreds of cells are exposed, the programs of a form would take all the time."""
    asked: list[int] = []
    multipliers = DualForm.multipliers

    def noted(self: DualForm, hidden: Booleans, *rest: Any) -> Any:
        asked.append(int(hidden.sum()))
        return multipliers(self, hidden, *rest)

    monkeypatch.setattr(DualForm, "multipliers", noted)
    instance = table("2-D", 104)
    of_sensitive = len(instance.problem.sensitive)
    for algorithm, begins_there in (("benders", True), ("stabilized", False)):
        asked.clear()
        outcome = instance.suppress(algorithm, subproblem="meth4")
        assert_optimal(instance, outcome)
        assert asked
        assert (of_sensitive in asked) == begins_there


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subproblem": "meth2", "subproblem_solver": "interior-point"}, "meth2 follows a ray"),
        ({"subproblem_weights": "cost"}, "no effect on meth1; choose meth4 or meth5"),
        ({"improvement": 0.0}, "improvement must be above 0"),
        ({"improvement": 1.5}, "improvement must be above 0"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    """The message says what is wrong and what to choose."""
    with pytest.raises(InputError, match=message):
        SuppressOptions(algorithm="stabilized", **options)


@pytest.mark.parametrize("algorithm", CLASSICAL)
def test_cell_may_stand_alone_to_make_up_a_number(algorithm: str) -> None:
    """Singletons need a third cell in their relation, which may be of no use elsewhere."""
    A, sums = crossed([flat(3), flat(2)])
    assert sums is not None
    value = sums @ np.array([5.0, 6.0, 7.0, 8.0, 9.0, 4.0])
    weight = np.full(12, 20.0)
    row = np.flatnonzero(A[0])
    weight[row[-1]] = 1.0
    singleton = np.full(12, -1)
    singleton[row[:2]] = [0, 1]
    problem = Problem(
        value=value,
        upper=3 * value,
        weight=weight,
        relations=A,
        rhs=A @ value,
        sensitive=row[:2],
        upper_level=1,
        lower_level=1,
        singleton=singleton,
    )
    instance = Instance(problem, singletons="local")
    outcome = instance.suppress(algorithm)
    assert_optimal(instance, outcome)
    hidden = hidden_by(outcome)
    assert hidden[row].sum() == 3
    assert ((abs(A) @ hidden) == 1).any()


@pytest.mark.parametrize("algorithm", ["benders", "stabilized"])
def test_optimum_is_found_without_any_cut(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where subproblems have nothing to say, unsafe patterns are ruled out one by one."""

    def silence(_: Subproblems, __: Booleans) -> Iterator[Cuts]:
        return iter(())

    monkeypatch.setattr(Subproblems, "cuts", silence)
    instance = seeded_instance("2-D", 109, most=6)
    assert_optimal(instance, instance.suppress(algorithm, own_cuts=False))


def test_loose_compact_model_is_put_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns that only the model holds for safe are ruled out until one is."""
    honest = monolithic._levels

    def loose(search: Search, state: AttackerState) -> dict[int, tuple[float, float, float]]:
        levels = honest(search, state)
        return {cell: (0.1 * u, 0.1 * l, 0.1 * s) for cell, (u, l, s) in levels.items()}

    monkeypatch.setattr(monolithic, "_levels", loose)
    rounds = 0
    for seed in range(110, 116):
        instance = table("2-D", seed)
        outcome = instance.suppress("monolithic")
        rounds += outcome.report.iterations > 1
        assert_optimal(instance, outcome)
    assert rounds > 0


@pytest.mark.parametrize("algorithm", CLASSICAL)
def test_solver_that_contradicts_itself_proves_nothing(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A master problem without solution is no proof while there is a safe pattern."""

    def nothing(*_: Any, **__: Any) -> MipSolution:
        return MipSolution("infeasible", None, np.inf, np.inf)

    instance = cube(4)
    monkeypatch.setattr(stabilized, "is_too_large", lambda _: True)
    honest = instance.suppress(algorithm)
    assert honest.report.iterations > 0
    monkeypatch.setattr(HighsMip, "minimise", nothing)
    outcome = instance.suppress(algorithm)
    assert outcome.status is Status.FEASIBLE
    assert outcome.report.bound < (outcome.report.objective or 0)


def test_too_large_a_compact_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The refusal says how large it is and what to choose instead."""
    monkeypatch.setattr(monolithic, "_MOST_ENTRIES", 10)
    instance = seeded_instance("2-D", 101)
    with pytest.raises(InputError, match=r"more than .* choose algorithm 'auto'"):
        instance.suppress("monolithic")


@pytest.mark.parametrize("algorithm", CLASSICAL)
def test_same_seed_same_pattern(algorithm: str) -> None:
    """Two runs give the same pattern by the same steps."""
    instance = seeded_instance("linked", 117)
    first, second = (instance.suppress(algorithm) for _ in range(2))
    assert np.array_equal(hidden_by(first), hidden_by(second))
    assert first.report.iterations == second.report.iterations
    assert first.report.cuts == second.report.cuts


class Listener(Observer):
    """Counts cuts, and after a while stops the run or breaks into it."""

    def __init__(self, seconds: float = np.inf, *, breaks: bool = False):
        self.cuts = 0
        self._end = time.monotonic() + seconds
        self._breaks = breaks

    def on_cuts(self, seconds: float, count: int) -> None:
        """Add them up."""
        assert seconds >= 0
        self.cuts += count

    def should_stop(self) -> bool:
        """Is it over?"""
        is_over = time.monotonic() > self._end
        if is_over and self._breaks:
            raise KeyboardInterrupt
        return is_over


@pytest.mark.parametrize("algorithm", ["benders", "stabilized"])
def test_observer_hears_of_all_cuts(shared: Path, algorithm: str) -> None:
    """The cuts an observer hears of are those in the report."""
    problem = read_jj(shared / "instances" / "small.jj")
    listener = Listener()
    outcome = suppress(problem, algorithm=algorithm, observer=listener)  # type: ignore[arg-type]
    assert listener.cuts == outcome.report.cuts > 0


@pytest.mark.parametrize("breaks", [False, True])
@pytest.mark.parametrize("algorithm", CLASSICAL)
def test_run_ends_on_demand(shared: Path, algorithm: str, breaks: bool) -> None:
    """An observer or Ctrl-C ends a long run, and what has been found is safe."""
    problem = read_jj(shared / "instances" / "cube8.jj")
    outcome = suppress(
        problem,
        algorithm=algorithm,  # type: ignore[arg-type]
        observer=Listener(1.0, breaks=breaks),
        time_limit=6,
    )
    assert outcome.stopped_by == "user"
    assert outcome.report.seconds < 5
    if outcome.solution is not None:
        assert outcome.status is Status.FEASIBLE
        assert outcome.audit is not None
        assert outcome.audit.safe


@pytest.mark.parametrize("algorithm", CLASSICAL)
def test_time_limit_is_kept(shared: Path, algorithm: str) -> None:
    """When time is up there is a safe pattern and a bound below it."""
    problem = read_jj(shared / "instances" / "table7.jj")
    outcome = suppress(problem, algorithm=algorithm, time_limit=1.5)  # type: ignore[arg-type]
    assert (outcome.status, outcome.stopped_by) == (Status.FEASIBLE, "time")
    assert outcome.report.seconds < 8
    assert outcome.report.bound <= 44 <= (outcome.report.objective or 0)
