"""Mistakes in files, JJ files and tables."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

from .mistake import JOB, NOT_ADDITIVE, TABLE, Mistake

_NOT_JJ = (
    "a JJ file starts with a line that holds only 0 (it has no comments and no headings); this is "
    "another format, or its first line is missing\n"
)
_CELL_LINE = (
    "the line of a cell has 9 fields (cell number, value, cost, status, lower bound, upper bound, "
    "lower protection level, upper protection level, sliding protection level); this one has {}\n"
)


def _files() -> Iterator[Mistake]:
    about = "Files that cannot be read"
    missing = "tacit: none.jj: the file cannot be read: no such file or directory\n"
    yield Mistake(about, "a file that is not there", "info none.jj", missing)
    yield Mistake(
        about,
        "a directory in place of a file",
        "info folder.jj",
        "tacit: folder.jj: the file cannot be read: is a directory\n",
        files={"folder.jj": None},
    )
    yield Mistake(
        about,
        "an empty file",
        "info empty.jj",
        "tacit: empty.jj: the file is empty; was it written to its end?\n",
        files={"empty.jj": ""},
    )
    yield Mistake(
        about,
        "a binary file",
        "info picture.jj",
        "tacit: picture.jj: this is not a text file in ASCII or UTF-8\n",
        files={"picture.jj": bytes(range(256))},
    )
    yield Mistake(
        about,
        "a text file in UTF-16",
        "info wide.jj",
        "tacit: wide.jj: this is not a text file in ASCII or UTF-8\n",
        files={"wide.jj": TABLE.encode("utf-16")},
    )
    yield Mistake(
        about,
        "a compressed file that was cut off",
        "info table.jj.gz",
        "tacit: table.jj.gz: the gzip file is damaged or cut off\n",
        files={"table.jj.gz": gzip.compress(TABLE.encode())[:60]},
    )
    yield Mistake(
        about,
        "data in place of a job",
        "protect firms.csv",
        "tacit: firms.csv: this is data; a job in a .toml file says which table to make of it "
        "(tacit demo writes one)\n",
    )
    yield Mistake(
        about,
        "a job whose name is that of a JJ file",
        "protect job.jj",
        f"tacit: job.jj:1: {_NOT_JJ}",
        files={"job.jj": JOB},
    )


def _jj() -> Iterator[Mistake]:
    about = "JJ files"
    yield Mistake(
        about,
        "cells cut off",
        "info table.jj",
        f"tacit: table.jj:6: {_CELL_LINE.format(4)[:-1]} (expected: cell 3; line 2 announces 9 "
        "cells)\n",
        edits={"table.jj": (TABLE[TABLE.index(" 0 90000 0 0 0\n4 ") :], "")},
    )
    yield Mistake(
        about,
        "a relation cut off",
        "info table.jj",
        "tacit: table.jj:18: term 3 of relation 5 does not read `i (c)`: a cell number, its "
        "coefficient in parentheses\n",
        edits={"table.jj": ("0 3 : 2 (1) 5 (1) 8 (-1)\n", "0 3 : 2 (1) 5 (1) 8")},
    )
    yield Mistake(
        about,
        "a wrong separator",
        "info table.jj",
        f"tacit: table.jj:3: {_CELL_LINE.format(1)[:-1]} (expected: cell 0; line 2 announces 9 "
        "cells)\n",
        files={"table.jj": TABLE.replace(" ", ";")},
    )
    yield Mistake(
        about,
        "a decimal comma",
        "info table.jj",
        "tacit: table.jj:3: the value of cell 0 is not a number; write decimals with a point, not "
        "a comma (found digits that are not shown here)\n",
        edits={"table.jj": ("0 7351", "0 7351,5")},
    )
    for entry in ("nan", "inf"):
        yield Mistake(
            about,
            f"{entry} for a value",
            "info table.jj",
            "tacit: table.jj:3: the value of cell 0 must be a finite number\n",
            edits={"table.jj": ("0 7351", f"0 {entry}")},
        )
    yield Mistake(
        about,
        "a cell twice",
        "info table.jj",
        "tacit: table.jj:4: cells are numbered from 0 in the order of their lines; this must be "
        "cell 1\n",
        edits={"table.jj": ("1 8462", "0 8462")},
    )
    yield Mistake(
        about,
        "an unknown status",
        "info table.jj",
        "tacit: table.jj:3: the status must be s, u, z or m in lower case; found 'x'\n",
        edits={"table.jj": ("1 u", "1 x")},
    )
    yield Mistake(
        about,
        "a relation that names a cell that is not there",
        "info table.jj",
        "tacit: table.jj:13: term 3 of relation 0: there is no such cell; cells are 0 to 8\n",
        edits={"table.jj": ("2 (-1)", "12 (-1)")},
    )


def _tables() -> Iterator[Mistake]:
    about = "Tables that are wrong, and tables that cannot be protected"
    wrong = NOT_ADDITIVE.format("relation 0 (differs by 0.0063%); relation 3 (differs by 0.0061%)")
    yield Mistake(
        about,
        "a table that does not add up",
        "protect table.jj",
        f"tacit: table.jj: {wrong}",
        edits={"table.jj": ("0 7351", "0 7352")},
    )
    yield Mistake(
        about,
        "the same with `tacit info`",
        "info table.jj",
        f"tacit: table.jj: this table is wrong\n  {wrong}",
        edits={"table.jj": ("0 7351", "0 7352")},
    )
    yield Mistake(
        about,
        "the same with `tacit compare`",
        "compare table.jj",
        f"tacit: table.jj: {wrong}",
        edits={"table.jj": ("0 7351", "0 7352")},
    )
    yield Mistake(
        about,
        "a value outside its bounds",
        "protect table.jj",
        "tacit: table.jj: the value lies outside its bounds: cell 0; correct the one or the "
        "other\n",
        edits={"table.jj": ("u 0 90000", "u 8000 90000")},
    )
    yield Mistake(
        about,
        "a negative weight",
        "protect table.jj",
        "tacit: table.jj: the weight is negative: cell 0; give what it costs to lose the cell, at "
        "least 0\n",
        edits={"table.jj": ("7351 1", "7351 -1")},
    )
    yield Mistake(
        about,
        "a negative protection level",
        "protect table.jj",
        "tacit: table.jj: a protection level is negative: cell 0; give how uncertain the cell must "
        "stay, at least 0\n",
        edits={"table.jj": ("613 614", "613 -614")},
    )
    yield Mistake(
        about,
        "a level beyond known bounds",
        "protect table.jj",
        "tacit: table.jj: no safe pattern exists:\n  a protection level reaches beyond the bounds "
        "that an attacker knows: cell 0; widen the bounds or lower the level\n",
        code=2,
        edits={"table.jj": ("613 614", "613 614000")},
    )
    yield Mistake(
        about,
        "a level that cannot be met",
        "protect table.jj --out published.csv",
        "tacit: table.jj: no safe pattern exists; published.csv was not written:\n  cell 0 cannot "
        "be protected against external attackers: every other cell of one of its relations must be "
        "published or cannot vary (cell 1, cell 2), so that its lower and upper level is out "
        "of reach\n",
        code=2,
        files={"table.jj": TABLE.replace("1 s", "1 z")},
    )
    yield Mistake(
        about,
        "too few cells allowed",
        "protect table.jj --max-suppressed 0",
        "tacit: table.jj: no safe pattern exists:\n  at most 0 cells may be suppressed, but 1 are "
        "sensitive\n",
        code=2,
    )
    yield Mistake(
        about,
        "too little time",
        "protect table.jj --time-limit 1e-9 --json result.json --out published.csv",
        "tacit: table.jj: stopped before any safe pattern was known; published.csv was not "
        "written; allow more time with --time-limit\n  1 of 1 sensitive cells were still exposed "
        "or not looked at: cell 0\n",
        code=3,
    )
    yield Mistake(
        about,
        "no sensitive cells",
        "protect cells.toml",
        "note: no cell is sensitive, everything will be published\n",
        code=0,
    )
    yield Mistake(
        about,
        "single respondents of a table that does not name them",
        "protect table.jj --singletons local",
        "tacit: table.jj: this input does not say which cells have a single respondent (a JJ file "
        "cannot); leave out singletons\n",
    )
    yield Mistake(
        about,
        "insiders of a table that does not name contributors",
        "protect table.jj --insiders contributors",
        "tacit: table.jj: insiders are found in a table that knows its contributors, which this "
        "input is not (a JJ file or a problem); leave out insiders and coalition\n",
    )
    yield Mistake(
        about,
        "insiders and single respondents at once",
        "protect job.toml --insiders singletons --singletons global",
        "tacit: job.toml: insiders and singletons both say what contributors know; leave out "
        "singletons, which follows the papers, or say insiders = none\n",
    )


def mistakes_in_tables() -> Iterator[Mistake]:
    """All of them."""
    yield from _files()
    yield from _jj()
    yield from _tables()
