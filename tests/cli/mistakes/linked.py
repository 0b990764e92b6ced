"""Mistakes in jobs with linked tables and with several variables."""

from __future__ import annotations

from collections.abc import Iterator

from .mistake import CELLS, Mistake

LINKED = """\
[data]
microdata = "firms.csv"
value = "turnover"
contributor = "firm"

[dimensions.region]

[dimensions.size]

[[tables]]
dimensions = ["region", "size"]

[[tables]]
name = "sizes"
dimensions = ["size"]

[[rules]]
rule = "p-percent"
p = 17

[outputs]
published = "published {table}.csv"
"""
FILES = """\
[data]

[dimensions.region]

[dimensions.size]

[[tables]]
table = "cells.csv"
dimensions = ["region", "size"]

[[tables]]
table = "sizes.csv"
dimensions = ["size"]
"""
SIZES = "size,value\nTotal,31270\nlarge,16524\nsmall,14746\n"


def mistakes_in_linked_tables() -> Iterator[Mistake]:
    """What is wrong with tables that belong together, and with what is said of them."""
    about = "Linked tables"

    def linked(title: str, old: str, new: str, printed: str, **files: str) -> Mistake:
        assert old in LINKED
        job = LINKED.replace(old, new, 1)
        return Mistake(
            about,
            title,
            "protect linked.toml",
            f"tacit: linked.toml:{printed}\n",
            files={"linked.toml": job, **files},
        )

    yield Mistake(
        about,
        "tables that contradict each other",
        "protect files.toml",
        "tacit: files.toml:7: the value of 2 common cells differs between the tables: "
        "(region=Total, size=Total) by 3.5% between region-size and size; (region=Total, "
        "size=large) by 6.5% "
        "between region-size and size; correct the tables, leave one of them out, or allow for "
        "rounding with a larger tolerance\n",
        files={
            "files.toml": FILES,
            "sizes.csv": SIZES.replace("16524", "17671").replace("31270", "32417"),
        },
    )
    yield Mistake(
        about,
        "a cell that one of the tables leaves out",
        "protect files.toml",
        "tacit: files.toml:7: cells are left out of the table size, which says they are empty, but "
        "are not empty in another: (region=Total, size=small); add them\n",
        files={
            "files.toml": FILES,
            "sizes.csv": "size,value\nTotal,31270\nlarge,31270\n",
            "cells.csv": CELLS.replace("Total,large,16524", "Total,large,31270"),
        },
    )
    yield linked(
        "a dimension that is not described",
        '["size"]',
        '["sise"]',
        "15: tables[1]: there is no dimension 'sise'; did you mean 'size'?",
    )
    yield linked(
        "two tables of one name",
        '"sizes"',
        '"region-size"',
        "14: tables[1]: two tables are called region-size; give each a 'name' of its own",
    )
    yield linked(
        "a name that cannot stand in the names of files",
        '"sizes"',
        '"all/sizes"',
        "14: tables[1]: the name of a table stands in names of files: 'all/sizes' cannot be one; "
        "leave out '/'",
    )
    yield linked(
        "an equation with a variable that there is not",
        "[data]",
        'equations = ["turnover = domestic + exports"]\n[data]',
        "1: there is no variable 'domestic'; known are turnover",
    )
    yield linked(
        "an equation that cannot be read",
        "[data]",
        'equations = ["turnover, staff"]\n[data]',
        "1: 'turnover, staff' is not an equation; write it as 'total = part + part'",
    )
    yield Mistake(
        about,
        "an equation that does not hold",
        "protect linked.toml",
        "tacit: linked.toml: the cells do not add up in 9 relations: region=S, size=large: "
        "turnover = staff (differs by 100%); region=S, size=Total: turnover = staff (differs by "
        "100%); region=S, size=small: turnover = staff (differs by 100%); region=Total, "
        "size=small: turnover = staff (differs by 100%); region=Total, size=Total: turnover = "
        "staff (differs by 100%) and 4 more. Correct the table, or allow for rounding with a "
        "larger tolerance\n",
        files={
            "linked.toml": LINKED.replace(
                "[data]", 'equations = ["turnover = staff"]\n[data]'
            ).replace('"turnover"\n', '["turnover", "staff"]\n'),
        },
    )
    yield Mistake(
        about,
        "a pattern in a job with one table",
        "protect job.toml",
        "tacit: job.toml:20: outputs: {table} stands for the name of each of several linked "
        "tables; this job has one table\n",
        edits={"job.toml": ('"published.csv"', '"published {table}.csv"')},
    )
    yield Mistake(
        about,
        "an audit without the file of one of the tables",
        'audit linked.toml "published {table}.csv"',
        "tacit: published region-size.csv: the file cannot be read: no such file or directory\n",
        files={"linked.toml": LINKED},
    )
