"""Audits of insiders as files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from tacit.attack.audit import Audit, audit
from tacit.attack.evidence import EvidenceError
from tacit.attack.knowledge import Attacker
from tacit.errors import InputError
from tacit.io.audits import read_audit, write_audit
from tacit.outcome import Values
from tests.attack.contributors import KINDS, RULES, Contributed, contributed


def saved(path: Path, made: Contributed, **options: Any) -> Audit:
    """The audit of a table, written to a file."""
    found = audit(made.problem, made.hidden, **options)
    write_audit(found, path)
    return found


def assert_same(one: Audit, other: Audit) -> None:
    """Both say the same of insiders, and by the same evidence."""
    assert one.insiders is not None
    assert other.insiders is not None
    assert one.summary() == other.summary()
    assert one.exposures == other.exposures
    assert one.unchecked == other.unchecked
    assert one.checked == other.checked
    assert np.array_equal(one.insiders.members, other.insiders.members)
    assert np.array_equal(one.insiders.evidence.amount, other.insiders.evidence.amount)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(KINDS),
    rule=st.sampled_from(RULES),
    coalition=st.sampled_from([1, 2]),
    exact=st.booleans(),
)
def test_what_is_written_of_insiders_is_read_again(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    kind: str,
    rule: str,
    coalition: int,
    exact: bool,
) -> None:
    """Exposures, pairs and evidence come back, and the evidence still holds."""
    made = contributed(seed, kind, rule, coalition=coalition, everyone=True)
    path = tmp_path_factory.mktemp("audit") / "audit.confidential.json"
    found = saved(path, made, exact=exact)
    again = read_audit(path, made.problem, made.hidden)
    assert_same(found, again)
    again.check()


@pytest.fixture(scope="module")
def made() -> Contributed:
    """A safe table with claims about coalitions of two and single insiders."""
    for seed in range(300):
        made = contributed(seed, "chain", "percentage", coalition=2)
        found = audit(made.problem, made.hidden)
        if found.safe and found.insiders is not None:
            sizes = set((found.insiders.members >= 0).sum(axis=1).tolist())
            if {1, 2} <= sizes:
                return made
    raise AssertionError("no such table was found")


def test_a_file_without_insiders_leaves_cells_without_a_verdict(
    tmp_path: Path, made: Contributed
) -> None:
    """What was not looked at is not safe, unless contributors are left out on purpose."""
    path = tmp_path / "audit.confidential.json"
    saved(path, made, insiders=False)
    assert "insiders" not in json.loads(path.read_text())
    again = read_audit(path, made.problem, made.hidden)
    again.check()
    assert not again.safe
    assert again.unchecked
    assert again.exposures == ()
    assert read_audit(path, made.problem, made.hidden, insiders=False).safe
    plain = made.problem.replace(insiders=None)
    assert read_audit(path, plain, made.hidden).safe


def test_without_readers_nothing_follows_for_insiders(tmp_path: Path, made: Contributed) -> None:
    """A file about another attacker alone is refused for a table with contributors."""
    path = tmp_path / "audit.confidential.json"
    saved(path, made, insiders=False, attackers=[Attacker(name="other", known=(0,))])
    with pytest.raises(InputError, match="does not look at readers"):
        read_audit(path, made.problem, made.hidden)


def test_adjusted_values_are_read_again(tmp_path: Path, made: Contributed) -> None:
    """Contributors learn nothing from them, before and after."""
    path = tmp_path / "audit.confidential.json"
    values = Values(made.problem.value)
    found = audit(made.problem, values)
    write_audit(found, path)
    again = read_audit(path, made.problem, values)
    assert_same(found, again)
    again.check()


def _other_count(told: dict[str, Any]) -> None:
    told["count"] += 1


def _other_coalition(told: dict[str, Any]) -> None:
    told["coalition"] = 1


def _no_members(told: dict[str, Any]) -> None:
    del told["claims"]["members"]


def _too_many(told: dict[str, Any]) -> None:
    told["claims"]["members"][0] = [0, 1, 2]


def _stranger(told: dict[str, Any]) -> None:
    told["claims"]["members"][0] = [999]


def _no_list(told: dict[str, Any]) -> None:
    told["claims"]["members"][0] = 0


def _out_of_order(told: dict[str, Any]) -> None:
    told["claims"]["members"][0] = [1, 0]


def _one_left_out(told: dict[str, Any]) -> None:
    told["claims"]["members"].pop()


def _claimed_twice(told: dict[str, Any]) -> None:
    for key in ("members", "cells", "sides"):
        told["claims"][key][0] = told["claims"][key][1]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_other_count, "other contributors"),
        (_other_coalition, "other contributors"),
        (_no_members, "'members' must be a list"),
        (_too_many, "at most 2"),
        (_stranger, "not among 0 to"),
        (_no_list, "not a list"),
        (_out_of_order, "increasing order"),
        (_one_left_out, "as many entries as 'cells'"),
        (_claimed_twice, "two claims"),
    ],
)
def test_a_spoilt_file_gets_a_message(
    tmp_path: Path, made: Contributed, spoil: Callable[[dict[str, Any]], None], message: str
) -> None:
    """Whatever is wrong with the claims about insiders is said with the name of the file."""
    path = tmp_path / "audit.confidential.json"
    saved(path, made)
    told = json.loads(path.read_text())
    spoil(told["insiders"])
    path.write_text(json.dumps(told))
    with pytest.raises(InputError, match=message) as caught:
        read_audit(path, made.problem, made.hidden)
    assert caught.value.path == path


def test_forged_claims_do_not_pass_the_check(tmp_path: Path, made: Contributed) -> None:
    """Larger amounts, other deviations and the claims of somebody else are found out."""
    path = tmp_path / "audit.confidential.json"
    found = saved(path, made)
    assert found.insiders is not None
    own = int(np.flatnonzero((found.insiders.members >= 0).any(axis=1))[0])
    before = path.read_text()

    def larger(told: dict[str, Any]) -> None:
        told["claims"]["amount"][own] *= 2

    def moved(told: dict[str, Any]) -> None:
        told["deviations"]["deviation"] = [2 * x for x in told["deviations"]["deviation"]]
        told["claims"]["amount"] = [2 * x for x in told["claims"]["amount"]]

    def swapped(told: dict[str, Any]) -> None:
        told["claims"]["sides"] = [-side for side in told["claims"]["sides"]]

    for forge in (larger, moved, swapped):
        told = json.loads(before)
        forge(told["insiders"])
        path.write_text(json.dumps(told))
        again = read_audit(path, made.problem, made.hidden)
        with pytest.raises(EvidenceError):
            again.check()
