"""How the files of a job are written, and which codes stand for missing ones."""

from __future__ import annotations

import glob
from typing import TYPE_CHECKING, Any

from tacit.errors import InputError
from tacit.jobs.sections import Section
from tacit.jobs.tables import LinkedTables
from tacit.microdata.file_format import Reading
from tacit.rules import MissingSafe

if TYPE_CHECKING:
    from tacit.jobs.job import Job

HOW_WRITTEN = ("encoding", "delimiter", "decimal", "thousands", "sheet")
"""What `[data]` may say about how files are written, see `tacit.tabulate`."""


def missing_codes(section: Section) -> str | dict[str, Any] | None:
    """What happens to records with missing entries, or the code that stands for missing codes."""
    if not isinstance(section.get("missing", str, dict), dict):
        return section.one_of("missing", ("refuse", "drop"))
    inner = section.section("missing")
    assert inner is not None
    inner.refuse_unknown(("code", "safe"))
    inner.get("safe", bool)
    code = inner.get("code", str, dict)
    if code is None:
        raise inner.fault("there is no 'code'; it says which code stands for missing ones")
    if isinstance(code, dict):
        codes = inner.section("code")
        assert codes is not None
        code = {name: codes.text(name) for name in codes.given}
    elif not code.strip():
        raise inner.fault("'code' must not be empty", "code")
    return {"code": code}


def how_written(section: Section) -> dict[str, Any]:
    """How files are written, as far as the job says."""
    given: dict[str, Any] = {key: section.text(key) for key in ("encoding", "delimiter", "decimal")}
    # Nothing is a choice, too.
    given["thousands"] = section.get("thousands", str)
    given["sheet"] = section.get("sheet", str, int)
    found = {key: told for key, told in given.items() if told is not None}
    try:
        Reading(**found)
    except InputError as error:
        raise section.blame(error) from None
    return found


def refuse_beside_layout(section: Section) -> None:
    """Refuse what a layout says already."""
    for key in ("database", *HOW_WRITTEN, "engine"):
        if key in section.given:
            raise section.fault(f"the layout says how records are written: leave out {key!r}", key)
    names = section.texts("microdata") or []
    if len(names) > 1 or (names and glob.has_magic(names[0])):
        raise section.fault("with a 'layout', name one file", "microdata")


def with_safe_missing(job: Job) -> Job:
    """The job with a rule by which cells of missing codes are safe, if it says so."""
    data = job.top.section("data")
    given = None if data is None else data.given.get("missing")
    if not isinstance(given, dict):
        return job
    codes = given["code"]
    tables = job.data.tables if isinstance(job.data, LinkedTables) else ()
    named = dict.fromkeys([*job.dimensions, *(name for each in tables for name in each.dimensions)])
    codes = dict.fromkeys(named, codes) if isinstance(codes, str) else codes
    unknown = [name for name in codes if name not in named]
    if unknown:
        raise job.top.fault(
            f"missing: there is no dimension {unknown[0]}; dimensions are {', '.join(named)}",
            *("data", "missing", "code", unknown[0]),
        )
    if not given.get("safe"):
        return job
    return job.replace(rules=(*job.rules, MissingSafe(codes)))
