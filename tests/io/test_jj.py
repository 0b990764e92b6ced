"""JJ files survive reading and writing unchanged, and faults are named with their line."""

from __future__ import annotations

import gzip
import math
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from tacit.errors import InputError
from tacit.io import jj
from tacit.io.jj import read_jj, read_jj_status, write_jj
from tacit.outcome import Suppression
from tacit.problem import Problem
from tests.io.random_problems import assert_same, problems

NAMES = (
    *("small", "example_2D", "targus", "table7", "table8", "table1", "hier13x7x7d", "hier13"),
    *("hier13x13x13a", "hier16x16x16a", "toy3dsarah", "ninenew", "osorio", "dale"),
    *("enterprise500", "cube8", "enterprise5k"),
)

SMALL = b"""0
4
0 77.25 3 s 0 1e+30 9 9 9
1 20 1 u 0 100 2 3.5 0
2 22.25 1 m -inf inf 0 0 0
3 35 0.5 z 35 35 0 0 0
2
0.0 4 : 0 (-1) 1 (1) 2 (1) 3 (1)
57.25 2 : 2 (1) 3 (1)
"""


NUMBER = re.compile(rb"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity|nan)", re.IGNORECASE)
TERM = rb"\s*([^\s()]+)\s*\(\s*([^\s()]+)\s*\)"


def slow_read(text: bytes) -> Problem | None:
    """A reader that knows nothing but the format; None where the text does not follow it."""
    lines = [line for line in re.split(rb"\r\n|\r|\n", text) if line.strip()]

    def number(field: bytes) -> float:
        if not NUMBER.fullmatch(field):
            raise ValueError
        return float(field)

    def finite(field: bytes) -> float:
        if not math.isfinite(number(field)):
            raise ValueError
        return float(field)

    def count(line: bytes) -> int:
        if not line.strip().isdigit():
            raise ValueError
        return int(line)

    try:
        if lines.pop(0).strip() != b"0":
            return None
        n = count(lines.pop(0))
        status, cells = [], np.zeros((n, 8))
        for cell in range(n):
            i, a, w, letter, *rest = lines.pop(0).split()
            bounds, levels = [number(end) for end in rest[:2]], [number(x) for x in rest[2:]]
            if number(i) != cell or letter not in (b"s", b"u", b"z", b"m") or len(levels) != 3:
                return None
            if any(map(math.isnan, bounds)):
                return None
            if letter == b"u" and not np.isfinite(levels).all():
                return None
            status.append(letter)
            cells[cell] = [cell, finite(a), finite(w), *bounds, *levels]
        m = count(lines.pop(0))
        A, b = np.zeros((m, n)), np.zeros(m)
        for row in range(m):
            head, tail = lines.pop(0).split(b":")
            rhs, k = head.split()
            b[row] = finite(rhs)
            terms = re.findall(TERM, tail)
            index = [number(i) for i, _ in terms]
            if not re.fullmatch(rb"(" + TERM + rb")*\s*", tail) or number(k) != len(terms):
                return None
            if len(set(index)) < len(index) or not set(index) <= set(range(n)):
                return None
            for i, (_, c) in zip(index, terms, strict=True):
                A[row, int(i)] = finite(c)
    except (ValueError, IndexError):
        return None
    if lines:
        return None
    sensitive = np.array([letter == b"u" for letter in status], bool)
    return Problem(
        value=cells[:, 1],
        weight=cells[:, 2],
        lower=cells[:, 3],
        upper=cells[:, 4],
        relations=sparse.csr_array(A),
        rhs=b,
        sensitive=np.flatnonzero(sensitive),
        lower_level=cells[sensitive, 5],
        upper_level=cells[sensitive, 6],
        sliding_level=cells[sensitive, 7],
        must_publish=np.array([letter == b"z" for letter in status], bool),
    )


def read_bytes(content: bytes) -> Problem:
    """Read a JJ file of this content."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "table.jj"
        path.write_bytes(content)
        return read_jj(path)


def test_all_parts_are_read() -> None:
    """Values, weights, bounds, levels, statuses and relations arrive where they belong."""
    problem = read_bytes(SMALL)
    expected = Problem(
        value=np.array([77.25, 20, 22.25, 35]),
        lower=np.array([0, 0, -np.inf, 35]),
        upper=np.array([1e30, 100, np.inf, 35]),
        weight=np.array([3, 1, 1, 0.5]),
        relations=sparse.csr_array(np.array([[-1.0, 1, 1, 1], [0, 0, 1, 1]])),
        rhs=np.array([0, 57.25]),
        sensitive=np.array([1]),
        lower_level=np.array([2.0]),
        upper_level=np.array([3.5]),
        must_publish=np.array([False, False, False, True]),
    )
    assert_same(problem, expected)
    assert_same(problem.validate(), expected)


@pytest.mark.parametrize("name", NAMES)
def test_public_instances_survive_a_round_trip(shared: Path, tmp_path: Path, name: str) -> None:
    """Each public instance loads, is valid, and is the same after writing and reading."""
    path = shared / "instances" / f"{name}.jj"
    problem = read_jj(path).validate()
    slow = slow_read(path.read_bytes())
    assert slow is not None
    assert_same(problem, slow)
    write_jj(problem, tmp_path / "again.jj")
    assert_same(read_jj(tmp_path / "again.jj"), problem)


def test_no_public_instance_is_left_out(shared: Path) -> None:
    """The list of instances above is complete."""
    assert {path.stem for path in (shared / "instances").glob("*.jj")} == set(NAMES)


@given(problems())
def test_random_problems_survive_a_round_trip(problem: Problem) -> None:
    """Negative, tiny, huge and infinite numbers read back identical, plain or compressed."""
    with tempfile.TemporaryDirectory() as directory:
        for name in ("table.jj", "table.jj.gz"):
            path = Path(directory) / name
            write_jj(problem, path)
            assert_same(read_jj(path), problem)


@given(problems())
def test_writing_in_blocks_changes_nothing(problem: Problem) -> None:
    """Files written a few lines at a time equal those written at once."""
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        whole, parts = Path(directory) / "whole.jj", Path(directory) / "parts.jj"
        write_jj(problem, whole)
        patch.setattr(jj, "_BLOCK", 3)
        write_jj(problem, parts)
        assert whole.read_bytes() == parts.read_bytes()


def test_whole_numbers_are_written_without_point(tmp_path: Path) -> None:
    """The text of a file is as short as the format allows."""
    path = tmp_path / "table.jj"
    write_jj(read_bytes(SMALL), path)
    assert path.read_bytes() == (
        SMALL.replace(b" m ", b" s ").replace(b"9 9 9", b"0 0 0").replace(b"0.0 4", b"0 4")
    )


edits = st.tuples(
    st.integers(0, len(SMALL)),
    st.integers(0, 3),
    st.sampled_from(
        [
            *(b"", b" ", b"\n", b"0", b"1", b"2", b"-", b"+", b".", b"e", b"_", b",", b"#", b"x"),
            *(b"(", b")", b":", b"u", b"m", b"nan", b"inf", b"\r\n", b"\t", b"\xa0", b"\x1c"),
            *(b"1 (1) ", b"0 0 0"),
        ]
    ),
)


@settings(max_examples=1000)
@given(st.lists(edits, min_size=1, max_size=3))
@example([(0, 0, b"")])
def test_changed_files_are_read_right_or_refused(changes: list[tuple[int, int, bytes]]) -> None:
    """Whatever happens to a file, it is read as the format says, or its faulty line is named."""
    content = SMALL
    for position, length, new in changes:
        content = content[:position] + new + content[position + length :]
    expected = slow_read(content)
    if expected is not None:
        assert_same(read_bytes(content), expected)
        return
    with pytest.raises(InputError) as caught:
        read_bytes(content)
    assert caught.value.line is not None
    assert 1 <= caught.value.line <= len(re.split(rb"\r\n|\r|\n", content))
    assert "77.25" not in str(caught.value)
    assert "22.25" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"\n", b"\r\n"),
        (b"\n", b"\r"),
        (b"\n", b" \n\n"),
        (b"0\n4", b"\xef\xbb\xbf0\n4"),
        (b" (", b"("),
        (b" (1)", b"\t( 1 )"),
        (b" : ", b":"),
        (b"-inf inf", b"-INF Infinity"),
        (b" 1e+30 ", b" 1.0E30 "),
        (b"57.25 2 : 2 (1) 3 (1)\n", b"57.25 2 : 2 (1) 3 (1)"),
        (b"57.25 2 : 2 (1) 3 (1)", b"57.25 2 : 3 (1) 2 (1)"),
    ],
)
def test_harmless_differences_are_accepted(old: bytes, new: bytes) -> None:
    """Line ends, blank lines, a byte order mark, spacing and order of terms do not matter."""
    assert old in SMALL
    assert_same(read_bytes(SMALL.replace(old, new)), read_bytes(SMALL))


FAULTS = [
    # what to replace, by what, line, message
    (SMALL, b"", None, "the file is empty"),
    (SMALL, b" \n\n", None, "the file is empty"),
    (b"0\n4", b"1\n4", 1, "starts with a line that holds only 0"),
    (b"0\n4", b"# a comment\n0\n4", 1, "it has no comments"),
    (b"0\n4", b"0\nfour", 2, "the number of cells must stand alone on this line; found 'four'"),
    (b"0\n4", b"0\n-4", 2, "the number of cells must stand alone"),
    (b"0\n4", b"0\n" + b"9" * 5000, 2, "the number of cells must stand alone"),
    (b"0\n4", b"0\n5", 7, "has 9 fields .*this one has 1 .expected: cell 4; line 2 announces 5"),
    (b"0\n4", b"0\n3", 6, "the number of relations must stand alone on this line; found 9 fields"),
    (b" 3.5 0", b" 3.5", 4, "this one has 8"),
    (b" 3.5 0", b" 3.5 0 7", 4, "this one has 10"),
    (b"20 1 u", b"20 1 x", 4, "the status must be s, u, z or m in lower case; found 'x'"),
    (b"20 1 u", b"20 1 U", 4, "found 'U'"),
    (b"20 1 u", b"20 1 uu", 4, "found 'uu'"),
    (b"20 1 u", b"20 u 1", 4, "the status must be .* found digits that are not shown here"),
    (b"1 20 1 u", b"2 20 1 u", 4, "this must be cell 1"),
    (b"0 77.25", b"1 77.25", 3, "cells are numbered from 0"),
    (b"77.25", b"77,25", 3, "the value of cell 0 is not a number; write decimals with a point"),
    (b"77.25", b"77.2.5", 3, "the value of cell 0 is not a number"),
    (b"77.25", b"7_7", 3, "the value of cell 0 is not a number"),
    (b"77.25", b"0x1", 3, "the value of cell 0 is not a number"),
    (b"77.25", b"many", 3, "the value of cell 0 is not a number .found 'many'"),
    (b"77.25", b"m\xc3\xa9", 3, r"the value of cell 0 is not a number .found 'm\\\\xc3\\\\xa9'"),
    (b"77.25", b"nan", 3, "the value of cell 0 must be a finite number"),
    (b"77.25", b"1e999", 3, "the value of cell 0 must be a finite number"),
    (b"0.5 z", b"inf z", 6, "the cost of cell 3 must be a finite number"),
    (b"-inf inf", b"-inf nan", 5, "the upper bound of cell 2 must be a number, inf or -inf"),
    (b"100 2 3.5", b"100 inf 3.5", 4, "the lower protection level of cell 1 must be a finite"),
    (b"2\n0.0", b"two\n0.0", 7, "the number of relations must stand alone on this line"),
    (b"2\n0.0", b"3\n0.0", 9, "the file ends here, before relation 2; line 7 announces 3 relation"),
    (b"2\n0.0", b"1\n0.0", 9, "the file goes on after its last relation .there are 1"),
    (SMALL[SMALL.rindex(b"57.25") :], b"", 8, "the file ends here, before relation 1"),
    (SMALL[SMALL.index(b"2\n0.0") :], b"", 6, "the file ends here, before the number of rela"),
    (
        SMALL[SMALL.index(b"3 35") :],
        b"",
        5,
        "the file ends here, before cell 3; line 2 announces",
    ),
    (SMALL[2:], b"", 1, "the file ends here, before the number of cells"),
    (b"4 : 0", b"4 0", 8, "a relation reads .*the colon is missing"),
    (b"0.0 4 :", b"4 :", 8, "a relation reads"),
    (b"0.0 4 :", b"0,0 4 :", 8, "the right-hand side of relation 0 is not a number; write dec"),
    (b"0.0 4 :", b"inf 4 :", 8, "the right-hand side of relation 0 must be a finite number"),
    (b"0.0 4 :", b"0.0 k :", 8, "the number of terms of relation 0 is not a number .found 'k'"),
    (b"0.0 4 :", b"0.0 5 :", 8, "relation 0 has 4 terms; the number before the colon says"),
    (b"57.25 2 : 2 (1)", b"57.25 2 :", 9, "relation 1 has 1 term; the number before"),
    (
        b"2 : 2 (1)",
        b"2 : 4 (1)",
        9,
        "term 1 of relation 1: there is no such cell; cells are 0 to 3",
    ),
    (b"2 : 2 (1)", b"2 : -1 (1)", 9, "term 1 of relation 1: there is no such cell"),
    (b"2 : 2 (1)", b"2 : 1.5 (1)", 9, "term 1 of relation 1: there is no such cell"),
    (b"2 : 2 (1)", b"2 : a (1)", 9, "the cell number in term 1 of relation 1 is not a number"),
    (b"2 : 2 (1)", b"2 : 3 (1)", 9, "term 2 of relation 1 names cell 3 again; add its coeff"),
    (b"2 : 2 (1)", b"2 : 2 1", 9, "term 1 of relation 1 does not read `i .c.`"),
    (b"2 : 2 (1)", b"2 : 2 (1", 9, "term 1 of relation 1 does not read `i .c.`"),
    (b"2 : 2 (1)", b"2 : 2 ()", 9, "term 1 of relation 1 does not read `i .c.`"),
    (b"2 : 2 (1)", b"2 : 2 (1 1)", 9, "term 1 of relation 1 does not read `i .c.`"),
    (b"2 : 2 (1)", b"2 : 2 (one)", 9, "the coefficient in term 1 of relation 1 is not a number"),
    (b"2 : 2 (1)", b"2 : 2 (1-1)", 9, "the coefficient in term 1 of relation 1 is not a number"),
    (b"2 : 2 (1)", b"2 : 2 (inf)", 9, "the coefficient in term 1 of relation 1 must be a finite"),
    (b"57.25 2 : 2 (1) 3 (1)\n", b"57.25 2 : 2 (1) 3 (1) 9\n", 9, "term 3 of relation 1 does not"),
    (b"57.25 2 : 2 (1) 3 (1)\n", b"57.25 2 : 2 (1) 3 (1)\nend\n", 10, "the file goes on after"),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), FAULTS)
def test_faults_are_named_with_their_line(
    tmp_path: Path, old: bytes, new: bytes, line: int | None, message: str
) -> None:
    """Each kind of malformed file is refused by a message with file and line."""
    assert SMALL.count(old) == 1
    path = tmp_path / "table.jj"
    path.write_bytes(SMALL.replace(old, new))
    for read in (read_jj, read_jj_status):
        # Only a problem looks at finiteness and repeated cells.
        if read is read_jj_status and re.search("finite|inf or|again", message):
            continue
        with pytest.raises(InputError, match=message) as caught:
            read(path)
        assert caught.value.path == path
        assert caught.value.line == line
        assert not re.search(r"77.25|22.25|\b20\b|3\.5", str(caught.value))


def test_fault_in_compressed_file_names_the_line_of_the_text(tmp_path: Path) -> None:
    """Lines are counted after decompression, blank lines included."""
    path = tmp_path / "table.jj.gz"
    path.write_bytes(
        gzip.compress(SMALL.replace(b"\n", b"\r\n\r\n").replace(b" u ", b" q "), mtime=0)
    )
    with pytest.raises(InputError, match=re.escape(f"{path}:7: the status")):
        read_jj(path)


def test_numbers_beyond_integers_stay_exact() -> None:
    """Whole numbers too long for an integer are read as the floats they are."""
    text = SMALL.replace(b"57.25 2", b"123456789012345678901234567890 2").replace(b"0.0 4", b"0 4")
    assert read_bytes(text).rhs.tolist() == [0, 123456789012345678901234567890.0]


def test_weights_are_chosen_when_reading(tmp_path: Path) -> None:
    """The choice of weights applies to the problem read."""
    path = tmp_path / "table.jj"
    path.write_bytes(SMALL)
    assert read_jj(path).weight.tolist() == [3, 1, 1, 0.5]
    assert read_jj(path, weights="unit").weight.tolist() == [1, 1, 1, 1]
    assert read_jj(path, weights="value").weight.tolist() == [77.25, 20, 22.25, 35]


@pytest.mark.parametrize("form", ["numbers", "mask", "solution"])
def test_suppressed_cells_are_marked(tmp_path: Path, form: str) -> None:
    """Suppressed cells that are not sensitive get the status m, and nothing else changes."""
    problem = read_bytes(SMALL)
    mask = np.array([True, True, False, False])
    forms: dict[str, Any] = {"numbers": [0, 1], "mask": mask, "solution": Suppression(mask)}
    path = tmp_path / "table.jj"
    write_jj(problem, path, suppressed=forms[form])
    assert read_jj_status(path).tolist() == ["m", "u", "s", "z"]
    assert_same(read_jj(path), problem)


@pytest.mark.parametrize(
    ("suppressed", "message"),
    [
        ([1, 3], "cell 3: suppressed, but must be published"),
        ([0, 2], "cell 1: sensitive, but not suppressed"),
        ([1, 4], "do not exist; they are 0 to 3"),
        ([-1, 1], "do not exist"),
        ([1.5], "do not exist"),
        (np.ones(3, bool), "suppressed has 3 entries; there are 4 cells"),
    ],
)
def test_contradictory_suppressions_are_refused(
    tmp_path: Path, suppressed: Any, message: str
) -> None:
    """What the format cannot say is refused before a file appears."""
    path = tmp_path / "table.jj"
    with pytest.raises(InputError, match=message):
        write_jj(read_bytes(SMALL), path, suppressed=suppressed)
    assert not path.exists()


def test_sensitive_cell_that_must_be_published_is_refused(tmp_path: Path) -> None:
    """A cell has one status."""
    problem = Problem(
        value=np.ones(1),
        sensitive=np.array([0]),
        must_publish=np.array([True]),
        labels=["north"],
    )
    with pytest.raises(InputError, match="cell north: sensitive and also to be published"):
        write_jj(problem, tmp_path / "table.jj")
