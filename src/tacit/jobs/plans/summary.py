"""Summaries of plans as text, CSV and HTML: one for readers, and one for the office.

The one for readers is made of what is published alone. How searches ended, what was wrong and how
long it took depends on hidden values: that is in the other one, whose name says `confidential`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tacit.io.cells import confidential as marked_confidential
from tacit.io.cells import write_columns
from tacit.io.files import replacing
from tacit.jobs.outputs import CONFIDENTIAL
from tacit.jobs.plans.results import Ending, JobResult, PlanResult

_PUBLIC = ("table", "method", "cells", "with value", "intervals", "suppressed", "loss")
_WORKING = (
    "status",
    "stopped by",
    "algorithm",
    "sensitive",
    "objective",
    "bound",
    "gap",
    "seconds",
)
_SHORT = ("cells", "suppressed", "intervals")
_WARNING = "confidential: figures of hidden cells, do not publish"


def columns(found: PlanResult, *, confidential: bool) -> dict[str, list[str]]:
    """One row per job; texts, empty where something is not known."""
    made: dict[str, list[str]] = {"job": [result.name for result in found]}
    if confidential:
        made["ending"] = [told_ending(result) for result in found]
        made["code"] = [str(result.ending.code) for result in found]
    else:
        made["published"] = [_yes(bool(result.published)) for result in found]
    for name in _PUBLIC:
        made[name] = [_text(result.published.get(name)) for result in found]
    if confidential:
        for name in _WORKING:
            made[name] = [_text(result.working.get(name)) for result in found]
        made["message"] = [" ".join(result.message.split()) for result in found]
    made["files"] = [
        ", ".join(file.name for file in result.files if confidential or _is_public(file))
        for result in found
    ]
    return made


def told_ending(result: JobResult) -> str:
    """How a job ended, in a word or two."""
    if result.ending is Ending.DONE:
        return "unchanged" if result.unchanged else "cut short" if result.cut_short else "done"
    return str(result.ending.value)


def _is_public(file: Path) -> bool:
    """Whether readers may know of a file; a JSON result is for the office."""
    return CONFIDENTIAL not in file.name.lower() and file.suffix.lower() != ".json"


def _yes(given: bool) -> str:
    return "yes" if given else "no"


def _text(given: Any) -> str:
    if given is None:
        return ""
    return f"{given:.12g}" if isinstance(given, float) else str(given)


def summary_text(found: PlanResult, *, confidential: bool) -> str:
    """A line for each job below a line on all of them."""
    rows = [["job", "ending" if confidential else "published", *_SHORT]]
    rows[0] += ["sensitive", "gap", "seconds"] if confidential else ["loss"]
    for result in found:
        shown, working = result.published, result.working
        row = [result.name, told_ending(result) if confidential else _yes(bool(shown))]
        row += [_text(shown.get(name)) for name in _SHORT]
        if confidential:
            gap = working.get("gap")
            row += [_text(working.get("sensitive")), "" if gap is None else f"{gap:.2%}"]
            row.append(_text(working.get("seconds")))
        else:
            row.append(_text(shown.get("loss")))
        rows.append(row)
    # Columns without anything to tell would only take space.
    kept = [
        c
        for c, name in enumerate(rows[0])
        if c < 2 or any(row[c] and (row[c] != "0" or name != "intervals") for row in rows[1:])
    ]
    widths = {c: max(len(row[c]) for row in rows) for c in kept}
    texts = [c for c in kept if c < 2 or rows[0][c] == "loss"]
    lines = [
        "  ".join(
            row[c].ljust(widths[c]) if c in texts else row[c].rjust(widths[c]) for c in kept
        ).rstrip()
        for row in rows
    ]
    return "\n".join(
        [_headline(found, confidential=confidential), *(f"  {line}" for line in lines)]
    )


def _headline(found: PlanResult, *, confidential: bool) -> str:
    tables = f"{len(found)} table{'s' * (len(found) != 1)}"
    if not confidential:
        return f"{tables}, {sum(bool(result.published) for result in found)} published"
    endings = [told_ending(result) for result in found]
    counts = [f"{endings.count(ending)} {ending}" for ending in dict.fromkeys(endings)]
    return f"{tables}: {', '.join(counts)}"


def write_summary(found: PlanResult, path: Path) -> None:
    """Write a summary in the format that the name of the file says; see `PlanResult.write`."""
    confidential = CONFIDENTIAL in path.name.lower()
    suffix = path.suffix.lower()
    if suffix == ".csv":
        table = {
            name: np.array(column, dtype=object)
            for name, column in columns(found, confidential=confidential).items()
        }
        write_columns(marked_confidential(table) if confidential else table, path)
    elif suffix == ".html":
        _page(found, confidential=confidential).write(path)
    else:
        text = summary_text(found, confidential=confidential)
        messages = [result.message for result in found if result.message]
        parts = [_WARNING, text, *messages] if confidential else [text]
        with replacing(path, confidential=confidential) as stream:
            stream.write(("\n".join(parts) + "\n").encode())


def _page(found: PlanResult, *, confidential: bool) -> Any:
    # Slow to import, and needed for pages only.
    from tacit.report.page import Page, PageSection, facts, numbers_table, paragraph
    from tacit.report.picture import WARNING, Numbers

    table = columns(found, confidential=confidential)
    messages = table.pop("message", [])
    rows = tuple(zip(*table.values(), strict=True))
    listed = numbers_table(Numbers(tuple(table), rows), "One row per table")
    sections = [PageSection("tables", "The tables", listed)]
    wrong = {name: text for name, text in zip(table["job"], messages, strict=False) if text}
    if wrong:
        sections.append(PageSection("messages", "What was wrong", facts(wrong)))
    if not confidential:
        told = "Everything here is made of what is published."
        sections.append(PageSection("about", "About this page", paragraph(told)))
    published = sum(bool(result.published) for result in found)
    figures = {"tables": str(len(found)), "published": str(published)}
    if confidential:
        figures["exit code"] = str(found.worst.code)
    return Page(
        kind="Summary of a plan",
        title=f"{len(found)} tables",
        lead=_headline(found, confidential=confidential),
        figures=figures,
        sections=sections,
        warning=WARNING if confidential else "",
    )
