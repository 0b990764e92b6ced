"""Do readers of tau-ARGUS files end with an error of tacit, whatever is in a file?

`python -m studies.argus_fuzz` changes small files at random, 100,000 times in all, and reads each;
anything but success or a `TacitError` is a fault. It prints faults with the seed that repeats them,
and writes one row per format to `studies/results/argus_fuzz.csv`.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from studies.common import RESULTS, Results
from tacit.errors import TacitError
from tacit.io.argus.apriori import read_apriori
from tacit.io.argus.batch import read_batch
from tacit.io.argus.codelists import read_codelist
from tacit.io.argus.hierarchies import read_hrc
from tacit.io.argus.metadata import read_metadata
from tacit.io.argus.microdata import MicrodataFile
from tacit.io.argus.recodings import read_recoding
from tacit.io.argus.tables import read_tab

FIXED = (
    'act 1 2 99\n  <RECODEABLE>\n  <TOTCODE> "T"\n  <HIERCODELIST> "a.hrc"\n'
    '  <HIERLEADSTRING> "@"\n'
    "nace 3 5\n  <RECODABLE>\n  <HIERLEVELS> 3 1 1 0 0\n  <DISTANCE> 1 2 3\n"
    'value 8 6 999999\n  <NUMERIC>\n  <DECIMALS> 2\nask 14 1\n  <REQUEST> "1" "2"\n'
    "w 15 3\n  <WEIGHT>\nh 18 2\n  <HOLDING>\n"
)
SEPARATED = '<SEPARATOR> ";"\nact 2 99\n  <RECODEABLE>\nvalue 6\n  <NUMERIC>\n'
TABULAR = (
    '<SEPARATOR> ";"\n<SAFE> "S"\n<UNSAFE> "U"\nact "99"\n  <RECODEABLE>\nvalue\n  <NUMERIC>\n'
    "n\n  <FREQUENCY>\nstatus\n  <STATUS>\nlow\n  <NUMERIC> <LOWERPL>\n"
)
BATCH = (
    '// job\n<LOGBOOK> "x.log"\n<OPENMICRODATA> "V:\\a.asc"\n<OPENMETADATA> "a.rda"\n'
    '<SPECIFYTABLE> "a""b"|"v"|"s"|"c",0.5\n<SAFETYRULE> P(10,1)|NK(2,75)|FREQ(3,10)|MIS(1)\n'
    '<READMICRODATA>\n<READTABLE> 1T\n<RECODE> 1,"a","a.grc"\n<APRIORI> "a.hst",1,";",1,0\n'
    '<SOLVER> CPLEX,"x"\n<SUPPRESS> MOD(0,5,1,1,1)\n<SUPPRESS> RND(1,5,0,1,0,2)\n'
    '<WRITETABLE> (1,3,AS+SE-,"out.txt")\n<CLEAR>\n<GOINTERACTIVE>\n'
)


@dataclass(frozen=True)
class Reader:
    """A reader with a file that it reads.

    Attributes:
        sample: The file.
        read: Reads a file of a folder.
        share: How many of a hundred mutations are of this file.
    """

    sample: str
    read: Callable[[Path], object]
    share: int


def _tabulated(path: Path, metadata: str) -> object:
    described = path.with_suffix(".rda")
    described.write_text(metadata)
    found = read_metadata(described, tabular=False)
    with MicrodataFile(path, found) as records:
        return records.codes([found.variables["act"]])


def _tab(path: Path) -> object:
    described = path.with_suffix(".rda")
    described.write_text(TABULAR)
    return read_tab(path, read_metadata(described, tabular=True))


READERS: Mapping[str, Reader] = {
    "batch": Reader(BATCH, read_batch, 20),
    "metadata fixed": Reader(FIXED, lambda path: read_metadata(path, tabular=False), 15),
    "metadata table": Reader(TABULAR, lambda path: read_metadata(path, tabular=True), 10),
    "hierarchy": Reader("A\n@a1\n@@ 1\n@@ 2\nB\n@b1\n", lambda p: read_hrc(p, missing=("9",)), 15),
    "code list": Reader("1,one\n 2,two\n3;drei\n", read_codelist, 5),
    "recoding": Reader("1: 1-5\n2: 6,7, 8 - 9\n3: 10 -\n<CODELIST> x\n", read_recoding, 10),
    "a priori": Reader('"","",p\nA,1,PL,1.5,2\nB,,u\nB,2,c,7\n', lambda p: read_apriori(p, 2), 10),
    "table": Reader('"A"; 1,5;3;S;1\nB;2;4;U;0,5\nC;-;;E;\n', _tab, 11),
    "microdata fixed": Reader(
        " 1103001234.50 1.101\n 210310  77.001 2.002\n", lambda p: _tabulated(p, FIXED), 2
    ),
    "microdata separated": Reader(
        '1;12.5;\n"2";7,25;\n', lambda path: _tabulated(path, SEPARATED), 2
    ),
}
"""The readers, by format."""

TOKENS = (
    b'"', b"<", b">", b"(", b")", b"|", b",", b";", b"@", b"-", b"\\", b"//", b"\0", b"\x1a", b"\r",
    b"\r\r\n", b"\xff\xfe", b"\xe9", "é".encode(), "\u2028".encode(), b"0", b"-1",
    b"1e999", b"nan", b"inf", b"1_0", b"99999999999999999999", b"Total", b" " * 300, b"<SPSS>",
    b"<SEPARATOR>", b"<TREERECODE>", b"<HIERLEVELS> 9", b"\xef\xbb\xbf", b"\x1f\x8b",
)  # fmt: skip


def mutated(content: bytes, chance: random.Random) -> bytes:
    """A file with a few changes at random places."""
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(content) + 1)
        kind = chance.randrange(7)
        if kind == 0:
            content = content[:place] + chance.choice(TOKENS) + content[place:]
        elif kind == 1:
            content = content[:place] + content[place + chance.randint(1, 8) :]
        elif kind == 2:
            content = content[:place] + bytes([chance.randrange(256)]) + content[place + 1 :]
        elif kind == 3:
            lines = content.split(b"\n")
            chance.shuffle(lines)
            content = b"\n".join(lines)
        elif kind == 4:
            lines = content.split(b"\n")
            lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
            content = b"\n".join(lines)
        elif kind == 5:
            content = content[:place]
        else:
            end = chance.randrange(len(content) + 1)
            content = content[:place] + content[min(place, end) : max(place, end)] + content[place:]
    return content


@dataclass
class Count:
    """What became of the mutations of one format."""

    read: int = 0
    refused: int = 0
    faults: int = 0


def fuzzed(name: str, count: int, seed: int, folder: Path) -> Iterator[tuple[int, str]]:
    """Read mutations of a format; yields the number of each with what became of it.

    Args:
        name: The format.
        count: How many mutations.
        seed: Repeats them.
        folder: Where to put the files.
    """
    reader = READERS[name]
    path = folder / "sample.txt"
    for number in range(count):
        chance = random.Random(f"{name} {seed} {number}")
        path.write_bytes(mutated(reader.sample.encode(), chance))
        try:
            reader.read(path)
        except TacitError:
            yield number, "refused"
        except Exception:
            yield number, traceback.format_exc()
        else:
            yield number, "read"


def main(mutations: int, seed: int) -> int:
    """Fuzz all readers; returns how many faults there are."""
    faults = 0
    columns = ("format", "seed", "read", "refused", "faults")
    with (
        Results(RESULTS / "argus_fuzz.csv", columns) as results,
        tempfile.TemporaryDirectory() as folder,
    ):
        for name, reader in READERS.items():
            found = Count()
            for number, ended in fuzzed(name, mutations * reader.share // 100, seed, Path(folder)):
                if ended == "read":
                    found.read += 1
                elif ended == "refused":
                    found.refused += 1
                else:
                    found.faults += 1
                    print(f"{name}, seed {seed}, mutation {number}:\n{ended}")
            faults += found.faults
            results.add({"format": name, "seed": seed, **vars(found)})
    return faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    raise SystemExit(1 if main(chosen.mutations, chosen.seed) else 0)
