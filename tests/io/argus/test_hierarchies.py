"""Hierarchies: files with any lead string, levels within codes, missing values."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InputError
from tacit.hierarchy import Hierarchy
from tacit.io.argus.hierarchies import by_levels, flat, read_hrc


def _read(folder: Path, text: str, lead: str = "@", **how: object) -> Hierarchy:
    path = folder / "codes.hrc"
    path.write_bytes(text.encode("cp1252"))
    return read_hrc(path, lead, **how)  # type: ignore[arg-type]


def test_codes_keep_what_aligns_them(tmp_path: Path) -> None:
    """Finest codes are aligned to the width, others stay as they are; missing values come last."""
    found = _read(tmp_path, "Nr\r\n@ 1\r\n@2\r\nOs \r\n@10\r\n", width=2, missing=("99", "10"))
    assert found.codes == ("Total", "Nr", " 1", " 2", "Os", "10", "99")
    assert found.parents == (-1, 0, 1, 1, 0, 4, 0)


@pytest.mark.parametrize(("lead", "line"), [("@@", "@@@@b"), ("  ", "    b"), ("-", "  --b")])
def test_any_lead_string(tmp_path: Path, lead: str, line: str) -> None:
    """The lead string may have several characters or be blank, with blanks before it."""
    found = _read(tmp_path, f"é\n{lead}a\n{line}\n", lead, total="Ensemble")
    assert found.codes == ("Ensemble", "é", "a", "b")
    assert found.level.tolist() == [0, 1, 2, 3]


def test_codes_above_others_may_occur_twice(tmp_path: Path) -> None:
    """Records name finest codes only; a blank tells the second one from the first."""
    found = _read(tmp_path, "1\n@11\n@@a\n2\n@11\n@@b\n")
    assert found.codes == ("Total", "1", "11", "a", "2", "11 ", "b")


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("a\n@\n", 2, "no code"),
        ("a\n@@b\n", 2, "more than one level"),
        ("@a\n", 1, "more than one level"),
        ("a\na\n", 2, "listed more than once"),
        ("a\nTotal\n", 2, "is the total"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, told: str
) -> None:
    """The message names the line."""
    with pytest.raises(InputError, match=told) as caught:
        _read(tmp_path, text)
    assert caught.value.line == line


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    """There must be codes."""
    with pytest.raises(InputError, match="holds no codes"):
        _read(tmp_path, "\n\n")


def test_levels_within_codes() -> None:
    """Each level is a beginning of the code; missing values have no levels."""
    found = by_levels(["10300", "14210", "14500", "99999"], (3, 1, 1), missing=["99999"])
    assert found.codes == (
        "Total", "103", "1030", "10300", "142", "1421", "14210", "145", "1450", "14500", "99999",
    )  # fmt: skip
    assert found.parent_of("99999") == "Total"


@given(st.lists(st.text("0123", min_size=4, max_size=4), unique=True, min_size=1))
def test_levels_within_codes_are_beginnings(codes: list[str]) -> None:
    """Whatever the codes, all of them are finest, and what lies above is their beginning."""
    found = by_levels(codes, (1, 2, 1))
    assert set(found.leaves) == set(codes)
    for code in codes:
        assert found.ancestors(code) == (code[:3], code[:1], "Total")


def test_flat_codes_are_in_order() -> None:
    """Aligned numbers are in the order of their size, missing values last, total on top."""
    found = flat([" 9", "10", " 2", "Total"], width=2, missing=("5", "99"))
    assert found.codes == ("Total", " 2", " 9", "10", " 5", "99")
