"""Sums that everybody knows, protected on the way to a release.

A pattern may leave the sum of some suppressed cells known though rules find it sensitive, see
`tacit.rules.sums`. Each such sum becomes a cell of its own that is sensitive and costs nothing, and
the table is protected again; the added cells are dropped from what comes out.

Intervals tell more. A cell with a narrow interval is nearly published, so that the sum of the other
hidden cells of its relation is nearly known: such a sum is known too closely if readers get within
the levels that its rules imply.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np
from scipy import sparse

from tacit.attack.knowledge import Knowledge
from tacit.attack.reach import TOLERANCE, Reaches, Requests
from tacit.attack.sweep import Attack
from tacit.clock import Clock
from tacit.insiders import Insiders, LevelsAgainst
from tacit.methods.inputs import cell_mask, chosen_weights
from tacit.methods.registry import find_method
from tacit.options import Options
from tacit.outcome import Intervals, Outcome, Solution, Suppression
from tacit.problem import Booleans, Floats, Problem
from tacit.rules.sums import SensitiveSum, nearly_known_sums, sensitive_sums
from tacit.table import Table

MOST_ROUNDS = 4
"""How often the table is protected again; sums that are still known then are reported."""

LEAST_SHARE = 0.1
"""A round is not begun with less than this share of the time limit left."""

Run = Callable[..., Outcome]


def hidden_by(solution: Solution | None, cell_count: int, left_out: Sequence[int] = ()) -> Booleans:
    """The cells that readers do not see exactly; none where all cells have a value."""
    hidden = np.zeros(cell_count, bool)
    if isinstance(solution, Suppression):
        hidden |= solution.suppressed
    elif isinstance(solution, Intervals):
        hidden |= solution.lower < solution.upper
        hidden[list(left_out)] = True
    return hidden


def left_known(
    table: Table,
    problem: Problem,
    solution: Solution | None,
    left_out: Sequence[int] = (),
    *,
    seconds: float = np.inf,
) -> list[SensitiveSum]:
    """The sensitive sums that a publication lets everybody know, exactly or too closely.

    Args:
        table: The table, with rules applied.
        problem: The same table as algorithms see it.
        solution: What is published.
        left_out: For intervals, cells that are not published.
        seconds: How long to find out what is known closely; what is still open then is counted in.
    """
    hidden = hidden_by(solution, table.cell_count, left_out)
    found = sensitive_sums(table, hidden)
    if isinstance(solution, Intervals):
        known = {tuple(each.cells.tolist()) for each in found}
        width = np.where(hidden, solution.upper - solution.lower, 0.0)
        # A point that is not published.
        width[hidden & (width <= 0)] = np.inf
        nearly = nearly_known_sums(table, width)
        nearly = [each for each in nearly if tuple(each.cells.tolist()) not in known]
        close = _too_close(problem, solution, nearly, seconds)
        found += [nearly[at] for at in np.flatnonzero(close).tolist()]
    return found


def _too_close(
    problem: Problem, solution: Intervals, sums: Sequence[SensitiveSum], seconds: float
) -> Booleans:
    """Sums that readers of intervals know to within their levels, as far as there is time."""
    if not sums:
        return np.zeros(0, bool)
    n, m = problem.cell_count, len(sums)
    extended = with_sums(problem.with_insiders(None), sums)
    told = Intervals(
        np.append(solution.lower, extended.lower[n:]), np.append(solution.upper, extended.upper[n:])
    )
    upper, lower, sliding = (
        level[-m:] for level in (extended.upper_level, extended.lower_level, extended.sliding_level)
    )
    requests = Requests.both_sides(
        np.arange(n, n + m), np.maximum(upper, sliding), np.maximum(lower, sliding)
    )
    answers = Reaches.unanswered(len(requests), extended)
    with Clock(seconds):
        attack = Attack(extended, Knowledge.of(extended, told))
        answers = attack.reach(requests, progress=lambda _: False)
    up, down = np.split(answers.amount, 2)
    missed = (up < upper * (1 - TOLERANCE)) | (down < lower * (1 - TOLERANCE))
    missed |= up + down < sliding * (1 - TOLERANCE)
    return np.asarray(missed | ~np.logical_and(*np.split(answers.answered, 2)))


def protect_sums(
    run: Run,
    table: Table,
    problem: Problem,
    outcome: Outcome,
    options: Mapping[str, Any],
    clock: Clock,
) -> tuple[Outcome, list[SensitiveSum]]:
    """An outcome that leaves no sensitive sum known, as far as one is found in time.

    Sums are protected where the table knows who contributes; in the worst case of a table that
    does not, they are reported only.

    Args:
        run: The method: takes a problem and options.
        table: The table, with rules applied.
        problem: What the method saw of it.
        outcome: What it found; some cells are suppressed, or intervals.
        options: Its options.
        clock: The time for everything, of which the method has taken its part.

    Returns:
        The outcome, and the sums that it leaves known.
    """

    def looked_at(outcome: Outcome) -> list[SensitiveSum]:
        seconds = clock.left + LEAST_SHARE * clock.limit
        return left_known(table, problem, outcome.solution, outcome.left_out, seconds=seconds)

    known = looked_at(outcome)
    if table.contributors is None and table.holdings is None:
        return outcome, known
    added: dict[tuple[int, ...], SensitiveSum] = {}
    for _ in range(MOST_ROUNDS):
        fresh = {tuple(each.cells.tolist()): each for each in known}
        short = clock.left < LEAST_SHARE * clock.limit
        if not fresh or fresh.keys() <= added.keys() or short or outcome.stopped_by == "user":
            break
        added |= fresh
        sums = [*added.values()]
        extended = _extended(problem, options, find_method(outcome.method).cell_choices, len(sums))
        found = run(with_sums(problem, sums), **{**extended, "time_limit": clock.left})
        if found.solution is None:
            # Not every sum can be protected: what is there stays, and the sums are reported.
            break
        outcome = _without_sums(found, problem.cell_count)
        known = looked_at(outcome)
    return outcome, known


def _without_sums(outcome: Outcome, cell_count: int) -> Outcome:
    """An outcome for the cells of the table alone; it has not been audited as such."""
    solution = outcome.solution
    if isinstance(solution, Suppression):
        solution = Suppression(solution.suppressed[:cell_count])
    elif isinstance(solution, Intervals):
        solution = Intervals(solution.lower[:cell_count], solution.upper[:cell_count])
    left_out = tuple(cell for cell in outcome.left_out if cell < cell_count)
    return replace(outcome, solution=solution, left_out=left_out, audit=None)


def _extended(
    problem: Problem, options: Mapping[str, Any], cell_choices: Sequence[str], added: int
) -> dict[str, Any]:
    """Options of a method for the problem with some cells added, which cost nothing.

    Where a method can withhold cells, the added ones are.
    """
    changed: dict[str, Any] = {}
    for name in ("weights", "width_weights"):
        if name in options:
            changed[name] = _longer(problem, options[name], added)
    if options.get("max_suppressed") is not None:
        changed["max_suppressed"] = options["max_suppressed"] + added
    if np.ndim(options.get("min_width", 0.0)):
        changed["min_width"] = np.append(options["min_width"], np.zeros(added))
    for name in cell_choices:
        if options.get(name) is not None:
            chosen = cell_mask(problem, options[name], name)
            changed[name] = np.append(chosen, np.full(added, name == "withheld"))
    if "withheld" in cell_choices and not changed.keys() & {"published", "withheld"}:
        changed["withheld"] = np.arange(problem.cell_count, problem.cell_count + added)
    return {**options, **changed}


def _longer(problem: Problem, weights: Any, added: int) -> Any:
    """Weights of a method with nothing for some more cells; a pair is for both ends."""
    if isinstance(weights, tuple) and any(isinstance(w, str) or np.ndim(w) for w in weights):
        return tuple(_longer(problem, each, added) for each in weights)
    return np.append(chosen_weights(problem, weights), np.zeros(added))


def time_limit_of(options: Mapping[str, Any]) -> float:
    """The time limit among options of a method."""
    return float(options.get("time_limit", Options.time_limit))


def with_sums(problem: Problem, sums: Sequence[SensitiveSum]) -> Problem:
    """The problem with each sum as one more sensitive cell, and a relation that says so."""
    n, m = problem.cell_count, len(sums)
    row = np.repeat(np.arange(m), [len(each.cells) for each in sums])
    cell = np.concatenate([each.cells for each in sums])
    members = sparse.csr_array((np.ones(len(cell)), (row, cell)), shape=(m, n))
    value: Floats = np.asarray(members @ problem.value)
    lower: Floats = np.asarray(members @ problem.lower)
    levels = {
        "lower_level": np.minimum([each.lower for each in sums], value - lower),
        "upper_level": np.array([each.upper for each in sums]),
        "sliding_level": np.array([each.sliding for each in sums]),
    }
    old = sparse.hstack([problem.relations, sparse.csr_array((problem.relation_count, m))])
    new = sparse.hstack([members, -sparse.eye_array(m)])
    labels = [] if problem.labels is None else [problem.name_cells(each.cells) for each in sums]
    fields = {item.name: getattr(problem, item.name) for item in dataclasses.fields(problem)}
    return Problem(
        **{
            **fields,
            "value": np.append(problem.value, value),
            "lower": np.append(problem.lower, lower),
            "upper": np.append(problem.upper, np.full(m, np.inf)),
            "weight": np.append(problem.weight, np.zeros(m)),
            "relations": sparse.vstack([old, new], format="csr"),
            "rhs": np.append(problem.rhs, np.zeros(m)),
            "sensitive": np.append(problem.sensitive, np.arange(n, n + m)),
            "must_publish": np.append(problem.must_publish, np.zeros(m, bool)),
            "singleton": np.append(problem.singleton, np.full(m, -1)),
            "insiders": _extended_insiders(problem, sums, members),
            "labels": None if problem.labels is None else _Labels(problem.labels, labels),
            **{name: np.append(getattr(problem, name), level) for name, level in levels.items()},
        }
    )


def _extended_insiders(
    problem: Problem, sums: Sequence[SensitiveSum], members: sparse.csr_array[Any, Any]
) -> Insiders | None:
    """The same insiders, with what they know of the sums: what they add to their cells."""
    insiders, value = problem.insiders, problem.value
    if insiders is None:
        return None
    who = insiders.insider
    shape = (len(insiders), problem.cell_count)
    amount = sparse.csr_array((insiders.amount, (who, insiders.cells)), shape=shape)
    alone = sparse.csr_array((insiders.alone.astype(float), (who, insiders.cells)), shape=shape)
    there = sparse.csr_array((np.ones(len(who)), (who, insiders.cells)), shape=shape)
    own, lone, listed = (sparse.csc_array(matrix @ members.T) for matrix in (amount, alone, there))
    entries = [(who, insiders.cells, insiders.amount, insiders.alone, insiders.own)]
    outside = [insiders.outside]
    for place, each in enumerate(sums):
        k = listed.indices[listed.indptr[place] : listed.indptr[place + 1]].astype(np.int64)
        mine = own[:, [place]].toarray()[:, 0]
        all_alone = lone[:, [place]].toarray()[k, 0] == len(each.cells)
        total = float(value[each.cells].sum())
        levels = each.levels_against(
            total,
            np.append(mine[k], 0.0),
            are_identified=insiders.are_identified,
            are_holdings=insiders.are_holdings,
        )
        last = np.arange(len(k), len(k) + 1)
        outside.append(levels.take(last))
        against = levels.take(np.arange(len(k)))
        for level in (against.lower, against.upper, against.sliding):
            level[all_alone] = 0.0
        cell = np.full(len(k), problem.cell_count + place)
        entries.append((k, cell, mine[k], all_alone, against))
    numbers, cells, amounts, is_alone, levels_of = zip(*entries, strict=True)
    number = np.concatenate(numbers)
    order = np.lexsort((np.concatenate(cells), number))
    return replace(
        insiders,
        start=np.searchsorted(number[order], np.arange(len(insiders) + 1)).astype(np.int64),
        cells=np.concatenate(cells)[order],
        amount=np.concatenate(amounts)[order],
        alone=np.concatenate(is_alone)[order],
        own=_joined(levels_of).take(order),
        outside=_joined(outside),
    )


def _joined(levels: Sequence[LevelsAgainst]) -> LevelsAgainst:
    columns = zip(*((each.lower, each.upper, each.sliding) for each in levels), strict=True)
    return LevelsAgainst(*(np.concatenate(column) for column in columns))


class _Labels(Sequence[str]):
    """Names of cells, and of sums after them, without making them all."""

    def __init__(self, cells: Sequence[str], sums: list[str]):
        self._cells, self._sums = cells, sums

    def __len__(self) -> int:
        return len(self._cells) + len(self._sums)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        n = len(self._cells)
        return self._cells[place] if place < n else f"sum of {self._sums[place - n]}"
