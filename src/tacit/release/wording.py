"""What holds and at which loss, in words: for readers from what is published, and for papers."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from platform import python_version

import numpy as np

from tacit.attack.audit import Audit
from tacit.outcome import Intervals, Outcome, Suppression
from tacit.problem import Problem
from tacit.release.against import Against, audited, named_attackers, no_insider_can, none_can
from tacit.release.flags import PublishedStatus
from tacit.release.published import Published, seen
from tacit.rules.sums import SensitiveSum
from tacit.table import Table
from tacit.version import __version__

ENDS = {
    "gap": "proven within the gap asked for",
    "time": "the time limit was reached",
    "user": "stopped by Ctrl-C",
    "heuristic": "a heuristic, without proof of quality",
    "iterations": "the number of iterations was reached",
    "exhausted": "the search ended without a proof",
}
"""Why a search ended, in words."""

_ADJUSTED = (
    "the published value of every sensitive cell is at least as far from the true one as its "
    "protection levels ask for, and readers are told neither which values were changed nor by how "
    "much"
)
_NONE_NEEDED = "none is needed: no cell is sensitive"
_UNAUDITED = "none: no audit has found this safe"
_NONE_ELSEWHERE = "none is needed elsewhere: no other cell is sensitive"
_DECIDED = (
    "; some cells are published by decision of the publisher although a rule found them sensitive, "
    "and nothing is guaranteed for these"
)
"""Neither their number nor their places: they would tell readers where to look."""


def guarantee(published: Published) -> str:
    """What a publication guarantees, in one sentence without a full stop.

    It is made of what readers see and of what the publisher asked for: it is the same for every
    table of which this could be the publication.
    """
    if not published.altered and not published.is_hidden.any():
        return _NONE_ELSEWHERE + _DECIDED if published.decided else _NONE_NEEDED
    rounded = published.altered and published.radius is not None
    adjusted = published.altered and not rounded
    promise = _promise(published.against, rounded=rounded, adjusted=adjusted)
    return promise + _DECIDED * published.decided


def established(problem: Problem, found: Audit | None) -> str:
    """What an audit has established, likewise; confidential, because it depends on the table."""
    decided = _DECIDED * (len(problem.overridden) > 0)
    if len(problem.sensitive) == 0:
        return _NONE_ELSEWHERE + decided if decided else _NONE_NEEDED
    if found is None or not found.safe:
        return _UNAUDITED
    rounded, adjusted = found.rounded is not None, found.adjusted is not None
    return _promise(audited(found), rounded=rounded, adjusted=adjusted) + decided


def _promise(against: tuple[Against, ...], *, rounded: bool, adjusted: bool) -> str:
    if adjusted:
        return _ADJUSTED
    reader = "a reader who knows the published cells, all relations and the bounds"
    if rounded:
        reader = (
            "a reader who knows the published values, how far from the true ones they may be, all "
            "relations and the bounds"
        )
    insiders = no_insider_can(against)
    if insiders:
        insiders = (
            f", and {insiders} deduce what others contribute more closely than the rules allow"
        )
    return (
        f"{none_can(against, reader)} deduce any sensitive cell more closely than its protection "
        f"levels allow{insiders}"
    )


def limits(published: Published) -> str:
    """What is not guaranteed, in full sentences."""
    text = (
        "This does not hold against anyone who knows more, for instance from another publication "
        "or, unless named here, from contributing. "
    )
    if published.lower is not None:
        text += (
            "Nor does it hold against anyone who guesses how the ends of intervals were chosen, "
            "and so where in them the values lie; ends that are rounded tell less of that. "
        )
    if published.altered and published.radius is None:
        text += (
            "Nor does it hold against anyone who learns how values were changed, or who can tell "
            "from other sources which of them are true. "
        )
    elif published.altered:
        text += (
            "Nor does it hold against anyone who can tell from how it was chosen which of several "
            "tables this is the rounding of. "
        )
        if published.at_random:
            text += "The published values do not add up, and nobody may learn the seed. "
    text += "Where protection levels are 0, it only means that the true value is not published. "
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


def public_rows(published: Published, promise: str) -> dict[str, str]:
    """What was protected, how and at which loss, as names and texts for readers.

    Args:
        published: What readers may see.
        promise: What is guaranteed.
    """
    names = " x ".join(published.codes)
    if len(published.grids) > 1:
        names = f"{len(published.grids)} linked tables over {', '.join(published.codes)}"
    rows = {"table": f"{names}, {published.cell_count} cells"}
    usual = PublishedStatus.SUPPRESSED if published.lower is None else PublishedStatus.INTERVAL
    for name, how in _HIDDEN:
        count = int(np.count_nonzero(published.status == how.value))
        if count or (how is usual and not published.altered):
            rows[name] = f"{count} of {published.cell_count} cells"
    return {
        **rows,
        "loss": loss(published),
        "guarantee": promise,
        "made by": f"tacit {__version__}, method {published.method}",
        "versions": versions(),
    }


def outcome_rows(outcome: Outcome, problem: Problem) -> dict[str, str]:
    """How a method ended, as names and texts; confidential.

    Objective, bound and gap add up weights of hidden cells, which may be values; how many of
    the hidden cells are sensitive, and how long the search took, depends on hidden values too.
    """
    end = ENDS.get(outcome.stopped_by, outcome.stopped_by)
    told, report = outcome.status.value, outcome.report
    rows = {"status": told if end == told else f"{told}: {end}"}
    if report.objective is not None and report.gap is not None:
        rows["objective"] = (
            f"{report.objective:.12g}; {report.bound_name} {report.bound:.12g}, "
            f"gap {report.gap:.3%}"
        )
    rows["seconds"] = f"{report.seconds:.1f} with algorithm {outcome.algorithm}"
    if outcome.solution is None:
        return rows
    _, _, status = seen(problem, outcome)
    sensitive = problem.is_sensitive
    usual = {Suppression: PublishedStatus.SUPPRESSED, Intervals: PublishedStatus.INTERVAL}
    for name, how in _HIDDEN:
        hidden = status == how.value
        if hidden.any() or usual.get(type(outcome.solution)) is how:
            count, own = int(hidden.sum()), int((hidden & sensitive).sum())
            rows[name] = (
                f"{count} of {problem.cell_count} cells: {own} sensitive, {count - own} secondary"
            )
    return rows


def audit_rows(outcome: Outcome, problem: Problem, found: Audit | None) -> dict[str, str]:
    """What was found safe and against whom, as names and texts; confidential."""
    rows = {}
    bare = np.count_nonzero(problem.lower_level + problem.upper_level + problem.sliding_level == 0)
    if bare:
        rows["no levels"] = f"{bare} of {len(problem.sensitive)} sensitive cells ask for none"
    if found is not None and audited(found) != (Against.READER,):
        rows["attackers"] = named_attackers(found)
    if len(problem.overridden):
        rows["by decision"] = (
            "published although a rule finds them sensitive: "
            f"{problem.name_cells(problem.overridden, len(problem.overridden))}"
        )
    rows["guarantee"] = established(problem, found)
    if outcome.message:
        rows["note"] = outcome.message
    return rows


def sums_row(sums: Sequence[SensitiveSum], table: Table) -> str:
    """Sums that everybody knows though rules find them sensitive, in words; confidential."""
    shown = "; ".join(each.label(table) for each in sums[:_MOST_SUMS])
    more = f"; and {len(sums) - _MOST_SUMS} more" if len(sums) > _MOST_SUMS else ""
    one = len(sums) == 1
    return (
        f"{len(sums)} sum{'s' * (not one)} of hidden cells {'is' if one else 'are'} known to "
        f"everybody, though rules find {'it' if one else 'them'} sensitive: {shown}{more}"
    )


_MOST_SUMS = 5
_HIDDEN = (("suppressed", PublishedStatus.SUPPRESSED), ("intervals", PublishedStatus.INTERVAL))
