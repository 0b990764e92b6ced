"""A mistake, and the good files that all of them start from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

SECRETS = ("7351", "8462", "9173", "6284", "6130", "6140", "613", "614", "8123", "9345", "6477")
"""Values, contributions and levels in the files below: none may appear in any message."""

TABLE = """\
0
9
0 7351 1 u 0 90000 613 614 0
1 8462 1 s 0 90000 0 0 0
2 15813 1 s 0 90000 0 0 0
3 9173 1 s 0 90000 0 0 0
4 6284 1 s 0 90000 0 0 0
5 15457 1 s 0 90000 0 0 0
6 16524 1 s 0 90000 0 0 0
7 14746 1 s 0 90000 0 0 0
8 31270 1 s 0 90000 0 0 0
6
0 3 : 0 (1) 1 (1) 2 (-1)
0 3 : 3 (1) 4 (1) 5 (-1)
0 3 : 6 (1) 7 (1) 8 (-1)
0 3 : 0 (1) 3 (1) 6 (-1)
0 3 : 1 (1) 4 (1) 7 (-1)
0 3 : 2 (1) 5 (1) 8 (-1)
"""

JOB = """\
[data]
microdata = "firms.csv"
value = "turnover"
contributor = "firm"

[dimensions.region]
file = "regions.csv"

[dimensions.size]

[[rules]]
rule = "p-percent"
p = 17

[method]
name = "suppress"
time_limit = 5

[outputs]
published = "published.csv"
"""

FIRMS = """\
firm,region,size,turnover,staff
a,N,large,7351,31
b,N,large,6130,12
c,N,small,8462,22
d,N,small,8123,9
e,S,large,9173,3
f,S,large,9345,2
g,S,small,6284,4
h,S,small,6477,5
i,S,small,6140,5
"""

CELLS = """\
region,size,value
Total,Total,31270
N,Total,15813
S,Total,15457
Total,large,16524
Total,small,14746
N,large,7351
N,small,8462
S,large,9173
S,small,6284
"""

CELLS_JOB = """\
[data]
table = "cells.csv"

[dimensions.region]

[dimensions.size]

[outputs]
published = "published.csv"
"""

FILES: Mapping[str, str] = {
    "table.jj": TABLE,
    "job.toml": JOB,
    "firms.csv": FIRMS,
    "regions.csv": "child,parent\nN,Total\nS,Total\n",
    "cells.csv": CELLS,
    "cells.toml": CELLS_JOB,
    "hidden.txt": "0 1 3 4\n",
}


@dataclass(frozen=True)
class Mistake:
    """One mistake.

    Attributes:
        group: What it is about.
        title: What is wrong.
        command: What is typed after `tacit`.
        printed: What appears on standard error, all of it.
        code: The exit code.
        files: Files that differ from the good ones; None is a directory.
        edits: Good files with a text replaced by another, once.
    """

    group: str
    title: str
    command: str
    printed: str
    code: int = 1
    files: Mapping[str, str | bytes | None] = field(default_factory=dict)
    edits: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def arrange(self, folder: Path) -> None:
        """Write the files."""
        files: dict[str, str | bytes | None] = {**FILES, **self.files}
        for name, (old, new) in self.edits.items():
            text = files[name]
            assert isinstance(text, str)
            assert old in text, (self.title, old)
            files[name] = text.replace(old, new, 1)
        for name, content in files.items():
            path = folder / name
            if content is None:
                path.mkdir()
            else:
                path.write_bytes(content.encode() if isinstance(content, str) else content)

    def __str__(self) -> str:
        return self.title


NOT_ADDITIVE = (
    "the cells do not add up in 2 relations: {}. Correct the table, or allow for rounding with a "
    "larger tolerance\n"
)
