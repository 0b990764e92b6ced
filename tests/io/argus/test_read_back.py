"""Files that are written are read again by the batch files that name them."""

from __future__ import annotations

from pathlib import Path

import pytest

import tacit
from tacit.io.argus.sheet import Described
from tacit.io.argus.written import write_argus
from tacit.jobs.argus import run_argus
from tests.io.argus.releases import demonstration, example_table, small_release

VAR2 = Described(response="Var2", decimals=2)


def _again(release: tacit.Release, folder: Path, options: str) -> tuple[list[str], list[str]]:
    """The lines of a table file, and those of the table file made from reading it."""
    write_argus(release, folder / "first.tab", 5, options, described=VAR2)
    names = '""'.join(release.published.dimensions)
    batch = folder / "again.arb"
    batch.write_text(
        '<OPENTABLEDATA> "first.tab"\n'
        '<OPENMETADATA> "first.rda"\n'
        f'<SPECIFYTABLE> "{names}"|"Var2"||"Var2_Cost"\n'
        "<SAFETYRULE> MAN(10)\n"
        "<READTABLE>\n"
        "<SUPPRESS> OPT(1,1)\n"
        f'<WRITETABLE> (1,5,{options},"second.tab")\n'
    )
    run_argus(batch)
    first, second = folder / "first.tab", folder / "second.tab"
    return first.read_text().splitlines(), second.read_text().splitlines()


def _assert_same(first: list[str], second: list[str], levels: slice) -> None:
    """Everything but the pattern is the same; what was hidden stays hidden."""
    assert len(first) == len(second)
    for one, other in zip(first, second, strict=True):
        before, after = ([entry.strip(' "') for entry in line.split(";")] for line in (one, other))
        status = levels.start - 1
        assert before[:status] == after[:status]
        if before[status] == "U":
            assert after[status] == "U"
            assert [*map(float, before[levels])] == [*map(float, after[levels])]
        if before[status] in ("E", "M"):
            assert after[status] == before[status]


@pytest.mark.parametrize("options", ["", "QU+", "SE+QU+", "AR+"])
def test_intermediate_files_are_read_again(options: str, tmp_path: Path) -> None:
    """Codes, values, contributors, costs, contributions and levels survive being read."""
    first, second = _again(small_release(), tmp_path, options)
    _assert_same(first, second, slice(9, 11))


def test_status_only_files_are_read_again(tmp_path: Path) -> None:
    """Without shadow and contributions there is less, and it is the same."""
    first, second = _again(small_release(), tmp_path, "SO+")
    _assert_same(first, second, slice(6, 8))


def test_tables_without_hierarchies_are_read_again(tmp_path: Path) -> None:
    """Codes of a dimension without hierarchy are those that occur."""
    release = tacit.protect(example_table(), time_limit=20)
    first, second = _again(release, tmp_path, "")
    _assert_same(first, second, slice(10, 12))
    assert first[0].startswith("Total; Total; 850.00; 12; 850.00; ")


def test_the_demonstration_table_is_read_again(shared: Path, tmp_path: Path) -> None:
    """All 162 cells of tau-ARGUS' own table, with 9 unsafe ones."""
    release, expected = demonstration(shared)
    first, second = _again(release, tmp_path, "QU+")
    assert len(first) == len(expected) == 162
    assert sum("; U; " in line for line in first) == 9
    _assert_same(first, second, slice(9, 11))


def test_a_priori_files_are_read_again(tmp_path: Path) -> None:
    """What a safe file publishes is published again, and what it leaves out is left out."""
    release = small_release()
    write_argus(release, tmp_path / "safe.txt", 3, "AS+")
    tacit.write_apriori(tmp_path / "safe.txt", tmp_path / "safe.hst")
    write_argus(release, tmp_path / "first.tab", 5, described=VAR2)
    text = (tmp_path / "first.tab").read_text()
    for letter in "UM":
        text = text.replace(f"; {letter}; ", "; S; ")
    (tmp_path / "first.tab").write_text(text)
    (tmp_path / "again.arb").write_text(
        '<OPENTABLEDATA> "first.tab"\n'
        '<OPENMETADATA> "first.rda"\n'
        '<SPECIFYTABLE> "Size""Region"|"Var2"||\n'
        "<SAFETYRULE> MAN(1)\n"
        "<READTABLE>\n"
        '<APRIORI> "safe.hst",1,",",1,1\n'
        "<SUPPRESS> MOD(1,1,0,0,0)\n"
        '<WRITETABLE> (1,3,QU-,"again.txt")\n'
    )
    run_argus(tmp_path / "again.arb")
    again = (tmp_path / "again.txt").read_text().splitlines()
    write_argus(release, tmp_path / "first.txt", 3, "QU-", described=VAR2)
    first = (tmp_path / "first.txt").read_text().splitlines()
    assert [line.rsplit(",", 1)[1] for line in again] == [line.rsplit(",", 1)[1] for line in first]
