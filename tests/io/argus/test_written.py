"""Options of WRITETABLE, and what holds for all formats."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.errors import InputError
from tacit.io.argus.sheet import Described
from tacit.io.argus.written import FORMATS, WriteOptions, write_argus
from tests.io.argus.releases import example_table, rounded_release, small_release, small_table

LETTERS = ("AS", "AR", "FL", "HI", "HL", "QU", "SE", "SO", "TR", "AO", "AD", "AC")
EFFECTS = {
    1: {"AS", "FL", "HI", "QU", "SE"},
    2: {"AS", "FL", "HI", "QU", "SE"},
    3: {"AS", "FL", "QU", "SE"},
    4: {"AS", "FL", "HL", "QU", "SE"},
    5: {"AR", "QU", "SE", "SO"},
    6: {"SE", "TR"},
}
"""Which letters change what is written of suppressed cells."""


def _written(release: tacit.Release, folder: Path, format: int, options: str) -> dict[str, bytes]:
    folder.mkdir(exist_ok=True)
    paths = write_argus(
        release, folder / "out.tab", format, WriteOptions.parsed(options), frequency=False
    )
    return {path.name: path.read_bytes() for path in paths}


@given(st.dictionaries(st.sampled_from(LETTERS), st.booleans()))
def test_options_are_read_back_from_their_letters(chosen: dict[str, bool]) -> None:
    """Letters with signs mean the same in any order, case and spacing, and are written out."""
    text = "".join(f"{letters}{'-+'[on]}" for letters, on in chosen.items())
    options = WriteOptions.parsed(text)
    assert WriteOptions.parsed(str(options)) == options
    assert WriteOptions.parsed(f' "{text.lower()}" '.replace("as", "a s")) == options
    assert len(str(options)) == 3 * len(chosen)


@pytest.mark.parametrize(
    ("number", "letters"), [("0", ""), ("", ""), ("1", "AS+"), ("2", "SE+"), ("3", "AS+SE+")]
)
def test_numbers_of_older_batch_files(number: str, letters: str) -> None:
    """One number stands for statuses and for leaving out empty cells."""
    assert WriteOptions.parsed(number) == WriteOptions.parsed(letters)


def test_the_last_sign_of_a_letter_holds() -> None:
    """As in a program that reads one option after the other."""
    assert WriteOptions.parsed("AS+QU-AS-") == WriteOptions(status=False, quotes=False)


@pytest.mark.parametrize("text", ["4", "ZZ+", "AS", "AS+S", "AS*", "+AS", "AS+,FL+", "-1"])
def test_unknown_options_are_refused(text: str) -> None:
    """The message says what was not understood, and what there is."""
    with pytest.raises(InputError, match=r"there is no option .*WRITETABLE"):
        WriteOptions.parsed(text)


@pytest.mark.parametrize("changed", [False, True])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("letters", LETTERS)
def test_every_letter_has_an_effect_or_is_answered(
    format: int, letters: str, changed: bool, tmp_path: Path
) -> None:
    """Whatever an option does not change is said, with a reason."""
    release = rounded_release() if changed else small_release()
    effects = EFFECTS[format]
    if changed:
        effects = effects - {"AR"} - ({"AS"} if format == 4 else set())
        effects |= {"AO", "AD"} if format < 4 else set()
    said: list[str] = []
    plain = _written(release, tmp_path / "plain", format, "")
    options = WriteOptions.parsed(f"{letters}+")
    if letters in ("QU", "FL"):
        # Formats differ in what they do unless told.
        plain = _written(release, tmp_path / "plain", format, f"{letters}-")
    paths = write_argus(
        release, tmp_path / "out.tab", format, options, frequency=False, say=said.append
    )
    found = {path.name: path.read_bytes() for path in paths}
    if letters == "QU" and format == 5:
        # Blanks around codes cannot do without quotes; other codes can.
        assert found == plain
        assert said == []
    elif letters in effects:
        assert found != plain
        assert said == []
    else:
        assert found == plain
        assert len(said) == 1
        assert said[0].startswith(f"{letters}+ has no effect in format {format} ({FORMATS[format]}")


def test_the_page_names_every_option_with_its_formats() -> None:
    """Each letter has a row, which ends with the formats in which it makes a difference."""
    page = (Path(__file__).parents[3] / "docs" / "tau-argus-output.md").read_text()
    rows = re.findall(r"(?m)^\| ([A-Z]{2}) \| .* \| ([1-6 ]+|none) \|$", page)
    changed = {number: {"AO", "AD"} if number < 4 else set() for number in FORMATS}
    expected = {
        letters: [str(f) for f in FORMATS if letters in EFFECTS[f] | changed[f]] or ["none"]
        for letters in LETTERS
    }
    assert {letters: formats.split() for letters, formats in rows} == expected


def test_quotes_of_intermediate_files(tmp_path: Path) -> None:
    """Codes without blanks are in quotes if that is asked for."""
    release = tacit.protect(example_table(), time_limit=20)
    plain, quoted = (
        _written(release, tmp_path / options, 5, options)["out.tab"].decode().splitlines()
        for options in ("QU-", "QU+")
    )
    assert plain[0].startswith("Total; Total; ")
    assert quoted[0].startswith('"Total"; "Total"; ')


@pytest.mark.parametrize("format", [1, 2, 3])
@pytest.mark.parametrize("letters", ["AS", "AO", "AD"])
def test_changed_values_with_the_true_ones(format: int, letters: str, tmp_path: Path) -> None:
    """Each addition shows where values were changed, and makes the file confidential."""
    release = rounded_release()
    plain = _written(release, tmp_path / "plain", format, "")
    added = _written(release, tmp_path / "added", format, f"{letters}+")
    assert plain != added
    assert _mode(tmp_path / "added" / "out.tab") == 0o600
    assert _mode(tmp_path / "plain" / "out.tab") != 0o600


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("options", ["", "AS+"])
def test_confidential_files_are_for_their_owner(format: int, options: str, tmp_path: Path) -> None:
    """True values and statuses are for the owner of the file alone, publications for others."""
    paths = write_argus(
        small_release(),
        tmp_path / "out.tab",
        format,
        WriteOptions.parsed(options),
        frequency=False,
    )
    secret = format >= 4 or options == "AS+"
    assert WriteOptions.parsed(options).confidential(format) == secret
    assert {_mode(path) == 0o600 for path in paths} == {secret}
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in paths}


@pytest.mark.parametrize("format", [0, 7, 8])
def test_formats_that_there_are_not(format: int, tmp_path: Path) -> None:
    """Another number is refused with a list of the formats, and nothing is written."""
    with pytest.raises(InputError, match=f"no output format {format}.*3 code-value"):
        write_argus(small_release(), tmp_path / "out.txt", format, WriteOptions(), frequency=False)
    assert not [*tmp_path.iterdir()]


def test_intervals_have_no_place(tmp_path: Path) -> None:
    """A publication of intervals is refused, because no format could hold them."""
    release = tacit.protect(example_table(), "intervals", time_limit=20)
    with pytest.raises(InputError, match="no place for intervals"):
        write_argus(release, tmp_path / "out.txt", 3, WriteOptions(), frequency=False)


def test_one_of_several_linked_tables(tmp_path: Path) -> None:
    """A file holds one table: which one has to be said."""
    first = small_table().apply(tacit.PPercent(15))
    other = tacit.Table.from_frame(
        {
            "Size": [*first.codes("Size")[first.codes("Region") == "Total"]],
            "value": first.value[first.codes("Region") == "Total"],
            "count": [22.0, 9.0, 6.0, 7.0],
        },
        {"Size": first.dimensions["Size"]},
        count="count",
    )
    release = tacit.protect(first.link(other), time_limit=20, insiders="none")
    path = tmp_path / "out.txt"
    with pytest.raises(InputError, match="2 linked tables"):
        write_argus(release, path, 3, WriteOptions(), frequency=False)
    with pytest.raises(InputError, match="no table 2; there are 2"):
        write_argus(release, path, 3, WriteOptions(), frequency=False, table=2)
    write_argus(release, path, 3, WriteOptions(), frequency=False, table=1)
    codes = [line.split(",")[0] for line in path.read_text().splitlines()]
    assert codes == ['"Total"', '" 2"', '" 4"', '"10"', '"99"']
    for number in FORMATS:
        assert write_argus(release, path, number, WriteOptions(), frequency=False, table=0)


def test_codes_are_aligned_to_the_width_of_the_metadata(tmp_path: Path) -> None:
    """Codes shorter than their width are moved to the right; longer ones stay as they are."""
    release = small_release()
    described = Described(widths={"Size": 4, "Region": 3}, decimals=1)
    path = tmp_path / "out.txt"
    write_argus(release, path, 3, WriteOptions(), frequency=False, described=described)
    lines = path.read_text().splitlines()
    assert lines[:3] == ['"Total","Total",12130.0', '"Total"," Nr",8464.0', '"Total","  1",5824.0']
    assert lines[6].startswith('"   2","Total",')


def test_a_problem_without_dimensions(tmp_path: Path) -> None:
    """Cells are numbered where there are no codes, and format 5 is refused."""
    release = tacit.protect(tacit.examples.get("003-figure-11").problem, time_limit=20)
    for number in (1, 2, 3, 4, 6):
        paths = write_argus(release, tmp_path / "out.txt", number, WriteOptions(), frequency=False)
        assert paths[0].read_text()
    with pytest.raises(InputError, match="write format 6"):
        write_argus(release, tmp_path / "out.tab", 5, WriteOptions(), frequency=False)
