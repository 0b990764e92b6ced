"""Batch files from the first line to the last: tables, costs, recodes, outputs, errors."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.errors import InputError
from tacit.jobs import open_job
from tacit.jobs.argus import run_argus, translate_argus
from tests.jobs.argus.small_jobs import Heard, Office


def test_a_batch_file_runs_to_its_outputs(office: Office) -> None:
    """Table, protection, every format, log book and version; all in the folder of the batch."""
    lines = [f'<WRITETABLE> (1,{number},,"V:\\x\\out{number}.txt")' for number in range(1, 7)]
    (release,) = office.run(
        '<LOGBOOK> "c:\\run.log"', '<VERSIONINFO> "v.txt"', "<SUPPRESS> OPT(1,1)", *lines
    )
    assert release.papers.audit.safe
    names = {path.name for path in office.heard.written}
    assert names >= {"v.txt", *(f"out{number}.txt" for number in (1, 2, 3, 4))}
    assert all(path.parent == office.folder and path.is_file() for path in office.heard.written)
    log = (office.folder / "run.log").read_text()
    assert "<SUPPRESS> in line" in log
    assert log.rstrip().endswith("all commands are done")
    assert tacit.__version__ in (office.folder / "v.txt").read_text()


def test_outputs_go_to_the_folder_that_is_asked_for(office: Office) -> None:
    """Nothing is written beside the batch file then."""
    before = set(office.folder.iterdir())
    out = office.folder / "out"
    out.mkdir()
    path = office.batch("<SUPPRESS> OPT(1,1)", '<WRITETABLE> (1,3,AS+,"../../o.txt")')
    tacit.run_argus(path, out_dir=out, time_limit=2)
    assert {path.name for path in out.iterdir()} == {"o.txt", "o-confidential.html"}
    assert set(office.folder.iterdir()) - before == {out, path}


@pytest.mark.parametrize(
    ("cost", "expected"),
    [
        ("", lambda t: t.value),
        ('"turnover",0.5', lambda t: t.value**0.5),
        ('"turnover",0', lambda t: np.log1p(t.value)),
        ("-1", lambda t: t.count),
        ("-2", lambda t: np.ones(t.cell_count)),
    ],
)
def test_costs_are_weights(office: Office, cost: str, expected: object) -> None:
    """Response, frequency, all alike, and powers of them; empty cells weigh as a one."""
    office.run(tables=f'"region""size"|"turnover"||{cost}')
    table = office.heard.tables[1]
    filled = np.asarray(table.count) > 0
    assert table.weight is not None
    assert np.allclose(table.weight[filled], expected(table)[filled])  # type: ignore[operator]


def test_another_variable_as_cost_and_as_shadow(office: Office) -> None:
    """Costs add up another variable; rules judge the shadow."""
    office.run(tables='"region""size"|"turnover"||"staff"', rules="P(40,2)")
    table = office.heard.tables[1]
    assert table.weight is not None
    assert table.weight[0] == sum(record.staff for record in office.records)
    office.run(tables='"region""size"|"turnover"|"staff"|"staff"', rules="P(40,2)")
    shadowed = office.heard.tables[1]
    assert shadowed.shadow is not None
    assert shadowed.shadow[0] == table.weight[0]
    assert not np.array_equal(shadowed.is_sensitive, table.is_sensitive)


def test_costs_of_tables_that_count(office: Office) -> None:
    """Records may cost what another variable says."""
    office.run(tables='"region""size"|<freq>||"staff"', rules="FREQ(9,30)")
    table = office.heard.tables[1]
    assert table.weight is not None
    assert table.weight[0] == sum(record.staff for record in office.records)


def test_tables_that_count(office: Office) -> None:
    """<freq> counts records, and FREQ judges the counts."""
    office.run(tables='"nace""size"|<freq>||', rules="FREQ(9,30)")
    table = office.heard.tables[1]
    assert table.value[0] == len(office.records)
    assert table.is_sensitive.tolist() == ((table.value > 0) & (table.value < 9)).tolist()


def test_code_lists_are_labels(office: Office) -> None:
    """They are shown in reports and kept by translated jobs; the files of tau-ARGUS have codes."""
    metadata = office.folder / "firms.rda"
    metadata.write_text(
        metadata.read_text().replace("<TOTCODE>", '<CODELIST> "r.cdl"\n  <TOTCODE>')
    )
    (office.folder / "r.cdl").write_text(" 1,Harbour\nSo,South\n77,nowhere\n")
    batch = office.batch("<SUPPRESS> OPT(1,1)", '<WRITETABLE> (1,1,,"out.csv")')
    (release,) = run_argus(batch, time_limit=30)
    assert release.published.grids[0].dimensions["region"].labels == {
        " 1": "Harbour",
        "So": "South",
    }
    assert "Harbour" not in (office.folder / "out.csv").read_text()
    assert "Harbour" in (office.folder / "out-confidential.html").read_text()
    translate_argus(batch, office.folder / "out.toml")
    job = open_job(office.folder / "out.toml")
    assert job.dimensions["region"].labels == {"1": "Harbour", "So": "South"}


def test_levels_within_codes_make_a_hierarchy(office: Office) -> None:
    """The first character is a level of its own."""
    office.run(tables='"nace""region"|"turnover"||')
    codes = office.heard.tables[1].dimensions["nace"].codes
    assert codes == ("Total", "1", "101", "102", "2", "201", "203", "3", "310", "999")


def test_recoded_tables_are_made_anew(office: Office) -> None:
    """Merged codes, a level, and folded codes; rules judge what is left."""
    (office.folder / "size.grc").write_text("1: 1 - 3\n4: 4,5\n")
    (office.folder / "nace.grc").write_text("<TREERECODE>\n2\n")
    office.run(
        '<RECODE> 1,"size","SIZE.grc"',
        "<RECODE> 1,region,1",
        "<RECODE> 2,NACE,nace.grc",
        tables='"region""size"|"turnover"|| & "nace""size"|"turnover"||',
    )
    first, second = office.heard.tables[1], office.heard.tables[2]
    assert first.dimensions["size"].codes == ("Total", "1", "4", "6")
    assert first.dimensions["region"].codes == ("Total", "No", "So", "99")
    codes = ("Total", "1", "101", "102", "2", "3", "310", "999")
    assert second.dimensions["nace"].codes == codes
    merged = (first.codes("region") == "Total") & (first.codes("size") == "1")
    assert first.count is not None
    assert first.count[merged] == [sum(record.size in "123" for record in office.records)]


def test_linked_tables_are_protected_together(office: Office) -> None:
    """MOD(0) makes one release of all tables, and each is written on its own."""
    (release,) = office.run(
        "<SUPPRESS> MOD(0,1,1,1,1)",
        '<WRITETABLE> (1,3,SE-,"a.txt")',
        '<WRITETABLE> (2,3,SE-,"b.txt")',
        tables='"region""size"|"turnover"|| & "nace""size"|"turnover"||',
    )
    assert office.heard.released == [(1, 2)]
    assert len(release.published.grids) == 2
    texts = [(office.folder / name).read_text().splitlines() for name in ("a.txt", "b.txt")]
    # What both tables show, they show alike: sizes over all regions and activities.
    shared = [{line for line in text if line.startswith('"Total"')} for text in texts]
    assert shared[0] == shared[1]
    assert len(shared[0]) == 7


@pytest.mark.parametrize(
    ("line", "method"),
    [
        ("GH(1,100,0,1)", "suppress"),
        ("GH(1,40)", "suppress"),
        ("MOD(1,1)", "suppress"),
        ("NET(1)", "suppress"),
        ("CTA(1)", "adjust"),
        ("RND(1,200,0,1,0,2)", "round"),
        ("RND(1,50,1,1,1,1,1)", "round"),
    ],
)
def test_every_method_ends_with_a_safe_release(office: Office, line: str, method: str) -> None:
    """Each method has a counterpart, and its outcome is audited."""
    (release,) = office.run(f"<SUPPRESS> {line}", '<WRITETABLE> (1,3,,"o.txt")')
    assert release.published.method == method
    assert release.papers.audit.safe


def test_singleton_options_choose_insiders(office: Office) -> None:
    """Any of the options asks for insiders, none of them for none."""
    asked = office.run("<SUPPRESS> MOD(1,1,0,1,0)")[0].published.against
    none = office.run("<SUPPRESS> MOD(1,1,0,0,0)")[0].published.against
    default = office.run("<SUPPRESS> MOD(1,1)")[0].published.against
    assert len(asked) > len(none) == 1
    assert default == asked


def test_commands_that_are_not_about_tables(office: Office) -> None:
    """Silence is asked of the listener; what has no counterpart is said."""
    office.run("<SILENT>", "<ANCO>", '<SOLVER> XPRESS,"a.lic"', "<SOLVER> FREE", "<GOINTERACTIVE>")
    assert office.heard.silent
    told = " ".join(office.heard.notes)
    assert all(word in told for word in ("<ANCO>", "XPRESS", "<GOINTERACTIVE>"))
    assert "FREE" not in told


def test_clear_begins_anew(office: Office) -> None:
    """Tables are counted from 1 again, and releases of both parts are kept."""
    batch = office.batch("<SUPPRESS> OPT(1,1)")
    second = batch.read_text().replace('"size"', '"nace"')
    batch.write_text(f"{batch.read_text()}<CLEAR>\n{second}")
    releases = tacit.run_argus(batch, time_limit=2)
    assert [list(each.published.dimensions) for each in releases] == [
        ["region", "size"],
        ["region", "nace"],
    ]


@pytest.mark.parametrize(
    ("lines", "line", "told"),
    [
        (["<SUPPRESS> OPT(2,1)"], 6, "there is no table 2"),
        (["<SUPPRESS> CKM(1)"], 6, "no counterpart"),
        (['<WRITETABLE> (1,3,,"o.txt")'], 6, "no <SUPPRESS> before this line"),
        (["<SUPPRESS> OPT(1,1)", '<WRITETABLE> (1,3,XX+,"o")'], 7, "no option 'XX+'"),
        (["<SUPPRESS> OPT(1,1)", '<WRITETABLE> (1,7,,"o")'], 7, "cell key method"),
        (["<SUPPRESS> OPT(1,1)", '<WRITETABLE> (1,3,,"firms.asc")'], 7, "read by this batch"),
        (["<SUPPRESS> RND(1,0)"], 6, "a base above 0"),
        (["<SUPPRESS> MOD(1,1,2)"], 6, "are 0 or 1"),
        (["<READMICRODATA>"], 6, "have been read"),
        (["<READTABLE>"], 6, "have been read"),
        (['<SPECIFYTABLE> "size"|"turnover"'], 6, "before the data are read"),
        (["<RECODE> 1,nace,1"], 6, "has no variable nace"),
        (["<RECODE> 1,region,7"], 6, "level 7"),
        (["<RECODE> 1,size,absent.grc"], 6, "no file absent.grc"),
        (['<APRIORI> "absent.hst",1,","'], 6, "no file absent.hst"),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_line(
    office: Office, lines: list[str], line: int, told: str
) -> None:
    """The message names the batch file and the line."""
    with pytest.raises(InputError) as caught:
        office.run(*lines)
    assert told in str(caught.value)
    assert f"job.arb:{line}" in str(caught.value) or f"line {line}" in str(caught.value)


@pytest.mark.parametrize(
    ("how", "line", "told"),
    [
        ({"tables": '"regio"|"turnover"'}, 3, "did you mean 'region'?"),
        ({"tables": '"staff"|"turnover"'}, 3, "is not explanatory"),
        ({"tables": '"size"|"region"'}, 3, "does not hold numbers"),
        ({"tables": '"size"|"turnover"||-3'}, 3, "no counterpart"),
        ({"rules": "P(200,1)"}, 4, "p must be a number"),
    ],
)
def test_tables_that_cannot_be_made_are_refused(
    office: Office, how: dict[str, str], line: int, told: str
) -> None:
    """The message names the line of the table, or of its rules."""
    with pytest.raises(InputError) as caught:
        office.run(**how)
    assert told in str(caught.value)
    assert f"job.arb:{line}" in str(caught.value) or "job.arb, line 5" in str(caught.value)


def test_what_has_no_counterpart_is_refused_before_any_work(office: Office) -> None:
    """Nothing is read or written for a batch file that cannot run to its end."""
    before = set(office.folder.iterdir())
    for line in ("<SUPPRESS> CKM(1)", '<WRITETABLE> (1,3,ZZ+,"o.txt")', "<SAFETYRULE> P(200,1)"):
        batch = office.batch("<SUPPRESS> OPT(1,1)", '<WRITETABLE> (1,3,,"first.txt")', line)
        with pytest.raises(InputError) as caught:
            tacit.run_argus(batch, listener=office.heard)
        assert caught.value.line == 8
        assert not office.heard.tables
        assert set(office.folder.iterdir()) - before == {batch}


def test_batch_files_are_not_taken_for_other_inputs(office: Office) -> None:
    """Other commands say which one runs them."""
    with pytest.raises(InputError, match="tacit argus"):
        open_job(office.batch())


def test_an_order_that_makes_no_sense_is_refused(office: Office) -> None:
    """Each command says what has to stand before it."""
    for line, told in (
        ("<READMICRODATA>", "nothing to read yet"),
        ("<SAFETYRULE> P(10,1)", "stands behind"),
        ("<SUPPRESS> MOD(0,1)", "no table is specified"),
        ("<RECODE> 1,a,1", "there is no table 1"),
    ):
        with pytest.raises(InputError, match=told):
            tacit.run_argus(office.write(line))


def test_data_that_are_never_read(office: Office) -> None:
    """Files that are not there are errors also where nothing reads them; else it is said."""
    data = '<OPENMICRODATA> "firms.asc"'
    with pytest.raises(InputError, match=r"\.arb:2: there is no file nowhere\.rda"):
        tacit.run_argus(office.write(data, '<OPENMETADATA> "nowhere.rda"'))
    heard = Heard()
    run_argus(office.write(data, '<OPENMETADATA> "firms.rda"'), listener=heard)
    assert any("there is no <READMICRODATA>" in note for note in heard.notes)


def test_a_missing_hierarchy_names_both_files(office: Office) -> None:
    """The metadata name it, the batch file asked for it."""
    (office.folder / "region.hrc").unlink()
    with pytest.raises(InputError) as caught:
        office.run()
    assert "REGION.hrc" in str(caught.value)
    assert "firms.rda" in str(caught.value)
    assert "job.arb, line 5" in str(caught.value)


def test_an_output_folder_that_is_not_there(office: Office, tmp_path: Path) -> None:
    """It is not created."""
    with pytest.raises(InputError, match="not a folder"):
        tacit.run_argus(office.batch(), out_dir=tmp_path / "absent", listener=Heard())


def test_a_time_limit_takes_the_place_of_minutes(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Minutes become seconds, and what is typed takes precedence."""
    limits: list[float] = []
    monkeypatch.setattr(Heard, "searching", lambda self, limit: _noted(self, limit, limits))
    office.run("<SUPPRESS> OPT(1,3)")
    tacit.run_argus(office.batch("<SUPPRESS> OPT(1,0.05)"), listener=Heard())
    assert limits == [2.0, 3.0]


def test_minutes_for_parts_are_stretched_until_something_is_safe(office: Office) -> None:
    """MOD has minutes for each subtable, OPT for the table: only that may end without a pattern."""
    for method, stretched in (("MOD", True), ("OPT", False)):
        heard = Heard()
        batch = office.batch(f"<SUPPRESS> {method}(1,0.0000001)", rules="P(60,2)|FREQ(9,20)")
        with contextlib.suppress(tacit.NoReleaseError):
            tacit.run_argus(batch, listener=heard)
        assert any("the search goes on" in note for note in heard.notes) == stretched


@pytest.mark.parametrize("name", ["firms.asc", "firms.rda", "job.arb", "region.hrc"])
@pytest.mark.parametrize(
    "line", ['<LOGBOOK> "{}"', '<VERSIONINFO> "{}"', '<WRITETABLE> (1,3,,"{}")']
)
def test_inputs_are_never_replaced(office: Office, name: str, line: str) -> None:
    """Neither by what is written before they are read, nor by a table."""
    batch = office.batch("<SUPPRESS> OPT(1,1)", line.format(name))
    if "WRITE" not in line:
        batch.write_text(f"{line.format(name)}\n{batch.read_text()}")
    before = {path: path.read_bytes() for path in office.folder.iterdir()}
    with pytest.raises(InputError, match="read by"):
        tacit.run_argus(batch, time_limit=2)
    assert {path: path.read_bytes() for path in office.folder.iterdir()} == before


def test_companions_of_outputs_do_not_replace_inputs(office: Office) -> None:
    """Format 5 writes metadata beside the table, which must not be those that are read."""
    with pytest.raises(InputError, match=r"firms\.rda is read by this batch file"):
        office.run("<SUPPRESS> OPT(1,1)", '<WRITETABLE> (1,5,,"firms.tab")')


def _noted(heard: Heard, limit: float, limits: list[float]) -> object:
    limits.append(limit)
    return super(Heard, heard).searching(limit)
