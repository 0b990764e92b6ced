"""A priori files made from safe files."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tacit.errors import InputError
from tacit.io.argus.apriori_files import write_apriori
from tacit.io.argus.written import WriteOptions, write_argus
from tests.io.argus.releases import rounded_release, small_release


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def _safe(tmp_path: Path, options: str = "AS+") -> Path:
    path = tmp_path / "safe.txt"
    write_argus(small_release(), path, 3, WriteOptions.parsed(options), frequency=False)
    return path


def test_it_is_what_tau_argus_makes(shared: Path, tmp_path: Path) -> None:
    """Regions of a table by region and municipality, for a table by region and product."""
    folder = shared / "tables" / "argus" / "enterprise" / "expected"
    made = write_apriori(folder / "test_3a.txt", tmp_path / "made.hst", [0, None])
    assert _lines(made) == _lines(folder / "test_3a.hst")


def test_each_status(tmp_path: Path) -> None:
    """Safe and protected cells are to be published, unsafe and secondary ones are unsafe."""
    safe = tmp_path / "safe.txt"
    safe.write_text("".join(f'"c{status}",1.0,{status}\n' for status in range(1, 15)))
    made = write_apriori(safe, tmp_path / "made.hst", totals=["Total"])
    published, unsafe = (1, 2, 10), (3, 4, 5, 6, 7, 8, 9, 11, 12)
    assert _lines(made) == [
        f"c{status},{'p' if status in published else 'u'}"
        for status in range(1, 13)
        if status in (*published, *unsafe)
    ]


@pytest.mark.parametrize("options", ["AS+", "AS+FL+", "AS+QU-", "AS+SE+", "AS+QU-FL+SE+"])
def test_options_of_the_safe_file_make_no_difference(options: str, tmp_path: Path) -> None:
    """Names, quotes and empty cells change nothing about the a priori file."""
    made = write_apriori(_safe(tmp_path, options), tmp_path / "made.hst", separator=";")
    lines = _lines(made)
    release = small_release()
    assert lines[:3] == ['"";"";p', '"";Nr;p', '"";" 1";p']
    hidden = release.published.is_hidden
    assert len(lines) == release.published.cell_count
    assert [line[-1] == "u" for line in lines] == hidden.tolist()


def test_dimensions_in_another_order(tmp_path: Path) -> None:
    """Columns of the safe file may stand anywhere in the next table."""
    lines = _lines(write_apriori(_safe(tmp_path), tmp_path / "made.hst", [None, 1]))
    assert lines == [
        *('"","",p', '"",Nr,p', '""," 1",p', '""," 2",p', '"",Os,p', '""," 4",p'),
    ]
    turned = _lines(write_apriori(_safe(tmp_path), tmp_path / "made.hst", [1, 0]))
    assert turned[1] == 'Nr,"",p'


def test_safe_files_of_changed_values(tmp_path: Path) -> None:
    """With true values beside changed ones, the number of dimensions has to be said."""
    path = tmp_path / "safe.txt"
    options = WriteOptions.parsed("AS+QU-")
    write_argus(rounded_release(), path, 3, options, frequency=False)
    made = write_apriori(path, tmp_path / "made.hst", dimensions=2)
    assert _lines(made)[0] == '"","",p'


def test_accents_of_windows_files(tmp_path: Path) -> None:
    """A file in code page 1252 is understood; what is written is UTF-8."""
    safe = tmp_path / "safe.txt"
    safe.write_bytes('"Total",3,1\n"Île",1,1\n"Göteborg",2,3\n'.encode("cp1252"))
    assert _lines(write_apriori(safe, tmp_path / "made.hst")) == ['"",p', "Île,p", "Göteborg,u"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no cell"),
        ('"Total",1\n', "2 entries are too few"),
        ('"Total","Total",5\n', "entry 2 is not a value; write the safe file in format 3 with AS"),
        ('"Total","Total",5.25\n"a","b",5.25\n', "last entry is not a status"),
        ('"Total","Total",5,15\n', "not a status"),
        ('"Total","Total",5,1\n"a",5,1\n', "3 entries, but the first line has 4"),
        ('"Total","Total",5,1\n"a","b",c,1\n', "entry 3 is not a value"),
        ('"Total","Total",5,1\n"a"b","b",1,1\n', "not CSV"),
    ],
)
def test_files_that_are_not_safe_files(content: str, message: str, tmp_path: Path) -> None:
    """Each fault is named with the line, and nothing is written."""
    safe = tmp_path / "safe.txt"
    safe.write_text(content)
    with pytest.raises(InputError, match=message):
        write_apriori(safe, tmp_path / "made.hst")
    assert not (tmp_path / "made.hst").exists()


@pytest.mark.parametrize("variables", [[2], [-1], [0, 0], [None], []])
def test_columns_that_there_are_not(variables: list[int | None], tmp_path: Path) -> None:
    """Columns have to be there, each once, and one at least."""
    with pytest.raises(InputError, match="variables must name columns of codes"):
        write_apriori(_safe(tmp_path), tmp_path / "made.hst", variables)


def test_totals_for_each_column(tmp_path: Path) -> None:
    """Totals are given for all columns or for none."""
    with pytest.raises(InputError, match="1 totals are given, but there are 2 columns"):
        write_apriori(_safe(tmp_path), tmp_path / "made.hst", totals=["Total"])


def test_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    """Whatever bytes there are, either a file is made or an error of ours names the file."""
    content = _safe(tmp_path, "AS+FL+").read_bytes()
    chance = random.Random(1)
    signs = b'"",;\n\r\0 0x-19\xe9\xff'
    mutated = tmp_path / "mutated.txt"
    made = refused = 0
    for _ in range(1500):
        changed = bytearray(content)
        for _ in range(chance.randint(1, 6)):
            place = chance.randrange(len(changed))
            kind = chance.randrange(3)
            if kind == 0:
                changed[place] = chance.choice(signs)
            elif kind == 1:
                del changed[place : place + chance.randint(1, 30)]
            else:
                changed[place:place] = bytes([chance.choice(signs)]) * chance.randint(1, 3)
        mutated.write_bytes(changed)
        try:
            write_apriori(mutated, tmp_path / "made.hst")
            made += 1
        except InputError as error:
            refused += "mutated.txt" in str(error)
    assert made > 100
    assert made + refused == 1500
