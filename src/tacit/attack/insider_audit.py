"""What insiders can deduce from a publication, with evidence that can be checked.

The evidence of readers counts for insiders, too. Added to it are rows for the pairs of a request
and a coalition for whom the readers' row moves a cell beyond what they know; and, where the row of
readers moves further than any level asks, a shorter one. Which pairs need a row of their own
follows from the rows alone, so that a check finds out whether one is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tacit.attack.evidence import Capacities, Evidence, EvidenceError
from tacit.attack.exposure import Exposure
from tacit.attack.findings import AttackerFindings
from tacit.attack.insider_knowledge import LEVELS, InsiderKnowledge
from tacit.attack.insider_search import (
    InsiderFindings,
    InsiderPairs,
    face_insiders,
    match,
    open_pairs,
    readers_requests,
)
from tacit.attack.knowledge import Attacker, Knowledge
from tacit.attack.mending import mended
from tacit.attack.reach import TOLERANCE, Reaches, Requests
from tacit.attack.sparing import Sparing
from tacit.attack.suggestions import Suggestions
from tacit.attack.sweep import Attack
from tacit.problem import Booleans, Integers, Problem

_SPOILT_FOR = 3
"""A readers' row that fails for more insiders than this is searched for again."""


@dataclass(frozen=True, eq=False)
class InsiderAudit:
    """What all insiders can deduce.

    Attributes:
        count: How many insiders there are.
        coalition: How many of them may pool what they know.
        pairs: How many pairs of a request and a coalition were asked apart from readers.
        exposures: Sensitive cells that are not protected as asked. Cells that are exposed to
            readers are not looked at again.
        undecided: Sensitive cells about which the evidence does not say whether they are
            protected against all insiders.
        evidence: What shows all this, together with the evidence of readers.
        members: The insiders that each claim is about, one row per claim, increasing; -1 for
            nobody. A claim about nobody is one about readers.
    """

    count: int
    coalition: int
    pairs: int
    exposures: tuple[Exposure, ...]
    undecided: tuple[int, ...]
    evidence: Evidence
    members: Integers

    @classmethod
    def of(
        cls, problem: Problem, reader: AttackerFindings, evidence: Evidence, members: Integers
    ) -> InsiderAudit:
        """Judge claims: nothing but the claims, the table and its insiders counts.

        Args:
            problem: The true table.
            reader: What readers can deduce.
            evidence: The claims about insiders.
            members: Whom each of them is about.
        """
        known = InsiderKnowledge(problem)
        requests, rows = _rows_of_readers(problem, reader, evidence, members)
        found = face_insiders(
            problem,
            requests,
            rows,
            lambda pairs: _claimed(problem, pairs, evidence, members),
            known=known,
        )
        return cls._from(known, problem, found, evidence, members)

    @classmethod
    def _from(
        cls,
        known: InsiderKnowledge,
        problem: Problem,
        found: InsiderFindings,
        evidence: Evidence,
        members: Integers,
    ) -> InsiderAudit:
        exposures = [
            Exposure(
                cell,
                problem.name_cell(cell),
                known.name(who),
                LEVELS[level],
                share,
                tuple(who[who >= 0].tolist()),
            )
            for cell, level, who, share in zip(
                found.exposed_cells.tolist(),
                found.exposed_level.tolist(),
                found.exposed_members,
                found.exposed_share.tolist(),
                strict=True,
            )
        ]
        exposures.sort(key=lambda each: (each.share, each.cell, each.attacker, each.level))
        return cls(
            len(known.insiders),
            known.insiders.coalition,
            len(found.pairs),
            tuple(exposures),
            tuple(found.undecided.tolist()),
            evidence,
            members,
        )

    @classmethod
    def of_values(cls, problem: Problem) -> InsiderAudit:
        """What insiders learn from adjusted values: no more than their own figures.

        The levels against them are not above those against readers, by which the values are
        judged.
        """
        known = InsiderKnowledge(problem)
        width = known.insiders.coalition
        return cls(
            len(known.insiders),
            width,
            0,
            (),
            (),
            Evidence.none(problem),
            np.zeros((0, width), np.int64),
        )

    def check(self, problem: Problem, knowledge: Knowledge, reader: AttackerFindings) -> None:
        """Verify from scratch that the claims hold and that the verdict follows from them.

        Every insider and coalition is looked at: for each request with a positive level there
        is a row, of readers or its own, that keeps to what they know and reaches the level.

        Args:
            problem: The true table.
            knowledge: What everyone knows from the publication.
            reader: What readers can deduce, checked before.

        Raises:
            EvidenceError: Something is claimed that is not shown.
        """
        self.refuse_strangers(problem)
        known = InsiderKnowledge(problem)
        self.evidence.check(problem, knowledge, limits=known.limits(self.members))
        again = InsiderAudit.of(problem, reader, self.evidence, self.members)
        self.refuse_another_verdict(problem, again)

    def refuse_strangers(self, problem: Problem) -> None:
        """Raise an error where claims are about insiders that the table does not have."""
        insiders, members = problem.insiders, self.members
        is_wrong = insiders is None or members.shape != (len(self.evidence), insiders.coalition)
        if not is_wrong and insiders is not None and members.size:
            is_wrong = bool(members.min() < -1 or members.max() >= len(insiders))
            step = np.diff(members, axis=1)
            is_wrong |= bool(((step <= 0) & (members[:, 1:] >= 0)).any() or (step < 0).any())
        if is_wrong:
            raise EvidenceError(
                "the audit is about other contributors than those of the table; audit again",
                np.zeros(0, np.int64),
            )

    def refuse_another_verdict(self, problem: Problem, again: InsiderAudit) -> None:
        """Raise an error where another judgement of the same table differs from this one."""
        mine, other = (
            (each.count, each.coalition, each.pairs, each.exposures, each.undecided)
            for each in (self, again)
        )
        if mine == other:
            return
        cells = np.setxor1d(
            np.union1d([each.cell for each in self.exposures], self.undecided),
            np.union1d([each.cell for each in again.exposures], again.undecided),
        ).astype(np.int64)
        raise EvidenceError(
            "the verdict of the audit about contributors does not follow from its evidence"
            + (f": {problem.name_cells(cells)}" if len(cells) else "")
            + "; audit again, and do not rely on this one",
            cells,
        )


def audit_insiders(
    problem: Problem,
    knowledge: Knowledge,
    reader: AttackerFindings,
    attack: Callable[[], Attack],
    suggestions: Suggestions,
    *,
    executor: Executor | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> InsiderAudit:
    """Let all insiders deduce.

    Args:
        problem: The true table.
        knowledge: What everyone knows from the publication.
        reader: What readers can deduce.
        attack: Makes the attack of a reader, if it is needed.
        suggestions: Deviations that may show levels to be met.
        executor: Runs the work in threads, processes or on a cluster.
        should_stop: Whether to leave the rest without a verdict.
    """
    known = InsiderKnowledge(problem)
    nobody = np.full(known.insiders.coalition, -1, np.int64)

    def checked(requests: Requests, reaches: Reaches) -> Reaches:
        capacities = Capacities.of(
            problem,
            knowledge,
            Attacker.external(),
            requests.cells,
            requests.sides,
            requests.limits,
        )
        return mended(problem, capacities, reaches)

    sparing = Sparing(problem, known, suggestions)

    def answer(pairs: InsiderPairs) -> Reaches:
        requests = pairs.requests
        if should_stop():
            return Reaches.unanswered(len(requests), problem)
        if len(pairs) and sparing.serves(attack()):
            shown = suggestions.shown(knowledge, requests, np.ones(len(pairs), bool))
            sparing.join(attack(), knowledge, pairs.take(shown < 0))
        reaches = suggestions.reach(
            attack,
            knowledge,
            requests,
            reopened=np.zeros(problem.cell_count, bool),
            executor=executor,
            progress=lambda _: should_stop(),
        )
        return checked(requests, reaches)

    def with_few_moves(requests: Requests) -> Reaches:
        reaches = attack().reach(
            requests, executor=executor, moves="few", progress=lambda _: should_stop()
        )
        suggestions.learn(requests, reaches)
        return checked(requests, reaches)

    def spoilt(requests: Requests, rows: Reaches) -> Requests:
        # Rows that move a cell as far as it goes, or most cells at once, spoil more than others
        # need.
        pairs = open_pairs(problem, requests, rows.tables, known, row=rows.row).requests
        asked = np.column_stack([requests.cells, requests.sides])
        place = match(asked, np.column_stack([pairs.cells, pairs.sides]))
        insiders = np.bincount(place, minlength=len(requests))
        far = rows.amount > requests.targets * (1 + TOLERANCE)
        return requests.take((far & (insiders > 0)) | (insiders > _SPOILT_FOR))

    requests, rows = _rows_of_readers(problem, reader)
    evidence = Evidence.none(problem)
    if len(requests) and not should_stop():
        is_slow = sparing.covers(attack(), requests.cells)
        parts = [evidence]
        if is_slow.any():
            better, is_new = sparing.spared(
                attack, knowledge, requests.take(is_slow), rows.take(is_slow)
            )
            short = requests.take(is_slow).take(is_new)
            parts.append(Evidence.of(short, checked(short, better.take(is_new).shown)))
        again = spoilt(requests.take(~is_slow), rows.take(~is_slow))
        if len(again):
            parts.append(Evidence.of(again, with_few_moves(again)))
        evidence = Evidence.joined(parts)
    members = np.tile(nobody, (len(evidence), 1))

    requests, rows = _rows_of_readers(problem, reader, evidence, members)
    found = face_insiders(problem, requests, rows, answer, known=known)
    answered = found.reaches.answered
    evidence = Evidence.joined([evidence, Evidence.of(found.pairs.requests, found.reaches)])
    members = np.concatenate([members, found.pairs.members[answered]])
    return InsiderAudit._from(known, problem, found, evidence, members)


def _rows_of_readers(
    problem: Problem,
    reader: AttackerFindings,
    evidence: Evidence | None = None,
    members: Integers | None = None,
) -> tuple[Requests, Reaches]:
    """Levels that readers do not get below, with rows that show it.

    Claims about nobody among those about insiders take the place of the readers' claims.
    """
    judged = [*(exposure.cell for exposure in reader.exposures), *reader.undecided]
    cells = np.setdiff1d(problem.sensitive, np.array(judged, np.int64))
    requests = readers_requests(problem, cells)
    claims = reader.evidence
    parts = [claims]
    keys = np.column_stack([claims.cells, claims.sides])
    wanted = np.column_stack([requests.cells, requests.sides])
    place = match(keys, wanted)
    limit = claims.limit[place] if len(claims) else np.zeros(0)
    if evidence is not None and members is not None:
        short = np.flatnonzero((members < 0).all(axis=1))
        other = match(np.column_stack([evidence.cells, evidence.sides])[short], wanted)
        is_shorter: Booleans = other >= 0
        place[is_shorter] = len(claims) + short[other[is_shorter]]
        parts.append(evidence)
    # Every request has a claim: a cell without one on either side is undecided.
    both = Evidence.joined(parts)
    return requests, Reaches(
        both.amount[place],
        limit,
        both.tables,
        sparse.csr_array(both.multipliers[place]),
        row=both.row[place],
    )


def _claimed(
    problem: Problem, pairs: InsiderPairs, evidence: Evidence, members: Integers
) -> Reaches:
    """The answers that claims give; requests without a claim are not answered."""
    keys = np.column_stack([evidence.cells, evidence.sides, members])
    asked = pairs.requests
    place = match(keys, np.column_stack([asked.cells, asked.sides, pairs.members]))
    found = np.flatnonzero(place >= 0)
    count = len(pairs)
    amount, limit, answered = np.zeros(count), np.full(count, np.inf), np.zeros(count, bool)
    amount[found], limit[found] = evidence.amount[place[found]], evidence.limit[place[found]]
    answered[found] = True
    # Requests without a claim get one more row, in which nothing moves.
    nothing = sparse.csr_array((1, problem.cell_count))
    row = np.full(count, evidence.tables.shape[0])
    row[found] = evidence.row[place[found]]
    return Reaches(
        amount,
        limit,
        sparse.csr_array(sparse.vstack([evidence.tables, nothing])),
        sparse.csr_array((count, problem.relation_count)),
        answered,
        row,
    )
