"""Against whom a publication is protected: as readers are told, and as the audit has it.

Readers learn kinds of attackers, which follow from what the publisher asked for. Whether such an
attacker exists in the table, how many there are and which cells they know would tell something
about hidden cells, so that is left to the working papers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from tacit.attack.audit import Audit
from tacit.attack.knowledge import Attacker
from tacit.methods.registry import find_method


class Against(StrEnum):
    """A kind of attacker."""

    READER = "reader"
    """Knows the publication, the relations and the bounds."""
    ALONE = "alone"
    """Each contributor who is alone in a cell, knowing that cell."""
    ALL_ALONE = "all alone"
    """All contributors who are alone in a cell, putting together what they know."""
    OTHER = "other"
    """Those whom the publisher described."""


_OF_SINGLETONS = {"respondents": Against.ALONE, "global": Against.ALL_ALONE}
_ALONE = "who are alone in a cell"
_MOST_NAMES = 3


def asked_for(
    method: str, options: Mapping[str, Any], attackers: Sequence[Attacker]
) -> tuple[Against, ...]:
    """The kinds of attackers that a publisher asked for protection against.

    Args:
        method: The name of the method.
        options: Its options.
        attackers: Those given in place of a reader; none for a reader alone.
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
    return _in_order(found)


def audited(found: Audit) -> tuple[Against, ...]:
    """The kinds of attackers that an audit let attack; confidential, see `asked_for`."""
    return _in_order(_kind(finding.attacker) for finding in found.findings)


def none_can(against: Sequence[Against], reader: str) -> str:
    """That none of these can, as the beginning of a sentence.

    Args:
        against: The kinds of attackers; at least one.
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
    if len(against) == 1:
        return told[against[0]][1]
    return f"neither {' nor '.join(told[kind][0] for kind in against)} can"


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
        else:
            names = [attacker.name for attacker in chosen]
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            parts.append(", ".join(names[:_MOST_NAMES]) + more)
    return "; ".join(parts)


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
