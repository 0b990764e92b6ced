"""`compare`: several methods on one table, measured in the same way, to help choose.

Methods minimise different things. So every outcome is measured by what a
reader is left with: how wide the interval is in which a cell can lie, and how far the best guess
is from the truth. `docs/compare.md` defines the figures.
"""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.comparison.measures import Measures, measure
from tacit.errors import InputError, TacitError
from tacit.methods.inputs import refuse_contradictions
from tacit.methods.registry import METHODS, find_method
from tacit.observer import Observer, Relay
from tacit.options import Options
from tacit.outcome import Outcome
from tacit.problem import ADDITIVITY_TOLERANCE, Problem
from tacit.table import Table
from tacit.table.frames import to_frame

FAILED, NOT_RUN = "failed", "not run"
"""How a method may end besides the statuses of outcomes."""
_SAME = 5e-5
"""Shares that differ by at most this are equally good: fewer digits of them are shown."""
_NOTHING = "-"


@dataclass(frozen=True, kw_only=True)
class ComparedOutcome:
    """What one method made of the table. It holds no value of any cell.

    Attributes:
        label: The method's name, with the algorithm where one was chosen.
        method: Its name.
        algorithm: Which of its algorithms.
        status: That of the outcome, or `failed` or `not run`.
        stopped_by: Why it ended.
        safe: Whether there is an outcome, and an audit found it safe.
        message: Why there is none.
        objective: What the method minimises; of different methods not comparable.
        bound: No safe outcome of this method has a smaller objective.
        gap: (objective - bound) / objective.
        seconds: Wall time of the method, without that of the measuring.
        measures: What readers are left with; None without an outcome.
    """

    label: str
    method: str
    algorithm: str = "auto"
    status: str
    stopped_by: str = ""
    safe: bool = False
    message: str = ""
    objective: float | None = None
    bound: float | None = None
    gap: float | None = None
    seconds: float | None = None
    measures: Measures | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Several methods on one table.

    For internal use: the figures say how closely sensitive cells are protected.

    Attributes:
        rows: One entry per method, in the given order.
        cells: Number of cells of the table.
        sensitive: Number of sensitive cells.
        time_limit: Seconds that each method had.
        seed: The seed of all.
    """

    rows: tuple[ComparedOutcome, ...]
    cells: int
    sensitive: int
    time_limit: float
    seed: int

    def columns(self) -> dict[str, list[Any]]:
        """Everything as columns, None where there is no figure."""
        named = [field.name for field in dataclasses.fields(ComparedOutcome)][:-1]
        columns: dict[str, list[Any]] = {
            name: [getattr(row, name) for row in self.rows] for name in named
        }
        for field in dataclasses.fields(Measures):
            columns[field.name] = [
                None if row.measures is None else getattr(row.measures, field.name)
                for row in self.rows
            ]
        return columns

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per method.

        Args:
            backend: `pandas`, `polars` or `pyarrow`; by default a dict of columns.
        """
        columns: dict[str, Any] = {}
        for name, entries in self.columns().items():
            numeric = all(isinstance(entry, int | float | None) for entry in entries)
            missing = numeric and None in entries
            columns[name] = np.array(entries, np.float64 if missing else None)
        return to_frame(columns, backend)

    def summary(self) -> str:
        """A table of text, remarks on single methods, and which method is best at what."""
        texts = self._texts()
        widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
        lines = [
            "  ".join([*map(str.ljust, row[:2], widths[:2]), *map(str.rjust, row[2:], widths[2:])])
            for row in texts
        ]
        lines = [line.rstrip() for line in lines]
        told = [*self.notes(), *self.best()]
        return "\n".join([*lines, *([""] if told else []), *told])

    def notes(self) -> list[str]:
        """Remarks on single methods."""
        told = []
        for row in self.rows:
            if row.message:
                message = row.message.replace("\n", "\n  ")
                told.append(f"{row.label}: {message}")
            found = row.measures
            if found is not None and found.measured < found.to_measure:
                told.append(
                    f"{row.label}: measured on {found.measured} of {found.to_measure} cells"
                )
        return told

    def best(self) -> list[str]:
        """Which safe outcomes are best at what; nothing where there is no choice."""
        found = [(row, row.measures) for row in self.rows if row.safe and row.measures is not None]
        if len(found) < 2:
            return []
        aims = {
            "least information lost": [(-m.loss, row) for row, m in found if m.loss is not None],
            "most cells exact": [(m.exact, row) for row, m in found],
            "best guesses": [(-m.deviation, row) for row, m in found if m.deviation is not None],
        }
        told = []
        for aim, entries in aims.items():
            if entries:
                most = max(figure for figure, _ in entries)
                names = [row.label for figure, row in entries if figure >= most - _SAME]
                told.append(f"{aim}: {', '.join(names)}")
        return told

    def _texts(self) -> list[list[str]]:
        header = [
            *("method", "status", "exact", "lost", "width", "deviation", "most"),
            *("sensitive", "least", "gap", "seconds"),
        ]
        texts = [header]
        for row in self.rows:
            m = row.measures
            shares: list[float | None] = [None] * 7
            if m is not None:
                shares = [m.exact, m.loss, m.width, m.deviation, m.max_deviation]
                shares += [m.sensitive_width, m.min_sensitive_width]
            status = row.status
            if m is not None and not row.safe:
                status += ", NOT SAFE"
            texts.append(
                [
                    row.label,
                    status,
                    *(_NOTHING if share is None else f"{share:.1%}" for share in shares),
                    _NOTHING if row.gap is None else f"{row.gap:.3%}",
                    _NOTHING if row.seconds is None else f"{row.seconds:.1f}",
                ]
            )
        return texts

    def _repr_html_(self) -> str:
        header, *rows = self._texts()

        def line(texts: Sequence[str], tag: str) -> str:
            return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)

        body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in rows)
        told = "".join(f"<br>{html.escape(note)}" for note in [*self.notes(), *self.best()])
        return (
            f"<table><caption>{html.escape(repr(self))}</caption><thead><tr>{line(header, 'th')}"
            f"</tr></thead><tbody>{body}</tbody></table><p>{told.removeprefix('<br>')}</p>"
        )

    def report(self, path: str | Path, *, table: str = "one table") -> Path:
        """Write a page with the figures and a picture of risk against utility.

        Args:
            path: The file, ending in .html.
            table: What was protected, in a few words.
        """
        from tacit.report.comparison import ComparedMethod, comparison_report

        pages = []
        for row in self.rows:
            m = row.measures
            measured: dict[str, Any] = {}
            if m is not None:
                measured = {
                    "suppressed": m.suppressed,
                    "spread": m.intervals,
                    "changed": m.changed,
                    "mean_width": m.width,
                    "mean_deviation": m.deviation,
                    "max_deviation": m.max_deviation,
                    "exposed": m.exposed,
                    "deducible_width": m.sensitive_width,
                    "utility_loss": m.loss,
                }
            pages.append(
                ComparedMethod(
                    method=row.label,
                    algorithm=row.algorithm,
                    status=row.status,
                    seconds=row.seconds or 0.0,
                    cells=self.cells,
                    gap=row.gap,
                    note=row.message,
                    **measured,
                )
            )
        return comparison_report(pages, path, table=table)

    def __repr__(self) -> str:
        names = ", ".join(row.label for row in self.rows)
        return f"Comparison({names}; {self.cells} cells, {self.sensitive} sensitive)"


def compare(
    table: Table | Problem,
    methods: Sequence[str] | None = None,
    *,
    time_limit: float = Options.time_limit,
    gap: float = Options.gap,
    seed: int = Options.seed,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    observer: Observer | None = None,
    tolerance: float = ADDITIVITY_TOLERANCE,
) -> Comparison:
    """Run several methods on one table and measure what readers are left with.

    A method that fails, or finds nothing safe, gets a row that says why; the others go on.

    Args:
        table: A table with sensitive cells and their levels, or a problem.
        methods: Names of methods, each with an algorithm after a colon if wanted, such as
            `suppress:hypercube`. By default all methods.
        time_limit: Seconds for each method. Measuring takes at most as long again.
        gap: When a method may stop, see `Options`.
        seed: The same seed gives the same figures, unless the time limit is reached.
        options: Further options by method, such as `{"suppress": {"max_suppressed": 20}}`; by
            the name that includes an algorithm they are for that entry alone.
        observer: Listens; when it asks to stop, the method that runs ends with its best result,
            and those after it do not run.
        tolerance: How exactly the table must add up (see `Problem.validate`).

    Raises:
        ProblemError: The table contradicts itself.
        InputError: There is no such method, or an option does not fit.

    >>> import tacit
    >>> problem = tacit.examples.get("003-figure-11").problem
    >>> found = compare(problem, ["suppress", "suppress:paths"], time_limit=10)
    >>> [(row.label, row.safe, row.measures.suppressed) for row in found.rows]
    [('suppress', True, 4), ('suppress:paths', True, 4)]
    """
    problem = table if isinstance(table, Problem) else table.problem("singletons")
    chosen = list(METHODS) if methods is None else list(methods)
    refuse_contradictions(problem, tolerance)
    asked = _asked(chosen, options or {}, {"time_limit": time_limit, "gap": gap, "seed": seed})
    observer = observer or Observer()
    rows = []
    for place, (label, name, given) in enumerate(asked, start=1):
        if observer.should_stop():
            rows.append(ComparedOutcome(label=label, method=name, status=NOT_RUN))
            continue
        listener = _Announcing(observer, f"{label} ({place} of {len(asked)})")
        rows.append(_row(problem, label, name, given, listener, tolerance))
    return Comparison(tuple(rows), problem.cell_count, len(problem.sensitive), time_limit, seed)


def _asked(
    methods: Sequence[str], options: Mapping[str, Mapping[str, Any]], common: Mapping[str, Any]
) -> list[tuple[str, str, dict[str, Any]]]:
    """For each entry its label, the method and its options, all of which must be known."""
    if not methods:
        raise InputError("there are no methods to compare; name some")
    twice = [label for label in methods if list(methods).count(label) > 1]
    if twice:
        raise InputError(f"method {twice[0]!r} is named twice; name it once")
    named = {label: label.partition(":")[0] for label in methods}
    for label in options:
        if label not in named and label not in named.values():
            raise InputError(f"there are options for {label!r}, which is not compared")
    found = []
    for label, name in named.items():
        kind = find_method(name).options()
        given = {**common, **options.get(name, {}), **options.get(label, {})}
        algorithm = label.partition(":")[2]
        if algorithm:
            given["algorithm"] = algorithm
        try:
            kind.from_mapping(given)
        except InputError as error:
            raise InputError(f"{label}: {error}") from None
        found.append((label, name, given))
    return found


def _row(
    problem: Problem,
    label: str,
    name: str,
    given: Mapping[str, Any],
    observer: Observer,
    tolerance: float,
) -> ComparedOutcome:
    try:
        method = find_method(name)
        # Measured is what readers would get.
        options = method.to_publish(given)
        outcome = method.run()(problem, observer=observer, tolerance=tolerance, **options)
        measures = None
        if outcome.solution is not None:
            measures = measure(
                problem,
                outcome,
                seconds=float(given["time_limit"]),
                seed=int(given["seed"]),
                observer=observer,
            )
    except TacitError as error:
        return ComparedOutcome(label=label, method=name, status=FAILED, message=str(error))
    return ComparedOutcome(
        label=label,
        method=name,
        algorithm=outcome.algorithm,
        status=outcome.status.value,
        stopped_by=outcome.stopped_by,
        safe=measures is not None and measures.exposed == 0,
        message=_message(outcome),
        objective=outcome.report.objective,
        bound=outcome.report.bound if np.isfinite(outcome.report.bound) else None,
        gap=outcome.report.gap,
        seconds=outcome.report.seconds,
        measures=measures,
    )


def _message(outcome: Outcome) -> str:
    if outcome.solution is not None:
        return ""
    return outcome.message or "it ended without a safe outcome; allow more time"


class _Announcing(Relay):
    """Says whose task it is."""

    def __init__(self, listener: Observer, label: str):
        super().__init__(listener)
        self._label = label

    def on_start(self, task: str, *, total: int | None = None) -> None:
        """A task begins; those with steps are not the method itself."""
        task = self._label if total is None else f"{self._label}: {task}"
        super().on_start(task, total=total)
