"""True evidence passes at all magnitudes: what solvers leave undone is put right."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tacit.attack import mending
from tacit.attack.audit import audit
from tacit.attack.evidence import Capacities, Evidence, EvidenceError
from tacit.attack.knowledge import Attacker, Knowledge
from tacit.attack.mending import mended
from tacit.attack.reach import Reaches, Requests
from tacit.problem import Booleans, Problem
from tests.attack.tables import crossed, flat, seeded_table


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1.0, 1e6, 1e12])
def test_evidence_passes_in_all_units(unit: float) -> None:
    """Tables of all kinds, in tiny and in huge units, have evidence that holds."""
    for seed in range(12):
        published = seeded_table(np.random.default_rng(seed))
        p = published.problem
        scaled = p.replace(
            value=p.value * unit, lower=p.lower * unit, upper=p.upper * unit, rhs=p.rhs * unit
        )
        found = audit(scaled, published.hidden)
        found.check()
        assert found.findings[0].exact.all()


def cube(seed: int, unit: float, spread: float) -> tuple[Problem, Booleans]:
    """A cube whose cells differ by many orders of magnitude, half of it suppressed."""
    A, sums = crossed([flat(3), flat(4), flat(3)])
    rng = np.random.default_rng(seed)
    value = sums @ (np.round(np.exp(rng.normal(0, spread, sums.shape[1])), 3) * unit)
    hidden: Booleans = np.asarray(rng.random(len(value)) < 0.6)
    sensitive = np.flatnonzero(hidden)[::3]
    level = 0.1 * value[sensitive]
    problem = Problem(
        value=value,
        upper=2 * value + unit,
        relations=A,
        sensitive=sensitive,
        upper_level=level,
        lower_level=level,
    )
    return problem, hidden


@pytest.mark.parametrize(("unit", "spread"), [(1e-9, 4.0), (1.0, 8.0), (1e6, 8.0)])
def test_small_cells_among_huge_ones_have_evidence(
    unit: float, spread: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the solver moves huge cells for the sake of a tiny one, another table is found."""
    mends = []
    mend = mending._Mender.mend

    def counted(self: mending._Mender, *args: object) -> object:
        mends.append(mend(self, *args))  # type: ignore[arg-type]
        return mends[-1]

    monkeypatch.setattr(mending._Mender, "mend", counted)
    for seed in range(3):
        problem, hidden = cube(seed, unit, spread)
        for exact in (True, False):
            found = audit(problem, hidden, exact=exact)
            found.check()
            assert not found.unchecked
    assert None not in mends
    if spread == 8.0:
        assert mends


def one_table(x: list[float], amount: float) -> tuple[Problem, Capacities, Reaches, Requests]:
    """One answer about a chain of cells that are all suppressed."""
    problem = Problem(
        value=[30, 40, 70, 70, 100, 30],
        upper=200,
        relations=[[1, 1, -1, 0, 0, 0], [0, 0, 1, -1, 0, 0], [0, 0, 0, 1, -1, 1]],
    )
    requests = Requests(np.array([0]), np.array([1]), np.array([np.inf]))
    reaches = Reaches(
        np.array([amount]),
        np.array([np.inf]),
        sparse.csr_array([x]),
        sparse.csr_array((1, 3)),
    )
    knowledge = Knowledge.of(problem, np.arange(6))
    capacities = Capacities.of(
        problem, knowledge, Attacker.external(), requests.cells, requests.sides
    )
    return problem, capacities, reaches, requests


@pytest.mark.parametrize(
    "x",
    [
        [10, 1e-6, 10, 10 - 1e-6, 10, 0],
        [10, -1e-20, 10, 10, 10, 1e-20],
        # Cells that move against each other for nothing, and lose the last digits by it.
        [10, 30, 40, 40 + 1e-7, 40, 0],
        # Nothing that moves can be corrected: another table is looked for.
        [10, 0, 0, 0, 0, 0],
    ],
)
def test_a_table_that_almost_adds_up_is_put_right(x: list[float]) -> None:
    """The mended table passes the check, and reaches what was said but for the last digits."""
    problem, capacities, reaches, requests = one_table(x, 10.0)
    knowledge = Knowledge.of(problem, np.arange(6))
    better = mended(problem, capacities, reaches)
    assert better.amount[0] == pytest.approx(10.0, rel=1e-7)
    Evidence.of(requests, better).check(problem, knowledge)


def test_what_cannot_be_put_right_is_not_claimed() -> None:
    """A cell that cannot move so far is not said to."""
    problem, capacities, reaches, requests = one_table([180, 0, 180, 180, 180, 0], 180.0)
    knowledge = Knowledge.of(problem, np.arange(6))
    with pytest.raises(EvidenceError):
        Evidence.of(requests, reaches).check(problem, knowledge)
    better = mended(problem, capacities, reaches)
    assert better.amount[0] < 180
    Evidence.of(requests, better).check(problem, knowledge)


def test_multipliers_become_simple_numbers_again() -> None:
    """Last digits in multipliers do not spoil a proof where cells have no bound."""
    problem = Problem(
        value=[3, 4, 7, 7],
        upper=[5, np.inf, np.inf, np.inf],
        relations=[[1, 1, -1, 0], [0, 0, 1, -1]],
    )
    knowledge = Knowledge.of(problem, [1, 2])
    requests = Requests(np.array([1]), np.array([1]), np.array([np.inf]))
    reaches = Reaches(
        np.zeros(1),
        np.zeros(1),
        sparse.csr_array((1, 4)),
        sparse.csr_array([[1 - 1e-13, 1 + 1e-14]]),
    )
    with pytest.raises(EvidenceError):
        Evidence.of(requests, reaches).check(problem, knowledge)
    capacities = Capacities.of(
        problem, knowledge, Attacker.external(), requests.cells, requests.sides
    )
    better = mended(problem, capacities, reaches)
    assert better.limit.tolist() == [0.0]
    Evidence.of(requests, better).check(problem, knowledge)
