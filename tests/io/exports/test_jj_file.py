"""Publications as JJ files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.errors import InputError
from tacit.io.jj import read_jj, read_jj_status
from tests.release.tables import HIDDEN, TABLE, intervals, mask, published


def test_a_jj_file_of_what_readers_know(tmp_path: Path) -> None:
    """Relations and published values are there; of others only that they are not negative."""
    path = tmp_path / "published.jj"
    published().to_jj(path)
    known, hidden = read_jj(path), mask(*HIDDEN)
    np.testing.assert_array_equal(known.relations.toarray(), TABLE.relations.toarray())
    np.testing.assert_array_equal(known.value[~hidden], TABLE.value[~hidden])
    np.testing.assert_array_equal(known.lower[~hidden], TABLE.value[~hidden])
    np.testing.assert_array_equal(known.upper[~hidden], TABLE.value[~hidden])
    assert set(known.value[hidden]) == set(known.lower[hidden]) == {0.0}
    assert np.isinf(known.upper[hidden]).all()
    assert set(known.weight) == {1.0}
    assert read_jj_status(path).tolist() == ["m" if cell else "s" for cell in hidden]
    assert len(known.sensitive) == 0


def test_primary_cells_where_they_are_told(tmp_path: Path) -> None:
    """Status u is for readers who may know, without the levels."""
    path = tmp_path / "published.jj.gz"
    published(primary=True).to_jj(path)
    known = read_jj(path)
    assert known.sensitive.tolist() == np.flatnonzero(mask(HIDDEN[0])).tolist()
    assert known.upper_level.tolist() == known.lower_level.tolist() == [0.0]


def test_intervals_are_bounds(tmp_path: Path) -> None:
    """The value of a cell that has none is the end that is nearest to zero."""
    path = tmp_path / "published.jj"
    intervals().to_jj(path)
    known = read_jj(path)
    first = np.flatnonzero(mask(HIDDEN[0]))[0]
    assert (known.value[first], known.lower[first], known.upper[first]) == (1000, 1000, 1250.25)
    open_end = np.flatnonzero(mask(HIDDEN[1]))[0]
    assert (known.lower[open_end], known.upper[open_end]) == (2000, np.inf)


def test_bounds_of_attackers_are_not_told(tmp_path: Path) -> None:
    """Bounds may be shares of true values, so readers learn the sign at most."""
    path = tmp_path / "published.jj"
    bounded = TABLE.replace(lower=TABLE.value / 2, upper=TABLE.value * 2)
    published(tacit.Suppression(mask(*HIDDEN)), table=bounded).to_jj(path)
    known = read_jj(path)
    assert set(known.lower[mask(*HIDDEN)]) == {0.0}
    below = TABLE.replace(lower=TABLE.value - 10_000)
    published(tacit.Suppression(mask(*HIDDEN)), table=below).to_jj(path)
    assert set(read_jj(path).lower[mask(*HIDDEN)]) == {-np.inf}


def test_changed_values_fix_nothing(tmp_path: Path) -> None:
    """A value that may differ from the true one is no bound."""
    path = tmp_path / "published.jj"
    published(tacit.Values(TABLE.value + 1)).to_jj(path)
    known = read_jj(path)
    np.testing.assert_array_equal(known.value, TABLE.value + 1)
    assert np.isinf(known.upper).all()
    published(tacit.Values(TABLE.value + 1, radius=np.full(TABLE.cell_count, 5.0))).to_jj(path)
    np.testing.assert_array_equal(read_jj(path).upper, TABLE.value + 6)


def test_relations_have_to_be_known(tmp_path: Path) -> None:
    """A publication that was put together by hand may lack them."""
    with pytest.raises(InputError, match="does not know its relations"):
        published().replace(relations=None).to_jj(tmp_path / "published.jj")
