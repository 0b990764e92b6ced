"""Problems go into frames of any library and come back the same."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from typing import Any, cast, get_args

import narwhals as nw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from tacit.errors import InputError
from tacit.io.columns import Backend
from tacit.io.frames import problem_from_frames, problem_to_frame, problem_to_frames
from tacit.problem import Problem
from tests.io.random_problems import assert_same, problems

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

BACKENDS: tuple[Backend, ...] = get_args(Backend)
KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table, "dict": dict}

CELLS: dict[str, list[Any]] = {
    "value": [42.0, 20.0, 22.0],
    "lower": [0.0, None, 5.5],
    "upper": [None, 100, None],
    "weight": [1, 2, 3],
    "status": ["z", "sensitive", None],
    "lower_level": [None, 2, None],
    "upper_level": [7.0, 3.0, 7.0],
    "singleton": [None, 4.0, -1.0],
    "label": ["all", "north", "south"],
}
RELATIONS: dict[str, list[Any]] = {
    "relation": ["sum", "sum", "sum", "known"],
    "cell": ["all", "north", "south", "north"],
    "coefficient": [-1, 1, 1, 1],
    "rhs": [0, 0, 0, 20],
}


def frame(data: dict[str, list[Any]], backend: Backend) -> Any:
    """The columns as a frame of one library."""
    if backend == "dict":
        return data
    return nw.from_dict(data, backend=backend).to_native()


def changed(data: dict[str, Any], column: str, row: int, entry: object) -> dict[str, Any]:
    """The columns with one entry changed."""
    copy = {name: list(entries) for name, entries in data.items()}
    copy[column][row] = entry
    return copy


@given(problems(), st.sampled_from(BACKENDS))
def test_random_problems_survive_a_round_trip(problem: Problem, backend: Backend) -> None:
    """Three frames hold everything, also relations without terms."""
    frames = problem_to_frames(problem, backend)
    assert_same(problem_from_frames(*frames), problem)


@pytest.mark.parametrize("backend", BACKENDS)
def test_frames_come_in_the_library_asked_for(backend: Backend) -> None:
    """Each frame is of the requested library, with labels and singletons."""
    problem = Problem(
        value=np.array([3.0, 4.0]),
        singleton=np.array([7, -1]),
        labels=["north", "south"],
        sensitive=np.array([1]),
        upper_level=np.array([0.5]),
    )
    for part in problem_to_frames(problem, backend):
        assert isinstance(part, KINDS[backend])
    found = problem_from_frames(problem_to_frame(problem, backend))
    assert_same(found, problem)
    assert found.labels == ["north", "south"]
    np.testing.assert_array_equal(found.singleton, problem.singleton)


@pytest.mark.parametrize("backend", BACKENDS)
def test_all_parts_are_read(backend: Backend) -> None:
    """Missing entries take their defaults, statuses are words or letters, cells have names."""
    problem = problem_from_frames(frame(CELLS, backend), frame(RELATIONS, backend))
    expected = Problem(
        value=np.array([42.0, 20, 22]),
        lower=np.array([0, 0, 5.5]),
        upper=np.array([np.inf, 100, np.inf]),
        weight=np.array([1.0, 2, 3]),
        relations=sparse.csr_array(np.array([[-1.0, 1, 1], [0, 1, 0]])),
        rhs=np.array([0.0, 20]),
        sensitive=np.array([1]),
        lower_level=np.array([2.0]),
        upper_level=np.array([3.0]),
        must_publish=np.array([True, False, False]),
    )
    assert_same(problem, expected)
    assert problem.labels == ["all", "north", "south"]
    assert problem.singleton.tolist() == [-1, 4, -1]


def test_other_types_of_columns() -> None:
    """Categories, nullable integers, decimals, numpy arrays and lazy frames are understood."""
    relations = {"relation": [1, 1], "cell": [1, 0], "coefficient": [1, -1]}
    pandas = pd.DataFrame(
        {
            "value": pd.array([5, 6], dtype="Int64"),
            "upper": pd.array([None, 9], dtype="Int64"),
            "status": pd.Categorical(["u", "s"]),
        }
    )
    lazy = pl.LazyFrame(
        {
            "value": [Decimal("5"), Decimal("6")],
            "upper": [None, 9],
            "status": pl.Series(["u", "s"], dtype=pl.Enum(["s", "u"])),
        }
    )
    objects = {
        "value": np.array([5, 6]),
        "upper": np.array([np.nan, 9]),
        "status": np.array(["U", " s "]),
    }
    expected = Problem(
        value=np.array([5.0, 6]),
        upper=np.array([np.inf, 9]),
        sensitive=np.array([0]),
        relations=sparse.csr_array(np.array([[-1.0, 1]])),
    )
    for cells in (pandas, lazy, objects, {**objects, "value": [Decimal(5), 6.0]}):
        assert_same(problem_from_frames(cells, relations), expected)


def test_rows_may_stand_in_any_order() -> None:
    """A column `cell` puts the rows in order; other columns do not disturb."""
    problem = problem_to_frames(problem_from_frames(CELLS, RELATIONS), "pandas")
    shuffled = problem.cells.sample(frac=1, random_state=3).assign(region="somewhere")
    found = problem_from_frames(shuffled, problem.relations[::-1], problem.rhs)
    assert_same(found, problem_from_frames(CELLS, RELATIONS))
    assert found.labels == CELLS["label"]


def test_numbered_relations_are_sorted() -> None:
    """Numbers of relations may have gaps; the relations keep the order of their numbers."""
    relations = {"relation": [9, 4], "cell": [0, 1], "coefficient": [1, 1], "rhs": [5, 6]}
    problem = problem_from_frames({"value": [5, 6]}, relations)
    assert problem.rhs.tolist() == [6, 5]
    assert problem.relations.toarray().tolist() == [[0, 1], [1, 0]]


def test_cells_without_relations() -> None:
    """Values alone make a problem with the defaults of the type."""
    assert_same(problem_from_frames({"value": [1, 2]}), Problem(value=np.array([1.0, 2])))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("column", "row", "entry", "message"),
    [
        ("value", 2, None, "column 'value' of the cells, row 2: the entry is missing"),
        ("value", 1, float("inf"), "column 'value' of the cells, row 1: .* a finite number"),
        ("weight", 0, None, "column 'weight' of the cells, row 0: the entry is missing"),
        ("status", 1, "secret", "column 'status' of the cells, row 1: unknown status; known"),
        ("upper_level", 1, float("inf"), "column 'upper_level' of the cells, row 1: the level"),
        ("singleton", 1, 1.5, "column 'singleton' of the cells, row 1: this must be a whole"),
        ("label", 1, None, "column 'label' of the cells, row 1: the entry is missing"),
        ("label", 2, "west", "column 'cell' of the relations, row 2: there is no cell with this"),
    ],
)
def test_faulty_cells_are_named(
    backend: Backend, column: str, row: int, entry: object, message: str
) -> None:
    """The message says which column and row, in every library."""
    cells = frame(changed(CELLS, column, row, entry), backend)
    with pytest.raises(InputError, match=message):
        problem_from_frames(cells, frame(RELATIONS, backend))


@pytest.mark.parametrize(
    ("column", "row", "entry", "message"),
    [
        ("relation", 3, None, "column 'relation' of the relations, row 3: the entry is missing"),
        ("cell", 3, None, "column 'cell' of the relations, row 3: the entry is missing"),
        ("cell", 2, "north", "column 'cell' of the relations, row 2: the relation names this"),
        ("coefficient", 1, float("nan"), "column 'coefficient' of the relations, row 1: the"),
        ("coefficient", 1, float("inf"), "column 'coefficient' of the relations, row 1: there"),
        ("rhs", 2, 5, "column 'rhs' of the relations, row 2: another row of this relation"),
        ("rhs", 3, float("inf"), "column 'rhs' of the relations, row 3: there must be a finite"),
    ],
)
def test_faulty_relations_are_named(column: str, row: int, entry: object, message: str) -> None:
    """The message says which column and row."""
    with pytest.raises(InputError, match=message):
        problem_from_frames(CELLS, changed(RELATIONS, column, row, entry))


def test_ambiguous_labels_are_refused() -> None:
    """A label that several cells have cannot name a cell of a relation."""
    relations = {"relation": [0, 0], "cell": ["south", "north"], "coefficient": [1, 1]}
    with pytest.raises(InputError, match="'cell' of the relations, row 1: several cells have"):
        problem_from_frames(changed(CELLS, "label", 0, "north"), relations)


@pytest.mark.parametrize("entry", ["123.5", True, [1], [1, 2], object()])
def test_columns_of_something_else_are_refused(entry: object) -> None:
    """What is not a number is named by its row and not quoted."""
    cells = {"value": [1, 2, entry]}
    if entry is True:
        cells = {"value": [True, True, True]}
    with pytest.raises(InputError, match=r"row \d.*: this is not a number") as caught:
        problem_from_frames(cells)
    assert "123" not in str(caught.value)
    with pytest.raises(InputError, match="this is not a number"):
        problem_from_frames(pl.DataFrame({"value": ["123.5", "2"]}))


@pytest.mark.parametrize(
    ("cells", "relations", "rhs", "message"),
    [
        ({"valu": [1]}, None, None, "a column 'valu' but none 'value'; rename or drop it"),
        ({"size": [1]}, None, None, "the cells need a column 'value'; they have size"),
        ({}, None, None, "the cells need a column 'value'; they have none"),
        ({"value": [1], "uper_level": [1]}, None, None, "none 'upper_level'"),
        ({"value": [1], "upper_level": [1]}, None, None, "no column 'status' that says which"),
        ({"value": [1], "lower": [1, 2]}, None, None, "have different lengths"),
        ({"value": [1, 2], "cell": [0, 0]}, None, None, "row 1: this cell has a row already"),
        ({"value": [1, 2], "cell": [0, 2]}, None, None, "row 1: cells of 2 rows are numbered 0"),
        ([1, 2], None, None, "the cells must be a frame .* this is list"),
        ({"value": [1]}, {"relation": [0]}, None, "the relations need a column 'cell'"),
        (
            {"value": [1]},
            {"relation": [0], "cell": [1], "coefficient": [1]},
            None,
            "row 0: there is no such cell; cells are 0 to 0",
        ),
        (
            {"value": [1]},
            {"relation": [0], "cell": ["a"], "coefficient": [1]},
            None,
            "the cells have no column 'label'",
        ),
        (
            {"value": [1]},
            {"relation": [0], "cell": [0], "coefficient": [1], "rhs": [1]},
            {"relation": [0], "rhs": [1]},
            "given twice",
        ),
        (
            {"value": [1]},
            {"relation": [1], "cell": [0], "coefficient": [1]},
            {"relation": [0], "rhs": [1]},
            "column 'relation' of the relations, row 0: this relation has no right-hand side",
        ),
        (
            {"value": [1]},
            {"relation": [1], "cell": [0], "coefficient": [1]},
            {"relation": [], "rhs": []},
            "row 0: this relation has no right-hand side",
        ),
        (
            {"value": [1]},
            {"relation": ["a"], "cell": [0], "coefficient": [1]},
            {"relation": [0], "rhs": [1]},
            "names in one frame and numbers in the other",
        ),
        (
            {"value": [1]},
            None,
            {"relation": [0, 0], "rhs": [1, 1]},
            "column 'relation' of the rhs, row 1: this relation has a row already",
        ),
        ({"value": [1]}, None, {"relation": [0], "rhs": [None]}, "'rhs' of the rhs, row 0"),
    ],
)
def test_faulty_frames_are_refused(cells: Any, relations: Any, rhs: Any, message: str) -> None:
    """Columns that are absent, misspelt or do not fit each other are named."""
    with pytest.raises(InputError, match=message):
        problem_from_frames(cells, relations, rhs)


def output(program: str) -> str:
    """What a program prints in a fresh interpreter."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_unknown_libraries_are_refused() -> None:
    """The message names the libraries that are known."""
    with pytest.raises(InputError, match="known are pandas, polars, pyarrow, dict"):
        problem_to_frame(Problem(value=np.ones(1)), cast(Backend, "excel"))


def test_absent_libraries_are_named() -> None:
    """The message names the library to install."""
    found = output(
        "import sys; sys.modules['polars'] = None\n"
        "from tacit.io.frames import problem_from_frames, problem_to_frame\n"
        "try: problem_to_frame(problem_from_frames({'value': [1]}), 'polars')\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    assert found == "InputError polars is not installed; install it or choose another backend"


def test_no_frame_library_is_loaded() -> None:
    """Reading lists loads none of the frame libraries."""
    found = output(
        "import sys, tacit.io.frames as f; f.problem_from_frames({'value': [1]});"
        "print([name for name in ('pandas', 'polars', 'pyarrow') if name in sys.modules])"
    )
    assert found == "[]"
