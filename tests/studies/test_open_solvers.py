"""Master problems as files: what solvers read is what the search had."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp
from studies.combined import VARIANTS
from studies.combined_tables import PLANS, table, with_sliding_levels
from studies.open_solvers import Program, last_master
from studies.open_solvers_runner import by_highs, by_scip

from tacit.generators import generate_table
from tacit.problem import Problem


def small() -> Problem:
    """A table of 32 cells with five sensitive ones."""
    return generate_table({"a": 7, "b": 3}, seed=6).problem()


def optimum(program: Program) -> float:
    """The minimum, by a solver that is given arrays and no file."""
    found = milp(
        program.cost,
        constraints=LinearConstraint(program.A, program.row_lower, program.row_upper),
        bounds=Bounds(program.lower, program.upper),
        integrality=program.integer.astype(int),
    )
    assert found.status == 0
    return float(found.fun)


@pytest.mark.parametrize("label", list(VARIANTS))
def test_files_hold_the_master_problem(label: str, tmp_path: Path) -> None:
    """HiGHS and SCIP find the same minimum in the file as a solver without it."""
    variant = VARIANTS[label]
    problem = with_sliding_levels(small()) if variant.slides else small()
    program = last_master(problem, variant, label, time_limit=5.0)
    assert program is not None
    assert program.integer.any() == (not label.startswith("Partial"))
    path = tmp_path / "master.mps"
    path.write_text(program.mps())
    expected = optimum(program)
    for by in (by_highs, by_scip):
        found = by(str(path), 10.0, 1e-6)
        assert found["status"] == "optimal"
        assert found["objective"] == pytest.approx(expected, rel=1e-5)


def test_all_kinds_of_rows(tmp_path: Path) -> None:
    """Equations, both senses and ranges survive the file."""
    program = Program(
        sparse.csr_array(np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])),
        np.array([3.0, -np.inf, 0.5, -1.0]),
        np.array([3.0, 2.0, np.inf, 0.5]),
        np.array([0.0, 0.0]),
        np.array([9.0, np.inf]),
        np.array([1.0, 2.0]),
        np.array([False, False]),
    )
    path = tmp_path / "rows.mps"
    path.write_text(program.mps())
    assert by_highs(str(path), 5.0, 0.0)["objective"] == pytest.approx(optimum(program))
    assert optimum(program) == pytest.approx(1.75 + 2 * 1.25)


def test_linked_tables_have_the_printed_sizes() -> None:
    """1LINKED, 1B and 1ALT have the cells and relations of Table 5.1; the others nearly."""
    printed = {
        "1LINKED": (1178, 653),
        "1B": (703, 356),
        "2C": (401, 203),
        "3ALT": (778, 299),
        "2LINKED": (1402, 663),
        "1ALT": (1428, 925),
        "2ALT": (1996, 1184),
    }
    assert list(printed) == list(PLANS)
    for name, (cells, relations) in printed.items():
        problem = table(name)
        is_exact = name in ("1LINKED", "1B", "1ALT")
        assert abs(problem.cell_count - cells) <= (0 if is_exact else 2)
        assert abs(problem.relation_count - relations) <= (0 if is_exact else 6)
