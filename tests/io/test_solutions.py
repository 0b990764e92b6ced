"""Solutions are read in three forms and written as the contract says."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import Audit, __version__
from tacit.errors import InputError
from tacit.io.jj import write_jj
from tacit.io.solutions import read_solution, write_outcome_json
from tacit.outcome import (
    Intervals,
    Outcome,
    Report,
    Solution,
    Status,
    StopReason,
    Suppression,
    TracePoint,
    Values,
)
from tacit.problem import Problem

PROBLEM = Problem(
    value=np.array([77.25, 20, 22.25, 35, 0]),
    upper=np.array([200, 100, 100, np.inf, 50]),
    sensitive=np.array([1]),
    upper_level=np.array([3.5]),
)


def read(tmp_path: Path, content: bytes | str | dict[str, Any]) -> Solution:
    """Read a solution of this content."""
    if isinstance(content, dict):
        content = json.dumps(content)
    path = tmp_path / "solution"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_solution(path, PROBLEM)


def suppressed(solution: Solution) -> list[int]:
    """Numbers of the cells that a solution suppresses."""
    assert isinstance(solution, Suppression)
    assert solution.suppressed.shape == (PROBLEM.cell_count,)
    return np.flatnonzero(solution.suppressed).tolist()


@pytest.mark.parametrize(
    "content",
    [
        "1 2 4",
        "1,2,4\n",
        "4; 2; 1",
        "# found by hand\n1  # the sensitive one\n\n2\r\n4 4\n",
        "[1, 2, 4]",
        b"\xef\xbb\xbf1 2 4",
        gzip.compress(b"1 2 4", mtime=0),
        {"suppressed": [1, 2, 4]},
        {"tacit": "0.1.0", "cells": 5, "suppressed": [1, 2, 4], "audit": None},
    ],
)
def test_forms_of_a_list(tmp_path: Path, content: bytes | str | dict[str, Any]) -> None:
    """Separators, comments, JSON and compression all give the same cells."""
    assert suppressed(read(tmp_path, content)) == [1, 2, 4]


def test_lists_that_resemble_other_forms(tmp_path: Path) -> None:
    """A list that starts like a JJ file is a list; an empty one is written as brackets."""
    assert suppressed(read(tmp_path, "0\n4\n1\n")) == [0, 1, 4]
    assert suppressed(read(tmp_path, "0\n0\n0\n1 2\n")) == [0, 1, 2]
    assert suppressed(read(tmp_path, "0\n3\n1 2 3 0 1 2 3 0 1\n")) == [0, 1, 2, 3]
    assert suppressed(read(tmp_path, "[]")) == []


def test_list_may_leave_out_sensitive_cells(tmp_path: Path) -> None:
    """A sensitive cell that is not listed is taken as published; the audit will tell."""
    assert suppressed(read(tmp_path, "0 4")) == [0, 4]


@pytest.mark.parametrize("name", ["solution.jj", "solution.gz", "solution"])
def test_jj_as_solution(tmp_path: Path, name: str) -> None:
    """In a JJ file the cells with status u and m are suppressed, whatever its name."""
    write_jj(PROBLEM, tmp_path / name, suppressed=[1, 4])
    assert suppressed(read_solution(tmp_path / name, PROBLEM)) == [1, 4]


def test_jj_of_no_cells(tmp_path: Path) -> None:
    """A JJ file without cells is a solution of a problem without cells."""
    nothing = Problem(value=np.zeros(0))
    write_jj(nothing, tmp_path / "empty.jj")
    solution = read_solution(tmp_path / "empty.jj", nothing)
    assert isinstance(solution, Suppression)
    assert len(solution.suppressed) == 0


def test_intervals(tmp_path: Path) -> None:
    """Cells without an interval are published exactly; an end that is null is infinite."""
    solution = read(tmp_path, {"intervals": [[1, 10, 30.5], [3, None, 36], [0, 70, None]]})
    assert isinstance(solution, Intervals)
    assert solution.lower.tolist() == [70, 10, 22.25, -np.inf, 0]
    assert solution.upper.tolist() == [np.inf, 30.5, 22.25, 36, 0]


def test_combined(tmp_path: Path) -> None:
    """Suppressed cells lie between their bounds unless they have an interval."""
    solution = read(tmp_path, {"suppressed": [1, 3], "intervals": [[1, 10, 30], [2, 20, 25]]})
    assert isinstance(solution, Intervals)
    assert solution.lower.tolist() == [77.25, 10, 20, 0, 0]
    assert solution.upper.tolist() == [77.25, 30, 25, np.inf, 0]


def test_values(tmp_path: Path) -> None:
    """Values are taken as they are."""
    solution = read(tmp_path, {"values": [80, 25, 20, 35, 0.5]})
    assert isinstance(solution, Values)
    assert solution.value.tolist() == [80, 25, 20, 35, 0.5]


@pytest.mark.parametrize(("radius", "expected"), [(5, [5] * 5), ([0, 1, 2, 3, None], None)])
def test_values_with_a_radius(tmp_path: Path, radius: Any, expected: list[float] | None) -> None:
    """The radius is one number, or one per cell."""
    solution = read(tmp_path, {"values": [80, 25, 20, 35, 0.5], "radius": radius})
    assert isinstance(solution, Values)
    assert solution.radius is not None
    assert solution.radius.tolist() == (expected or [0, 1, 2, 3, np.inf])


@pytest.mark.parametrize(
    ("radius", "message"),
    [
        (-1, "'radius' must not be negative"),
        ([1, 2], "'radius' has 2 entries"),
        ("x", "'radius' is not a number"),
    ],
)
def test_a_radius_that_is_none(tmp_path: Path, radius: Any, message: str) -> None:
    """A radius is a number that is not negative."""
    with pytest.raises(InputError, match=message):
        read(tmp_path, {"values": [80, 25, 20, 35, 0.5], "radius": radius})


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", None, "the file is empty; write \\[\\]"),
        (" \n", None, "the file is empty"),
        ("# nothing\n", None, "the list holds no cell"),
        ("1 2\n4 5", 2, "entry 2 is not a cell of the problem; cells are 0 to 4"),
        ("1 2\n-1", 2, "entry 1 is not a cell number"),
        ("1 77.25", 1, "entry 2 is not a cell number; a solution is a JSON object"),
        ("1\n\n2 north", 3, "entry 2 is not a cell number"),
        ("9" * 5000, 1, "entry 1 is not a cell of the problem"),
        ("[1, 2", 1, "this is not valid JSON: expecting ',' delimiter"),
        ('{"suppressed": [1,\n2}', 2, "this is not valid JSON"),
        (b'{"suppressed": "\xff"}', None, "this is not valid JSON"),
        ("[" * 100_000, None, "this is not valid JSON"),
        (f"[{'9' * 5000}]", None, "this is not valid JSON"),
        ("[1, 2, 5]", None, "entry 3 of the list is not a cell of the problem; cells are 0 to 4"),
        ("[1, -2]", None, "entry 2 of the list is not a cell"),
        ("[1, true]", None, "entry 2 of the list is not a cell number"),
        ("[1, 2.0]", None, "entry 2 of the list is not a cell number"),
        ({"suppressed": ["1"]}, None, "entry 1 of 'suppressed' is not a cell number"),
        ({"suppressed": {"1": 1}}, None, "'suppressed' must be a list"),
        ({"suppressed": None}, None, "'suppressed' must be a list"),
        ({"suppressed": [1], "cells": 7}, None, "the solution is for another table"),
        ({"status": "infeasible"}, None, "no solution in this file .its status is infeasible."),
        ({"suppresed": [1]}, None, "no solution in this file; expected is one of 'suppressed'"),
        ({"suppressed": [1], "values": []}, None, "'values' and 'suppressed' cannot both"),
        ({"values": [1, 2]}, None, "'values' has 2 entries; there are 5 cells"),
        ({"values": [1, 2, 3, 4, None]}, None, "entry 5 of 'values' must be a finite number"),
        ({"values": [1, 2, 3, 4, "5"]}, None, "entry 5 of 'values' is not a number"),
        ('{"values": [1, 2, 3, 4, NaN]}', None, "NaN is not valid JSON"),
        ('{"values": [1, 2, 3, 4, 1e999]}', None, "entry 5 of 'values' must be a finite"),
        ({"values": [1, 2, 3, 4, 10**400]}, None, "a number of 'values' is too large"),
        ({"intervals": [[1, 2]]}, None, "entry 1 of 'intervals' must be .cell number, lower"),
        ({"intervals": [[1, 2, 3], 4]}, None, "entry 2 of 'intervals' must be"),
        ({"intervals": [[5, 2, 3]]}, None, "entry 1 of the cell numbers of 'intervals' is no"),
        ({"intervals": [[1, 3, 2]]}, None, "entry 1 of 'intervals': the lower end lies above"),
        ({"intervals": [[1, 2, 3], [1, 2, 3]]}, None, "entry 2 of 'intervals': this cell has one"),
        ({"intervals": [[1, "2", 3]]}, None, "entry 1 of the lower ends of 'intervals' is not"),
        ('{"intervals": [[1, 1e999, null]]}', None, "entry 1 of 'intervals': no number lies"),
        ("0\n1\n0 5 1 u 0 9 1 1 0\n0\n", None, "has 1 cells, the problem 5"),
        ("0\n1\n0 5 1 q 0 9 1 1 0\n0\n", 3, "the status must be s, u, z or m"),
    ],
)
def test_faulty_solutions_are_refused(
    tmp_path: Path, content: bytes | str | dict[str, Any], line: int | None, message: str
) -> None:
    """The message names the file and the line or entry, and shows no value."""
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, content)
    assert caught.value.path == tmp_path / "solution"
    assert caught.value.line == line
    assert "77.25" not in str(caught.value)


CONTRACT = (
    *("tacit", "input", "method", "algorithm", "seed", "status", "stopped_by", "objective"),
    "published_objective",
    *("bound", "bound_source", "gap", "seconds", "iterations", "cuts", "cells", "sensitive"),
    *("secondary", "secondary_weight", "secondary_gap", "suppressed", "intervals", "values"),
    *("audit", "trace"),
)


def written(tmp_path: Path, outcome: Outcome) -> dict[str, Any]:
    """The JSON object of an outcome, its keys in the order of the contract."""
    path = tmp_path / "outcome.json"
    write_outcome_json(outcome, PROBLEM, "targus.jj", path)

    def refuse(name: str) -> None:
        pytest.fail(f"{name} is not JSON")

    found: dict[str, Any] = json.loads(path.read_text(), parse_constant=refuse)
    assert list(found) == [key for key in CONTRACT if key in found]
    assert set(CONTRACT) - set(found) <= {
        "published_objective",
        "suppressed",
        "intervals",
        "values",
    }
    return found


def test_outcome_of_suppression(tmp_path: Path) -> None:
    """Every key of the contract holds what it promises."""
    outcome = Outcome(
        status=Status.FEASIBLE,
        stopped_by=StopReason.TIME,
        solution=Suppression(np.array([True, True, False, False, True])),
        algorithm="branch-and-cut",
        seed=7,
        report=Report(
            objective=40.0,
            bound=30.0,
            bound_source="solver",
            seconds=1.5,
            iterations=12,
            cuts=57,
            trace=(TracePoint(0.1, None, -np.inf), TracePoint(1.0, 40.0, 30.0, 12)),
        ),
        audit=cast(
            Audit,
            SimpleNamespace(
                safe=False,
                checked=2,
                exposed_cells=[np.int64(1)],
                findings=("external", "insider"),
                problem=PROBLEM.replace(weight=[8, 16, 1, 1, 12]),
            ),
        ),
    )
    assert written(tmp_path, outcome) == {
        "tacit": __version__,
        "input": "targus.jj",
        "method": "suppress",
        "algorithm": "branch-and-cut",
        "seed": 7,
        "status": "feasible",
        "stopped_by": "time",
        "objective": 40.0,
        "bound": 30.0,
        "bound_source": "solver",
        "gap": 0.25,
        "seconds": 1.5,
        "iterations": 12,
        "cuts": 57,
        "cells": 5,
        "sensitive": 1,
        "secondary": 2,
        "secondary_weight": 20.0,
        "secondary_gap": 0.5,
        "suppressed": [0, 1, 4],
        "audit": {
            "safe": False,
            "checked": 2,
            "exposed": [1],
            "attackers": 2,
            "verified": False,
        },
        "trace": [[0.1, None, None, 0], [1.0, 40.0, 30.0, 12]],
    }


def test_outcome_without_solution(tmp_path: Path) -> None:
    """Without a solution its keys are missing, and unknown figures are null."""
    outcome = Outcome(
        status=Status.INFEASIBLE, stopped_by=StopReason.INFEASIBLE, report=Report(bound=np.inf)
    )
    found = written(tmp_path, outcome)
    assert {"suppressed", "intervals", "values"}.isdisjoint(found)
    for key in ("objective", "bound", "gap", "audit", "secondary_weight", "secondary_gap"):
        assert found[key] is None
    assert found["secondary"] == 0
    with pytest.raises(InputError, match="its status is infeasible"):
        read_solution(tmp_path / "outcome.json", PROBLEM)


def test_outcome_of_intervals(tmp_path: Path) -> None:
    """Only cells that are not published exactly have an interval."""
    solution = Intervals(
        np.array([77.25, 10, 22.25, -np.inf, 0]), np.array([77.25, 30, 22.25, np.inf, 0])
    )
    outcome = Outcome(status=Status.OPTIMAL, solution=solution, method="intervals")
    found = written(tmp_path, outcome)
    assert found["intervals"] == [[1, 10, 30], [3, None, None]]
    assert found["secondary"] == 1
    assert "suppressed" not in found


def test_outcome_of_both(tmp_path: Path) -> None:
    """A combined outcome lists every cell that is not published exactly as suppressed too."""
    solution = Intervals(np.array([77.25, 0, 22, 35, 0]), np.array([77.25, 100, 23, 35, 0]))
    outcome = Outcome(status=Status.OPTIMAL, solution=solution, method="combined")
    found = written(tmp_path, outcome)
    assert found["suppressed"] == [1, 2]
    assert found["intervals"] == [[1, 0, 100], [2, 22, 23]]
    assert outcome.suppressed.tolist() == [1, 2]


ends = st.one_of(st.floats(allow_nan=False), st.integers(-100, 100).map(float))
masks = st.lists(st.booleans(), min_size=5, max_size=5)
solutions: st.SearchStrategy[tuple[str, Solution]] = st.one_of(
    masks.map(lambda mask: ("suppress", Suppression(np.array(mask)))),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=5, max_size=5).map(
        lambda values: ("adjust", Values(np.array(values)))
    ),
    st.lists(st.floats(0, allow_infinity=False), min_size=5, max_size=5).map(
        lambda radius: ("round", Values(np.zeros(5), np.array(radius)))
    ),
    st.floats(0, 1e9).map(lambda radius: ("round", Values(np.zeros(5), np.full(5, radius)))),
    st.tuples(
        st.sampled_from(["intervals", "combined"]),
        st.lists(
            st.tuples(ends, ends)
            .map(sorted)
            .filter(lambda pair: pair[0] < np.inf and pair[1] > -np.inf),
            min_size=5,
            max_size=5,
        ),
    ).map(lambda drawn: (drawn[0], Intervals(*np.array(drawn[1]).T))),
)


@given(solutions)
def test_outcomes_survive_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory, drawn: tuple[str, Solution]
) -> None:
    """What is written as JSON is read back as the same solution, compressed or not."""
    method, solution = drawn
    directory = tmp_path_factory.mktemp("outcome")
    outcome = Outcome(status=Status.OPTIMAL, solution=solution, method=method)
    for name in ("outcome.json", "outcome.json.gz"):
        write_outcome_json(outcome, PROBLEM, "input", directory / name)
        found = read_solution(directory / name, PROBLEM)
        assert type(found) is type(solution)
        for attribute, expected in vars(solution).items():
            np.testing.assert_array_equal(getattr(found, attribute), expected)


def test_what_is_published_costs_more_than_the_optimum(tmp_path: Path) -> None:
    """The two costs of intervals are distinguished."""
    solution = Intervals(np.array([77.25, 10, 22.25, 0, 0]), np.array([77.25, 30, 22.25, 0, 0]))
    report = Report(objective=18.0, bound=18.0, published_objective=20.0)
    outcome = Outcome(status=Status.OPTIMAL, solution=solution, method="intervals", report=report)
    found = written(tmp_path, outcome)
    assert (found["objective"], found["published_objective"], found["gap"]) == (18, 20, 0)
