"""Twins: two tables that agree in everything published, and all that readers could compare.

`twin_of` takes a release and makes another one, by `tacit.protect`, of a table with other hidden
values, contributions, sensitive cells, levels and weights, from which the same is published.
`public_output` collects every byte that readers may get of a release, so that `differences` says
where two releases of twins can be told apart. Nothing may be there: what readers see is a
function of what is published.
"""

from __future__ import annotations

import dataclasses
import pickle
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args, get_type_hints
from unittest.mock import patch

import numpy as np
import scipy.linalg

import tacit
from tacit.attack.knowledge import Attacker
from tacit.cli.published import Excerpt
from tacit.io import exports
from tacit.io.argus.written import WriteOptions, write_argus
from tacit.io.exports import SUFFIXES, Presentation
from tacit.methods.registry import METHODS
from tacit.outcome import Intervals, Report, StopReason, Suppression, TracePoint, Values
from tacit.problem import Booleans, Floats
from tacit.release import Published
from tacit.report import heat_map, html_report, interval_widths, loss_by_level

PRESENTATIONS = {
    "as it comes": Presentation(),
    "sdmx": Presentation(marks="...", flags="sdmx", title="A title"),
    "list": Presentation(marks=":c", flags="status", layout="list"),
    "pivot": Presentation(marks="c", layout="pivot"),
}
ARGUS = [(number, options) for number in (1, 2, 3) for options in ("", "FL+SE+", "QU-HI+")]
BACKENDS = ("dict", "pandas", "polars", "pyarrow")


def algorithms() -> list[tuple[str, str]]:
    """Every method with each of its algorithms."""
    return [
        (name, algorithm)
        for name, method in METHODS.items()
        for algorithm in get_args(get_type_hints(method.options())["algorithm"])
    ]


def public_output(release: tacit.Release) -> dict[str, bytes]:
    """Everything that readers may get of a release, each under a name for messages."""
    published = release.published
    texts = {
        "summary": release.summary(),
        "summary rows": repr(release.summary_rows()),
        "guarantee": release.guarantee,
        "repr": repr(release),
        "str": str(release),
        "notebook": release._repr_html_(),
        "repr of published": repr(published),
        "notebook of published": published._repr_html_(),
        "report as text": html_report(release, title="A title"),
        "heat map": heat_map(release)._repr_html_(),
        "levels": loss_by_level(release)._repr_html_(),
        **_pivot_texts(published),
    }
    linked = len(published.grids) > 1
    if len(published.dimensions) == 2 and not linked:
        texts["excerpt"] = Excerpt.of(published).plain()
    if (published.status == "interval").any():
        texts["widths"] = interval_widths(release)._repr_html_()
    found = {name: text.encode() for name, text in texts.items()}
    found["published"] = pickle.dumps(published)
    found["told"] = pickle.dumps(release.publish())
    for backend in BACKENDS:
        for flags in ("status", "sdmx", "none"):
            frame = published.to_frame(backend, flags=flags)
            found[f"{backend} with {flags}"] = pickle.dumps(frame)
    found |= _files(release)
    for number in range(len(published.grids)) if linked else ():
        found |= _of_table(release, number)
    return found


def _of_table(release: tacit.Release, number: int) -> dict[str, bytes]:
    """What readers may get of one of several linked tables."""
    part = release.published.of_table(number)
    found = {
        "published": pickle.dumps(part),
        "frame": pickle.dumps(part.to_frame("dict")),
        "report": html_report(release, title="A title", table=number).encode(),
        "heat map": heat_map(release, table=number)._repr_html_().encode(),
        "levels": loss_by_level(release, table=number)._repr_html_().encode(),
    }
    with tempfile.TemporaryDirectory() as folder:
        for suffix in SUFFIXES:
            path = Path(folder) / f"part{suffix}"
            exports.write_published(part, path, PRESENTATIONS["as it comes"], value="turnover")
            found[suffix] = path.read_bytes()
    return {f"table {number}: {name}": content for name, content in found.items()}


def _pivot_texts(published: Published) -> dict[str, str]:
    pivot = published.pivot()
    return {
        "pivot": str(pivot),
        "pivot as HTML": pivot.to_html(marks="."),
        "notebook of a pivot": pivot._repr_html_(),
        "repr of a pivot": repr(pivot),
        "pivot as frame": str(pivot.to_frame("dict")),
        "pivot as numbers": str(pivot.to_frame("dict", marks=None)),
    }


def _files(release: tacit.Release) -> dict[str, bytes]:
    published = release.published
    found = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for suffix in SUFFIXES:
            for shown, presentation in PRESENTATIONS.items():
                path = folder / f"published{suffix}"
                exports.write_published(published, path, presentation, value="turnover")
                found[f"{suffix}, {shown}"] = path.read_bytes()
        published.to_csv(folder / "kept.csv", formulas="keep")
        found["CSV with formulas"] = (folder / "kept.csv").read_bytes()
        published.pivot().to_excel(folder / "pivot.xlsx")
        found["pivot as workbook"] = (folder / "pivot.xlsx").read_bytes()
        # Formats of tau-ARGUS have no place for intervals, and are for one table.
        spread = isinstance(release.papers.outcome.solution, Intervals)
        spread |= len(published.grids) > 1
        for number, options in () if spread else ARGUS:
            path = folder / "argus.txt"
            write_argus(release, path, number, WriteOptions.parsed(options), frequency=False)
            found[f"tau-ARGUS {number} {options}".rstrip()] = path.read_bytes()
        found["report"] = release.report(folder / "report.html").read_bytes()
    return found


def differences(first: dict[str, bytes], second: dict[str, bytes]) -> list[str]:
    """The names of the outputs that tell two releases apart."""
    return [name for name in {**first, **second} if first.get(name) != second.get(name)]


def same_publication(first: Published, second: Published) -> bool:
    """Whether readers see the same cells, looked at field by field."""
    pairs: list[tuple[Any, Any]] = [
        (first.codes[name], second.codes[name]) for name in {**first.codes, **second.codes}
    ]
    pairs += [(first.status, second.status), (first.value, second.value)]
    for name in ("lower", "upper", "radius", "empty"):
        ours, theirs = getattr(first, name), getattr(second, name)
        if (ours is None) != (theirs is None):
            return False
        if ours is not None:
            pairs.append((ours, theirs))
    equal = all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)
    return equal and first.lowest == second.lowest


def twin_of(release: tacit.Release, seed: int = 1, **options: Any) -> tacit.Release:
    """A release of another table with the same publication, made by `tacit.protect`.

    Args:
        release: A release of a table or a problem.
        seed: Which of many twins.
        **options: The options that the release was made with.
    """
    chance = np.random.default_rng(seed)
    papers = release.papers
    problem, solution = papers.problem, papers.outcome.solution
    step = _step(release, chance)
    value, room = problem.value + step, np.abs(step)
    if isinstance(solution, Values) and solution.radius is None:
        # Adjusted values are judged as they stand.
        room = np.abs(solution.value - value)
    sensitive = _others(room > 1e-6 * room.max(), problem.is_sensitive, chance)
    level = np.where(sensitive, room / 4, np.nan)
    weight = chance.uniform(1, 100, len(value))
    other: tacit.Table | tacit.Problem
    if papers.table is None:
        cells = np.flatnonzero(sensitive)
        other = problem.replace(
            value=value,
            weight=weight,
            sensitive=cells,
            lower_level=level[cells],
            upper_level=level[cells] / 2,
            sliding_level=np.zeros(len(cells)),
        )
    else:
        shares = np.outer(value, [0.2, 0.1]) * chance.uniform(0.5, 1, (len(value), 1))
        other = papers.table.replace(
            value=value,
            status=np.where(sensitive, "sensitive", np.where(value == 0, "empty", "safe")),
            reason=np.where(sensitive, "another rule", ""),
            lower_level=level,
            upper_level=level / 2,
            sliding_level=None,
            weight=weight,
            count=chance.integers(2, 99, len(value)).astype(float),
            top=shares,
        )
    with _answering(papers.outcome, other, seed):
        return tacit.protect(other, papers.outcome.method, **options)


def _others(possible: Booleans, known: Booleans, chance: np.random.Generator) -> Booleans:
    """Some of the possible cells, not those that are known."""
    for _ in range(100):
        found = possible & (chance.random(len(possible)) < 0.5)
        if found.any() and (found != known).any():
            return found
    raise AssertionError("no other cells can be sensitive")


def _step(release: tacit.Release, chance: np.random.Generator) -> Floats:
    """How far the true values of hidden cells can move, both ways, and still be published alike."""
    papers, published = release.papers, release.published
    problem, solution = papers.problem, papers.outcome.solution
    value = problem.value
    low, high = np.zeros(len(value)), np.full(len(value), np.inf)
    if isinstance(solution, Suppression):
        free = solution.suppressed.copy()
    elif isinstance(solution, Intervals):
        free = published.is_hidden
        hidden = published.status == "interval"
        low = np.where(hidden, solution.lower, low)
        high = np.where(hidden, solution.upper, high)
    else:
        assert isinstance(solution, Values)
        free = np.ones(len(value), bool)
        if solution.radius is not None:
            low = np.maximum(solution.value - solution.radius, 0)
            high = solution.value + solution.radius
    # A cell at its end can move in one direction only.
    free &= (value > low) & (value < high)
    cells = np.flatnonzero(free)
    directions = scipy.linalg.null_space(problem.relations.toarray()[:, cells])
    assert directions.shape[1] > 0, "no other table is published alike"
    direction = np.zeros(len(value))
    direction[cells] = directions @ chance.standard_normal(directions.shape[1])
    direction[np.abs(direction) < 1e-9] = 0
    moves = direction != 0
    size = np.abs(direction[moves])
    most = min(((value - low)[moves] / size).min(), ((high - value)[moves] / size).min())
    # Half of the way, so that the attacker of the other table can go on as far again.
    step: Floats = direction * (most / 2)
    return step


@contextmanager
def _answering(
    outcome: tacit.Outcome, source: tacit.Table | tacit.Problem, seed: int
) -> Iterator[None]:
    """Let the method answer with the same publication, found in quite another way."""
    problem = source if isinstance(source, tacit.Problem) else source.problem()
    solution = outcome.solution
    if isinstance(solution, Intervals):
        lower, upper = solution.lower.copy(), solution.upper.copy()
        for ends in (lower, upper):
            ends[list(outcome.left_out)] = problem.value[list(outcome.left_out)]
        solution = Intervals(lower, upper)
    other = tacit.Status.OPTIMAL
    if outcome.status is tacit.Status.OPTIMAL:
        other = tacit.Status.FEASIBLE
    told = dataclasses.replace(
        outcome,
        status=other,
        stopped_by=StopReason.EXHAUSTED,
        solution=solution,
        report=Report(
            objective=123456.5 + seed,
            bound=98765.25,
            seconds=321.5,
            iterations=777,
            cuts=888,
            trace=(TracePoint(1.5, None, 5.0), TracePoint(99.5, 123456.5 + seed, 98765.25)),
        ),
        # Random rounding is chosen by publishers alone, and readers are told of it.
        algorithm="random" if outcome.algorithm == "random" else "another",
        seed=outcome.seed + 4711,
        message="a note on hidden cells",
        audit=None,
    )
    found = tacit.audit(
        problem, told, cells="sensitive", exact=False, attackers=[Attacker.external()]
    )
    assert found.safe, found.summary()
    told = dataclasses.replace(told, audit=found)
    method = METHODS[outcome.method]
    stub = SimpleNamespace(
        run=lambda: lambda *_, **__: told,
        options=method.options,
        to_publish=method.to_publish,
        cell_choices=method.cell_choices,
    )
    with patch.dict(METHODS, {outcome.method: stub}):
        yield
