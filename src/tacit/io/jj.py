"""JJ files: a table with its relations as plain text, the form researchers exchange.

    0                                                  always 0
    34                                                 number of cells n
    0 300 1 u 0 345 15 20 0                            n lines, one per cell
    10                                                 number of relations m
    0 3 : 0 (-1) 1 (1) 2 (1)                           m lines, one per relation

A cell line holds the cell's number (from 0), value, cost, status, the bounds that an attacker
knows and the lower, upper and sliding protection level. Status is `u` (sensitive), `s` (free),
`z` (must be published) or `m` (suppressed to protect others; a free cell of the problem).
Levels count only where the status is `u`. A relation `rhs k : i (c) ...` has k terms and means
that the sum of c times cell i equals rhs.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.errors import InputError, ProblemError
from tacit.io.files import read_content, replacing
from tacit.io.jj_faults import MOST_DIGITS, raise_first_fault
from tacit.io.weights import Weights, with_weights
from tacit.outcome import Suppression
from tacit.problem import Booleans, Floats, Integers, Problem

_CELL = np.dtype(
    [("cell", "f8"), ("value", "f8"), ("cost", "f8"), ("status", "S2"), ("lower", "f8")]
    + [(name, "f8") for name in ("upper", "lower_level", "upper_level", "sliding_level")]
)
"""The line of a cell; statuses are read with a second letter to notice one too many."""

CELL_FIELDS = len(_CELL.fields or ())
_STATUSES = b"suzm"
_SPACES = b" \t\n\r\v\f"
_TEXT = bytes(range(32, 127)) + _SPACES
_BLANK_LINES = re.compile(rb"\n\s*\n")
_BLANK_PUNCTUATION = bytes.maketrans(b"():", b"   ")
_BLOCK = 1 << 16
"""Lines or terms that are written at a time: text takes more memory than numbers."""

# What relations consist of: numbers N, opening and closing parentheses, colons and line ends.
_SYNTAX = bytes.maketrans(
    bytes(set(range(256)) - set(b"():\n" + _SPACES)) + _SPACES.replace(b"\n", b""),
    b"N" * (256 - len(b"():" + _SPACES)) + b" " * (len(_SPACES) - 1),
)
_SPACE, _NUMBER, _LINE_END, _TERM = b" N\nT"


_Number = TypeVar("_Number", np.int64, np.float64)


class _IrregularError(Exception):
    """The bytes are not a JJ file; which line is at fault is found separately."""


@dataclass(frozen=True)
class _Contents:
    """What a JJ file holds: the columns of its cells by name, and its relations."""

    cells: npt.NDArray[np.void]
    relations: sparse.csr_array[np.float64, tuple[int, int]]
    rhs: Floats


def read_jj(path: str | Path, *, weights: Weights = "file") -> Problem:
    """Read a JJ file, plain or gzip.

    Whether the table adds up is not looked at: call `Problem.validate` for that.

    Args:
        path: The file.
        weights: `file` takes the costs of the file as weights, `unit` makes them all 1,
            `value` takes the magnitude of each value, and 1 where the value is 0.

    Raises:
        InputError: The file cannot be read; the message names the line.
    """
    content = read_content(path)
    try:
        problem = _problem(_parse(content))
    except (_IrregularError, ProblemError):
        raise_first_fault(content, path)
    return with_weights(problem, weights)


def read_jj_status(path: str | Path) -> npt.NDArray[np.str_]:
    """The status letter of each cell of a JJ file: cells `u` and `m` are suppressed."""
    content = read_content(path)
    try:
        status = _parse(content).cells["status"]
    except _IrregularError:
        raise_first_fault(content, path)
    return status.astype("U1")


def _problem(contents: _Contents) -> Problem:
    cells = contents.cells
    sensitive = np.flatnonzero(cells["status"] == b"u")
    return Problem(
        value=cells["value"],
        lower=cells["lower"],
        upper=cells["upper"],
        weight=cells["cost"],
        relations=contents.relations,
        rhs=contents.rhs,
        sensitive=sensitive,
        lower_level=cells["lower_level"][sensitive],
        upper_level=cells["upper_level"][sensitive],
        sliding_level=cells["sliding_level"][sensitive],
        must_publish=cells["status"] == b"z",
    )


def _expect(condition: bool | np.bool_) -> None:
    if not condition:
        raise _IrregularError


def _parse(content: bytes) -> _Contents:
    # Other bytes might pass for spaces in one place and for part of a number in another.
    _expect(not content.translate(None, _TEXT))
    content = _BLANK_LINES.sub(b"\n", content.strip()) + b"\n"
    line_end = np.flatnonzero(np.frombuffer(content, np.uint8) == _LINE_END) + 1
    starts = np.append(0, line_end)

    def text(begin: int, end: int) -> bytes:
        return content[starts[begin] : starts[end]]

    def count(line: int) -> int:
        _expect(line < len(line_end))
        number = text(line, line + 1).strip()
        _expect(number.isdigit() and len(number) <= MOST_DIGITS)
        return int(number)

    _expect(text(0, 1).strip() == b"0")
    n = count(1)
    m = count(2 + n)
    _expect(len(line_end) == 3 + n + m)
    cells = _parse_cells(text(2, 2 + n), n)
    relations, rhs = _parse_relations(text(3 + n, 3 + n + m), n, m)
    return _Contents(cells, relations, rhs)


def _parse_cells(text: bytes, n: int) -> npt.NDArray[np.void]:
    if n == 0:
        return np.zeros(0, _CELL)
    try:
        cells = np.loadtxt(io.BytesIO(text), _CELL, comments=None, ndmin=1)
    except ValueError:
        raise _IrregularError from None
    _expect(len(cells) == n and (cells["cell"] == np.arange(n)).all())
    _expect(np.isin(cells["status"], [bytes([letter]) for letter in _STATUSES]).all())
    return cells


def _parse_relations(
    text: bytes, n: int, m: int
) -> tuple[sparse.csr_array[np.float64, tuple[int, int]], Floats]:
    if m == 0:
        return sparse.csr_array((0, n)), np.zeros(0)
    symbols = np.frombuffer(text.translate(_SYNTAX), np.uint8)
    # A number is one symbol however many bytes it has.
    starts = symbols != _SPACE
    starts[1:] &= (symbols[1:] != _NUMBER) | (symbols[:-1] != _NUMBER)
    phrases = np.frombuffer(symbols[starts].tobytes().replace(b"N(N)", b"T"), np.uint8)
    # Each relation now reads NN:, its terms T, and a line end.
    after = np.flatnonzero(phrases == _LINE_END) + 1
    first = np.append(0, after[:-1])
    k = after - first - 4
    _expect((k >= 0).all())
    for offset, symbol in enumerate(b"NN:"):
        _expect((phrases[first + offset] == symbol).all())
    _expect(np.count_nonzero(phrases == _TERM) == k.sum())

    numbers = _numbers(text.translate(_BLANK_PUNCTUATION), int(2 * m + 2 * k.sum()))
    indptr = np.append(0, np.cumsum(k))
    head = 2 * indptr[:-1] + 2 * np.arange(m)
    is_term = np.ones(len(numbers), bool)
    is_term[head] = is_term[head + 1] = False
    _expect((numbers[head + 1] == k).all())
    cell, coefficient = numbers[is_term].reshape(-1, 2).T
    _expect(((cell >= 0) & (cell < n) & (cell == np.trunc(cell))).all())
    matrix = (coefficient.astype(np.float64), cell.astype(np.int64), indptr)
    return sparse.csr_array(matrix, shape=(m, n)), numbers[head].astype(np.float64)


def _numbers(text: bytes, count: int) -> Floats | Integers:
    """The numbers of a text that has `count` fields, all of which must be numbers."""
    # Whole numbers are read several times faster; many writers give right-hand sides as 0.0.
    compact = (b"\n" + text).replace(b"\n0.0 ", b"\n0 ")
    whole = _fields(compact, np.int64)
    # Beyond these limits an integer may have been cut off to what fits.
    if whole is not None and ((whole > -(2**53)) & (whole < 2**53)).all():
        numbers: Floats | Integers | None = whole
    else:
        numbers = _fields(compact, np.float64)
    # A field such as 1-2 is read as two numbers.
    if numbers is None or len(numbers) != count:
        raise _IrregularError
    return numbers


def _fields(text: bytes, kind: type[_Number]) -> npt.NDArray[_Number] | None:
    """All fields of a text as numbers of one kind, or None where one is not."""
    try:
        # Some versions of numpy warn where later ones raise an error.
        with warnings.catch_warnings(action="error", category=DeprecationWarning):
            return np.fromstring(text, kind, sep=" ")
    except (ValueError, DeprecationWarning):
        return None


def write_jj(
    problem: Problem,
    path: str | Path,
    *,
    suppressed: Suppression | Booleans | Integers | Sequence[int] | None = None,
    confidential: bool = True,
) -> None:
    """Write a problem as a JJ file; a name in `.gz` compresses.

    Numbers are written with the fewest digits that read back identical. Labels and singletons
    have no place in the format. The file appears complete or not at all. It holds true values:
    keep it as confidential as the table.

    Args:
        problem: The problem.
        path: Where to write; an existing file is replaced.
        suppressed: The suppressed cells, as a mask or as numbers. Those that are not sensitive
            get the status `m`.
        confidential: Whether a new file is for its owner alone; false where the values are
            published or made up.

    Raises:
        InputError: The statuses contradict each other, or the file cannot be written.
    """
    status = _statuses(problem, suppressed)
    with replacing(path, confidential=confidential) as stream:
        stream.write(f"0\n{problem.cell_count}\n".encode())
        for block in _cell_lines(problem, status):
            stream.write(block.encode())
        stream.write(f"{problem.relation_count}\n".encode())
        for block in _relation_lines(problem):
            stream.write(block.encode())


def _statuses(
    problem: Problem, suppressed: Suppression | Booleans | Integers | Sequence[int] | None
) -> npt.NDArray[np.str_]:
    is_sensitive, must_publish = problem.is_sensitive, problem.must_publish
    both = np.flatnonzero(is_sensitive & must_publish)
    if len(both):
        raise InputError(
            f"{problem.name_cells(both)}: sensitive and also to be published; choose one"
        )
    status = np.where(is_sensitive, "u", np.where(must_publish, "z", "s"))
    if suppressed is None:
        return status
    hidden = _mask(problem, suppressed)
    left_out = np.flatnonzero(hidden & must_publish)
    if len(left_out):
        raise InputError(f"{problem.name_cells(left_out)}: suppressed, but must be published")
    open_to_all = np.flatnonzero(is_sensitive & ~hidden)
    if len(open_to_all):
        raise InputError(
            f"{problem.name_cells(open_to_all)}: sensitive, but not suppressed; a JJ file cannot "
            "say so, use the JSON form"
        )
    return np.where(hidden & ~is_sensitive, "m", status)


def _mask(
    problem: Problem, suppressed: Suppression | Booleans | Integers | Sequence[int]
) -> Booleans:
    n = problem.cell_count
    given = suppressed.suppressed if isinstance(suppressed, Suppression) else suppressed
    cells = np.asarray(given)
    if cells.dtype == bool:
        if cells.shape != (n,):
            raise InputError(f"suppressed has {cells.size} entries; there are {n} cells")
        return cells
    if cells.size and (cells.dtype.kind not in "iu" or cells.min() < 0 or cells.max() >= n):
        raise InputError(f"suppressed names cells that do not exist; they are 0 to {n - 1}")
    mask = np.zeros(n, bool)
    mask[cells.astype(np.int64)] = True
    return mask


def _cell_lines(problem: Problem, status: npt.NDArray[np.str_]) -> Iterator[str]:
    n = problem.cell_count
    levels = np.zeros((3, n))
    levels[:, problem.sensitive] = [
        problem.lower_level,
        problem.upper_level,
        problem.sliding_level,
    ]
    for begin in range(0, n, _BLOCK):
        block = slice(begin, min(begin + _BLOCK, n))
        columns = [
            map(str, range(block.start, block.stop)),
            _texts(problem.value[block]),
            _texts(problem.weight[block]),
            status[block].tolist(),
            _texts(problem.lower[block]),
            _texts(problem.upper[block]),
            *(_texts(level[block]) for level in levels),
        ]
        yield "\n".join(map(" ".join, zip(*columns, strict=True))) + "\n"


def _relation_lines(problem: Problem) -> Iterator[str]:
    A, m = problem.relations, problem.relation_count
    indptr = A.indptr.astype(np.int64)
    begin = 0
    while begin < m:
        # As many relations as fit in a block, and at least one.
        end = int(np.searchsorted(indptr, indptr[begin] + _BLOCK, side="right")) - 1
        end = min(max(end, begin + 1), begin + _BLOCK, m)
        terms = slice(indptr[begin], indptr[end])
        k = np.diff(indptr[begin : end + 1])
        heads = map("\n{} {} :".format, _texts(problem.rhs[begin:end]), k.tolist())
        cells = A.indices[terms].tolist()
        pieces = np.empty(end - begin + len(cells), object)
        is_head = np.zeros(len(pieces), bool)
        is_head[indptr[begin:end] - indptr[begin] + np.arange(end - begin)] = True
        pieces[is_head] = list(heads)
        pieces[~is_head] = list(map(" {} ({})".format, cells, _texts(A.data[terms])))
        yield "".join(pieces.tolist())[1:] + "\n"
        begin = end


def _texts(numbers: Floats) -> list[str]:
    """Each number with the fewest digits that read back identical, whole ones without point."""
    minus_zero = (numbers == 0) & np.signbit(numbers)
    if ((np.abs(numbers) < 2**53) & (numbers == np.trunc(numbers)) & ~minus_zero).all():
        return list(map(str, numbers.astype(np.int64).tolist()))
    joined = "\n".join(map(repr, numbers.tolist())) + "\n"
    return joined.replace(".0\n", "\n").split("\n")[:-1]
