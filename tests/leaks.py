"""Looks for numbers that readers must not see, in whatever is about to be published.

`distinctive_release` protects a table whose confidential numbers occur nowhere else, and
`leaks` names those of them that it finds in any file: as text however it is written (1234567,
1,234,567, 1234567.0, 1.234567e6, rounded to no less than five digits), as binary numbers, and
inside of gzip, zip (Excel), Parquet and base64.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import html
import io
import re
import struct
import zipfile
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

import tacit
from tacit.methods.registry import METHODS

RULE_PARAMETER = 17.37529
LEAST_FIRMS = 40961.0
FEWEST_DIGITS = 5
"""A number with fewer digits than this is not recognised."""
FOUND_ANYWHERE = 7
"""So many first digits of a number are found also inside of other text."""

INDUSTRIES = tacit.Hierarchy.from_nested({"A": ["A1", "A2"], "B": ["B1", "B2"], "C": None})
_SEPARATORS = re.compile(r"(?<=\d)[\s.,'’_](?=\d)")
_NUMBERS = re.compile(r"\d+(?:[.,]\d+)?")
_GROUPED = re.compile(r"(?<!\d)\d{1,3}(?:[\s.,'’_]\d{3})+(?!\d)")
_BASE64 = re.compile(rb"[A-Za-z0-9+/]{24,}={0,2}")
_BINARY = ("<d", ">d", "<f", ">f", "<q", ">q", "<i", ">i")
OPTIONS: dict[str, dict[str, Any]] = {"round": {"base": 250_000_000.0}}
"""Options that a table of such numbers needs: a small base would leave their first digits."""


def distinctive_table(weight: str = "value") -> tacit.Table:
    """A table of whole numbers of nine digits, of which no two begin alike."""
    chance = np.random.default_rng(17)
    codes = [(industry, region) for industry in INDUSTRIES.leaves for region in "NSW"]
    value = chance.integers(10**8, 10**9, len(codes)).astype(float)
    largest = np.floor(value * chance.uniform(0.2, 0.4, len(codes)))
    second = np.floor(largest * chance.uniform(0.6, 0.9, len(codes)))
    firms = chance.integers(50_000, 99_999, len(codes)).astype(float)
    dominated = [codes.index(("A1", "N")), codes.index(("B2", "W"))]
    largest[dominated] = np.floor(value[dominated] * 0.9123457)
    second[dominated] = np.floor(value[dominated] * 0.0312345)
    firms[codes.index(("C", "S"))] = 31415.0
    frame = {
        "industry": [industry for industry, _ in codes],
        "region": [region for _, region in codes],
        "turnover": value,
        "firms": firms,
        "first": largest,
        "second": second,
    }
    table = tacit.Table.from_frame(
        frame,
        {"industry": INDUSTRIES, "region": None},
        value="turnover",
        count="firms",
        top=["first", "second"],
    )
    rules = (tacit.MinFrequency(int(LEAST_FIRMS)), tacit.PPercent(RULE_PARAMETER))
    return table.apply(*rules, weight=weight)


@cache
def distinctive_release(method: str, weight: str = "value") -> tacit.Release:
    """A release of the distinctive table by any method of the registry."""
    assert method in METHODS
    options = {"time_limit": 20, **OPTIONS.get(method, {})}
    return tacit.protect(distinctive_table(weight), method, **options)


def secrets(release: tacit.Release) -> dict[str, float]:
    """The numbers that readers must not see, each under a name for messages.

    They are the true values of cells that are not published as they are, all contributions and
    their numbers, the levels, the parameters of rules, and what adds up values: objective and
    bounds. Numbers that are published themselves, such as the end of an interval that lies on
    a true value, are none of them.
    """
    papers, published = release.papers, release.published
    problem, table, report = papers.problem, papers.table, papers.outcome.report
    assert table is not None
    assert table.top is not None
    assert table.count is not None
    labels = problem.labels
    assert labels is not None
    found: dict[str, float] = {}
    for cell in np.flatnonzero(~(published.value == problem.value)).tolist():
        found[f"value of {labels[cell]}"] = float(problem.value[cell])
    for cell, label in enumerate(labels):
        for rank, amount in enumerate(table.top[cell].tolist(), 1):
            found[f"contribution {rank} to {label}"] = amount
        found[f"contributors of {label}"] = float(table.count[cell])
    for name in ("lower_level", "upper_level", "sliding_level"):
        for cell, level in zip(problem.sensitive.tolist(), getattr(problem, name), strict=True):
            found[f"{name} of {labels[cell]}"] = float(level)
    found["p of the p% rule"] = RULE_PARAMETER
    found["minimum of the frequency rule"] = LEAST_FIRMS
    if set(problem.weight.tolist()) != {1.0}:
        found["objective"] = report.objective or 0.0
        found["bound"] = report.bound
        for point in report.trace:
            found[f"bound after {point.seconds} seconds"] = point.bound
            found[f"objective after {point.seconds} seconds"] = point.objective or 0.0
    columns = (published.value, published.lower, published.upper)
    public = {float(number) for column in columns if column is not None for number in column}
    return {
        name: number
        for name, number in found.items()
        if np.isfinite(number) and len(_digits(number)) >= FEWEST_DIGITS and number not in public
    }


def leaks(content: bytes | str, release: tacit.Release) -> list[str]:
    """The names of the secrets of a release that some content discloses; empty if none.

    Args:
        content: A text, or the bytes of a file: text, gzip, zip, Excel, Parquet, pickle, HTML
            with pictures in it.
        release: The release of a distinctive table.
    """
    hidden = secrets(release)
    found: dict[str, None] = {}
    for part in _parts(content.encode() if isinstance(content, str) else content):
        found |= dict.fromkeys(_in_text(part, hidden))
        found |= dict.fromkeys(_in_binary(part, hidden))
    return list(found)


def _digits(number: float) -> str:
    """The significant digits of a number."""
    return f"{abs(number):.15e}".split("e")[0].replace(".", "").rstrip("0")[:15]


def _rounded(number: float, digits: int) -> str:
    return f"{abs(number):.{digits - 1}e}".split("e")[0].replace(".", "").rstrip("0")


def _in_text(part: bytes, hidden: dict[str, float]) -> Iterator[str]:
    # Without zero bytes text of two bytes a letter is text of one.
    plain = part.replace(b"\0", b"").decode(errors="replace")
    text = html.unescape(plain)
    joined = _SEPARATORS.sub("", text)
    tokens = {*_NUMBERS.findall(text), *_GROUPED.findall(text)}
    shown = {re.sub(r"\D", "", token).lstrip("0").rstrip("0") for token in tokens}
    for name, number in hidden.items():
        digits = _digits(number)
        if len(digits) >= FOUND_ANYWHERE and digits[:FOUND_ANYWHERE] in joined:
            yield name
        lengths = range(FEWEST_DIGITS, len(digits) + 1)
        roundings = {_rounded(number, length) for length in lengths}
        if any(len(rounding) >= FEWEST_DIGITS for rounding in roundings & shown):
            yield name


def _in_binary(part: bytes, hidden: dict[str, float]) -> Iterator[str]:
    for name, number in hidden.items():
        for kind in _BINARY:
            whole = kind[1] in "qi"
            if whole and (number != int(number) or (kind[1] == "i" and abs(number) >= 2**31)):
                continue
            if struct.pack(kind, int(number) if whole else number) in part:
                yield name


def _parts(content: bytes) -> Iterator[bytes]:
    """The content itself, and whatever is packed in it."""
    yield content
    if content.startswith(b"\x1f\x8b"):
        yield from _parts(gzip.decompress(content))
    elif content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            yield archive.comment
            for entry in archive.infolist():
                yield from (entry.filename.encode(), entry.comment, entry.extra)
                yield from _parts(archive.read(entry))
    elif content.startswith(b"PAR1"):
        yield from _parquet_parts(content)
    else:
        for packed in _BASE64.findall(content):
            try:
                yield from _parts(base64.b64decode(packed + b"=" * (-len(packed) % 4)))
            except (binascii.Error, gzip.BadGzipFile, zipfile.BadZipFile, EOFError):
                continue


def _parquet_parts(content: bytes) -> Iterator[bytes]:
    """All columns, the metadata, and the statistics of every piece of a column."""
    import pyarrow.parquet as parquet

    file = parquet.ParquetFile(io.BytesIO(content))
    yield str(file.metadata.to_dict()).encode()
    yield str(file.schema_arrow.metadata).encode()
    yield str(file.read().to_pydict()).encode()
    for group in range(file.num_row_groups):
        for place in range(file.metadata.num_columns):
            yield str(file.metadata.row_group(group).column(place).statistics).encode()
