"""The table of [CastroVia2016]."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.examples.example import Example
from tacit.outcome import Intervals
from tacit.problem import Problem


def section_4_1() -> Example:
    """Two rows of three cells, without column totals, protected by intervals."""
    return Example(
        name="000-section-4.1",
        paper="CastroVia2016, Section 4.1",
        text="Two row totals and no column totals; two sensitive cells whose lower and upper "
        "levels are in different proportions. Publishing intervals costs 42 in total width at "
        "least, and an attacker then deduces for the sensitive cells exactly their levels.",
        problem=Problem(
            value=np.array([10.0, 15, 25, 20, 17, 37]),
            relations=sparse.csr_array(np.kron(np.eye(2), [1.0, 1.0, -1.0])),
            sensitive=np.array([0, 4]),
            lower_level=np.array([5.0, 7.0]),
            upper_level=np.array([5.0, 4.0]),
            labels=["a1", "a2", "a3", "a4", "a5", "a6"],
        ),
        intervals={0: (5, 15), 4: (10, 21)},
        published={
            "intervals": Intervals(
                lower=np.array([5.0, 15, 20, 16, 10, 30]),
                upper=np.array([15.0, 15, 30, 20, 21, 37]),
            )
        },
        objective=42,
    )
