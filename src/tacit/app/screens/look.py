"""Look: the table as a grid, each cell with what is known about it, and wishes about cells."""

from __future__ import annotations

import re
from typing import Any

from starlette.responses import Response

from tacit.app.grid import HIDDEN, KINDS, Shown, View, codes_of, described, labelled
from tacit.app.screens.rules import mark_rules
from tacit.app.texts import text
from tacit.app.visits import Handler, Visit
from tacit.app.workspace import Draft
from tacit.errors import InputError
from tacit.problem import Problem
from tacit.table import Table

WISHES = ("publish", "safe", "sensitive", "secondary")


def looked_at(visit: Visit) -> View:
    """The view that the address asks for.

    Raises:
        InputError: There is nothing to look at, or no such view.
    """
    shown, fault = visit.shown()
    if shown is None:
        raise InputError(fault.message if fault else text("app.no_data"))
    query = visit.query
    table = query.get("table", "0")
    names = [*query]
    rows, columns = query.get("rows") or None, query.get("columns") or None
    if "swap" in names:
        rows, columns = columns, rows
    return View(
        shown,
        rows,
        columns,
        {name[6:]: query[name] for name in names if name.startswith("fixed.")},
        int(table) if table.isdigit() and len(table) < 6 else 0,
        query.get("only", ""),
    )


def show(visit: Visit) -> Response:
    """The grid; the page fetches its window."""
    shown, fault = visit.shown()
    if shown is None:
        return visit.page("look.html", view=None, fault=fault)
    source = shown.source
    try:
        view = looked_at(visit)
    except InputError as error:
        # A choice that no longer fits, perhaps of another table.
        visit.tell(str(error), "wrong")
        view = View(shown)
    run = visit.run
    if run is not None and shown.release is not None:
        run.prepare_to_explain()
    return visit.page(
        "look.html",
        view=view,
        names=[*view.grid.dimensions],
        tables=[
            ", ".join(filter(None, (grid.name or " × ".join(grid.dimensions), grid.variable)))
            for grid in (source.grids if isinstance(source, Table) else ())
        ],
        counts=shown.counts,
        filters=[HIDDEN, *(kind for kind in shown.counts if kind != "absent")],
        protected=shown.release is not None,
        outdated=run is not None and run.progress.state == "done" and not visit.is_current,
        fault=None,
    )


def _whole(visit: Visit, name: str, default: int) -> int:
    given = visit.query.get(name, "")
    return int(given) if given.isdigit() and len(given) < 10 else default


def window(visit: Visit) -> Response:
    """A window of the grid."""
    view = looked_at(visit)
    if not view.row_count:
        return visit.page("look_window.html", view=view, window=None)
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


def search(visit: Visit) -> Response:
    """Codes that contain what was typed, to jump to."""
    view = looked_at(visit)
    words = visit.query.get("words", "")
    return visit.page("look_found.html", found=view.find(words), words=words)


def draw_map(visit: Visit) -> Response:
    """The whole view as a map, to jump into."""
    view = looked_at(visit)
    fields = view.map() if view.row_count else []
    return visit.page("look_map.html", fields=fields)


def cell(visit: Visit) -> Response:
    """What is known about a cell; why it is so is fetched by the page."""
    shown, number = _chosen(visit, visit.query.get("cell", ""))
    source, release = shown.source, shown.release
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
        codes=labelled(source, codes_of(source, number)),
        kind=KINDS[shown.kind[number]],
        facts=described(source, number),
        published=published,
        shown_value=None if shown.published is None else float(shown.published[number]),
        protected=release is not None,
        can_mark=isinstance(source, Table),
        wishes=WISHES,
    )


def _chosen(visit: Visit, given: str) -> tuple[Shown, int]:
    """What is shown, and the number of a cell in it."""
    shown, fault = visit.shown()
    if shown is None:
        raise InputError(fault.message if fault else text("app.no_data"))
    if not given.isdigit() or len(given) > 12 or int(given) >= shown.source.cell_count:
        raise InputError(text("look.no_cell"))
    return shown, int(given)


def why(visit: Visit) -> Response:
    """Why a cell is as it is, and what publishing it would take."""
    shown, number = _chosen(visit, visit.query.get("cell", ""))
    run = visit.run
    if shown.release is None or run is None:
        raise InputError(text("look.not_yet"))
    told = run.why(number)
    return visit.page("look_why.html", told=told, meanings=meanings(shown.source, told))


def meanings(source: Table | Problem, told: str) -> dict[str, str]:
    """The labels of codes that an explanation names."""
    found: dict[str, str] = {}
    for name, hierarchy in source.dimensions.items() if isinstance(source, Table) else ():
        for code in re.findall(rf"\b{re.escape(name)}=([^,)\n]+)", told):
            if code in hierarchy.labels:
                found[code] = hierarchy.labels[code]
    return found


def mark(visit: Visit) -> Response:
    """Take note of a wish about a cell; perhaps protect again at once."""
    shown, number = _chosen(visit, visit.sent("cell"))
    wish = visit.sent("wish")
    if not isinstance(shown.source, Table):
        raise InputError(text("look.no_marks"))
    if wish not in WISHES:
        raise InputError(text("look.no_wish"))
    codes = codes_of(shown.source, number)

    def edit(draft: Draft) -> None:
        put_mark(draft, codes, wish)

    visit.change("mark", edit)
    named = labelled(shown.source, codes)
    visit.tell(text("look.marked", cell=", ".join(f"{k}={v}" for k, v in named.items())))
    if visit.sent("again"):
        visit.desk.runs.start(visit.workspace.draft)
        return visit.go("protect")
    return visit.go("look")


def put_mark(draft: Draft, codes: dict[str, str], wish: str) -> None:
    """Put a mark into a draft, in place of one of the same cell."""
    rule = next(
        (each for each in mark_rules(draft) if {*each["marks"]} == {*codes, "status"}), None
    )
    if rule is None:
        rule = {"rule": "manual", "marks": {**{name: [] for name in codes}, "status": []}}
        draft.setdefault("rules", []).append(rule)
    marks: dict[str, list[str]] = rule["marks"]
    count = len(marks["status"])
    same = [
        place
        for place in range(count)
        if all(marks[name][place] == code for name, code in codes.items())
    ]
    for column in marks.values():
        for place in reversed(same):
            del column[place]
    for name, code in codes.items():
        marks[name].append(code)
    marks["status"].append(wish)
    # Whoever publishes a cell that rules find sensitive has decided so.
    if any(status in ("publish", "safe") for status in marks["status"]):
        rule["override"] = True
    else:
        rule.pop("override", None)


ROUTES: dict[str, Handler] = {
    "GET look": show,
    "GET look-window": window,
    "GET look-search": search,
    "GET look-map": draw_map,
    "GET look-cell": cell,
    "GET look-why": why,
    "POST look-mark": mark,
}
