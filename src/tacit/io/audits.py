"""Audits as files: what was found, with evidence that anybody can check again.

The file is one JSON object, compressed where its name ends in `.gz`. Cells and relations are
numbered from 0 in the order of the table; null stands for infinity.

    {"confidential": "true values can be computed from this file; do not publish",
     "tacit": "0.2.0",
     "format": 1,
     "cells": 16,
     "relations": 8,
     "published": {"suppressed": [2, 3, 6, 7]},
     "attackers": [
      {"name": "external", "known": [], "own": [], "colluding": [], "at_least": [], "at_most": [],
       "claims": {"cells": [...], "sides": [...], "amount": [...], "limit": [...]},
       "deviations": {"claim": [...], "cell": [...], "deviation": [...]},
       "multipliers": {"claim": [...], "relation": [...], "multiplier": [...]}}],
     "insiders":
      {"count": 3, "coalition": 1,
       "claims": {"members": [[0], ...], "cells": [...], "sides": [...], ...},
       "deviations": {...}, "multipliers": {...}}}

`published` is `{"suppressed": [cells]}`, or for published intervals `{"cell": [...],
"down": [...], "up": [...]}`: how far each cell that is not published exactly may lie below and
above its true value. Of adjusted values it is `{"values": [...]}`, one per cell; they are judged
as they stand, so that there are no claims. `at_least` and `at_most` hold pairs of a cell and an
amount; see `Attacker` for what the words mean.

Claim k is about cell s = cells[k] and the side t = sides[k], 1 for rising and -1 for falling.
With A the relations and a the true table, and with up and down how far the attacker thinks
that each cell may lie from its true value (0 where it is published):

- The deviations x of claim k show how far the cell can move at least: A x = 0,
  -down <= x <= up, and t x[s] >= amount[k]. So a + x is a table that the attacker cannot tell
  from the true one. An amount of null says that the cell can move without limit: then x is a
  direction, in which only cells without bound move.
  The sum of all residuals |A x| (each over the smallest coefficient of its relation), of what x
  exceeds its capacity by and of what it falls short of the amount is at most 1e-8 of the amount,
  or, for a direction, of |x[s]|. Cells without capacity do not move at all.
  Where one table serves several claims, the claims have a list `table`, one number per claim, and
  `claim` of the deviations stands for the number of a table: those of claim k are the ones whose
  `claim` is table[k].
- The multipliers g of claim k show how far it can move at most: with d = t e_s - A'g no
  consistent table moves the cell by more than the sum of max(d, 0) up + max(-d, 0) down, which
  is at most limit[k]. A limit of null claims nothing; no limit lies below its amount.

A sensitive cell is safe where the amounts reach its levels, and exposed where the limits lie below
one of them. Nothing else in the file says which it is. `docs/evidence.md` checks a file
with numpy alone.

`insiders` is there where the contributors of the table were faced, `count` of them, of whom
`coalition` may put together what they know. Their claims are about `members`, insiders by their
numbers in the problem: a cell that one of them alone contributes to stands still, and one to which
they contribute falls no further than to the sum of their contributions. Claims without members are
about readers. A level against insiders is met where a claim about them, about some of them or
about readers reaches it with a table that keeps to that, be it scaled down.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tacit.attack.audit import Audit, findings_of_values, hidden_cells
from tacit.attack.evidence import Evidence
from tacit.attack.findings import AttackerFindings
from tacit.attack.insider_audit import InsiderAudit
from tacit.attack.knowledge import Attacker, Knowledge, PublishedAs, as_solution
from tacit.attack.reach import TOLERANCE
from tacit.attack.values import faults_of_values
from tacit.errors import InputError, ProblemError
from tacit.io.files import parsed_json, read_content, replacing
from tacit.outcome import Suppression, Values
from tacit.problem import ADDITIVITY_TOLERANCE, Booleans, Floats, Integers, Problem
from tacit.version import __version__

FORMAT = 1
"""The version of the form in which audits are written."""

CONFIDENTIAL = "true values can be computed from this file; do not publish"
_CELL_LISTS = ("known", "own", "colluding")
_AMOUNT_LISTS = ("at_least", "at_most")


def write_audit(audit: Audit, path: str | Path) -> None:
    """Write an audit with its evidence.

    The file is confidential and says so in its first line; let its name say so too, as in
    `release.confidential.json`. It appears complete or not at all.

    Args:
        audit: What an audit found.
        path: Where to write; a name in `.gz` compresses.
    """
    problem = audit.problem
    members = {
        "confidential": CONFIDENTIAL,
        "tacit": __version__,
        "format": FORMAT,
        "cells": problem.cell_count,
        "relations": problem.relation_count,
        "published": _published(audit),
    }
    with replacing(path, confidential=True) as stream:
        opening = "{"
        for key, member in members.items():
            stream.write(f"{opening}{_dumps(key)}: {_dumps(member)}".encode())
            opening = ",\n "
        stream.write(b',\n "attackers": [')
        separator = "\n  "
        for found in audit.findings:
            stream.write(f"{separator}{_dumps(_attacker_members(found))}".encode())
            separator = ",\n  "
        stream.write(b"]")
        if audit.insiders is not None:
            stream.write(f',\n "insiders": {_dumps(_insider_members(audit.insiders))}'.encode())
        stream.write(b"}\n")


def _dumps(member: Any) -> str:
    return json.dumps(member, allow_nan=False)


def _published(audit: Audit) -> dict[str, Any]:
    """What the audit took for published: suppressed cells where that says it all."""
    if audit.adjusted is not None:
        return {"values": _amounts(audit.adjusted.value)}
    told = audit.knowledge
    suppressed = Knowledge.of(audit.problem, Suppression(audit.hidden))
    if np.array_equal(suppressed.up, told.up) and np.array_equal(suppressed.down, told.down):
        return {"suppressed": np.flatnonzero(audit.hidden).tolist()}
    cell = np.flatnonzero((told.up > 0) | (told.down > 0))
    return {"cell": cell.tolist(), "down": _amounts(told.down[cell]), "up": _amounts(told.up[cell])}


def _attacker_members(found: AttackerFindings) -> dict[str, Any]:
    attacker = found.attacker
    return {
        "name": attacker.name,
        **{key: [int(cell) for cell in sorted(getattr(attacker, key))] for key in _CELL_LISTS},
        **{
            key: [[int(cell), float(amount)] for cell, amount in getattr(attacker, key).items()]
            for key in _AMOUNT_LISTS
        },
        **_evidence_members(found.evidence),
    }


def _insider_members(found: InsiderAudit) -> dict[str, Any]:
    members = _evidence_members(found.evidence)
    who = [[int(member) for member in row if member >= 0] for row in found.members]
    members["claims"] = {"members": who, **members["claims"]}
    return {"count": found.count, "coalition": found.coalition, **members}


def _evidence_members(evidence: Evidence) -> dict[str, Any]:
    deviations = sparse.coo_array(evidence.tables)
    is_shared = not np.array_equal(evidence.row, np.arange(len(evidence)))
    table = {"table": evidence.row.tolist()} if is_shared else {}
    multipliers = sparse.coo_array(evidence.multipliers)
    return {
        "claims": {
            "cells": evidence.cells.tolist(),
            "sides": evidence.sides.tolist(),
            "amount": _amounts(evidence.amount),
            "limit": _amounts(evidence.limit),
            **table,
        },
        "deviations": {
            "claim": deviations.row.tolist(),
            "cell": deviations.col.tolist(),
            "deviation": deviations.data.tolist(),
        },
        "multipliers": {
            "claim": multipliers.row.tolist(),
            "relation": multipliers.col.tolist(),
            "multiplier": multipliers.data.tolist(),
        },
    }


def _amounts(numbers: Floats) -> list[float | None]:
    """Numbers as JSON knows them: null for infinity."""
    entries: list[float | None] = numbers.tolist()
    for position in np.flatnonzero(np.isinf(numbers)).tolist():
        entries[position] = None
    return entries


def read_audit(
    path: str | Path,
    problem: Problem,
    solution: PublishedAs,
    *,
    insiders: bool = True,
    tolerance: float = ADDITIVITY_TOLERANCE,
) -> Audit:
    """Read an audit again, for the table and the publication it is meant for.

    What is safe and what is exposed is judged anew from the claims in the file and the levels
    of the problem. Whether the claims themselves hold is verified by `Audit.check`: nothing
    in the file needs to be trusted after that. The file does choose its attackers, so look at
    `attacker` of each of the findings: one that knows its `own` cell leaves it unjudged.

    Args:
        path: The file, plain or gzip.
        problem: The true table.
        solution: What is published, as for `audit`.
        insiders: Judge the contributors of the problem, if it has them, by the claims in the
            file. Where these do not cover them all, cells stay without a verdict.
        tolerance: How exactly the relations must hold (see `Problem.validate`).

    Raises:
        InputError: The file cannot be read, or belongs to another table or publication.
        ProblemError: The table contradicts itself.
    """
    broken = [
        violation.message
        for violation in problem.violations(tolerance)
        if violation.condition in ("additivity", "bounds")
    ]
    if broken:
        raise ProblemError("\n".join(broken))
    solution = as_solution(problem, solution)
    knowledge = Knowledge.of(problem, solution)
    reader = _Reader(path, problem)
    hidden = hidden_cells(problem, solution, knowledge)
    faults = faults_of_values(problem, solution, tolerance)
    faces_insiders = insiders and problem.insiders is not None
    if isinstance(solution, Values) and solution.radius is None:
        reader.refuse_other_values(solution)
        judged = [
            findings_of_values(problem, solution, knowledge, attacker, problem.sensitive)
            for attacker, _ in reader.attackers()
        ]
        return Audit(
            problem,
            knowledge,
            tuple(judged),
            hidden,
            adjusted=solution,
            faults=faults,
            insiders=InsiderAudit.of_values(problem) if faces_insiders else None,
        )
    reader.refuse_another_publication(knowledge)
    findings = []
    for attacker, evidence in reader.attackers():
        attacker.learn(problem, knowledge)
        findings.append(AttackerFindings.of(problem, attacker, evidence))
    return Audit(
        problem,
        knowledge,
        tuple(findings),
        hidden,
        rounded=solution if isinstance(solution, Values) else None,
        faults=faults,
        insiders=reader.insiders(findings) if faces_insiders else None,
    )


class _Reader:
    """A file with an audit, checked for form: whatever it holds, a mistake gets a message."""

    def __init__(self, path: str | Path, problem: Problem):
        self.path = path
        self.problem = problem
        given = parsed_json(read_content(path), path, "infinity")
        if not isinstance(given, dict) or "format" not in given or "attackers" not in given:
            raise self._fault("this is not an audit saved by tacit")
        if given["format"] != FORMAT:
            raise self._fault(f"the audit was saved in another format; expected is {FORMAT}")
        self.given = given
        for key, count in (
            ("cells", problem.cell_count),
            ("relations", problem.relation_count),
        ):
            if given.get(key) != count:
                raise self._fault(
                    f"the audit is about another table: its number of {key} is not the {count} "
                    "of this one"
                )

    def _fault(self, message: str) -> InputError:
        return InputError(message, path=self.path)

    def refuse_other_values(self, values: Values) -> None:
        """Raise an error where the audit took other values for published."""
        given = self._mapping(self.given, "published")
        if "values" not in given:
            raise self._fault(
                "the audit is about another publication, not about adjusted values. Audit this one"
            )
        audited = self._floats(given, "values", self.problem.cell_count)
        different = np.flatnonzero(audited != values.value)
        if len(different):
            raise self._fault(
                "the audit is about other published values; they differ at "
                f"{self.problem.name_cells(different)}. Audit these"
            )

    def refuse_another_publication(self, knowledge: Knowledge) -> None:
        """Raise an error where the audit took something else for published."""
        problem, n = self.problem, self.problem.cell_count
        given = self._mapping(self.given, "published")
        if "values" in given:
            raise self._fault(
                "the audit is about adjusted values, which this publication is not. Audit this one"
            )
        if "suppressed" in given:
            suppressed = np.zeros(n, bool)
            suppressed[self._numbers(given, "suppressed", n)] = True
            audited = Knowledge.of(problem, Suppression(suppressed))
        else:
            cell = self._numbers(given, "cell", n)
            audited = Knowledge(np.zeros(n), np.zeros(n))
            audited.down[cell] = self._floats(given, "down", len(cell), infinite=True)
            audited.up[cell] = self._floats(given, "up", len(cell), infinite=True)
        slack = TOLERANCE * np.maximum(np.abs(problem.value), 1.0)
        same = np.isclose(audited.up, knowledge.up, rtol=TOLERANCE, atol=slack)
        same &= np.isclose(audited.down, knowledge.down, rtol=TOLERANCE, atol=slack)
        if not same.all():
            different = np.flatnonzero(~same)
            raise self._fault(
                "the audit is about another publication or other bounds; they differ at "
                f"{problem.name_cells(different)}. Audit this one"
            )

    def attackers(self) -> list[tuple[Attacker, Evidence]]:
        """Each attacker with the evidence about what it can deduce."""
        given = self.given["attackers"]
        if not isinstance(given, list) or not given:
            raise self._fault("'attackers' must be a list of at least one attacker")
        return [self._attacker(entry) for entry in given]

    def _attacker(self, given: Any) -> tuple[Attacker, Evidence]:
        n = self.problem.cell_count
        if not isinstance(given, dict) or not isinstance(given.get("name"), str):
            raise self._fault("every attacker must be an object with a name")
        known, own, colluding = (self._numbers(given, key, n).tolist() for key in _CELL_LISTS)
        at_least, at_most = (self._pairs(given, key) for key in _AMOUNT_LISTS)
        attacker = Attacker(
            name=given["name"],
            known=tuple(known),
            at_least=at_least,
            at_most=at_most,
            own=frozenset(own),
            colluding=tuple(colluding),
        )
        return attacker, self._evidence(given)

    def insiders(self, findings: Sequence[AttackerFindings]) -> InsiderAudit:
        """What follows for the contributors of the table."""
        problem = self.problem
        assert problem.insiders is not None
        width = problem.insiders.coalition
        readers = next((found for found in findings if found.attacker.is_reader), None)
        if readers is None:
            raise self._fault(
                "the audit does not look at readers, so that nothing follows for the "
                "contributors of the table. Audit again"
            )
        evidence, members = Evidence.none(problem), np.zeros((0, width), np.int64)
        if "insiders" in self.given:
            given = self._mapping(self.given, "insiders")
            expected = {"count": len(problem.insiders), "coalition": width}
            if any(given.get(key) != number for key, number in expected.items()):
                raise self._fault(
                    "the audit is about other contributors than those of the table. Audit again"
                )
            members = self._members(self._mapping(given, "claims"), width)
            evidence = self._evidence(given, members)
        return InsiderAudit.of(problem, readers, evidence, members)

    def _members(self, claims: Mapping[str, Any], width: int) -> Integers:
        assert self.problem.insiders is not None
        rows = self._list(claims, "members")
        members = np.full((len(rows), width), -1, np.int64)
        for number, row in enumerate(rows):
            if type(row) is not list or len(row) > width:
                raise self._fault(f"an entry of 'members' is not a list of at most {width}")
            who = self._whole(row, "members", len(self.problem.insiders))
            if (np.diff(who) <= 0).any():
                raise self._fault("an entry of 'members' is not in increasing order")
            members[number, width - len(who) :] = who
        return members

    def _evidence(self, given: Mapping[str, Any], members: Integers | None = None) -> Evidence:
        n, m = self.problem.cell_count, self.problem.relation_count
        claims = self._mapping(given, "claims")
        cells = self._numbers(claims, "cells", n)
        count = len(cells)
        sides = self._floats(claims, "sides", count)
        if not (np.abs(sides) == 1).all():
            raise self._fault("every side must be 1 or -1")
        about = np.column_stack([cells, sides])
        if members is not None:
            if len(members) != count:
                raise self._fault("'members' must have as many entries as 'cells'")
            about = np.column_stack([about, members])
        if count and len(np.unique(about, axis=0)) < count:
            raise self._fault("there are two claims about the same side of a cell")
        amount = self._floats(claims, "amount", count, infinite=True)
        limit = self._floats(claims, "limit", count, infinite=True)
        if (amount < 0).any() or (limit < 0).any():
            raise self._fault("an amount or a limit is negative")
        row, tables = np.arange(count), count
        moves = self._mapping(given, "deviations")
        if "table" in claims:
            tables = len(self._list(moves, "claim")) + count
            row = self._numbers(claims, "table", tables)
            if len(row) != count:
                raise self._fault("'table' must have as many entries as 'cells'")
            tables = int(row.max(initial=-1)) + 1
        return Evidence(
            cells,
            sides.astype(np.int64),
            amount,
            self._matrix(moves, "cell", "deviation", (tables, n)),
            limit,
            self._matrix(self._mapping(given, "multipliers"), "relation", "multiplier", (count, m)),
            row,
        )

    def _matrix(
        self, given: Mapping[str, Any], column: str, entry: str, shape: tuple[int, int]
    ) -> sparse.csr_array[Any, Any]:
        rows = self._numbers(given, "claim", shape[0])
        columns = self._numbers(given, column, shape[1])
        if len(columns) != len(rows):
            raise self._fault(f"{column!r} must have as many entries as 'claim'")
        entries = self._floats(given, entry, len(rows))
        return sparse.coo_array((entries, (rows, columns)), shape=shape).tocsr()

    def _mapping(self, given: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        if not isinstance(given.get(key), dict):
            raise self._fault(f"{key!r} must be an object")
        found: Mapping[str, Any] = given[key]
        return found

    def _list(self, given: Mapping[str, Any], key: str) -> list[Any]:
        if not isinstance(given.get(key), list):
            raise self._fault(f"{key!r} must be a list")
        found: list[Any] = given[key]
        return found

    def _numbers(self, given: Mapping[str, Any], key: str, count: int) -> Integers:
        return self._whole(self._list(given, key), key, count)

    def _whole(self, entries: Sequence[Any], key: str, count: int) -> Integers:
        # Python counts true as an integer, so types are compared, not asked for.
        if not set(map(type, entries)) <= {int}:
            raise self._fault(f"an entry of {key!r} is not a whole number")
        if entries and (min(entries) < 0 or max(entries) >= count):
            raise self._fault(f"an entry of {key!r} is not among 0 to {count - 1}")
        return np.array(entries, np.int64)

    def _floats(
        self, given: Mapping[str, Any], key: str, count: int, *, infinite: bool = False
    ) -> Floats:
        entries = self._list(given, key)
        if len(entries) != count:
            raise self._fault(f"{key!r} has {len(entries)} entries; it needs {count}")
        known = {int, float} | ({type(None)} if infinite else set())
        if not set(map(type, entries)) <= known:
            raise self._fault(f"an entry of {key!r} is not a number")
        try:
            numbers = np.array(entries, np.float64)
        except OverflowError:
            raise self._fault(f"an entry of {key!r} is too large") from None
        if np.isinf(numbers).any():
            raise self._fault(f"an entry of {key!r} is too large")
        missing: Booleans = np.isnan(numbers)
        return np.where(missing, np.inf, numbers)

    def _pairs(self, given: Mapping[str, Any], key: str) -> dict[int, float]:
        entries = self._list(given, key)
        if not all(type(entry) is list and len(entry) == 2 for entry in entries):
            raise self._fault(f"an entry of {key!r} is not a pair of a cell and an amount")
        cells = self._whole([entry[0] for entry in entries], key, self.problem.cell_count)
        amounts = self._floats({key: [entry[1] for entry in entries]}, key, len(entries))
        return dict(zip(cells.tolist(), amounts.tolist(), strict=True))
