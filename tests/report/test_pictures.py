"""Pictures: well-formed, told in words, and true to the numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.report import (
    Picture,
    bounds_over_time,
    heat_map,
    interval_widths,
    loss_by_level,
    perturbation_by_level,
    protection_costs,
)
from tacit.report.arrangement import Axis, arrange
from tacit.report.costs import attributed_costs
from tacit.report.heat_map import _areas, _Grid, _with_room
from tacit.report.svg import Drawing, round_steps
from tests.report.releases import (
    changed_release,
    large_release,
    made_table,
    pattern,
    put_together,
    small_release,
    wide_release,
)

SVG = "{http://www.w3.org/2000/svg}"
PICTURES: dict[str, Callable[[], Picture]] = {
    "heat map": lambda: heat_map(small_release()),
    "internal heat map": lambda: heat_map(small_release("intervals"), confidential=True),
    "heat map of a wide table": lambda: heat_map(wide_release(), confidential=True),
    "heat map of a large table": lambda: heat_map(large_release()),
    "levels": lambda: loss_by_level(small_release(), confidential=True),
    "widths": lambda: interval_widths(small_release("intervals")),
    "deducible widths": lambda: interval_widths(small_release(), confidential=True),
    "bounds": lambda: bounds_over_time(small_release()),
    "costs": lambda: protection_costs(small_release()),
    "deviations": lambda: perturbation_by_level(changed_release()),
}


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_stands_alone(name: str, tmp_path: Path) -> None:
    """It is well-formed, says what it shows, holds its style, and lies within its frame."""
    picture = PICTURES[name]()
    path = picture.save(tmp_path / "picture.confidential.svg")
    root = ElementTree.fromstring(path.read_text())
    assert root.tag == f"{SVG}svg"
    assert root.attrib["role"] == "img"
    named = {part.attrib.get("id"): part.text for part in root}
    title, description = root.attrib["aria-labelledby"].split()
    assert named[title] == picture.title
    assert named[description] == picture.description
    assert root.find(f"{SVG}style") is not None
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    for rectangle in root.iterfind(f"{SVG}rect"):
        x, y = (float(rectangle.attrib.get(key, 0)) for key in ("x", "y"))
        assert 0 <= x <= width
        assert 0 <= y <= height
    assert picture._repr_html_().startswith("<figure><svg")
    assert repr(picture) == f"Picture({picture.title!r})"


def test_pictures_of_the_house_are_named_so(tmp_path: Path) -> None:
    """A confidential picture is only saved under a name that says so, with a first line."""
    picture = protection_costs(small_release())
    with pytest.raises(tacit.InputError, match=r"as in costs\.confidential\.svg"):
        picture.save(tmp_path / "costs.svg")
    text = picture.save(tmp_path / "costs.confidential.svg").read_text()
    assert "CONFIDENTIAL" in text.splitlines()[0]
    heat_map(small_release()).save(tmp_path / "map.svg")


def test_each_tile_tells_its_cell() -> None:
    """Every cell has a tile with its codes, and suppressed cells have no value in theirs."""
    release = small_release()
    told = re.findall(r"<title>([^<]*)</title>", heat_map(release).svg)
    assert len(told) == release.published.cell_count
    assert sum(text.endswith(": not published") for text in told) == 4
    assert "Total, Total: 850" in told


def test_a_picture_that_cannot_be_drawn_says_why() -> None:
    """Without intervals, changed values or a trace there is nothing to draw."""
    release = small_release()
    with pytest.raises(tacit.InputError, match="publishes no intervals"):
        interval_widths(release)
    with pytest.raises(tacit.InputError, match="does not change values"):
        perturbation_by_level(release)
    with pytest.raises(tacit.InputError, match="no costs to attribute"):
        protection_costs(changed_release())


def test_counts_at_each_level() -> None:
    """The numbers behind the bars are those of counting cells by hand."""
    table = made_table(6, 5, 4)
    solution = pattern(table, 0.3)
    numbers = loss_by_level(put_together(table, solution)).numbers
    assert numbers is not None
    region = table.codes("region")
    levels = {"total (level 0)": 5, "level 1": 2, "level 2": 5}
    for level, length in zip(levels, (5, 2, 5), strict=True):
        chosen = np.array([len(code) == length for code in region])
        if level == "total (level 0)":
            chosen = region == "Total"
        elif level == "level 2":
            chosen &= region != "Total"
        row = next(row for row in numbers.rows if row[0] == f"region, {level}")
        assert row[1:3] == (str(chosen.sum()), str((chosen & solution.suppressed).sum()))


def test_costs_add_up_to_the_objective() -> None:
    """What is attributed to sensitive cells is what the whole pattern costs."""
    release = small_release()
    own, others = attributed_costs(release)
    problem, outcome = release.papers.problem, release.papers.outcome
    assert own == pytest.approx(problem.weight[problem.sensitive])
    assert own.sum() + others.sum() == pytest.approx(outcome.report.objective)


def test_deviations_by_level() -> None:
    """Means and largest deviations are those of the cells of a level."""
    release = changed_release()
    numbers = perturbation_by_level(release).numbers
    assert numbers is not None
    true = release.papers.problem.value
    deviation = np.abs(release.published.value / true - 1)
    total = release.published.codes["industry"] == "Total"
    row = next(row for row in numbers.rows if row[0] == "industry, total (level 0)")
    assert float(row[3].rstrip("%")) == pytest.approx(100 * deviation[total].mean(), abs=0.06)
    assert float(row[4].rstrip("%")) == pytest.approx(100 * deviation[total].max(), abs=0.06)


def test_bounds_are_those_of_the_trace() -> None:
    """Objective, bound and the gap in the end are shown, and the picture is confidential."""
    table = made_table(6, 5, 4)
    release = put_together(table, pattern(table, 0.3))
    picture = bounds_over_time(release)
    assert picture.confidential
    assert picture.numbers is not None
    assert picture.numbers.rows == (("0.5", "", "10"), ("1", "50", "20"), ("2", "40", "30"))
    assert picture.caption.endswith("The gap is 25% in the end.")


@given(
    st.lists(st.integers(1, 4), min_size=2, max_size=4),
    st.integers(0, 2**31),
    st.floats(0.3, 1.0),
)
def test_cells_keep_apart_and_in_order(sizes: list[int], seed: int, share: float) -> None:
    """Whatever the dimensions, each cell has its own place, named by its codes."""
    chance = np.random.default_rng(seed)
    dimensions = {
        f"d{place}": tacit.Hierarchy.flat([f"{place}{code}" for code in range(size)])
        for place, size in enumerate(sizes)
    }
    values = np.ones(sizes) * (chance.random(sizes) < share)
    table = tacit.Table.from_cube(values, dimensions)
    release = put_together(table, tacit.Suppression(np.zeros(table.cell_count, bool)))
    found = arrange(release.published)
    places = set(zip(found.row.tolist(), found.column.tolist(), strict=True))
    assert len(places) == table.cell_count
    for cell in range(table.cell_count):
        labels = (found.rows.labels[found.row[cell]], found.columns.labels[found.column[cell]])
        named = {code for label in labels for code in label.split(" · ")}
        assert named == {str(codes[cell]) for codes in release.published.codes.values()}


@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 2**31))
def test_areas_cover_exactly_their_places(rows: int, columns: int, seed: int) -> None:
    """Drawn runs, read back, are the matrix that they were drawn from."""
    kind = np.random.default_rng(seed).integers(-1, 3, (rows, columns))
    axes = [Axis("", ("",) * size, np.zeros(size, np.int64)) for size in (rows, columns)]
    drawing = Drawing(10, 10)
    _areas(drawing, _Grid(axes[0], axes[1], 1.0, 1.0, 0.0, 0.0), kind, ["k0", "k1", "k2"])
    found = np.full((rows, columns), -1)
    for path, style in re.findall(r'<path d="([^"]*)" class="k(\d)', drawing.svg("n", "t", "d")):
        for x, y, wide in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\3z", path):
            place = (int(y), slice(int(x), int(x) + int(wide)))
            assert (found[place] == -1).all()
            found[place] = int(style)
    assert (found == kind).all()


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.floats(0.5, 12.9))
def test_names_do_not_touch(levels: list[int], size: float) -> None:
    """Names are at least a line apart, and a highest one is always among them."""
    chosen = sorted(_with_room(np.array(levels), size, 13.0))
    apart = [(after - before) * size for before, after in pairwise(chosen)]
    assert min(apart, default=13.0) >= 13
    assert min(levels) in {levels[place] for place in chosen}


@given(st.floats(-1e9, 1e9), st.floats(0, 1e9))
def test_scales_are_round_and_wide_enough(low: float, reach: float) -> None:
    """Steps increase evenly, and hold all that is drawn."""
    steps = round_steps(low, low + reach)
    slack = 1e-6 * max(reach, abs(low) * 1e-3, 1e-9)
    assert steps[0] <= low + slack
    assert steps[-1] >= low + reach - slack
    assert 2 <= len(steps) <= 12
    assert np.allclose(np.diff(steps), steps[1] - steps[0], rtol=1e-3)
