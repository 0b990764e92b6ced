"""Code lists, recodings and a priori files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.errors import InputError
from tacit.hierarchy import Hierarchy
from tacit.io.argus.apriori import Decision, read_apriori
from tacit.io.argus.codelists import read_codelist
from tacit.io.argus.recodings import read_recoding


def _file(folder: Path, text: str) -> Path:
    path = folder / "file.txt"
    path.write_bytes(text.encode("cp1252"))
    return path


def test_labels_of_codes(tmp_path: Path) -> None:
    """Codes lose the blanks around them, labels may contain commas."""
    found = read_codelist(_file(tmp_path, " 1,Île, et côte\r\n\r\n2;b\n"))
    assert found == {"1": "Île, et côte", "2": "b"}


@pytest.mark.parametrize(("text", "told"), [("a,b\na,c\n", "two labels"), ("a,b\n,c\n", "no code")])
def test_wrong_code_lists(tmp_path: Path, text: str, told: str) -> None:
    """The message names the line."""
    with pytest.raises(InputError, match=told) as caught:
        read_codelist(_file(tmp_path, text))
    assert caught.value.line == 2


SIZES = Hierarchy.flat([" 2", " 4", " 5", "10", "49", "50", "99"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1:1-5", {" 1": [" 2", " 4", " 5"]}),
        ("1: 2,  10 - 50", {" 1": [" 2", "10", "49", "50"]}),
        ("1: - 10\n2: 50 -\n", {" 1": [" 2", " 4", " 5", "10"], " 2 (merged)": ["50", "99"]}),
        ("new: 5,2\n<CODELIST> x.cdl", {"new": [" 2", " 5"]}),
        ('x: "4"\n', {" x": [" 4"]}),
        ("4: 2 - 5\n", {" 4 (merged)": [" 2", " 4", " 5"]}),
    ],
)
def test_codes_are_merged(tmp_path: Path, text: str, expected: dict[str, list[str]]) -> None:
    """Lists and ranges, open ones too, by the numbers that codes are."""
    found = read_recoding(_file(tmp_path, text)).merged(SIZES, 2)
    assert {
        code: [each for each in members if each != " A"] for code, members in found.items()
    } == {code: [each for each in members if each != " A"] for code, members in expected.items()}


def test_hierarchies_are_folded(tmp_path: Path) -> None:
    """What lies below a listed code goes, and what lies below that with it."""
    tree = Hierarchy.from_nested({"A": {"B": ["b1", "b2"], "C": ["c1", "c2"]}, "D": ["d1"]})
    recoding = read_recoding(_file(tmp_path, "<TREERECODE>\nB\nD\nc1\n"))
    assert recoding.merged(tree, 2) == {"B": ["b1", "b2"], "D": ["d1"]}
    whole = read_recoding(_file(tmp_path, "<TREERECODE>\nA\nB\n"))
    assert whole.merged(tree, 2) == {"A": ["B", "C"]}


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("1 2\n", 1, "a colon"),
        ("1:\n", 1, "a colon"),
        ("1: 2\n<TREERECODE>\n", 2, "not understood here"),
        ("\n", None, "nothing to recode"),
    ],
)
def test_wrong_recodings(tmp_path: Path, text: str, line: int | None, told: str) -> None:
    """The message names the line."""
    with pytest.raises(InputError, match=told) as caught:
        read_recoding(_file(tmp_path, text))
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1: 2\n2: 2\n", "two groups"),
        ("1: 2\n2: 77\n", "none of the codes"),
        ("1: 2\n4: 5\n", "not merged into it"),
    ],
)
def test_recodings_that_do_not_fit(tmp_path: Path, text: str, told: str) -> None:
    """Codes are in one group, and occur."""
    recoding = read_recoding(_file(tmp_path, text))
    with pytest.raises(InputError, match=told) as caught:
        recoding.merged(SIZES, 2)
    assert caught.value.line == 2


def test_codes_of_hierarchies_are_not_merged(tmp_path: Path) -> None:
    """They are folded, which the message says."""
    recoding = read_recoding(_file(tmp_path, "1: 2\n"))
    with pytest.raises(InputError, match="not merged but folded"):
        recoding.merged(Hierarchy.from_nested({"A": ["2"]}), 1)


def test_decisions_about_cells(tmp_path: Path) -> None:
    """All commands in any case, with numbers; nothing stands for the total."""
    text = '"","",p\nA;1;s\nA;" 1";PL;1.5;2,5\nA;;w;0\n;;ML\n'.replace(",", ";", 2)
    found = read_apriori(_file(tmp_path, text), 2, ";")
    assert not found.faults
    assert found.decisions == (
        Decision(("", ""), "P", (), 1),
        Decision(("A", "1"), "S", (), 2),
        Decision(("A", "1"), "PL", (1.5, 2.5), 3),
        Decision(("A", ""), "C", (1.0,), 4),
        Decision(("", ""), "ML", (), 5),
    )


def test_wrong_decisions_are_kept_apart(tmp_path: Path) -> None:
    """Each wrong line has an error of its own, that shows no number."""
    text = "a,b,Q\na,b\na,b,PL,1\na,b,PL,1,x77\na,b,AB,1,2\na,b,C,-1\na,b,PL,-1,1\na,b,U\n"
    found = read_apriori(_file(tmp_path, text), 2)
    assert [fault.line for fault in found.faults] == [1, 2, 3, 4, 5, 6, 7]
    assert [decision.line for decision in found.decisions] == [8]
    assert "77" not in str(found.faults[3])
