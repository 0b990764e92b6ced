"""The same table in any encoding, with any signs and line ends: read alike, or refused."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.entries import AmbiguousNumbersError, NumberFormat, Told, format_of, shapes_of
from tacit.errors import InputError
from tacit.io.cells import read_columns
from tacit.microdata import sniff, tabulate

ENCODINGS = ("utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le")
ENDS = ("\n", "\r\n", "\r\r\n", "\r")
PADDING = ("", " ", "\u00a0", "  ")
GROUPS = ("", " ", "\u00a0", "\u202f", "'", "\u2019", ".", ",")
CODES = ("Zürich", "Genève", "01", "2024Q1")


def as_written(value: float, digits: int, decimal: str, thousands: str) -> str:
    """A number with these signs."""
    plain = f"{value:,.{digits}f}" if thousands else f"{value:.{digits}f}"
    return plain.translate({ord(","): thousands, ord("."): decimal})


@st.composite
def files(draw: st.DrawFn) -> dict[str, Any]:
    """A file of codes and numbers, with the numbers and how they are written."""
    decimal = draw(st.sampled_from(".,"))
    thousands = draw(st.sampled_from([mark for mark in GROUPS if mark != decimal]))
    encoding = draw(st.sampled_from(ENCODINGS))
    if encoding == "cp1252" and thousands == "\u202f":
        encoding = "utf-8"
    delimiter = draw(st.sampled_from([mark for mark in ",;\t|" if mark not in decimal + thousands]))
    end, pad = draw(st.sampled_from(ENDS)), draw(st.sampled_from(PADDING))
    digits = draw(st.integers(0, 3))
    values = draw(st.lists(st.integers(-(10**8), 10**8), min_size=1, max_size=6))
    numbers = [round(value / 10**digits, digits) for value in values]
    codes = [CODES[place % len(CODES)] for place in range(len(numbers))]
    texts = [as_written(number, digits, decimal, thousands) for number in numbers]
    lines = [f"r{delimiter}v", *map(f"{pad}{delimiter}{pad}".join, zip(codes, texts, strict=True))]
    lines = [lines[0], *(f"{pad}{line}{pad}" for line in lines[1:])]
    return {
        "content": (end.join(lines) + end).encode(encoding),
        "texts": texts,
        "numbers": numbers,
        "codes": codes,
        "decimal": decimal,
        "thousands": thousands,
        "encoding": encoding,
    }


def _is_clear(texts: list[str]) -> bool:
    """Whether exactly one way to read all texts as numbers gives them their values."""
    ways: dict[tuple[float | None, ...], None] = {}
    for decimal in ".,":
        for marks in ("", ".", ",", " ", "'"):
            if marks != decimal:
                written = NumberFormat(decimal, marks)
                read = tuple(written.read(text) for text in texts)
                if None not in read:
                    ways[read] = None
    return len(ways) == 1


@settings(max_examples=40, deadline=None)
@given(files())
def test_microdata_are_read_alike_or_refused(file: dict[str, Any]) -> None:
    """What is tabulated is what was written; only numbers that are not clear are refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.csv"
        path.write_bytes(file["content"])
        try:
            table = tabulate(path, {"r": None}, "v")
        except InputError:
            assert not _is_clear(file["texts"]) or _lacks_proof(file)
            # Told what the signs are, it is read.
            told = {"decimal": file["decimal"], "thousands": file["thousands"]}
            table = tabulate(path, {"r": None}, "v", **told)
        found = dict(zip(table.codes("r").tolist(), table.value.tolist(), strict=True))
    for code in set(file["codes"]):
        own = [n for n, c in zip(file["numbers"], file["codes"], strict=True) if c == code]
        assert found[code] == pytest.approx(sum(own), abs=1e-6)
    assert len(found) == len(set(file["codes"])) + 1


def _lacks_proof(file: dict[str, Any]) -> bool:
    """Whether a point or comma separates thousands, and no number shows that."""
    mark = file["thousands"]
    shapes = shapes_of(file["texts"])
    return mark in ".," and not any(f"thousands {mark}" in shape for shape in shapes)


@settings(max_examples=40, deadline=None)
@given(files())
def test_finished_tables_are_read_alike_or_refused(file: dict[str, Any]) -> None:
    """Columns of a finished table are what was written, or refused until the signs are told."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cells.csv"
        path.write_bytes(file["content"])
        try:
            columns = read_columns(path, numbers=["v"])
        except InputError:
            assert not _is_clear(file["texts"]) or _lacks_proof(file)
            told = {"decimal": file["decimal"], "thousands": file["thousands"]}
            columns = read_columns(path, numbers=["v"], **told)
        found = sniff(path, decimal=file["decimal"], thousands=file["thousands"])
    assert columns["r"] == file["codes"]
    assert columns["v"] == pytest.approx(file["numbers"])
    assert found.header == ("r", "v")
    assert found.encoding is not None
    if not found.encoding_is_guess:
        assert found.encoding in (file["encoding"], "utf-8")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.from_regex(r"-?[0-9]{1,4}([., ][0-9]{1,3}){0,2}", fullmatch=True), max_size=4))
def test_a_guess_is_never_one_of_two_meanings(texts: list[str]) -> None:
    """Numbers that another decimal sign reads as well, with other values, are not guessed at."""
    try:
        guess = format_of(shapes_of(texts), Told())
    except AmbiguousNumbersError:
        return
    read = [guess.read(text) for text in texts]
    if None in read:
        return
    for decimal in ".,":
        for marks in ("", " ", "'", " .", " ,"):
            if decimal in marks:
                continue
            other = [NumberFormat(decimal, marks).read(text) for text in texts]
            assert None in other or other == read


def test_the_database_and_python_know_the_same_shapes(tmp_path: Path) -> None:
    """What DuckDB reads as numbers is what Python reads, text by text."""
    texts = ["1.5", "-2", "+3.", ".5", "1e3", "1 234.5", "\u22127", " 8 ", '"9"', "1\u202f000.25"]
    path = tmp_path / "records.csv"
    lines = [f"{place};{text}" for place, text in enumerate(texts)]
    path.write_text("\n".join(["r;v", *lines]).replace('"9"', '"""9"""'))
    table = tabulate(path, {"r": None}, "v")
    written = NumberFormat(".", " ")
    assert table.value[1:].tolist() == [written.read(text) for text in texts]
