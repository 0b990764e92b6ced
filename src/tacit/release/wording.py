"""What holds, how it was reached and at which loss, in words."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from platform import python_version

import numpy as np

from tacit.attack.audit import Audit
from tacit.outcome import Intervals, Outcome, Suppression, Values
from tacit.problem import Problem
from tacit.release.flags import PublishedAs
from tacit.release.published import Published, seen

ENDS = {
    "gap": "proven within the gap asked for",
    "time": "the time limit was reached",
    "user": "stopped by Ctrl-C",
    "heuristic": "a heuristic, without proof of quality",
    "exhausted": "the search ended without a proof",
}
"""Why a search ended, in words."""


def guarantee(problem: Problem, found: Audit | None) -> str:
    """What an audit has established, in one sentence without a full stop."""
    return _established(problem, found) + decisions(problem)


def decisions(problem: Problem) -> str:
    """What is to be said of cells that are published by decision; nothing where there are none.

    Neither their number nor their places: they would tell readers where to look.
    """
    if not len(problem.overridden):
        return ""
    return (
        "; some cells are published by decision of the publisher although a rule found them "
        "sensitive, and nothing is guaranteed for these"
    )


def _established(problem: Problem, found: Audit | None) -> str:
    if len(problem.sensitive) == 0 and len(problem.overridden):
        return "none is needed elsewhere: no other cell is sensitive"
    if len(problem.sensitive) == 0:
        return "none is needed: no cell is sensitive"
    if found is None or not found.safe:
        return "none: no audit has found this safe"
    levels = problem.lower_level + problem.upper_level + problem.sliding_level
    bare = int((levels == 0).sum())
    names = [finding.attacker.name for finding in found.findings]
    who = "a reader who knows the published cells, all relations and the bounds"
    if found.rounded is not None:
        who = (
            "a reader who knows the published values, how far from the true ones they may be, all "
            "relations and the bounds"
        )
    others = [name for name in names if name != "external"]
    if others:
        shown = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
        shown += " (knowing what is its own)" if len(others) == 1 else " (each knowing its own)"
        who = f"neither {who} nor {shown}" if "external" in names else shown
    if found.adjusted is not None:
        return (
            "the published value of every sensitive cell is at least as far from the true one as "
            "its protection levels ask for, and readers are told neither which values were changed "
            "nor by how much"
        )
    verb = "can" if who.startswith("neither") else "cannot"
    text = f"{who} {verb} deduce any sensitive cell more closely than its protection levels allow"
    if bare:
        done = "left out" if found.rounded is None else "rounded"
        text += f" ({bare} of {len(levels)} ask for none and are only {done})"
    return text


def limits(outcome: Outcome) -> str:
    """What is not guaranteed, in whole sentences."""
    text = (
        "This does not hold against anyone who knows more, for instance from another publication "
        "or, unless named here, from contributing. "
    )
    if isinstance(outcome.solution, Intervals):
        text += (
            "Nor does it hold against anyone who guesses how the ends of intervals were chosen, "
            "and so where in them the values lie; ends that are rounded tell less of that. "
        )
    if isinstance(outcome.solution, Values) and outcome.solution.radius is None:
        text += (
            "Nor does it hold against anyone who learns how values were changed, or who can tell "
            "from other sources which of them are true. "
        )
    elif isinstance(outcome.solution, Values):
        text += (
            "Nor does it hold against anyone who can tell from how it was chosen which of several "
            "tables this is the rounding of. "
        )
        if outcome.algorithm == "random":
            text += "The published values do not add up, and nobody may learn the seed. "
    return text + "Cells that are not sensitive may be deduced closely, or exactly."


def loss(published: Published) -> str:
    """How much of the table readers miss, by what they see themselves."""
    hidden = published.is_hidden
    text = f"{hidden.mean():.1%} of the cells have no exact value" if len(hidden) else "no cells"
    if published.altered:
        return "every cell has a value, which may differ from the true one"
    if published.lower is None or published.upper is None:
        return text
    width, middle = published.upper - published.lower, (published.upper + published.lower) / 2
    known = hidden & np.isfinite(width) & (middle != 0)
    if known.any():
        share = float(np.median(width[known] / np.abs(middle[known])))
        text += f"; the median interval is {share:.1%} wide"
    return text


def versions() -> str:
    """What the figures were made with, besides tacit."""
    return f"HiGHS {version('highspy')}, numpy {np.__version__}, Python {python_version()}"


def summary_rows(outcome: Outcome, problem: Problem, quality: Mapping[str, str]) -> dict[str, str]:
    """How a method ended, as names and texts.

    Args:
        outcome: What the method found.
        problem: The table.
        quality: How good it is, as such rows.
    """
    end = ENDS.get(outcome.stopped_by, outcome.stopped_by)
    told = outcome.status.value
    rows = {"status": told if end == told else f"{told}: {end}", **quality}
    rows["seconds"] = f"{outcome.report.seconds:.1f} with algorithm {outcome.algorithm}"
    if outcome.solution is None:
        return rows
    _, _, status = seen(problem, outcome)
    sensitive = problem.is_sensitive
    usual = {Suppression: PublishedAs.SUPPRESSED, Intervals: PublishedAs.INTERVAL}
    for name, how in (("suppressed", PublishedAs.SUPPRESSED), ("intervals", PublishedAs.INTERVAL)):
        hidden = status == how.value
        if hidden.any() or usual.get(type(outcome.solution)) is how:
            count, own = int(hidden.sum()), int((hidden & sensitive).sum())
            rows[name] = (
                f"{count} of {problem.cell_count} cells: {own} sensitive, {count - own} secondary"
            )
    return rows
