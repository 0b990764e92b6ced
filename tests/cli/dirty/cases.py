"""All kinds of dirty files that the tests try."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from functools import partial

from .case import NAMES, REGIONS, ROWS, Dirty, workbook, written

FIRMS = "firms.csv"
FROM_CP1252 = "note: firms.csv: read as text in cp1252 (guessed; encoding says otherwise)\n"
_GUESSED = "note: {}: numbers are read with {} (guessed; decimal and thousands say otherwise)\n"


def _numbers(how: str, file: str = FIRMS) -> str:
    return _GUESSED.format(file, how)


def _records(found: str, policy: str = "unreadable", line: int = 3, section: str = "data") -> str:
    return (
        f"tacit: job.toml:{line}: {section}: records cannot be tabulated: {found}; correct them, "
        f"or leave them out with {policy}='drop'\n"
    )


def _with(old: str, new: str) -> bytes:
    text = written().decode()
    assert old in text
    return text.replace(old, new, 1).encode()


def encodings() -> Iterator[Dirty]:
    """Files in other encodings, and with other line ends."""
    about = "Encodings and line ends"
    yield Dirty(
        about,
        "UTF-8 with a byte order mark, as Excel writes it",
        "",
        {FIRMS: written(encoding="utf-8-sig")},
    )
    yield Dirty(about, "Latin-1 or cp1252", FROM_CP1252, {FIRMS: written(encoding="cp1252")})
    yield Dirty(
        about,
        "cp1252, and the job says so",
        "",
        {FIRMS: written(encoding="cp1252")},
        [('"firms.csv"', '"firms.csv"\nencoding = "cp1252"')],
    )
    yield Dirty(
        about,
        "UTF-16, as Excel writes Unicode text",
        "note: firms.csv: read as text in utf-16 (by its first bytes)\n",
        {FIRMS: written(encoding="utf-16", delimiter="\t")},
    )
    yield Dirty(
        about,
        "UTF-16 without a byte order mark",
        "note: firms.csv: read as text in utf-16-le (guessed; encoding says otherwise)\n",
        {FIRMS: written(encoding="utf-16-le")},
    )
    yield Dirty(
        about,
        "an older code page",
        "tacit: firms.csv:2: this is not text in UTF-8, and probably not in cp1252 either; write "
        'encoding, such as encoding = "cp1252", "latin-1", "cp850" or "utf-16"\n',
        {FIRMS: written(encoding="cp850")},
        code=1,
    )
    yield Dirty(
        about,
        "an older code page, and the job says so",
        "",
        {FIRMS: written(encoding="cp850")},
        [('"firms.csv"', '"firms.csv"\nencoding = "cp850"')],
    )
    yield Dirty(
        about,
        "another encoding than the job says",
        "tacit: firms.csv:2: this is not text in UTF-8; write encoding, such as encoding = "
        '"cp1252", "latin-1", "cp850" or "utf-16"\n',
        {FIRMS: written(encoding="cp1252")},
        [('"firms.csv"', '"firms.csv"\nencoding = "utf-8"')],
        code=1,
    )
    yield Dirty(
        about,
        "a hierarchy in cp1252",
        "note: regions.csv: read as text in cp1252 (guessed; encoding says otherwise)\n",
        {"regions.csv": REGIONS.encode("cp1252")},
    )
    yield Dirty(about, "lines that end in `\\r\\r\\n`", "", {FIRMS: written(end="\r\r\n")})
    yield Dirty(about, "lines that end in `\\r`", "", {FIRMS: written(end="\r")})
    mixed = written().decode().split("\n")
    yield Dirty(
        about,
        "lines that end in different ways",
        "",
        {FIRMS: _mixed_ends(mixed)},
    )
    yield Dirty(
        about,
        "a mark of DOS at the end of the file",
        "",
        {FIRMS: written(end="\r\n") + b"\x1a"},
    )


def _mixed_ends(lines: list[str]) -> bytes:
    ends = ("\r\n", "\n")
    return "".join(line + ends[n % 2] for n, line in enumerate(lines[:-1])).encode()


def numbers() -> Iterator[Dirty]:
    """Decimal signs and thousands separators."""
    about = "Numbers"
    yield Dirty(
        about,
        "a decimal comma",
        _numbers("decimal comma"),
        {FIRMS: written(delimiter=";", decimal=",")},
        show="a;01;Zürich;1250,50",
    )
    yield Dirty(
        about,
        "a decimal comma, with a point between thousands",
        _numbers("decimal comma, a point between thousands"),
        {FIRMS: written(delimiter=";", decimal=",", thousands=".")},
        show="a;01;Zürich;1.250,50",
    )
    yield Dirty(
        about,
        "a comma between thousands",
        _numbers("decimal point, a comma between thousands"),
        {FIRMS: written(delimiter=";", thousands=",")},
        show="a;01;Zürich;1,250.50",
    )
    yield Dirty(
        about,
        "a blank between thousands",
        _numbers("decimal comma, a blank between thousands"),
        {FIRMS: written(delimiter=";", decimal=",", thousands=" ")},
        show="a;01;Zürich;1 250,50",
    )
    yield Dirty(
        about,
        "blanks that do not break a line between thousands, in cp1252",
        FROM_CP1252 + _numbers("decimal comma, a blank between thousands"),
        {FIRMS: written(delimiter=";", decimal=",", thousands="\u00a0", encoding="cp1252")},
    )
    yield Dirty(
        about,
        "narrow blanks between thousands",
        _numbers("decimal comma, a blank between thousands"),
        {FIRMS: written(delimiter="\t", decimal=",", thousands="\u202f")},
    )
    yield Dirty(
        about,
        "an apostrophe between thousands",
        _numbers("decimal point, an apostrophe between thousands"),
        {FIRMS: written(delimiter=";", thousands="'")},
        show="a;01;Zürich;1'250.50",
    )
    yield Dirty(
        about,
        "a point with three digits behind it, in every number",
        "tacit: firms.csv:2: column turnover: a point with three digits behind it may be a decimal "
        'point or separate thousands, and no number tells which; write decimal = "." or decimal = '
        '"," (then it separates thousands)\n',
        {FIRMS: written(delimiter=";", digits=0, thousands=".")},
        code=1,
        show="a;01;Zürich;1.250",
    )
    yield Dirty(
        about,
        "the same, and the job says what is the decimal sign",
        "",
        {FIRMS: written(delimiter=";", thousands=".", decimal=",")},
        [('"turnover"', '"turnover"\ndecimal = ","')],
    )
    yield Dirty(
        about,
        "one decimal comma among decimal points",
        _records(
            "turnover: not a number in 1 record (#,#) in firms.csv line 2, probably a decimal "
            "comma where other numbers have a decimal point"
        ),
        {FIRMS: _with("1250.50", '"1250,50"')},
        code=1,
        show='a,01,Zürich,"1250,50"',
    )
    yield Dirty(
        about,
        "another decimal sign than the job says",
        _records(
            "turnover: not a number in 6 records (#.#) in firms.csv lines 2, 3, 4, 5, 6 and 1 "
            "more, probably a decimal point where other numbers have a decimal comma"
        ),
        {},
        [('"turnover"', '"turnover"\ndecimal = ","')],
        code=1,
    )


def not_numbers() -> Iterator[Dirty]:
    """Text where a number belongs."""
    about = "Text where a number belongs"
    for title, entry, masked, cause in (
        ("a unit", "1250.50 EUR", "#.# EUR", "a unit: keep the number alone"),
        ("a percent sign", "1250%", "#%", "a unit: keep the number alone"),
        ("a dash", "-", "-", "a dash for zero or nothing: write 0, or leave it empty"),
        (
            "a mark for a figure that is not there",
            "..",
            "..",
            "a mark in place of a figure: leave it empty where there is none",
        ),
        ("a footnote", "1250.50 1)", "#.# #)", "a footnote mark: remove it"),
        (
            "a negative number in brackets",
            "(1250)",
            "(#)",
            "brackets for a negative number: write a minus sign",
        ),
        (
            "a minus sign behind the number",
            "1250-",
            "#-",
            "the minus sign stands behind: write it in front",
        ),
        (
            "an error of a spreadsheet",
            "#REF!",
            "#REF!",
            "an error of a spreadsheet: correct the formula",
        ),
        (
            "a date that a spreadsheet made of a number",
            "2024-01-12",
            "#-#-#",
            "a date: did a spreadsheet make one of a number?",
        ),
        (
            "a letter O for a zero",
            "125O.5",
            "#O.#",
            "a letter o or l in place of a digit: correct it",
        ),
    ):
        yield Dirty(
            about,
            title,
            _records(
                f"turnover: not a number in 1 record ({masked}) in firms.csv line 2, probably "
                f"{cause}"
            ),
            {FIRMS: _with("1250.50", entry)},
            code=1,
            show=f"a,01,Zürich,{entry}",
        )


def codes() -> Iterator[Dirty]:
    """Codes."""
    about = "Codes"
    yield Dirty(about, "blanks around entries", "", {FIRMS: written(around=" ")})
    yield Dirty(
        about,
        "blanks that do not break a line around entries",
        "",
        {FIRMS: written(around="\u00a0")},
    )
    yield Dirty(
        about,
        "blanks before quotation marks",
        "",
        {FIRMS: written(delimiter=";", around=" ", quote='"')},
        show=' "a" ; "01" ; "Zürich" ; "1250.50" ',
    )
    yield Dirty(
        about,
        "codes as formulas, to keep zeros in front",
        "",
        {FIRMS: written(delimiter=";").replace(b";01;", b';="01";').replace(b";02;", b";'02;")},
        show='a;="01";Zürich;1250.50',
    )
    yield Dirty(
        about,
        "blanks around codes of a hierarchy",
        "",
        {"regions.csv": "child ; parent\n Zürich ;Total\nGenève\u00a0; Total\n".encode()},
    )
    yield Dirty(
        about,
        "zeros in front that a spreadsheet dropped",
        _records(
            "industry: unknown code in 6 records (1, 2) in firms.csv lines 2, 3, 4, 5, 6 and 1 "
            "more, probably 01 with another number of zeros in front: did a spreadsheet drop them?",
            "unknown",
            6,
            "dimensions",
        ),
        {FIRMS: written().replace(b",01,", b",1,").replace(b",02,", b",2,")},
        code=1,
    )
    yield Dirty(
        about,
        "whole numbers as 1.0, because a program had to leave a gap",
        "note: firms.csv: industry: codes such as 1.0 are read as 1\n",
        {FIRMS: written().replace(b",01,", b",1.0,").replace(b",02,", b",2.0,")},
        [('codes = ["01", "02"]', 'codes = ["1", "2"]')],
    )
    yield Dirty(
        about,
        "codes in another case",
        _records(
            "region: unknown code in 3 records (zürich) in firms.csv lines 2, 3, 4, probably "
            "Zürich in another case",
            "unknown",
            9,
            "dimensions",
        ),
        {FIRMS: written().decode().replace("Zürich", "zürich").encode()},
        code=1,
    )
    yield Dirty(
        about,
        "a code that stands for missing ones",
        "",
        {FIRMS: _with("f,02,", "f,,")},
        [('"turnover"', '"turnover"\nmissing = {code = {industry = "99"}, safe = true}')],
        show="f,,Genève,7755.00",
    )
    yield Dirty(
        about,
        "a code that is missing",
        _records("industry: missing in 1 record in firms.csv line 7", "missing", 6, "dimensions"),
        {FIRMS: _with("f,02,", "f,,")},
        code=1,
        show="f,,Genève,7755.00",
    )


def layouts() -> Iterator[Dirty]:
    """Separators, lines, and other kinds of files."""
    about = "Separators, sheets and layouts"
    for name, mark in (("semicolons", ";"), ("tabulators", "\t"), ("bars", "|")):
        yield Dirty(about, f"{name} between columns", "", {FIRMS: written(delimiter=mark)})
    yield Dirty(
        about,
        "another separator, and the job says so",
        "",
        {FIRMS: written(delimiter="~")},
        [('"firms.csv"', '"firms.csv"\ndelimiter = "~"')],
    )
    yield Dirty(
        about,
        "a separator at the end of every line, and lines of nothing else below the records",
        "",
        {FIRMS: written(delimiter=";", end=";\n") + b";;;;\n;;;;\n"},
        show=";;;;",
    )
    sheet = [NAMES, *ROWS]
    xlsx = [('"firms.csv"', '"firms.xlsx"')]
    yield Dirty(
        about, "an Excel workbook", "", {"firms.xlsx": partial(workbook, {"Data": sheet})}, xlsx
    )
    yield Dirty(
        about,
        "an Excel workbook with several sheets, of which one has the columns",
        'note: firms.xlsx: sheet Data is read (sheet = "..." says otherwise)\n',
        {"firms.xlsx": partial(workbook, {"Notes": [["To be checked"]], "Data": sheet})},
        xlsx,
    )
    yield Dirty(
        about,
        "an Excel workbook with several sheets that could be meant",
        "tacit: firms.xlsx: there are several sheets (2023, 2024); name one, as in sheet = "
        '"2023"\n',
        {"firms.xlsx": partial(workbook, {"2023": sheet, "2024": sheet})},
        xlsx,
        code=1,
    )
    yield Dirty(
        about,
        "the same, and the job names a sheet",
        "",
        {"firms.xlsx": partial(workbook, {"2023": [NAMES], "2024": sheet})},
        [('"firms.csv"', '"firms.xlsx"\nsheet = "2024"')],
    )
    yield Dirty(
        about,
        "numbers as text in an Excel workbook",
        _numbers("decimal comma, a blank between thousands", "firms.xlsx"),
        {
            "firms.xlsx": partial(
                workbook,
                {
                    "Data": [
                        NAMES,
                        *(
                            (*row[:3], f"{row[3]:,.2f}".replace(",", "\u00a0").replace(".", ","))
                            for row in ROWS
                        ),
                    ]
                },
            )
        },
        xlsx,
    )
    yield Dirty(
        about,
        "text among numbers in an Excel workbook",
        _records("turnover: not a number in 1 record (k. A.) in firms.xlsx line 2"),
        {"firms.xlsx": partial(workbook, {"Data": [NAMES, (*ROWS[0][:3], "k. A."), *ROWS[1:]]})},
        xlsx,
        code=1,
    )
    yield Dirty(
        about,
        "a hierarchy in an Excel workbook",
        "",
        {
            "regions.xlsx": partial(
                workbook, {"NUTS": [("child", "parent"), ("Zürich", "Total"), ("Genève", "Total")]}
            )
        },
        [('"regions.csv"', '"regions.xlsx"')],
    )
    fixed = "".join(f"{a:<3}{b:<4}{c:<10}{d:>10.2f}\n" for a, b, c, d in ROWS)
    yield Dirty(
        about,
        "records of fixed width, with a layout",
        "",
        {
            "firms.asc": fixed.encode("cp1252"),
            "firms.rda": (
                b"firm 1 3\nindustry 4 2\n<RECODEABLE>\nregion 8 10\n<RECODEABLE>\n"
                b"turnover 18 10\n<NUMERIC>\n<DECIMALS> 2\n"
            ),
        },
        [('"firms.csv"', '"firms.asc"\nlayout = "firms.rda"')],
        show=fixed.splitlines()[0],
    )


def periods() -> Iterator[Dirty]:
    """Dates as codes."""
    about = "Dates and periods"
    days = (datetime.date(2024, 1, 31), datetime.date(2024, 2, 29))
    for title, texts in (
        ("months as codes", ("2024-01", "2024-02")),
        ("quarters as codes", ("2024Q1", "2024Q2")),
        ("days as codes", ("2024-01-31", "2024-02-29")),
    ):
        yield Dirty(
            about,
            title,
            "",
            {
                FIRMS: written()
                .replace(b",01,", f",{texts[0]},".encode())
                .replace(b",02,", f",{texts[1]},".encode())
            },
            [('codes = ["01", "02"]', f'codes = ["{texts[0]}", "{texts[1]}"]')],
        )
    rows = [(firm, days[code == "02"], region, number) for firm, code, region, number in ROWS]
    yield Dirty(
        about,
        "days in an Excel workbook",
        "",
        {"firms.xlsx": partial(workbook, {"Data": [NAMES, *rows]})},
        [
            ('"firms.csv"', '"firms.xlsx"'),
            ('codes = ["01", "02"]', 'codes = ["2024-01-31", "2024-02-29"]'),
        ],
    )


def all_cases() -> list[Dirty]:
    """Every case."""
    return [*encodings(), *numbers(), *not_numbers(), *codes(), *layouts(), *periods()]
