"""Generated tables by kind and structure."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.errors import InputError
from tacit.generators import generate_1h2d, generate_2d, generate_by_name
from tacit.generators.by_name import DEFAULT_STRUCTURES


@pytest.mark.parametrize("kind", DEFAULT_STRUCTURES)
def test_every_kind_has_a_default(kind: str) -> None:
    """Each kind gives a sound problem without a structure, with some sensitive cells."""
    problem = generate_by_name(kind).validate()
    assert 0 < len(problem.sensitive) < problem.cell_count / 2


def test_names_lead_to_the_generators() -> None:
    """Kind, structure and seed are handed on."""
    by_name = generate_by_name("1H2D", "table5", seed=4)
    assert np.array_equal(by_name.value, generate_1h2d("table5", 4).value)
    assert np.array_equal(generate_by_name("2d", "3-4", 5).value, generate_2d(3, 4, 5).value)


def test_percentage_is_optional() -> None:
    """One number more than dimensions is the percentage of sensitive finest cells."""
    assert len(generate_by_name("3d", "5-5-4-30").sensitive) == 30
    assert generate_by_name("3d", "5-5-4").cell_count == 6 * 6 * 5


@pytest.mark.parametrize(
    ("kind", "structure", "message"),
    [
        ("4d", None, "expected 1h2d, 2d or 3d"),
        ("2d", "20", "as in '20-20', or with"),
        ("2d", "20-20-10-5", "as in '20-20-10'"),
        ("3d", "20x20x20", "as in '20-20-20-10'"),
        ("2d", "20-20-101", "between 0 and 100"),
        ("2d", "0-20", "dimension row"),
        ("1h2d", "40-50", "as in '40-50-10'"),
    ],
)
def test_malformed_names_say_what_is_expected(
    kind: str, structure: str | None, message: str
) -> None:
    """A kind or structure that does not exist is refused with what is expected."""
    with pytest.raises(InputError, match=message):
        generate_by_name(kind, structure)
