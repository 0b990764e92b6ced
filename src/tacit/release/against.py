"""Against whom a publication is protected: as readers are told, and as the audit has it.

Readers learn kinds of attackers, which follow from what the publisher asked for. Whether such an
attacker exists in the table, how many there are and which cells they know would tell something
about hidden cells, so that is left to the working papers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

import numpy as np

from tacit.attack.audit import Audit
from tacit.attack.knowledge import Attacker
from tacit.insiders import Insiders
from tacit.methods.registry import find_method
from tacit.problem import Booleans
from tacit.table import Table
from tacit.table.contributors import Largest


class Against(StrEnum):
    """A kind of attacker."""

    READER = "reader"
    """Knows the publication, the relations and the bounds."""
    ALONE = "alone"
    """Each contributor who is alone in a cell, knowing that cell."""
    ALL_ALONE = "all alone"
    """All contributors who are alone in a cell, pooling what they know."""
    OTHER = "other"
    """Those whom the publisher described."""
    SINGLETONS = "singletons"
    """Each contributor who is alone in a cell, knowing its own figures in all cells."""
    CELL_SINGLETONS = "singletons of cells"
    """The same where nobody knows who contributes to two of these cells."""
    CONTRIBUTORS = "contributors"
    """Each contributor, knowing its own figures in all cells."""
    TOGETHER = "together"
    """Several of the contributors, pooling what they know."""


INSIDERS = (Against.SINGLETONS, Against.CELL_SINGLETONS, Against.CONTRIBUTORS)
"""Kinds of contributors from whom only what others contribute is kept."""

_OF_SINGLETONS = {"respondents": Against.ALONE, "global": Against.ALL_ALONE}
_ALONE = "who are alone in a cell"
_MOST_NAMES = 3


def asked_for(
    method: str,
    options: Mapping[str, Any],
    attackers: Sequence[Attacker],
    insiders: Iterable[Against] = (),
) -> tuple[Against, ...]:
    """The kinds of attackers that a publisher asked for protection against.

    Args:
        method: The name of the method.
        options: Its options.
        attackers: Those given in place of a reader; none for a reader alone.
        insiders: The kinds of contributors, see `insiders_asked_for`.
    """
    # Of attackers that were given, only readers and others are told apart: what the others
    # know may itself come from the data.
    found = {
        kind if kind is Against.READER else Against.OTHER for kind in map(_kind, attackers)
    } or {Against.READER}
    default = getattr(find_method(method).options(), "singletons", "ignore")
    singletons = options.get("singletons", default)
    if singletons in _OF_SINGLETONS:
        found.add(_OF_SINGLETONS[singletons])
    return _in_order([*found, *insiders])


def insiders_asked_for(table: Table, choice: str, coalition: int) -> tuple[Against, ...]:
    """The kinds of contributors that a publisher asked for protection against.

    Args:
        table: The table, which may not know its contributors.
        choice: Which ones were asked for.
        coalition: How many of them may pool what they know.
    """
    holdings = table.holding_count is not None or table.holdings is not None
    count = table.holding_count if holdings else table.count
    largest = table.holdings if holdings else table.contributors
    if choice == "none" or (count is None and largest is None and choice == "singletons"):
        return ()
    # In all cells, not only those with a single contributor: readers must not learn of those.
    named = largest is not None and _all_named(largest, table)
    kind = Against.SINGLETONS if named else Against.CELL_SINGLETONS
    kind = Against.CONTRIBUTORS if choice == "contributors" else kind
    return (kind, Against.TOGETHER) if coalition > 1 else (kind,)


def _all_named(largest: Largest, table: Table) -> bool:
    known: Booleans = np.asarray(largest.is_known.any(axis=1), bool)
    return bool(known[table.value != 0].all())


def audited(found: Audit) -> tuple[Against, ...]:
    """The kinds of attackers that an audit let attack; confidential, see `asked_for`."""
    kinds = [_kind(finding.attacker) for finding in found.findings]
    insiders = found.problem.insiders
    if insiders is not None and found.insiders is not None:
        kind = Against.SINGLETONS if insiders.are_identified else Against.CELL_SINGLETONS
        singles = np.unique(insiders.insider[insiders.alone])
        kinds.append(kind if len(singles) == len(insiders) else Against.CONTRIBUTORS)
        kinds += [Against.TOGETHER] * (insiders.coalition > 1)
    return _in_order(kinds)


def no_insider_can(against: Sequence[Against]) -> str:
    """That none of the contributors can, with what they know, as the beginning of a sentence.

    Args:
        against: Kinds of attackers; none of them need be contributors.

    >>> no_insider_can([Against.READER])
    ''
    >>> no_insider_can([Against.READER, Against.SINGLETONS])
    'no contributor who is alone in a cell can, knowing its own figures,'
    """
    found = [kind for kind in INSIDERS if kind in against]
    if not found:
        return ""
    who, known = "contributor", "its own figures"
    if found[0] is not Against.CONTRIBUTORS:
        who = "contributor who is alone in a cell"
    if found[0] is Against.CELL_SINGLETONS:
        known = "its own figure there"
    if Against.TOGETHER in against:
        # How many were considered is for the publisher to tell.
        known += ", nor as many of them together as the publisher considered"
    return f"no {who} can, knowing {known},"


def none_can(against: Sequence[Against], reader: str) -> str:
    """That none of these can, as the beginning of a sentence.

    Args:
        against: The kinds of attackers; at least one. Insiders are left out, see
            `no_insider_can`.
        reader: What a reader is and knows, in words.

    >>> none_can([Against.READER], "a reader")
    'a reader cannot'
    >>> none_can([Against.READER, Against.ALONE], "a reader")
    'neither a reader nor any contributor who is alone in a cell can'
    """
    told = {
        Against.READER: (reader, f"{reader} cannot"),
        Against.ALONE: (
            "any contributor who is alone in a cell",
            "no contributor who is alone in a cell can",
        ),
        Against.ALL_ALONE: (
            f"all contributors {_ALONE} together",
            f"all contributors {_ALONE} together cannot",
        ),
        Against.OTHER: (
            "any other attacker whom the publisher considered",
            "no attacker whom the publisher considered can",
        ),
    }
    kinds = [kind for kind in against if kind in told]
    if len(kinds) == 1:
        return told[kinds[0]][1]
    return f"neither {' nor '.join(told[kind][0] for kind in kinds)} can"


def named_attackers(found: Audit) -> str:
    """The attackers of an audit, counted and named; confidential."""
    parts = []
    for kind in audited(found):
        chosen = [f.attacker for f in found.findings if _kind(f.attacker) is kind]
        if kind is Against.READER:
            parts.append("a reader")
        elif kind is Against.ALONE:
            one = len(chosen) == 1
            who = "contributor who is alone" if one else "contributors who are each alone"
            parts.append(f"{len(chosen)} {who} in a cell")
        elif kind is Against.ALL_ALONE:
            cells = len({cell for attacker in chosen for cell in attacker.colluding})
            parts.append(f"all contributors {_ALONE} together, who know {cells} cells")
        elif kind is Against.TOGETHER:
            continue
        elif kind in INSIDERS:
            parts.append(_named_insiders(found.problem.insiders))
        else:
            names = [attacker.name for attacker in chosen]
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            parts.append(", ".join(names[:_MOST_NAMES]) + more)
    return "; ".join(parts)


def _named_insiders(insiders: Insiders | None) -> str:
    assert insiders is not None
    who = "holding" if insiders.are_holdings else "contributor"
    text = f"{len(insiders)} {who}{'s' * (len(insiders) != 1)} with figures of their own"
    if insiders.coalition > 1:
        text += f", up to {insiders.coalition} together"
    if not insiders.are_identified:
        text += (
            f"; the table does not say who contributes, so each cell with a single {who} was taken "
            f"for another {who}'s (top_{who} names them)"
        )
    return text


def _in_order(kinds: Iterable[Against]) -> tuple[Against, ...]:
    found = set(kinds)
    return tuple(kind for kind in Against if kind in found)


def _kind(attacker: Attacker) -> Against:
    """What an attacker is by what it knows: names are chosen freely."""
    if attacker.at_least or attacker.at_most:
        return Against.OTHER
    if attacker.known:
        is_alone = not attacker.colluding and attacker.own == frozenset(attacker.known)
        return Against.ALONE if is_alone else Against.OTHER
    return Against.ALL_ALONE if attacker.colluding else Against.READER
