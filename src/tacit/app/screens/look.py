"""Look: the table as a grid, each cell with what is known about it, and wishes about cells."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from tacit.app.grid import KINDS, Shown, View, codes_of, described
from tacit.app.screens.rules import mark_rule
from tacit.app.texts import text
from tacit.app.visits import Handler, Visit
from tacit.app.workspace import Draft
from tacit.errors import InputError
from tacit.problem import Problem
from tacit.table import Table

WISHES = ("publish", "safe", "sensitive", "secondary")


def shown_to(visit: Visit) -> tuple[Shown | None, str]:
    """What there is to look at: the latest result where it is current, else the table judged."""
    run = visit.run
    if run is not None and run.progress.state == "done" and visit.is_current:
        kept = getattr(run, "shown", None)
        if kept is None:
            papers = run.release.papers
            kept = Shown(papers.problem if papers.table is None else papers.table, run.release)
            run.shown = kept  # type: ignore[attr-defined]
        return kept, ""
    source, fault = visit.judged()
    if source is None:
        return None, fault.message if fault else text("app.no_data")
    return Shown(source, None), ""


def view_of(visit: Visit, shown: Shown) -> View:
    """The view that the address asks for."""
    query = visit.query
    fixed = {key[6:]: each for key, each in query.items() if key.startswith("fixed.")}
    table = query.get("table", "0")
    return View(
        shown,
        query.get("rows") or None,
        query.get("columns") or None,
        fixed,
        int(table) if table.isdigit() else 0,
    )


def show(visit: Visit) -> Response:
    """The grid; the page fetches its window."""
    shown, fault = shown_to(visit)
    if shown is None:
        return visit.page("look.html", view=None, fault_text=fault)
    view = view_of(visit, shown)
    source = shown.source
    tables = len(source.grids) if isinstance(source, Table) else 1
    run = visit.run
    return visit.page(
        "look.html",
        view=view,
        names=[*view.grid.dimensions],
        tables=tables,
        table=visit.query.get("table", "0"),
        counts=shown.counts,
        kinds=KINDS,
        protected=shown.release is not None,
        outdated=run is not None and run.progress.state == "done" and not visit.is_current,
        can_mark=isinstance(source, Table),
        fault_text="",
    )


def _whole(visit: Visit, name: str, default: int) -> int:
    given = visit.query.get(name, "")
    return int(given) if given.isdigit() and len(given) < 10 else default


def window(visit: Visit) -> Response:
    """A window of the grid."""
    shown, fault = shown_to(visit)
    if shown is None:
        raise InputError(fault)
    view = view_of(visit, shown)
    return visit.page(
        "look_window.html",
        view=view,
        window=view.window(
            _whole(visit, "top", 0),
            _whole(visit, "left", 0),
            _whole(visit, "height", 30),
            _whole(visit, "width", 10),
        ),
    )


def cell(visit: Visit) -> Response:
    """What is known about a cell."""
    shown, fault = shown_to(visit)
    if shown is None:
        raise InputError(fault)
    number = _whole(visit, "cell", -1)
    source = shown.source
    if not 0 <= number < source.cell_count:
        raise InputError(text("look.no_cell"))
    release = shown.release
    published: dict[str, Any] = {}
    if release is not None and release.published.lower is not None:
        assert release.published.upper is not None
        published = {
            "lower": float(release.published.lower[number]),
            "upper": float(release.published.upper[number]),
        }
    return visit.page(
        "look_cell.html",
        number=number,
        codes=codes_of(source, number),
        kind=KINDS[shown.kind[number]],
        facts=described(source, number),
        published=published,
        shown_value=None if shown.published is None else float(shown.published[number]),
        protected=release is not None,
        can_mark=not isinstance(source, Problem),
        wishes=WISHES,
    )


def mark(visit: Visit) -> Response:
    """Take note of a wish about a cell; perhaps protect again at once."""
    shown, fault = shown_to(visit)
    if shown is None or not isinstance(shown.source, Table):
        raise InputError(fault or text("look.no_marks"))
    given = visit.sent("cell")
    wish = visit.sent("wish")
    if not given.isdigit() or not int(given) < shown.source.cell_count or wish not in WISHES:
        raise InputError(text("look.no_cell"))
    codes = codes_of(shown.source, int(given))

    def edit(draft: Draft) -> None:
        put_mark(draft, codes, wish)

    visit.change("mark", edit)
    visit.tell(text("look.marked", cell=", ".join(f"{k}={v}" for k, v in codes.items())))
    if visit.sent("again"):
        visit.desk.runs.start(visit.workspace.draft)
        return visit.go("protect")
    return visit.go("look")


def put_mark(draft: Draft, codes: dict[str, str], wish: str) -> None:
    """Put a mark into a draft, in place of one of the same cell."""
    rule = mark_rule(draft)
    if rule is None:
        rule = {"rule": "manual", "marks": {**{name: [] for name in codes}, "status": []}}
        draft.setdefault("rules", []).append(rule)
    marks: dict[str, list[str]] = rule["marks"]
    count = len(marks["status"])
    same = [
        place
        for place in range(count)
        if all(marks.get(name, [code] * count)[place] == code for name, code in codes.items())
    ]
    for column in marks.values():
        for place in reversed(same):
            del column[place]
    for name, code in codes.items():
        marks.setdefault(name, []).append(code)
    marks["status"].append(wish)
    # Whoever publishes a cell that rules find sensitive has decided so.
    if any(status in ("publish", "safe") for status in marks["status"]):
        rule["override"] = True
    else:
        rule.pop("override", None)


ROUTES: dict[str, Handler] = {
    "GET look": show,
    "GET look-window": window,
    "GET look-cell": cell,
    "POST look-mark": mark,
}
