"""Rules: which cells are sensitive, in plain words, and what each choice does to the table."""

from __future__ import annotations

from typing import Any

import numpy as np
from starlette.responses import Response

from tacit.app.texts import text
from tacit.app.visits import Handler, Visit, refuse_jj
from tacit.app.workspace import Draft
from tacit.errors import InputError
from tacit.methods.recoding.levels import suggest_levels
from tacit.table import Table

PARAMETERS: dict[str, dict[str, str]] = {
    "min-frequency": {
        "minimum": "whole",
        "percent": "number",
        "weighted": "flag",
        "holding": "flag",
    },
    "p-percent": {"p": "number", "coalition": "whole", "holding": "flag"},
    "dominance": {"n": "whole", "k": "number", "holding": "flag"},
    "prior-posterior": {"p": "number", "q": "number", "coalition": "whole", "holding": "flag"},
    "small-counts": {"minimum": "whole", "percent": "number"},
    "group-disclosure": {"level": "number", "absent": "choice"},
    "zero-cells": {"level": "number", "empty": "flag"},
    "request": {"share": "number", "minimum": "whole", "percent": "number"},
    "manual": {"marks": "file", "override": "flag", "percent": "number"},
    "missing-safe": {},
}
"""What can be filled in for each rule, and what kind of entry it is."""
OFFERED = [name for name, parameters in PARAMETERS.items() if parameters]
"""Rules that can be added; others come with jobs that are opened."""
FIRST = {
    "min-frequency": {"minimum": 3},
    "p-percent": {"p": 10},
    "dominance": {"n": 1, "k": 75},
    "prior-posterior": {"p": 10, "q": 100},
    "small-counts": {"minimum": 3},
}
"""What a rule begins with when it is added."""
CHOICES = {"absent": ("refuse", "known")}
SUGGESTED_STEPS = 3
SUGGESTED_LEVELS = 4
MOST_CELLS_FOR_SUGGESTIONS = 20_000


def show(visit: Visit) -> Response:
    """The rules; what they do is fetched by the page."""
    refuse_jj(visit)
    draft = visit.draft
    job, fault = visit.job()
    return visit.page(
        "rules.html",
        rules=draft.get("rules", []),
        parameters=PARAMETERS,
        choices=CHOICES,
        names=OFFERED,
        files=[file.name for file in visit.workspace.files() if file.kind == "data"],
        fault=fault,
        marks=marks_of(draft),
        labels={name: each.labels for name, each in job.dimensions.items()} if job else {},
    )


def marks_of(draft: Draft) -> list[dict[str, str]]:
    """The marks that were set in the table, one entry per cell."""
    return [
        {name: column[place] for name, column in rule["marks"].items()}
        for rule in mark_rules(draft)
        for place in range(len(rule["marks"]["status"]))
    ]


def mark_rules(draft: Draft) -> list[dict[str, Any]]:
    """The rules with marks that were set in the table: one, unless its dimensions have changed."""
    return [
        rule
        for rule in draft.get("rules", [])
        if rule.get("rule") == "manual"
        and isinstance(rule.get("marks"), dict)
        and "status" in rule["marks"]
    ]


def entered(kind: str, given: str) -> Any:
    """What was typed; what is not a number stays a text, which the job will refuse."""
    given = given.strip()
    if kind in ("whole", "number"):
        for reading in (int, float):
            try:
                return reading(given.replace(",", "."))
            except ValueError:
                continue
    return given


def choose(visit: Visit) -> Response:
    """Take note of the rules as they were filled in; add one, or remove one."""
    add, remove = visit.sent("add"), visit.sent("remove")
    if add and add not in OFFERED:
        raise InputError(text("rules.unknown"))

    def edit(draft: Draft) -> None:
        rules = [_filled(visit, place, rule) for place, rule in enumerate(draft.get("rules", []))]
        if remove.isdigit() and int(remove) < len(rules):
            del rules[int(remove)]
        if add:
            rules.append({"rule": add, **FIRST.get(add, {})})
        draft["rules"] = rules

    visit.change("add_rule" if add else "remove_rule" if remove else "rules", edit)
    return visit.go("rules")


def _filled(visit: Visit, place: int, before: dict[str, Any]) -> dict[str, Any]:
    """A rule as it was filled in; keys that the form does not show stay."""
    rule = dict(before)
    if f"rule.{place}" not in visit.form:
        return rule
    for name, kind in PARAMETERS.get(str(rule.get("rule")), {}).items():
        if kind == "file" and isinstance(before.get(name), dict):
            continue
        given = visit.sent(f"rule.{place}.{name}")
        rule.pop(name, None)
        if kind == "flag":
            if given:
                rule[name] = True
        elif given.strip():
            rule[name] = entered(kind, given)
    return rule


def effect(visit: Visit) -> Response:
    """How many cells become sensitive: by rule, and by level of each dimension."""
    table, fault = visit.judged()
    if not isinstance(table, Table):
        return visit.page("rules_effect.html", table=None, fault=fault)
    sensitive = table.is_sensitive
    by_level = []
    for name, hierarchy in table.dimensions.items():
        position = np.zeros(table.cell_count, np.int64)
        for grid in reversed(table.grids):
            if name in grid.dimensions:
                place = [*grid.dimensions].index(name)
                position[grid.numbers] = grid.positions[:, place]
        level = hierarchy.level[position]
        by_level.append(
            {
                "name": name,
                "levels": [
                    {
                        "level": each,
                        "example": hierarchy.text(hierarchy.codes_at(each)[0]),
                        "cells": int(np.count_nonzero(level == each)),
                        "sensitive": int(np.count_nonzero(sensitive & (level == each))),
                    }
                    for each in range(hierarchy.depth + 1)
                ],
            }
        )
    reasons: dict[str, int] = {}
    if table.reason is not None:
        found, counts = np.unique(table.reason[sensitive].astype(str), return_counts=True)
        reasons = {str(f): int(c) for f, c in zip(found, counts, strict=True)}
    return visit.page(
        "rules_effect.html",
        table=table,
        cells=table.cell_count,
        sensitive=int(np.count_nonzero(sensitive)),
        overridden=int(np.count_nonzero(table.overridden)),
        reasons=reasons,
        by_level=by_level,
        can_suggest=len(table.grids) == 1 and table.cell_count <= MOST_CELLS_FOR_SUGGESTIONS,
        levels=[*suggest_levels(table)][:SUGGESTED_LEVELS],
        fault=None,
    )


def suggest(visit: Visit) -> Response:
    """Which merges remove most sensitive cells."""
    from tacit.methods.recoding.suggest import suggest_recodes

    table, fault = visit.table()
    job, _ = visit.job()
    if not isinstance(table, Table) or job is None:
        return visit.page("rules_suggest.html", steps=None, fault=fault)
    found = suggest_recodes(table, *job.rules, most=SUGGESTED_STEPS, tries=20)
    return visit.page("rules_suggest.html", steps=[*found], dimensions=table.dimensions, fault=None)


def remove_mark(visit: Visit) -> Response:
    """Take back one mark that was set in the table."""
    place = visit.sent("mark")

    def edit(draft: Draft) -> None:
        left = int(place) if place.isdigit() else -1
        for rule in mark_rules(draft):
            count = len(rule["marks"]["status"])
            if 0 <= left < count:
                for column in rule["marks"].values():
                    del column[left]
                if count == 1:
                    draft["rules"].remove(rule)
            left -= count

    visit.change("unmark", edit)
    return visit.go("rules")


ROUTES: dict[str, Handler] = {
    "GET rules": show,
    "POST rules": choose,
    "GET rules-effect": effect,
    "GET rules-suggest": suggest,
    "POST rules-unmark": remove_mark,
}
