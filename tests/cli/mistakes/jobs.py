"""Mistakes in jobs, microdata, finished tables and hierarchies."""

from __future__ import annotations

from collections.abc import Iterator

from .mistake import CELLS, FIRMS, NOT_ADDITIVE, Mistake


def _jobs() -> Iterator[Mistake]:
    about = "Jobs"

    def job(title: str, old: str, new: str, printed: str) -> Mistake:
        return Mistake(
            about, title, "protect job.toml", f"tacit: {printed}\n", edits={"job.toml": (old, new)}
        )

    yield job(
        "a text that is not closed",
        '"turnover"',
        '"turnover',
        "job.toml:3: this is not TOML: a text is not closed; put a quotation mark at its end",
    )
    yield job(
        "a key twice",
        'contributor = "firm"',
        'value = "staff"',
        "job.toml:4: this is not TOML: cannot overwrite a value",
    )
    yield job(
        "a misspelt key",
        "contributor",
        "contributer",
        "job.toml:4: data: unknown key 'contributer'; did you mean 'contributor'?",
    )
    yield job(
        "text where a number belongs",
        "time_limit = 5",
        'time_limit = "5 s"',
        "job.toml:17: method: option 'time_limit' must be a number; it is a text",
    )
    yield job(
        "a misspelt method",
        '"suppress"',
        '"supress"',
        "job.toml:16: method: 'name' cannot be 'supress'; did you mean 'suppress'?",
    )
    yield job(
        "a misspelt rule",
        '"p-percent"',
        '"p-procent"',
        "job.toml:12: rules[0]: there is no rule 'p-procent'; did you mean 'p-percent'?",
    )
    yield job(
        "labels of codes that do not exist",
        'file = "regions.csv"',
        'file = "regions.csv"\nlabels = {N = "North", W = "West"}',
        "job.toml:8: dimensions.region: there are labels of W, but no such codes; correct them, "
        'leave them out, or say unknown_labels = "ignore" in the job',
    )
    yield job(
        "a query that does more than read",
        'microdata = "firms.csv"',
        'database = "firms.duckdb"\nquery = "SELECT * FROM f; COPY f TO \'f.csv\'"',
        "job.toml:3: data: query holds 2 statements; write one SELECT",
    )
    yield job(
        "a file twice",
        '"firms.csv"',
        '["firms.csv", "f*.csv"]',
        "job.toml:2: data: records would be counted twice: firms.csv is named more than once, or "
        "is a link to another of the files; name each file once",
    )
    yield Mistake(
        about,
        "a mark that publishes what a rule protects",
        "protect job.toml",
        "tacit: job.toml: cells are marked as safe or to be published, but are sensitive: "
        "(region=N, size=large) by p%; take the marks away, or set override = true (Manual(..., "
        "override=True)) if it is decided to publish them nevertheless\n",
        files={"marks.csv": "region,size,status\nN,large,publish\n"},
        edits={
            "job.toml": ("[method]", '[[rules]]\nrule = "manual"\nmarks = "marks.csv"\n\n[method]')
        },
    )
    yield job(
        "a parameter that makes no sense",
        "p = 17",
        "p = 170",
        "job.toml:13: rules[0]: p must be a number above 0 and below 100",
    )
    yield job(
        "a column that is not there",
        '"turnover"',
        '"turnovr"',
        "job.toml:3: data: there is no column turnovr; the columns are firm, region, size, "
        "turnover, staff",
    )
    yield job(
        "an output that would replace an input",
        '"published.csv"',
        '"firms.csv"',
        "firms.csv: this output would replace an input; name another",
    )
    yield Mistake(
        about,
        "an empty job",
        "protect empty.toml",
        "tacit: empty.toml: there is no [data]; it names what to protect\n",
        files={"empty.toml": ""},
    )


def _microdata() -> Iterator[Mistake]:
    about = "Microdata"

    def firms(title: str, content: str | bytes, printed: str) -> Mistake:
        return Mistake(
            about, title, "protect job.toml", f"tacit: {printed}\n", files={"firms.csv": content}
        )

    yield firms(
        "an empty file of records",
        "",
        "firms.csv: the first line is empty; it must name the columns",
    )
    yield firms(
        "names of columns, but no records",
        FIRMS.partition("\n")[0] + "\n",
        "job.toml:1: data: there are no records, only the names of columns",
    )
    yield firms(
        "an unknown separator",
        FIRMS.replace(",", " "),
        "job.toml:6: dimensions: there are no columns region, size, turnover, firm; the first line "
        "names a single column: which character separates the columns?",
    )
    yield firms(
        "no line with the names of columns",
        FIRMS.partition("\n")[2],
        "job.toml:6: dimensions: there are no columns region, size, turnover, firm; some columns "
        "have numbers for names: does the first line name the columns?",
    )
    yield firms(
        "a record with too many entries",
        FIRMS.replace("8462,22", "8,462,22"),
        "firms.csv:4: a record of 6 entries, but the first line names 5 columns; correct it, or "
        "quote entries that contain the separator",
    )
    yield firms(
        "records in an encoding that nobody can guess",
        FIRMS.replace("a,N", "\u00fc,N").encode("cp850"),
        "firms.csv:2: this is not text in UTF-8, and probably not in cp1252 either; write "
        'encoding, such as encoding = "cp1252", "latin-1", "cp850" or "utf-16"',
    )
    yield firms(
        "text in a column of numbers",
        FIRMS.replace("7351", "7351 EUR"),
        "job.toml:3: data: records cannot be tabulated: turnover: not a number in 1 record (# "
        "EUR) in firms.csv line 2, probably a unit: keep the number alone; correct "
        "them, or leave them out with unreadable='drop'",
    )
    yield firms(
        "an infinite number",
        FIRMS.replace("7351", "inf"),
        "job.toml:3: data: records cannot be tabulated: turnover: not a number in 1 record (inf) "
        "in firms.csv line 2, probably an infinite number: correct it; "
        "correct them, or leave them out with unreadable='drop'",
    )
    yield firms(
        "a missing number",
        FIRMS.replace("7351", "NaN"),
        "job.toml:3: data: records cannot be tabulated: turnover: missing in 1 record in "
        "firms.csv line 2; correct them, or leave them out with missing='drop'",
    )
    yield firms(
        "a code that the hierarchy does not know",
        FIRMS.replace("a,N", "a,W"),
        "job.toml:6: dimensions: records cannot be tabulated: region: unknown code in 1 record "
        "(W) in firms.csv line 2; correct them, or leave them out with unknown='drop'",
    )
    yield Mistake(
        about,
        "a negative sampling weight",
        "protect job.toml",
        "tacit: job.toml:5: data: records cannot be tabulated: staff: negative weight in 1 record "
        "in firms.csv line 2; correct them, or leave them out with unreadable='drop'\n",
        files={"firms.csv": FIRMS.replace(",31\n", ",-31\n")},
        edits={"job.toml": ('"firm"\n', '"firm"\nweight = "staff"\n')},
    )
    yield Mistake(
        about,
        "a damaged Parquet file",
        "protect job.toml",
        "tacit: firms.parquet: this is not a Parquet file, or it is damaged\n",
        files={"firms.parquet": b"PAR0" * 20},
        edits={"job.toml": ("firms.csv", "firms.parquet")},
    )
    yield Mistake(
        about,
        "a directory without Parquet files",
        "protect job.toml",
        "tacit: firms: this is a directory without Parquet files; name a file\n",
        files={"firms": None},
        edits={"job.toml": ("firms.csv", "firms")},
    )
    yield Mistake(
        about,
        "files that are not there",
        "tabulate none.csv --config job.toml --out table.confidential.csv",
        "tacit: none.csv: the file cannot be read: no such file\n",
    )


def _cells() -> Iterator[Mistake]:
    about = "Finished tables and hierarchies"

    def cells(title: str, content: str, printed: str) -> Mistake:
        return Mistake(
            about, title, "protect cells.toml", f"tacit: {printed}\n", files={"cells.csv": content}
        )

    yield cells(
        "a cell twice in a table",
        CELLS + "N,large,7351\n",
        "cells.toml:4: dimensions: cells occur more than once: (region=N, size=large); keep one of "
        "each",
    )
    yield cells(
        "a cell without a number",
        CELLS.replace("7351", ""),
        "cells.toml:4: dimensions: the value is missing or infinite: (region=N, size=large); "
        "correct the cells",
    )
    yield cells(
        "a unit beside a number",
        CELLS.replace("7351", "7351 EUR"),
        "cells.csv:7: column value: this is not a number; probably a unit: keep the number alone",
    )
    yield cells(
        "a table with an unknown separator",
        CELLS.replace(",", "~"),
        "cells.toml:4: dimensions.region: there is no column region in cells.csv; the first line "
        "names a single column: which character separates the columns?",
    )
    yield cells(
        "a table without cells",
        CELLS.partition("\n")[0] + "\n",
        "cells.csv: there are no cells, only the names of columns",
    )
    yield Mistake(
        about,
        "a table that does not add up, in a job",
        "protect cells.toml",
        "note: no cell is sensitive, everything will be published\ntacit: cells.toml: "
        + NOT_ADDITIVE.format(
            "region=N: Total = large + small (differs by 0.0063%); size=large: Total = N + S "
            "(differs by 0.0061%)"
        ),
        files={"cells.csv": CELLS.replace("7351", "7352")},
    )
    for title, content, printed in (
        (
            "a hierarchy with a cycle",
            "child,parent\nN,S\nS,N\n",
            "regions.csv: codes lie below themselves: N below S below N; correct the parent of one "
            "of them",
        ),
        (
            "a code twice in a hierarchy",
            "child,parent\nN,Total\nS,Total\nN,Total\n",
            "regions.csv: codes N are listed more than once; list each code once",
        ),
        (
            "a hierarchy with other columns",
            "code,above\nN,Total\n",
            "regions.csv: there is no column 'child'; the columns are code, above",
        ),
    ):
        yield Mistake(
            about, title, "protect job.toml", f"tacit: {printed}\n", files={"regions.csv": content}
        )


LAST = """\
region,size,value
Total,Total,30000
N,Total,15000
"""


def _wishes() -> Iterator[Mistake]:
    about = "Wishes, and the last publication"

    def wish(title: str, text: str, printed: str, code: int = 1) -> Mistake:
        return Mistake(
            about,
            title,
            "protect job.toml",
            f"tacit: {printed}\n",
            code=code,
            edits={"job.toml": ("[data]", f'wishes = ["{text}"]\n\n[data]')},
        )

    yield wish(
        "a wish without cells",
        "publish",
        "job.toml:1: 'publish' is not a wish; write cells, a colon and what is wished of them, as "
        "in 'region=*: publish'",
    )
    yield wish(
        "a misspelt wish",
        "region=*: publsh",
        "job.toml:1: 'region=*: publsh': 'publsh' cannot be wished; did you mean 'publish'?",
    )
    yield wish(
        "a dimension that is not there",
        "regoin=*: publish",
        "job.toml:1: 'regoin=*' does not say which cells; write a dimension (region, size) and a "
        "code, as in region=Total, or region level 1",
    )
    yield wish(
        "a level that is not there",
        "size level 2: factor 2",
        "job.toml:1: wishes: dimension size has no level 2; its levels are 0 (the total) to 1",
    )
    yield wish(
        "a sensitive cell that is to be published",
        "region=N, size=*: publish",
        "job.toml: cells are marked as safe or to be published, but are sensitive: (region=N, "
        "size=large) by p%, (region=N, size=small) by p%; take the marks away, or set override = "
        "true (Manual(..., override=True)) if it is decided to publish them nevertheless",
    )
    yield wish(
        "a wish that leaves nothing to protect a sensitive cell with",
        "region=*, size=*: publish unless sensitive",
        "job.toml: no safe pattern exists; published.csv was not written:\n"
        "  (region=Total, size=Total), (region=Total, size=large), (region=N, size=Total), "
        "(region=S, size=small) must be published, but where they are, (region=N, size=large), "
        "which is sensitive (p%), can be deduced too closely whatever else is suppressed; take "
        "back one of the marks\n"
        "  (region=Total, size=small), (region=S, size=small) must be published, but where "
        "they are, (region=N, size=small), which is sensitive (p%), can be deduced too closely "
        "whatever else is suppressed; take back one of the marks\n"
        "  (region=S, size=Total), (region=S, size=small) must be published, but where they "
        "are, (region=S, size=large), which is sensitive (p%), can be deduced too closely "
        "whatever else is suppressed; take back one of the marks",
        code=2,
    )
    yield Mistake(
        about,
        "a wish for a JJ file",
        "protect table.jj --wish 'region=*: publish'",
        "tacit: table.jj: wishes name cells by codes, which a JJ file has not\n",
    )
    yield Mistake(
        about,
        "a last publication of another table",
        "protect job.toml --previous last.csv",
        "tacit: last.csv: none of its cells is in the table; its codes are others, such as East, "
        "tiny\n",
        files={"last.csv": "region,size,value\nEast,tiny,5\n"},
    )
    yield Mistake(
        about,
        "a last publication without codes",
        "protect job.toml --previous last.csv",
        "tacit: last.csv: there is no column size, which tells the cells apart; the columns are "
        "region, value\n",
        files={"last.csv": "region,value\nN,5\n"},
    )
    yield Mistake(
        about,
        "a share that is none",
        "protect job.toml --previous last.csv --keep 3",
        "tacit: keep must be a number between 0 and 1\n",
        files={"last.csv": LAST},
    )
    yield Mistake(
        about,
        "--keep without --previous",
        "protect job.toml --keep 0.1",
        "tacit: --keep says how close to stay to --previous, which is not given\n",
    )


def mistakes_in_jobs() -> Iterator[Mistake]:
    """All of them."""
    yield from _jobs()
    yield from _wishes()
    yield from _microdata()
    yield from _cells()
