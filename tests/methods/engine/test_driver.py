"""The driver: from the table as it was given to an outcome of the same table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest

from tacit.attack.knowledge import Attacker
from tacit.clock import Clock
from tacit.errors import ProblemError
from tacit.methods.engine import driver, turns
from tacit.methods.engine.driver import Case, Result, protected
from tacit.observer import Observer
from tacit.options import Options
from tacit.outcome import Outcome, Status, Suppression
from tacit.problem import Problem

TABLE = Problem(
    value=[5, 5, 9, 14, 14, 7],
    upper=[99] * 6,
    relations=[[1, -1, 0, 0, 0, 0], [0, 1, 1, -1, 0, 0], [0, 0, 0, 1, -1, 0]],
    sensitive=[1, 2],
    upper_level=[1, 1],
    labels=["a", "b", "c", "d", "e", "f"],
)
"""a = b, b + c = d, d = e; f stands alone."""


class Everything(driver.Search):
    """Suppresses all cells but the last, or gives up."""

    method = "suppress"

    def __init__(self, case: Case, *, gives_up: bool = False):
        super().__init__(Options(), clock=Clock())
        self.seen, self._gives_up = case.problem, gives_up

    def run(self) -> None:
        """Nothing to search for."""
        self.raise_bound(1.0)

    def conclude(self) -> Result | None:
        """All cells but the last, audited."""
        assert self.case is not None
        if self._gives_up:
            return None
        solution = Suppression(np.arange(self.seen.cell_count) < self.seen.cell_count - 1)
        checked = self.case.audited(solution)
        return Result(solution, 3.0, checked, left_out=(0,))

    def excuse(self) -> tuple[str, Sequence[int]]:
        """The first cell is exposed."""
        return "gave up", (0,)


def run(
    problem: Problem = TABLE, *, gives_up: bool = False, **given: Any
) -> tuple[Outcome, list[Case]]:
    """The outcome of the method above, and the cases it was given."""
    cases: list[Case] = []

    def prepare(case: Case) -> Everything:
        cases.append(case)
        return Everything(case, gives_up=gives_up)

    return protected(problem, "suppress", Options(), prepare, clock=Clock(), **given), cases


def test_a_search_without_its_parts_cannot_be_made() -> None:
    """What a method leaves out shows when the search is made, not when it is run."""
    unfinished: Any = type("Unfinished", (driver.Search,), {})
    with pytest.raises(TypeError, match="abstract"):
        unfinished(Options())


def test_the_search_sees_the_smaller_table_and_the_outcome_the_given_one() -> None:
    """Solution, cells left out and audit speak of the cells that were given."""
    outcome, (case,) = run()
    assert case.problem.cell_count == 4
    assert isinstance(outcome.solution, Suppression)
    assert outcome.solution.suppressed.tolist() == [True] * 5 + [False]
    assert outcome.left_out == (0, 1)
    assert outcome.status is Status.FEASIBLE
    assert outcome.audit is not None
    assert outcome.audit.safe
    assert outcome.audit.problem is TABLE


def test_exposed_cells_are_the_sensitive_ones_among_their_equals() -> None:
    """Of equal cells those are named that are sensitive in the given table."""
    outcome, _ = run(gives_up=True)
    assert outcome.solution is None
    assert outcome.message == "gave up"
    assert outcome.exposed == (1,)


def test_a_method_may_keep_all_cells_or_some() -> None:
    """Nothing is merged where cells are counted, nor what is to stay apart."""
    _, (case,) = run(merges=False)
    assert case.problem is TABLE
    outcome, (case,) = run(apart=np.arange(6) < 2)
    assert case.problem.cell_count == 5
    assert outcome.left_out == (0,)
    _, (case,) = run(agreeing=[np.arange(6.0)])
    assert case.problem.cell_count == 6


def test_a_method_may_expand_its_result_itself() -> None:
    """What already speaks of the given cells is handed over as it is."""

    class Expanding(Everything):
        def expand(self, result: Result) -> Result:
            return replace(result, solution=Suppression(np.arange(6) < 5), left_out=(1,))

    outcome = protected(TABLE, "suppress", Options(), Expanding, clock=Clock())
    assert isinstance(outcome.solution, Suppression)
    assert outcome.solution.suppressed.tolist() == [True] * 5 + [False]
    assert outcome.left_out == (1,)


def test_a_method_may_name_exposed_cells_itself() -> None:
    """What an audit of the given table found exposed is handed over as it is."""

    class Naming(Everything):
        def given_cells(self, exposed: Sequence[int]) -> Sequence[int]:
            return [2 + cell for cell in exposed]

    outcome = protected(
        TABLE, "suppress", Options(), lambda case: Naming(case, gives_up=True), clock=Clock()
    )
    assert outcome.exposed == (2,)


def test_a_search_may_be_followed_by_another() -> None:
    """The last outcome is handed over; observers hear of one beginning and one end."""
    outcomes: list[Outcome] = []

    class Followed(Everything):
        def successor(self, outcome: Outcome) -> Callable[[], Everything] | None:
            outcomes.append(outcome)
            return self._again if outcome.solution is None else None

        def _again(self) -> Everything:
            assert self.case is not None
            following = Followed(self.case)
            following.case = self.case
            return following

    class Listener(Observer):
        heard: ClassVar[list[Any]] = []

        def on_start(self, task: str, *, total: int | None = None) -> None:
            self.heard.append((task, total))

        def on_end(self, outcome: Outcome | None = None) -> None:
            self.heard.append(outcome)

    outcome = protected(
        TABLE,
        "suppress",
        Options(),
        lambda case: Followed(case, gives_up=True),
        clock=Clock(),
        observer=Listener(),
    )
    assert [each.solution is None for each in outcomes] == [True, False]
    assert outcome is outcomes[1]
    assert Listener.heard == [("suppress", None), outcome]
    assert isinstance(outcome.solution, Suppression)
    assert outcome.solution.suppressed.tolist() == [True] * 5 + [False]


def test_attackers_are_those_of_either_table() -> None:
    """The search faces what attackers know of the merged cells, the audit what was given."""
    knowing = Attacker(name="knowing", known=(4,))
    outcome, (case,) = run(attackers=[knowing])
    assert case.attackers[0].known == (2,)
    assert case.given_attackers == [knowing]
    assert outcome.audit is not None
    assert outcome.audit.safe


def test_a_solution_that_is_not_safe_is_refused_by_the_audit_of_the_given_table() -> None:
    """With one part published the audit finds the other, whatever the search sees."""
    case = Case.of(TABLE)
    found = case.audited(Suppression(np.array([True, False, True, False])))
    assert not found.safe
    assert set(found.exposed_cells) <= {1, 2}


def test_tables_that_contradict_themselves_are_refused_before_the_search() -> None:
    """A relation that does not hold raises; a level out of reach is an outcome with a reason."""
    with pytest.raises(ProblemError):
        run(TABLE.replace(value=[5, 6, 9, 14, 14, 7]))
    outcome, cases = run(TABLE.replace(upper=[99, 5, 99, 99, 99, 99]))
    assert cases == []
    assert outcome.status is Status.INFEASIBLE
    assert "cell b" in outcome.message


def test_one_side_may_be_out_of_reach_where_the_other_will_do() -> None:
    """A method that protects a cell on either side searches although one level is too large."""
    outcome, cases = run(TABLE.replace(upper=[99, 5, 99, 99, 99, 99]), either_side=True)
    assert len(cases) == 1
    assert outcome.status is not Status.INFEASIBLE


def test_shares_of_the_time_limit_are_shares() -> None:
    """No phase is given nothing, or more than there is."""
    shares = {name: each for name, each in vars(turns).items() if name.isupper()}
    assert all(0 < share <= 1 for share in shares.values())
    assert any(name.startswith("SUPPRESS_") for name in shares)
