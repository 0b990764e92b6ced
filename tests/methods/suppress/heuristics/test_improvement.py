"""Rounds of master problems and changes of patterns, each on its own."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tacit.attack.audit import audit
from tacit.generators import generate_1h2d
from tacit.methods.suppress.algorithms import auto
from tacit.methods.suppress.algorithms.auto import Beside, Parts, Rounds
from tacit.methods.suppress.cuts import Master, Root
from tacit.methods.suppress.heuristics.cleanup import clean_up
from tacit.methods.suppress.heuristics.neighbourhoods import Neighbourhoods
from tacit.methods.suppress.regions import Regions
from tacit.methods.suppress.run import suppress
from tacit.methods.suppress.trust_regions import Region
from tests.methods.suppress.larger_tables import cube, started


@pytest.mark.parametrize("seed", range(6))
def test_rounds_end_at_the_optimum(seed: int) -> None:
    """Without root and tree the rounds prove what the compact model finds."""
    problem = cube(seed, size=2)
    search, constructor = started(problem)
    master = Master(search)
    neighbourhoods = Neighbourhoods(search, constructor)
    beside = Beside(search, master)
    rounds = Rounds(Parts(search, master, constructor, neighbourhoods, beside))
    assert rounds.run()
    best = suppress(problem, algorithm="monolithic", time_limit=60)
    assert search.objective == best.report.objective
    assert search.bound == search.objective


@pytest.mark.parametrize("seed", range(4))
def test_changes_keep_the_pattern_safe_and_never_make_it_heavier(seed: int) -> None:
    """Patterns found by changes are safe under an audit that shares nothing with the search."""
    problem = cube(seed, size=4)
    search, constructor = started(problem)
    before = search.objective
    neighbourhoods = Neighbourhoods(search, constructor)
    neighbourhoods.improve(np.zeros(problem.cell_count), tries=25)
    assert neighbourhoods.tries == 25
    assert search.objective <= before
    assert search.best is not None
    assert audit(problem, search.best, cells="sensitive", exact=False).safe


def test_changes_are_the_same_for_the_same_seed() -> None:
    """Random choices come from the seed alone."""
    patterns = []
    for _ in range(2):
        search, constructor = started(cube(7, size=4))
        Neighbourhoods(search, constructor).improve(np.zeros(search.problem.cell_count), tries=10)
        assert search.best is not None
        patterns.append(search.best.tolist())
    assert patterns[0] == patterns[1]


def test_changes_find_what_the_first_pattern_misses() -> None:
    """On some tables at least the first pattern becomes lighter."""
    better = 0
    for seed in range(6):
        search, constructor = started(cube(seed, size=4))
        changes = Neighbourhoods(search, constructor)
        better += changes.improve(np.zeros(search.problem.cell_count), tries=20)
    assert better > 0


def test_clean_up_without_time_leaves_a_safe_pattern_alone() -> None:
    """A clean-up that may take no time changes nothing, and one with time leaves no idle cell."""
    problem = cube(3)
    search, _ = started(problem)
    everything = search.sensitive | search.secondary
    assert (clean_up(search, everything, seconds=-1.0) == everything).all()
    cleaned = clean_up(search, everything)
    for cell in np.flatnonzero(cleaned & search.secondary).tolist():
        fewer = cleaned.copy()
        fewer[cell] = False
        assert not audit(problem, fewer, cells="sensitive", exact=False).safe


@pytest.mark.parametrize("seed", range(4))
def test_regions_keep_the_pattern_safe_and_never_make_it_heavier(seed: int) -> None:
    """What is found region by region is safe under an audit that shares nothing with the search."""
    problem = cube(seed, size=4)
    search, constructor = started(problem)
    master = Master(search)
    assert master.tighten()
    before = search.objective
    found = Regions(search, master, constructor).improve(seconds=3)
    assert found == (search.objective < before)
    assert search.best is not None
    assert audit(problem, search.best, cells="sensitive", exact=False).safe


def test_regions_find_what_the_first_pattern_misses() -> None:
    """A region as large as the table has the optimum; on some tables that is lighter."""
    better = 0
    for seed in range(6):
        problem = cube(seed, size=2)
        search, constructor = started(problem)
        master = Master(search)
        assert master.tighten()
        better += Regions(search, master, constructor).improve(seconds=30)
        best = suppress(problem, algorithm="monolithic", time_limit=60)
        assert search.objective == best.report.objective
    assert better > 0


def test_a_cut_that_is_known_by_now_is_an_objection() -> None:
    """Rounds go on if what the master problem proposes violates a cut that came meanwhile."""
    problem = cube(1, size=2)
    search, constructor = started(problem)
    master = Master(search)
    neighbourhoods = Neighbourhoods(search, constructor)
    beside = Beside(search, master)
    rounds = Rounds(Parts(search, master, constructor, neighbourhoods, beside))
    assert rounds.run()
    nothing = np.zeros(len(master.cells))
    assert (master.missed(nothing) > 0).any()
    master.recall(nothing)
    # All cuts that it violates are at work already: none is added, but nobody may call it the end.
    assert rounds._object([nothing]) > 0


def test_master_problems_near_the_best_pattern_make_it_lighter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is found near it is safe, lighter, and says nothing about a bound."""
    # A small table has few sensitive cells: the usual radii are one or two cells.
    monkeypatch.setattr(auto, "_RADII", (0.5,))
    problem = generate_1h2d("10-10-10", 1, weight="value")
    search, constructor = started(problem)
    master = Master(search)
    neighbourhoods = Neighbourhoods(search, constructor)
    parts = Parts(search, master, constructor, neighbourhoods, Beside(search, master))
    rounds = Rounds(parts)
    before = search.objective
    assert Root(search, master, None).run(seconds=30)
    bound = search.bound
    while not rounds.look_near(seconds=5):
        assert not search.should_stop()
    assert search.objective < before
    assert search.bound <= max(bound, master.objective)
    assert search.best is not None
    assert audit(problem, search.best, cells="sensitive", exact=False).safe


def test_a_region_holds_the_patterns_that_differ_in_few_cells() -> None:
    """Its row is met by those within the radius and by no others."""
    centre = np.array([True, False, True, False, True])
    cells = np.array([0, 1, 2, 3])
    row, most = Region(centre, 2).row(cells)
    for pattern in itertools.product((0.0, 1.0), repeat=4):
        distance = int((np.array(pattern) != centre[cells]).sum())
        assert ((row @ np.array(pattern))[0] <= most) == (distance <= 2)
