"""Audits as files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from tacit import examples
from tacit.attack.audit import Audit, audit
from tacit.attack.evidence import EvidenceError
from tacit.attack.knowledge import Attacker
from tacit.errors import InputError, ProblemError
from tacit.io.audits import CONFIDENTIAL, read_audit, write_audit
from tacit.observer import Observer
from tacit.outcome import Intervals, Suppression, Values
from tacit.problem import Problem

EXAMPLE = examples.get("003-figure-11")
PROBLEM = EXAMPLE.problem
assert EXAMPLE.suppressed is not None
SUPPRESSED = Suppression(EXAMPLE.suppressed)


@st.composite
def _tables(draw: st.DrawFn) -> tuple[Problem, Any, list[Attacker]]:
    """A two-dimensional table, what is published of it, and attackers."""
    rows, columns = draw(st.integers(2, 4)), draw(st.integers(2, 4))
    inner = np.array(
        draw(st.lists(st.integers(1, 30), min_size=rows * columns, max_size=rows * columns)), float
    ).reshape(rows, columns)
    full = np.vstack([inner, inner.sum(axis=0)])
    full = np.hstack([full, full.sum(axis=1, keepdims=True)])
    number = np.arange(full.size).reshape(full.shape)
    relations = []
    for line in [*number, *number.T]:
        relation = np.zeros(full.size)
        relation[line[:-1]], relation[line[-1]] = 1, -1
        relations.append(relation)
    value = full.ravel()
    sensitive = draw(st.lists(st.sampled_from(number[:-1, :-1].ravel().tolist()), unique=True))
    level = np.array([draw(st.integers(0, 3)) for _ in sensitive], float)
    problem = Problem(
        value=value,
        upper=value + 40,
        relations=relations,
        sensitive=sensitive,
        upper_level=level,
        lower_level=np.minimum(level, value[sensitive]),
        sliding_level=level,
    )
    wide = np.array(draw(st.lists(st.booleans(), min_size=len(value), max_size=len(value))))
    if draw(st.booleans()):
        solution: Any = Suppression(wide)
    else:
        width = draw(st.integers(1, 9))
        solution = Intervals(np.where(wide, value - width, value), np.where(wide, value + 2, value))
    cells = draw(st.lists(st.sampled_from(range(len(value))), max_size=2, unique=True))
    attackers = [
        Attacker.external(),
        Attacker.respondent({cell: value[cell] / 2 for cell in cells}, alone=cells[1:]),
        Attacker(name="together", colluding=tuple(sorted(cells))),
    ]
    return problem, solution, attackers[: draw(st.integers(1, 3))]


def _same(one: Audit, other: Audit) -> None:
    assert one.summary() == other.summary()
    assert one.safe == other.safe
    assert one.exposures == other.exposures
    assert one.unchecked == other.unchecked
    assert one.to_frame() == other.to_frame()
    assert [found.attacker for found in one.findings] == [
        found.attacker for found in other.findings
    ]


@given(_tables(), st.booleans())
@settings(max_examples=60)
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory,
    table: tuple[Problem, Any, list[Attacker]],
    exact: bool,
) -> None:
    """An audit comes back with the same findings, and its evidence still holds."""
    problem, solution, attackers = table
    path = tmp_path_factory.mktemp("audit") / "audit.confidential.json"
    made = audit(problem, solution, attackers=attackers, exact=exact)
    write_audit(made, path)
    again = read_audit(path, problem, solution)
    _same(made, again)
    again.check()


def test_what_has_no_end_is_read_again(tmp_path: Path) -> None:
    """Infinite bounds, amounts and limits survive the file, in which they are null."""
    path = tmp_path / "audit.confidential.json"
    endless = PROBLEM.replace(upper=np.inf)
    made = audit(endless, [0, 3, 12, 15])
    write_audit(made, path)
    again = read_audit(path, endless, [0, 3, 12, 15])
    _same(made, again)
    assert json.loads(path.read_text())["attackers"][0]["claims"]["amount"][0] is None
    assert np.isinf(again.findings[0].evidence.amount[0])
    intervals = Intervals(PROBLEM.lower, np.full(PROBLEM.cell_count, np.inf))
    made = audit(endless, intervals)
    write_audit(made, path)
    _same(made, read_audit(path, endless, intervals))


def test_the_first_line_says_that_it_is_confidential(tmp_path: Path) -> None:
    """Whoever opens the file sees the warning before anything else."""
    path = tmp_path / "audit.confidential.json"
    write_audit(audit(PROBLEM, SUPPRESSED), path)
    text = path.read_text()
    assert CONFIDENTIAL in text.split("\n")[0]
    assert next(iter(json.loads(text))) == "confidential"


def test_a_name_in_gz_compresses(tmp_path: Path) -> None:
    """The compressed file holds the same as the plain one and is read alike."""
    made = audit(PROBLEM, SUPPRESSED)
    plain, packed = tmp_path / "audit.json", tmp_path / "audit.json.gz"
    write_audit(made, plain)
    write_audit(made, packed)
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    _same(read_audit(packed, PROBLEM, SUPPRESSED), made)


def test_a_stopped_audit_stays_unchecked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sensitive cells without evidence are not called safe after reading either."""

    class Impatient(Observer):
        def should_stop(self) -> bool:
            return True

    # The audit looks up from its work after each chunk.
    monkeypatch.setattr("tacit.attack.sweep.FLOW_CHUNK", 1)
    path = tmp_path / "audit.confidential.json"
    made = audit(PROBLEM, SUPPRESSED, observer=Impatient())
    write_audit(made, path)
    again = read_audit(path, PROBLEM, SUPPRESSED)
    assert again.checked == made.checked == 1
    assert again.unchecked == made.unchecked == tuple(PROBLEM.sensitive.tolist())
    assert not again.safe


def test_evidence_about_fewer_cells_is_not_safe(tmp_path: Path) -> None:
    """A file that leaves out the claims about a sensitive cell does not make it safe."""
    path = tmp_path / "audit.confidential.json"
    write_audit(audit(PROBLEM, SUPPRESSED), path)
    assert read_audit(path, PROBLEM, SUPPRESSED).safe
    more = PROBLEM.replace(sensitive=[0, 1], upper_level=[0, 0])
    found = read_audit(path, more, SUPPRESSED)
    assert found.unchecked == (1,)
    assert not found.safe


def test_levels_are_those_of_the_problem(tmp_path: Path) -> None:
    """A verdict is judged anew: higher levels than at the time of the audit are missed."""
    path = tmp_path / "audit.confidential.json"
    write_audit(audit(PROBLEM, SUPPRESSED), path)
    cell = int(PROBLEM.sensitive[0])
    demanding = PROBLEM.replace(sensitive=[cell], upper_level=[29])
    found = read_audit(path, demanding, SUPPRESSED)
    assert [(exposure.cell, exposure.level) for exposure in found.exposures] == [(cell, "upper")]


@pytest.mark.parametrize(
    ("key", "entry"),
    [("amount", "claims"), ("limit", "claims"), ("deviation", "deviations")],
)
def test_false_claims_do_not_pass_the_check(tmp_path: Path, key: str, entry: str) -> None:
    """Numbers changed in the file are noticed by the check."""
    path = tmp_path / "audit.confidential.json"
    write_audit(audit(PROBLEM, SUPPRESSED), path)
    told = json.loads(path.read_text())
    numbers = told["attackers"][0][entry][key]
    numbers[0] = numbers[0] / 2 if key == "limit" else numbers[0] + 1
    path.write_text(json.dumps(told))
    with pytest.raises(EvidenceError, match="does not show what it claims about cell"):
        read_audit(path, PROBLEM, SUPPRESSED).check()


def test_a_forged_exposure_does_not_pass_the_check(tmp_path: Path) -> None:
    """Claims made smaller on both ends are not shown; without limits there is no verdict."""
    path = tmp_path / "audit.confidential.json"
    write_audit(audit(PROBLEM, SUPPRESSED), path)
    honest = json.loads(path.read_text())
    for limit in (0.0, None):
        told = json.loads(json.dumps(honest))
        (attacker,) = told["attackers"]
        count = len(attacker["claims"]["cells"])
        attacker["claims"]["amount"] = [0.0] * count
        attacker["claims"]["limit"] = [limit] * count
        attacker["deviations"] = {"claim": [], "cell": [], "deviation": []}
        path.write_text(json.dumps(told))
        found = read_audit(path, PROBLEM, SUPPRESSED)
        assert not found.safe
        if limit is None:
            found.check()
            assert found.exposures == ()
            assert found.unchecked == tuple(PROBLEM.sensitive.tolist())
        else:
            with pytest.raises(EvidenceError, match="does not show what it claims"):
                found.check()


def test_an_attacker_is_not_spared_what_it_does_not_know(tmp_path: Path) -> None:
    """Who contributes to a cell without knowing its value must be held off it too."""
    path = tmp_path / "audit.confidential.json"
    write_audit(audit(PROBLEM, SUPPRESSED), path)
    told = json.loads(path.read_text())
    (attacker,) = told["attackers"]
    attacker["own"] = list(range(PROBLEM.cell_count))
    attacker["claims"] = {"cells": [], "sides": [], "amount": [], "limit": []}
    attacker["deviations"] = {"claim": [], "cell": [], "deviation": []}
    attacker["multipliers"] = {"claim": [], "relation": [], "multiplier": []}
    path.write_text(json.dumps(told))
    found = read_audit(path, PROBLEM, SUPPRESSED)
    assert found.unchecked == tuple(PROBLEM.sensitive.tolist())
    assert not found.safe


def test_a_forgery_next_to_a_huge_cell_is_refused(tmp_path: Path) -> None:
    """A deviation of 10 is not lost in a relation of a hundred million."""
    path = tmp_path / "audit.confidential.json"
    problem = Problem(
        value=[100, 1e8, 1e8 + 100],
        relations=[[1, 1, -1]],
        sensitive=[0],
        upper_level=[10],
        lower_level=[10],
    )
    write_audit(audit(problem, [0]), path)
    told = json.loads(path.read_text())
    (attacker,) = told["attackers"]
    attacker["claims"] = {
        "cells": [0, 0],
        "sides": [1, -1],
        "amount": [10, 10],
        "limit": [None, None],
    }
    attacker["deviations"] = {"claim": [0, 1], "cell": [0, 0], "deviation": [10, -10]}
    attacker["multipliers"] = {"claim": [], "relation": [], "multiplier": []}
    path.write_text(json.dumps(told))
    forged = read_audit(path, problem, [0])
    with pytest.raises(EvidenceError):
        forged.check()


def test_another_publication_is_refused(tmp_path: Path) -> None:
    """Evidence about one pattern says nothing about another, and the error names the cells."""
    path = tmp_path / "audit.confidential.json"
    write_audit(audit(PROBLEM, SUPPRESSED), path)
    other = SUPPRESSED.suppressed.copy()
    cell = int(np.flatnonzero(other)[1])
    other[cell] = False
    with pytest.raises(InputError, match=f"another publication.*{PROBLEM.name_cell(cell)}"):
        read_audit(path, PROBLEM, other)
    intervals = Intervals(PROBLEM.value - 1, PROBLEM.value + 1)
    write_audit(audit(PROBLEM, intervals), path)
    with pytest.raises(InputError, match="another publication"):
        read_audit(path, PROBLEM, Intervals(PROBLEM.value - 1, PROBLEM.value + 2))


def test_a_table_that_does_not_add_up_is_refused(tmp_path: Path) -> None:
    """Deviations show nothing where the table itself contradicts its relations."""
    path = tmp_path / "audit.confidential.json"
    write_audit(audit(PROBLEM, SUPPRESSED), path)
    value = PROBLEM.value.copy()
    value[1] += 1
    with pytest.raises(ProblemError, match="do not add up"):
        read_audit(path, PROBLEM.replace(value=value), SUPPRESSED)


def _without_attackers(told: dict[str, Any]) -> None:
    told["attackers"] = []


def _unknown_format(told: dict[str, Any]) -> None:
    told["format"] = 99


def _other_table(told: dict[str, Any]) -> None:
    told["cells"] += 1


def _no_such_cell(told: dict[str, Any]) -> None:
    told["attackers"][0]["claims"]["cells"][0] = 999


def _no_side(told: dict[str, Any]) -> None:
    told["attackers"][0]["claims"]["sides"][0] = 0


def _claimed_twice(told: dict[str, Any]) -> None:
    claims = told["attackers"][0]["claims"]
    claims["cells"][0] = claims["cells"][1]


def _missing_limit(told: dict[str, Any]) -> None:
    told["attackers"][0]["claims"]["limit"].pop()


def _text_for_number(told: dict[str, Any]) -> None:
    told["attackers"][0]["deviations"]["deviation"][0] = "1"


def _truth_for_number(told: dict[str, Any]) -> None:
    told["attackers"][0]["known"] = [True]


def _huge_number(told: dict[str, Any]) -> None:
    told["attackers"][0]["claims"]["amount"][0] = 10**400


def _negative_amount(told: dict[str, Any]) -> None:
    told["attackers"][0]["claims"]["amount"][0] = -1


def _no_pair(told: dict[str, Any]) -> None:
    told["attackers"][0]["at_least"] = [[1, 2, 3]]


def _no_name(told: dict[str, Any]) -> None:
    del told["attackers"][0]["name"]


def _no_published(told: dict[str, Any]) -> None:
    del told["published"]


def _short_row(told: dict[str, Any]) -> None:
    told["attackers"][0]["multipliers"]["relation"].pop()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_without_attackers, "at least one attacker"),
        (_unknown_format, "another format"),
        (_other_table, "another table"),
        (_no_such_cell, "not among 0 to 15"),
        (_no_side, "must be 1 or -1"),
        (_claimed_twice, "two claims"),
        (_missing_limit, "'limit' has 7 entries; it needs 8"),
        (_text_for_number, "not a number"),
        (_truth_for_number, "not a whole number"),
        (_huge_number, "too large"),
        (_negative_amount, "negative"),
        (_no_pair, "not a pair"),
        (_no_name, "with a name"),
        (_no_published, "'published' must be an object"),
        (_short_row, "as many entries"),
    ],
)
def test_a_spoilt_file_gets_a_message(
    tmp_path: Path, spoil: Callable[[dict[str, Any]], None], message: str
) -> None:
    """Whatever is wrong with the file is said with its name, never with a traceback."""
    path = tmp_path / "audit.confidential.json"
    write_audit(audit(PROBLEM, SUPPRESSED), path)
    told = json.loads(path.read_text())
    spoil(told)
    path.write_text(json.dumps(told))
    with pytest.raises(InputError, match=message) as caught:
        read_audit(path, PROBLEM, SUPPRESSED)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not valid JSON"),
        ("[1]", "not an audit"),
        ('{"format": 1}', "not an audit"),
        ('{"format": NaN}', "NaN is not valid JSON"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: str, message: str) -> None:
    """A file that is no audit at all is recognised as such."""
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_audit(path, PROBLEM, SUPPRESSED)


@pytest.mark.parametrize("radius", [None, 5.0])
def test_audits_of_values_survive_a_round_trip(tmp_path: Path, radius: float | None) -> None:
    """Adjusted and rounded values are judged the same after reading, and by nobody else's audit."""
    told = None if radius is None else np.array(radius)
    values = Values(PROBLEM.value, told)
    found = audit(PROBLEM, values, cells="sensitive")
    path = tmp_path / "audit.confidential.json"
    write_audit(found, path)
    again = read_audit(path, PROBLEM, values)
    again.check()
    assert again.exposures == found.exposures
    assert again.safe == found.safe
    assert np.array_equal(again.hidden, found.hidden)
    other = Values(PROBLEM.value, np.array(3.0)) if radius is None else Values(PROBLEM.value)
    with pytest.raises(InputError, match="adjusted values"):
        read_audit(path, PROBLEM, other)
    moved = Values(PROBLEM.value + 1e-3, told)
    with pytest.raises(InputError, match="other"):
        read_audit(path, PROBLEM, moved)


def test_claims_that_share_a_table_are_saved_with_it_once(tmp_path: Path) -> None:
    """A table that shows several claims is in the file once, and is theirs again when read."""
    problem = Problem(
        value=[10.0, 10, 10, 10, 20, 20, 20, 20, 40],
        relations=[
            [1, 1, 0, 0, -1, 0, 0, 0, 0],
            [0, 0, 1, 1, 0, -1, 0, 0, 0],
            [1, 0, 1, 0, 0, 0, -1, 0, 0],
            [0, 1, 0, 1, 0, 0, 0, -1, 0],
            [0, 0, 0, 0, 1, 1, 0, 0, -1],
        ],
        sensitive=[0, 1, 2, 3],
        upper_level=[2.0] * 4,
        lower_level=[2.0] * 4,
    )
    turn = np.array([[5.0, -5, -5, 5, 0, 0, 0, 0, 0]])
    suggested = sparse.csr_array(np.vstack([turn, -turn]))
    found = audit(problem, [0, 1, 2, 3], exact=False, suggested=suggested)
    assert found.safe
    evidence = found.findings[0].evidence
    assert (len(evidence), evidence.tables.shape[0]) == (8, 2)
    write_audit(found, tmp_path / "audit.json")
    saved = json.loads((tmp_path / "audit.json").read_text())["attackers"][0]
    assert sorted(set(saved["claims"]["table"])) == [0, 1]
    again = read_audit(tmp_path / "audit.json", problem, [0, 1, 2, 3])
    again.check()
    assert again.findings[0].evidence.row.tolist() == evidence.row.tolist()
    saved["claims"]["table"][0] = 1 - saved["claims"]["table"][0]
    forged = json.loads((tmp_path / "audit.json").read_text())
    forged["attackers"][0] = saved
    (tmp_path / "forged.json").write_text(json.dumps(forged))
    with pytest.raises(EvidenceError):
        read_audit(tmp_path / "forged.json", problem, [0, 1, 2, 3]).check()


@pytest.mark.parametrize("table", [[0, 0], [-1] * 8, [99] * 8, ["a"] * 8])
def test_a_wrong_list_of_tables_is_refused(table: list[Any], tmp_path: Path) -> None:
    """Numbers of tables that do not fit are a fault of the file, or show nothing."""
    write_audit(audit(PROBLEM, SUPPRESSED), tmp_path / "audit.json")
    saved = json.loads((tmp_path / "audit.json").read_text())
    saved["attackers"][0]["claims"]["table"] = table
    (tmp_path / "audit.json").write_text(json.dumps(saved))
    with pytest.raises((InputError, EvidenceError)):
        read_audit(tmp_path / "audit.json", PROBLEM, SUPPRESSED).check()
