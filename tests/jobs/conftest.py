"""Small microdata, and jobs about them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

RECORDS = """\
firm,group,industry,region,turnover,asked
f1,h1,A1,N,120,0
f2,h1,A1,N,80,0
f3,,A1,N,50,0
f1,h1,A1,S,90,0
f4,,A1,S,70,1
f5,,A1,S,60,0
f6,,A2,N,900,0
f7,,A2,N,31,0
f8,,A2,S,75,0
f9,,A2,S,66,0
f10,,A2,S,58,0
f11,,B1,N,44,0
f12,,B1,N,71,0
f13,,B1,N,63,0
f14,,B1,S,52,0
f15,,B1,S,83,0
f16,,B1,S,77,0
"""
JOB = """\
[data]
microdata = "records.csv"
value = "turnover"
contributor = "firm"

[dimensions.industry]
lengths = [1, 2]

[dimensions.region]

[[rules]]
rule = "min-frequency"
minimum = 3

[[rules]]
rule = "p-percent"
p = 10

[method]
name = "suppress"
time_limit = 20

[outputs]
published = "published.csv"
json = "result.json"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with microdata and a job."""
    (tmp_path / "records.csv").write_text(RECORDS)
    (tmp_path / "job.toml").write_text(JOB)
    return tmp_path


@pytest.fixture
def changed(folder: Path) -> Callable[..., Path]:
    """Writes the job with some texts replaced, and returns its path."""

    def write(*changes: tuple[str, str]) -> Path:
        text = JOB
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (folder / "job.toml").write_text(text)
        return folder / "job.toml"

    return write
