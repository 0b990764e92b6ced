"""Who attacks from inside: what protect asks for, and what readers and publishers are told."""

from __future__ import annotations

import pickle
from typing import Any, get_args

import pytest

import tacit
from tacit.cli.arguments import INSIDERS
from tacit.errors import InputError
from tacit.release import faced
from tacit.release.against import insiders_asked_for
from tacit.table.insiders import Choice
from tests.rules.sums import two_cells
from tests.table.firms import two_children

CODES = {"firm": ["big", "small", "other"]}


def judged(**codes: Any) -> tacit.Table:
    """Firms of 200 and 3 alone in two children of a parent."""
    return two_children(**codes).apply(tacit.MinFrequency(3))


@pytest.mark.parametrize("choice", ["", [], "singleton"])
def test_what_is_no_choice_is_refused(choice: Any) -> None:
    """Nothing but a choice of insiders is taken for one, not even what is empty."""
    with pytest.raises(InputError, match="insiders"):
        tacit.protect(judged(**CODES), insiders=choice)


def test_the_default_is_singletons() -> None:
    """Where the table counts contributors, those alone in a cell attack."""
    table = judged(**CODES)
    assert faced(table, {}) is table.problem("singletons")
    assert faced(table, {}, "contributors", 2) is table.problem("contributors", 2)
    assert faced(table, {}, "none").insiders is None
    assert faced(table, {"singletons": "global"}).insiders is None
    assert set(get_args(Choice)) == set(INSIDERS)


def test_protect_hands_insiders_to_the_method() -> None:
    """What the method and the audit see has the insiders that were asked for."""
    table = judged(**CODES)
    release = tacit.protect(table, time_limit=20)
    assert release.papers.problem.insiders is table.problem("singletons").insiders
    assert release.papers.audit.problem.insiders is release.papers.problem.insiders
    release = tacit.protect(table, insiders="none", time_limit=20)
    assert release.papers.problem.insiders is None


@pytest.mark.parametrize(
    ("source", "options", "arguments", "message"),
    [
        ("table", {"singletons": "global"}, ("singletons", 1), "leave out singletons"),
        ("table", {"singletons": "local"}, (None, 2), "leave out singletons"),
        ("table", {}, ("none", 2), "insiders is none"),
        ("table", {}, ("all", 1), "it can be|known|did you mean|one of|singletons"),
        ("problem", {}, ("singletons", 1), "leave out insiders and coalition"),
        ("problem", {}, (None, 2), "leave out insiders and coalition"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(
    source: str, options: dict[str, str], arguments: tuple[Any, int], message: str
) -> None:
    """Two ways to say the same, a coalition of nobody and insiders of a problem are errors."""
    table = judged()
    given = table if source == "table" else table.problem("none")
    with pytest.raises(InputError, match=message):
        faced(given, options, *arguments)


def test_a_problem_brings_its_own() -> None:
    """The insiders of a problem stay, unless none are asked for."""
    problem = judged().problem("singletons")
    assert faced(problem, {}) is problem
    assert faced(problem, {}, "none").insiders is None


@pytest.mark.parametrize(
    ("codes", "choice", "coalition", "told"),
    [
        (
            CODES,
            "singletons",
            1,
            "no contributor who is alone in a cell can, knowing its own",
        ),
        ({}, "singletons", 1, "is alone in a cell can, knowing its own figure there,"),
        (CODES, "contributors", 1, "and no contributor can, knowing its own figures,"),
        (
            CODES,
            "contributors",
            2,
            "nor as many of them together as the publisher considered,",
        ),
        (CODES, "none", 1, ""),
    ],
)
def test_the_guarantee_names_kinds(
    codes: dict[str, Any], choice: Any, coalition: int, told: str
) -> None:
    """Readers are told against which kinds it holds: neither how many there are nor where."""
    table = judged(**codes)
    kinds = insiders_asked_for(table, choice, coalition)
    release = tacit.protect(table, insiders=choice, coalition=coalition, time_limit=20)
    assert set(kinds) <= set(release.published.against)
    assert told in release.guarantee
    assert ("what others contribute" in release.guarantee) == bool(told)
    nobody = table.replace(count=[9] * table.cell_count, status=table.status)
    assert insiders_asked_for(nobody, choice, coalition) == kinds


def test_publishers_are_told_of_tables_without_names() -> None:
    """The papers say, once, that each cell with a single contributor was taken for another's."""
    rows = tacit.protect(judged(), time_limit=20).papers.summary_rows()
    assert (
        "each cell with a single contributor was taken for another contributor"
        in (rows["attackers"])
    )
    assert sum("taken for another" in row for row in rows.values()) == 1
    rows = tacit.protect(judged(**CODES), coalition=2, time_limit=20).papers.summary_rows()
    assert "2 contributors with figures of their own, up to 2 together" in rows["attackers"]
    assert "taken for another" not in rows["attackers"]


def test_publishers_are_told_that_all_contributors_were_faced() -> None:
    """The papers name the kind that was audited: all contributors, not only those alone."""
    table = two_cells()
    rows = tacit.protect(table, insiders="contributors", time_limit=20).papers.summary_rows()
    assert "no contributor can, knowing its own figures" in rows["guarantee"]


def test_nothing_public_tells_who_contributes() -> None:
    """Neither a pickle of what is published nor its texts hold codes or internal numbers."""
    table = judged(**CODES)
    release = tacit.protect(table, time_limit=20)
    assert table.contributors is not None
    numbers = [int(number) for number in table.contributors.who.ravel() if number >= 0]
    stored = pickle.dumps(release.published)
    text = release.summary() + release.guarantee + str(release.published.columns())
    for number in numbers:
        assert str(number) not in text
        assert number.to_bytes(8, "little") not in stored
        assert str(number).encode() not in stored
    assert b"small" not in stored


@pytest.mark.parametrize("method", ["suppress", "intervals"])
def test_attackers_do_not_take_the_place_of_readers(method: str) -> None:
    """With insiders asked for readers are faced even where nobody is alone, and are told so."""
    table = two_cells()
    problem = table.problem("singletons")
    assert problem.insiders is None
    cells = tuple(problem.sensitive.tolist())
    knowing = tacit.Attacker(name="knowing", known=cells, own=frozenset(cells))
    release = tacit.protect(table, method, attackers=[knowing], time_limit=20)
    faced_by = [found.attacker.name for found in release.papers.audit.findings]
    assert faced_by == ["knowing", "external"]
    assert "reader" in release.guarantee
    alone = tacit.protect(table, method, attackers=[knowing], insiders="none", time_limit=20)
    assert [found.attacker.name for found in alone.papers.audit.findings] == ["knowing"]
    assert "reader" not in alone.guarantee
