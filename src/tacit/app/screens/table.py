"""Table: dimensions with their hierarchies, what is merged, and how many cells that makes."""

from __future__ import annotations

from typing import Any

import numpy as np
from starlette.responses import Response

from tacit.app.texts import text
from tacit.app.visits import Fault, Handler, Visit, refuse_jj
from tacit.app.workspace import Draft
from tacit.errors import InputError
from tacit.hierarchy import DEFAULT_TOTAL, Hierarchy
from tacit.problem import Problem
from tacit.table import Table

WAYS = ("flat", "lengths", "file", "codes")
CODES_SHOWN = 2000
"""A larger tree is shown in part."""


def show(visit: Visit) -> Response:
    """The dimensions; the tree of each is fetched by the page."""
    refuse_jj(visit)
    draft = visit.draft
    dimensions = draft.get("dimensions", {})
    return visit.page(
        "table.html",
        dimensions={name: {**given, "way": way_of(given)} for name, given in dimensions.items()},
        tables=draft.get("tables", []),
        equations=draft.get("equations", []),
        several_values=isinstance(draft.get("data", {}).get("value"), list),
        label_files=[file.name for file in visit.workspace.files() if file.kind == "data"],
        ways=WAYS,
        hierarchy_files=[
            file.name
            for file in visit.workspace.files()
            if file.kind in ("hierarchy", "data") and file.name != draft["data"].get("microdata")
        ],
        fault=visit.job()[1],
    )


def way_of(given: dict[str, Any]) -> str:
    """How a hierarchy is given."""
    if "file" in given:
        return "file"
    if "codes" in given:
        return "codes"
    return "lengths" if "lengths" in given else "flat"


def trees(visit: Visit) -> Response:
    """How many cells the table has, and the tree of each dimension."""
    table, fault = visit.table()
    return visit.page("table_trees.html", **_described(table), fault=fault)


def _described(table: Table | Problem | None) -> dict[str, Any]:
    if not isinstance(table, Table):
        return {"table": None, "trees": {}}
    by_levels = [
        {"name": name, "levels": [len(h.codes_at(level)) for level in range(h.depth + 1)]}
        for name, h in table.dimensions.items()
    ]
    return {
        "table": table,
        "cells": table.cell_count,
        "relations": table.relations.shape[0],
        "empty": int(np.count_nonzero(table.status == "empty")),
        "by_levels": by_levels,
        "linked": [
            {
                "name": grid.name or " × ".join(grid.dimensions),
                "variable": grid.variable,
                "cells": grid.cell_count,
            }
            for grid in (table.grids if len(table.grids) > 1 else ())
        ],
        "trees": {name: branch(h, 0, [CODES_SHOWN]) for name, h in table.dimensions.items()},
    }


def branch(hierarchy: Hierarchy, position: int, left: list[int]) -> dict[str, Any]:
    """A code with what lies below it, as the template draws it."""
    left[0] -= 1
    children = np.flatnonzero(hierarchy.parent == position).tolist() if left[0] > 0 else []
    return {
        "code": hierarchy.codes[position],
        "text": hierarchy.text(hierarchy.codes[position]),
        "leaf": bool(hierarchy.is_leaf[position]),
        "cut": left[0] <= 0 and not hierarchy.is_leaf[position],
        "children": [branch(hierarchy, child, left) for child in children if child != position],
    }


def choose(visit: Visit) -> Response:
    """Take note of how the hierarchies are given."""

    def edit(draft: Draft) -> None:
        for place, name in enumerate([*draft.get("dimensions", {})]):
            way = visit.sent(f"way.{place}")
            if way in WAYS:
                labels = visit.sent(f"labels.{place}")
                given = _given(visit, place, way, draft["dimensions"][name])
                draft["dimensions"][name] = {**given, "labels": labels} if labels else given

    visit.change("hierarchy", edit)
    return visit.go("table")


def choose_tables(visit: Visit) -> Response:
    """Take note of linked tables: which dimensions each has; add one, or remove one."""
    add, remove = visit.sent("add"), visit.sent("remove")

    def edit(draft: Draft) -> None:
        names = [*draft.get("dimensions", {})]
        tables = []
        for place, before in enumerate(draft.get("tables", [])):
            table = {key: part for key, part in before.items() if key not in ("name", "dimensions")}
            ticked = [str(name) for name in visit.form.getlist(f"dimension.{place}")]
            name = visit.sent(f"name.{place}").strip()
            table = {"dimensions": [each for each in names if each in ticked], **table}
            tables.append({"name": name, **table} if name else table)
        if remove.isdigit() and int(remove) < len(tables):
            del tables[int(remove)]
        if add:
            tables += [{"dimensions": names}] if tables else [{"dimensions": names}] * 2
        draft.pop("tables", None)
        if tables:
            draft["tables"] = tables
        equations = [line.strip() for line in visit.sent("equations").splitlines() if line.strip()]
        draft.pop("equations", None)
        if equations:
            draft["equations"] = equations

    visit.change("tables", edit)
    return visit.go("table")


def _given(visit: Visit, place: int, way: str, before: dict[str, Any]) -> dict[str, Any]:
    total = visit.sent(f"total.{place}").strip()
    named = {"total": total} if total and total != DEFAULT_TOTAL and way != "flat" else {}
    if way == "lengths":
        words = visit.sent(f"lengths.{place}").replace(",", " ").split()
        return {"lengths": [int(w) if w.isdigit() else w for w in words] or [1], **named}
    if way == "file":
        file = visit.sent(f"file.{place}")
        kept = {k: v for k, v in before.items() if k in ("child", "parent", "levels", "indent")}
        if file != before.get("file"):
            kept = {}
        child, parent = visit.sent(f"child.{place}").strip(), visit.sent(f"parent.{place}").strip()
        if not file.lower().endswith(".hrc"):
            kept |= {k: v for k, v in (("child", child), ("parent", parent)) if v}
        return {"file": file, **kept, **named}
    if way == "codes":
        return {"codes": before.get("codes", []), **named}
    return {}


def _put_recode(draft: Draft, name: str, level: str) -> None:
    """Show a dimension down to a level only; other recodings stay."""
    recode = draft.setdefault("recode", {})
    if level.isdigit():
        recode[name] = int(level)
    elif level == "all" and isinstance(recode.get(name), int):
        del recode[name]
    if not recode:
        del draft["recode"]


def cut(visit: Visit) -> Response:
    """Show a dimension down to a level only."""

    def edit(draft: Draft) -> None:
        if visit.sent("dimension") in draft.get("dimensions", {}):
            _put_recode(draft, visit.sent("dimension"), visit.sent("level"))

    visit.change("level", edit)
    return visit.back()


def merge(visit: Visit) -> Response:
    """Merge the codes that are ticked, or take all merges of a dimension back."""
    name = visit.sent("dimension")
    codes = [str(code) for code in visit.form.getlist("code")]
    into = visit.sent("into").strip()
    what = visit.sent("what")
    if what == "merge" and (len(codes) < 2 or not into):
        raise InputError(text("table.merge_needs"))

    def edit(draft: Draft) -> None:
        recode = draft.setdefault("recode", {})
        if what == "merge":
            groups = recode.get(name) if isinstance(recode.get(name), dict) else {}
            members = [part for code in codes for part in groups.pop(code, [code])]
            recode[name] = {**groups, into: members}
        else:
            recode.pop(name, None)
        if not recode:
            del draft["recode"]

    visit.change("merge", edit)
    return visit.go("table")


def edit_tree(visit: Visit) -> Response:
    """The tree of a dimension as text to edit, a code in each line, indented below its parent."""
    name = visit.query.get("dimension", "")
    table, fault = visit.table()
    if not isinstance(table, Table) or name not in table.dimensions:
        raise InputError(fault.message if fault else text("table.no_dimension"))
    hierarchy = table.dimensions[name]
    lines = [
        "  " * (int(level) - 1) + code
        for code, level in zip(hierarchy.codes, hierarchy.level.tolist(), strict=True)
        if level > 0
    ]
    return visit.page(
        "table_edit.html", dimension=name, lines="\n".join(lines), total=hierarchy.total, fault=None
    )


def keep_tree(visit: Visit) -> Response:
    """Take over a tree that was edited."""
    name, lines = visit.sent("dimension"), visit.sent("tree")
    total = visit.sent("total").strip() or DEFAULT_TOTAL
    try:
        codes = nested(lines)
        Hierarchy.from_nested(codes, total)
    except (InputError, Exception) as error:
        if not isinstance(error, InputError) and type(error).__module__ != "tacit.errors":
            raise
        return visit.page(
            "table_edit.html",
            200,
            dimension=name,
            lines=lines,
            total=total,
            fault=Fault(str(error)),
        )

    def edit(draft: Draft) -> None:
        draft["dimensions"][name] = {"codes": codes, "total": total}

    visit.change("tree", edit)
    return visit.go("table")


def nested(lines: str) -> Any:
    r"""Indented lines as nested codes.

    >>> nested("C\n  C1\n  C2\nD")
    {'C': ['C1', 'C2'], 'D': []}
    """
    rows: list[tuple[int, str]] = []
    for number, line in enumerate(lines.splitlines(), start=1):
        if line.strip():
            depth = len(line.expandtabs(2)) - len(line.expandtabs(2).lstrip())
            rows.append((depth, line.strip()))
            above = rows[-2][0] if len(rows) > 1 else 0
            if (len(rows) == 1 and depth) or (depth > above and depth - above > 2):
                raise InputError(text("table.indent", line=number))
    if not rows:
        raise InputError(text("table.no_codes"))
    return _below(rows)


def _below(rows: list[tuple[int, str]]) -> Any:
    if not rows:
        return []
    depth = rows[0][0]
    starts = [place for place, row in enumerate(rows) if row[0] <= depth]
    parts = {
        rows[start][1]: _below(rows[start + 1 : end])
        for start, end in zip(starts, [*starts[1:], len(rows)], strict=True)
    }
    if len(parts) < len(starts):
        names = [rows[start][1] for start in starts]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(text("table.code_twice", code=twice))
    return parts if any(parts.values()) else list(parts)


ROUTES: dict[str, Handler] = {
    "GET table": show,
    "GET table-trees": trees,
    "POST table": choose,
    "POST table-linked": choose_tables,
    "POST table-level": cut,
    "POST table-merge": merge,
    "GET table-edit": edit_tree,
    "POST table-edit": keep_tree,
}
