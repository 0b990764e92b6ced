"""Single respondents, colluding ones, and attackers who are named one by one."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import examples
from tacit.attack.audit import audit
from tacit.attack.knowledge import Attacker, largest_contributors, singleton_respondents
from tacit.errors import InputError
from tacit.methods.suppress.run import suppress
from tacit.outcome import Status
from tacit.problem import Problem
from tests.attack.tables import crossed, flat
from tests.methods.suppress.tables import (
    ALGORITHMS,
    ATTACKER_KIND,
    EXACT,
    SINGLETON_KINDS,
    BruteForce,
    Instance,
    assert_consistent,
    assert_matches,
    hidden_by,
    same_weight,
    seeded_instance,
)

SEEDS = 13


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("kind", [*SINGLETON_KINDS, ATTACKER_KIND])
def test_small_tables(kind: str, seed: int) -> None:
    """Random tables with singletons or knowing attackers: the optimum that brute force finds."""
    instance = seeded_instance(kind, seed)
    brute = instance.brute_force()
    assert_matches(instance, brute, brute.optimum())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", SINGLETON_KINDS)
def test_singletons_with_a_limit_on_the_number_of_cells(kind: str, seed: int) -> None:
    """Both conditions at once: the lightest pattern with as few cells as there can be."""
    free = seeded_instance(kind, 500 + seed)
    fewest = free.brute_force(np.ones(free.problem.cell_count)).optimum()
    limit = len(free.problem.sensitive) if fewest is None else int(fewest)
    instance = Instance(free.problem, free.attackers, kind, limit)
    brute = instance.brute_force()
    assert_matches(instance, brute, brute.optimum())


@pytest.mark.parametrize("seed", range(8))
def test_more_attackers_never_make_it_cheaper(seed: int) -> None:
    """Without singletons, against respondents, against all of them together: ever dearer."""
    problem = seeded_instance("global", seed).problem
    found = [
        Instance(problem, singletons=singletons).suppress("auto").report.objective
        for singletons in ("ignore", "respondents", "global")
    ]
    weights = [np.inf if objective is None else objective for objective in found]
    assert weights[0] <= weights[1] * (1 + 1e-9)
    assert weights[0] <= weights[2] * (1 + 1e-9)


def two_singletons() -> Problem:
    """Two singletons in one column of a 3 by 3 table; suppressing a 2 by 2 block is cheapest."""
    A, sums = crossed([flat(3), flat(3)])
    value = sums @ np.array([5.0, 40, 60, 6, 50, 70, 80, 90, 95])
    return Problem(
        value=value,
        upper=np.full(16, 1000.0),
        relations=A,
        rhs=A @ value,
        sensitive=[5, 9],
        upper_level=[2, 2],
        lower_level=[2, 2],
        singleton=np.where(np.isin(np.arange(16), [5, 9]), np.arange(16), -1),
        labels=[f"r{row}c{column}" for row in range(4) for column in range(4)],
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_two_singletons_in_a_column(algorithm: str) -> None:
    """Each could compute the other; any protection of singletons adds a cell to the column."""
    problem = two_singletons()
    plain = Instance(problem).suppress(algorithm)
    assert plain.report.objective == 4
    respondents = singleton_respondents(problem)
    assert audit(problem, plain, attackers=respondents).exposed_cells == [5, 9]
    for singletons in ("local", "respondents", "global"):
        outcome = Instance(problem, singletons=singletons).suppress(algorithm)
        hidden = hidden_by(outcome)
        assert hidden[[1, 5, 9, 13]].sum() >= 3
        if singletons != "local":
            assert audit(problem, outcome, attackers=respondents).safe
        if algorithm in EXACT:
            assert (
                outcome.report.objective == {"local": 5, "respondents": 6, "global": 6}[singletons]
            )


def test_local_protection_that_forces_a_cell_nobody_keeps_company() -> None:
    """A cell that (8) asks for may be alone in its other relations."""
    problem = Problem(
        value=[82, 24, 0, 1, 1, 40, 0, 10, 0],
        lower=[0, 0, 0, 0, 0, -3, 0, -1, 0],
        upper=[165, 50, 1, 1, 1, 83, 1, 11010, 1],
        weight=[82, 0, 1, 2, 0, 0, 1, 0, 0],
        relations=[
            [0, 0, 0, 0, 0, 0, 1, 0, 0],
            [0, -1, 0, 0, 0, 0, 0, 1, 0],
            [0, 0, -1, 0, 1, 0, 0, 0, 1],
            [-1, 1, 1, 0, 0, 0, 0, 0, 0],
            [0, 0, 0, -1, 1, 0, 0, 0, 0],
            [0, 0, 0, 0, 0, -1, 1, 1, 1],
        ],
        rhs=[0, -14, 1, -58, 0, -30],
        sensitive=[5, 7, 8],
        upper_level=[24, 0, 1],
        singleton=[-1, -1, -1, -1, -1, 2, -1, 0, 1],
    )
    instance = Instance(problem, singletons="local")
    brute = instance.brute_force()
    assert brute.optimum() == 84
    for algorithm in EXACT:
        outcome = instance.suppress(algorithm)
        assert_consistent(outcome, problem, brute)
        assert outcome.report.objective == 84, algorithm


def test_local_protection_without_enough_cells_is_explained() -> None:
    """A relation of singletons only has no cell left to hide them behind."""
    problem = Problem(
        value=[3, 4, 7, 5, 12],
        upper=[20, 20, 20, 20, 40],
        relations=[[1, 1, -1, 0, 0], [0, 0, 1, 1, -1]],
        sensitive=[0, 1, 2],
        upper_level=[1, 1, 1],
        singleton=[0, 1, 2, -1, -1],
    )
    for algorithm in ALGORITHMS:
        outcome = Instance(problem, singletons="local").suppress(algorithm)
        assert outcome.status is Status.INFEASIBLE
        assert "needs 4 suppressed cells" in outcome.message
        assert "only 3 of its cells may be suppressed: cell 0, cell 1, cell 2" in outcome.message
        assert "singleton" in outcome.message
        assert Instance(problem).suppress(algorithm).solution is not None


def test_a_respondent_may_know_its_own_cell() -> None:
    """Nobody needs to be protected against themselves, however many cells they have."""
    problem = two_singletons().replace(singleton=np.where(np.isin(range(16), [5, 9]), 7, -1))
    outcome = Instance(problem, singletons="respondents").suppress("auto")
    assert outcome.report.objective == 4


@pytest.mark.parametrize("figure", ["3.3", "3.4", "3.5"])
def test_worked_examples_with_contributors(figure: str) -> None:
    """Tables of [KarlssonOlsson2015] become safe against every largest contributor."""
    example = examples.get(f"002-figure-{figure}")
    assert example.suppressed is not None
    contributions = {
        example.cell(label): parts
        for label, parts in example.contributions.items()
        if example.suppressed[example.cell(label)]
    }
    attackers = [Attacker.external(), *largest_contributors(contributions)]
    judge = BruteForce(example.problem, attackers)
    objectives = set()
    for algorithm in ALGORITHMS:
        outcome = Instance(example.problem, tuple(attackers)).suppress(algorithm)
        assert_consistent(outcome, example.problem, judge)
        assert outcome.audit is not None
        assert len(outcome.audit.findings) == len(attackers)
        if algorithm in EXACT:
            objectives.add(outcome.report.objective)
    assert len(objectives) == 1


def test_a_coalition_is_at_least_as_dear_as_its_members() -> None:
    """Contributors who put their shares together make protection harder."""
    example = examples.get("002-figure-3.3")
    members = largest_contributors(
        {example.cell(label): parts for label, parts in example.contributions.items()}
    )
    apart = Instance(example.problem, tuple(members)).suppress("auto")
    together = Attacker.coalition(members)
    outcome = Instance(example.problem, (together,)).suppress("auto")
    assert apart.report.objective is not None
    if outcome.report.objective is not None:
        assert_consistent(outcome, example.problem, BruteForce(example.problem, [together]))
        assert apart.report.objective <= outcome.report.objective
    else:
        assert outcome.status is Status.INFEASIBLE


def test_attackers_replace_the_reader() -> None:
    """Only the attackers that are named attack; one who knows nothing is the reader."""
    problem = two_singletons()
    reader = Instance(problem).suppress("auto")
    same = Instance(problem, (Attacker.external(),)).suppress("auto")
    twice = Instance(problem, (Attacker.external(), Attacker(name="another"))).suppress("auto")
    assert reader.suppressed.tolist() == same.suppressed.tolist()
    assert same_weight(twice.report.objective, reader.report.objective)
    assert twice.audit is not None
    assert [found.attacker.name for found in twice.audit.findings] == ["external", "another"]


def test_an_attacker_who_knows_a_sensitive_cell_makes_it_hopeless() -> None:
    """What somebody already knows cannot be kept from them; the message names the cell."""
    problem = two_singletons()
    spy = Attacker(name="spy", known=(5,))
    outcome = Instance(problem, (spy,)).suppress("auto")
    assert outcome.status is Status.INFEASIBLE
    assert "r1c1" in outcome.message
    assert "spy" in outcome.message
    assert "r2c1" not in outcome.message


def test_an_attacker_who_is_wrong_is_refused() -> None:
    """Somebody who is certain of something that is not true is a mistake in the input."""
    with pytest.raises(InputError, match="boaster"):
        suppress(two_singletons(), attackers=[Attacker(name="boaster", at_least={5: 6.0})])
    with pytest.raises(InputError, match="does not exist"):
        suppress(two_singletons(), attackers=[Attacker(known=(99,))])
