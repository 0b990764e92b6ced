"""Random problems for round trips, and what it means that two of them are the same."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from tacit.problem import Problem

ARRAYS = (
    *("value", "lower", "upper", "weight", "rhs", "sensitive"),
    *("lower_level", "upper_level", "sliding_level", "must_publish"),
)

finite = st.one_of(
    st.integers(-(10**6), 10**6).map(float),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 5e-324, 1e22, -1.7976931348623157e308, 0.1, 2.0**53]),
)
bound = st.one_of(finite, st.sampled_from([np.inf, -np.inf]))


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Any problem the type allows, sound or not, in which no cell is both sensitive and fixed."""
    n = draw(st.integers(0, 8))
    m = draw(st.integers(0, 4))

    def column(entry: st.SearchStrategy[float], size: int = n) -> list[float]:
        return draw(st.lists(entry, min_size=size, max_size=size))

    status = draw(st.lists(st.sampled_from("suz"), min_size=n, max_size=n))
    sensitive = [cell for cell in range(n) if status[cell] == "u"]
    s = len(sensitive)
    A = np.array(column(st.one_of(st.just(0.0), finite), m * n)).reshape(m, n)
    return Problem(
        value=np.array(column(finite)),
        lower=np.array(column(bound)),
        upper=np.array(column(bound)),
        weight=np.array(column(finite)),
        relations=sparse.csr_array(A),
        rhs=np.array(column(finite, m)),
        sensitive=np.array(sensitive, np.int64),
        lower_level=np.array(column(finite, s)),
        upper_level=np.array(column(finite, s)),
        sliding_level=np.array(column(finite, s)),
        must_publish=np.array([letter == "z" for letter in status], bool),
    )


def assert_same(found: Problem, expected: Problem) -> None:
    """Every array and every coefficient is identical."""
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    A, B = found.relations, expected.relations
    assert A.shape == B.shape
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(A, name), getattr(B, name), name)
