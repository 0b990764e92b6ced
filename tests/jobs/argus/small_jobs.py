"""A folder with records, metadata and hierarchies of a made-up office, for batch files."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

import tacit
from tacit.jobs.argus import ArgusListener, run_argus
from tacit.release import Release
from tacit.table import Table

METADATA = """\
firm 1 4
  <HOLDING>
region 5 2 99
  <RECODEABLE>
  <TOTCODE> "Total"
  <HIERARCHICAL>
  <HIERCODELIST> "V:\\lists\\REGION.hrc"
  <HIERLEADSTRING> "@"
nace 7 3 999
  <RECODABLE>
  <HIERARCHICAL>
  <HIERLEVELS> 1 2
size 10 1
  <RECODEABLE>
turnover 11 7
  <NUMERIC>
  <DECIMALS> 1
staff 18 4
  <NUMERIC>
weight 22 4
  <NUMERIC>
  <WEIGHT>
ask 26 1
  <REQUEST> "1" "2"
"""
REGIONS = "No\n@ 1\n@ 2\nSo\n@ 3\n@10\n"
RULES = "P(10,1)|FREQ(3,20)"


@dataclass(frozen=True)
class Record:
    """A record of a firm."""

    firm: int
    region: str
    nace: str
    size: str
    turnover: float
    staff: int
    weight: float
    ask: str

    def line(self) -> str:
        """The record in fixed columns."""
        return (
            f"{self.firm:>4}{self.region:>2}{self.nace}{self.size}{self.turnover:>7.1f}"
            f"{self.staff:>4}{self.weight:>4.1f}{self.ask}"
        )


def make_records(count: int = 400, seed: int = 3) -> list[Record]:
    """Random records, the same for the same seed."""
    chance = random.Random(seed)
    return [
        Record(
            firm=chance.randint(1, count // 3),
            region=chance.choice(
                ["1", "2", "3", "10", "10", "99"] if n % 40 == 0 else ["1", "2", "3", "10"]
            ),
            nace=chance.choice(["101", "102", "201", "203", "310"]),
            size=chance.choice("123456"),
            turnover=round(chance.lognormvariate(4, 1.2), 1),
            staff=chance.randint(0, 99),
            weight=round(chance.uniform(1, 5), 1),
            ask=chance.choices("012", [30, 1, 1])[0],
        )
        for n in range(count)
    ]


@dataclass
class Heard(ArgusListener):
    """What a listener heard."""

    notes: list[str] = field(default_factory=list)
    tables: dict[int, Table] = field(default_factory=dict)
    released: list[tuple[int, ...]] = field(default_factory=list)
    written: list[Path] = field(default_factory=list)
    silent: bool = False

    def note(self, text: str) -> None:
        """Keep it."""
        self.notes.append(text)

    def silence(self) -> None:
        """Keep it."""
        self.silent = True

    def on_table(self, number: int, name: str, table: Table) -> None:
        """Keep the last one of each number."""
        assert name
        self.tables[number] = table

    def on_release(self, numbers: object, release: Release) -> None:
        """Keep the numbers."""
        assert release.papers.audit.safe
        self.released.append(tuple(numbers))  # type: ignore[arg-type]

    def on_written(self, paths: object) -> None:
        """Keep the files."""
        self.written += list(paths)  # type: ignore[call-overload]


class Office:
    """A folder in which batch files run."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.records = make_records()
        (folder / "firms.asc").write_text("".join(f"{r.line()}\r\n" for r in self.records))
        (folder / "firms.rda").write_text(METADATA)
        (folder / "region.hrc").write_text(REGIONS)
        self.heard = Heard()

    def batch(
        self, *lines: str, tables: str = '"region""size"|"turnover"||', rules: str = RULES
    ) -> Path:
        """Write a batch file on the records; lines are what follows <READMICRODATA>."""
        return self.write(
            '<OPENMICRODATA> "Firms.ASC"',
            '<OPENMETADATA> "firms.rda"',
            *(
                line
                for each in tables.split(" & ")
                for line in (f"<SPECIFYTABLE> {each}", f"<SAFETYRULE> {rules}")
            ),
            "<READMICRODATA>",
            *lines,
        )

    def write(self, *lines: str) -> Path:
        """Write a batch file."""
        path = self.folder / "job.arb"
        path.write_text("\n".join(lines) + "\n")
        return path

    def run(self, *lines: str, **how: str) -> list[tacit.Release]:
        """Run such a batch file, at most two seconds for each table."""
        self.heard = Heard()
        return run_argus(self.batch(*lines, **how), time_limit=2, listener=self.heard)
