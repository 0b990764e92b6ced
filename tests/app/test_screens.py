"""Screens: what they take, what they refuse, undo, two tabs, files of every kind."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest

from tacit.app.runs import Run
from tacit.app.screens.look import meanings
from tacit.app.screens.table import nested
from tacit.app.texts import texts
from tacit.app.worker import RELEASE
from tacit.app.workspace import Workspace
from tacit.errors import InputError
from tacit.jobs import Job, job_from_mapping, job_text, read_job
from tests.app.conftest import FIRMS, App

HARD = """industry,region,value,count
""" + "\n".join(
    f"i{i:02d},r{r:02d},{(i * 37 + r * 91) % 97 + 1},{(i * 7 + r * 5) % 9 + 1}"
    for i in range(30)
    for r in range(25)
)


def test_columns_get_roles_by_one_click(app: App) -> None:
    """What columns seem to be is offered, and a click changes it."""
    page = app.open("firms.csv", FIRMS)
    assert 'id="role-0-contributor" name="role.0" value="contributor" checked' in page
    assert app.desk.workspace.state.draft["data"]["value"] == "turnover"
    app.post("data", source="microdata", role__0="none", role__1="code", role__3="value")
    draft = app.desk.workspace.state.draft
    assert draft["data"] == {"microdata": "firms.csv", "value": "turnover"}
    assert list(draft["dimensions"]) == ["industry"]
    page = app.post("data", source="microdata", role__0="value", role__1="code", role__3="value")
    assert "Only one column can be the value" in page
    assert app.desk.workspace.state.draft == draft


def test_what_columns_seem_to_be(app: App) -> None:
    """Of nested columns the finest is a code, and what has many different numbers is the value."""
    rows = [
        f"{'AB'[i % 2]},{'AB'[i % 2]}{i % 4},{20 + i % 12},XX{i % 7},{i * 1.5},{i}\n"
        for i in range(90)
    ]
    app.open("x.csv", "section,division,year,region,turnover,group\n" + "".join(rows))
    draft = app.desk.workspace.state.draft
    assert draft["data"] == {"microdata": "x.csv", "value": "turnover", "holding": "group"}
    assert list(draft["dimensions"]) == ["division", "region"]
    many = "".join(f"a{i % 50},b{i % 40},c{i % 30},{i}\n" for i in range(200))
    app.open("y.csv", "one,two,three,value\n" + many)
    assert list(app.desk.workspace.state.draft["dimensions"]) == ["one", "two"]


def test_a_finished_table_is_recognised(app: App) -> None:
    """A file with one row per cell is offered as a table."""
    app.open("cells.csv", HARD)
    data = app.desk.workspace.state.draft["data"]
    assert data == {"table": "cells.csv", "value": "value", "count": "count"}
    assert "806</b> cells" in app.get("table-trees")


def test_a_parquet_file(app: App) -> None:
    """A Parquet file is looked at and tabulated like a CSV file."""
    import duckdb

    (app.folder / "firms.csv").write_text(FIRMS)
    with duckdb.connect() as connection:
        records = connection.read_csv(f"{app.folder}/firms.csv")
        records.write_parquet(f"{app.folder}/firms.parquet")
    app.post("open", name="firms.parquet")
    assert "9</b> cells" in app.get("table-trees")


def test_hierarchies_in_codes_in_files_and_edited(firms: App) -> None:
    """Each way to give a hierarchy makes the table that it says."""
    (firms.folder / "r.csv").write_text("child,parent\nAll,\nNorth,All\nSouth,All\n")
    firms.post("table", way__0="lengths", lengths__0="1, 4, 5", way__1="flat")
    assert "<summary>F " in firms.get("table-trees")
    firms.post("table", way__0="lengths", lengths__0="two", way__1="flat")
    assert 'class="note wrong"' in firms.get("table")
    assert 'value="two"' in firms.get("table")
    firms.post("table", way__0="flat", way__1="file", file__1="r.csv")
    assert "All" in firms.get("table-trees")
    assert "Food" in firms.get("table-edit?dimension=industry")
    page = firms.post("table-edit", dimension="industry", total="T", tree="Food\n      Steel")
    assert "Line 2" in page
    firms.post("table-edit", dimension="industry", total="T", tree="All goods\n  Food\n  Steel")
    draft = firms.desk.workspace.state.draft
    assert draft["dimensions"]["industry"] == {
        "codes": {"All goods": ["Food", "Steel"]},
        "total": "T",
    }
    assert "12</b> cells" in firms.get("table-trees")
    firms.post("table-level", dimension="industry", level="1")
    assert "6</b> cells" in firms.get("table-trees")


def test_codes_are_merged_and_taken_apart(firms: App) -> None:
    """Ticked codes become one, and can become several again."""
    page = firms.post("table-merge", dimension="region", what="merge", code=["North"], into="")
    assert "tick at least two codes" in page
    firms.post(
        "table-merge", dimension="region", what="merge", code=["North", "South"], into="Both"
    )
    assert firms.desk.workspace.state.draft["recode"] == {"region": {"Both": ["North", "South"]}}
    assert "6</b> cells" in firms.get("table-trees")
    firms.post("table-merge", dimension="region", what="clear")
    assert "9</b> cells" in firms.get("table-trees")


@pytest.mark.parametrize(
    ("lines", "message"), [("", "no codes"), ("  a", "Line 1"), ("a\nb\na", "more than once")]
)
def test_wrong_trees(lines: str, message: str) -> None:
    """A tree that is none is refused, with the line where one is to blame."""
    with pytest.raises(InputError, match=message):
        nested(lines)


def test_rules_have_an_effect_at_once(firms: App) -> None:
    """Parameters are saved as typed, wrong ones are kept and told, undo takes them back."""
    assert "<b>1</b> of 9 cells are sensitive" in firms.get("rules-effect")
    firms.post("rules", rule__0="p-percent", rule__0__p="0,5")
    assert firms.desk.workspace.state.draft["rules"] == [{"rule": "p-percent", "p": 0.5}]
    assert "<b>0</b> of 9 cells are sensitive" in firms.get("rules-effect")
    page = firms.post("rules", rule__0="p-percent", rule__0__p="ten")
    assert 'value="ten"' in page
    assert "must be a number" in page
    assert 'aria-invalid="true"' in page
    page = firms.post("undo", screen="rules")
    assert 'value="0.5"' in page
    assert "no such rule" in firms.post("rules", add="nonsense").lower()
    firms.post("rules", remove="0", rule__0="p-percent", rule__0__p="10")
    assert firms.desk.workspace.state.draft["rules"] == []
    assert "There are no rules yet" in firms.get("rules")


def test_suggestions_can_be_taken(app: App) -> None:
    """A merge that removes sensitive cells is suggested."""
    app.open("cells.csv", "region,value,count\nN1,1,1\nN2,2,2\nS,30,9\n")
    app.post("rules", add="min-frequency")
    page = app.get("rules-suggest")
    assert "N1, N2" in page


def test_levels_that_could_be_left_out(app: App) -> None:
    """What leaving out a level removes is told with the rules and when nothing safe is found."""
    app.open("cells.csv", "region,value,count\nN1,10,1\nN2,20,2\nS1,30,9\nS2,40,9\n")
    app.post("table", way__0="lengths", lengths__0="1, 2")
    app.post("rules", add="min-frequency")
    page = app.get("rules-effect")
    assert "level 2 of region (such as N1)" in page
    assert "−2</td>" in page
    assert "−4</td>" in page
    app.post("protect", name="suppress", option__max_suppressed="1", start="yes")
    assert app.wait() == "failed"
    page = app.get("protect")
    assert "There is no result" in page
    assert "level 2 of region (such as N1)" in page
    page = app.post("table-level", dimension="region", level="1", screen="protect")
    assert "Protect the table" in page
    assert 'name="level"' not in page
    assert app.desk.workspace.state.draft["recode"] == {"region": 1}
    assert "<b>0</b> of 3 cells are sensitive" in app.get("rules-effect")
    app.post("undo", screen="protect")
    assert "recode" not in app.desk.workspace.state.draft


def test_labels_stand_beside_codes(firms: App) -> None:
    """Wherever a code is shown to be read, its label is, too."""
    (firms.folder / "names.csv").write_text("code,label\nNorth,Northern parts\n")
    firms.post("table", way__0="flat", way__1="flat", labels__1="names.csv")
    firms.post("look-mark", cell="4", wish="sensitive")
    for path in ("table-trees", "rules", "look-window", "look-cell?cell=4"):
        assert "North Northern parts" in firms.get(path), path
    assert "North Northern parts" in firms.get("look-search?words=parts")
    shown = firms.desk.tables.shown(firms.desk.workspace.job(), firms.desk.workspace.draft)
    told = "protects (industry=Food, region=North),\n  (industry=Steel, region=South)"
    assert meanings(shown.source, told) == {"North": "Northern parts"}


def test_marks_are_set_in_the_table(firms: App) -> None:
    """A wish about a cell is a mark of the job, and a second one replaces it."""
    firms.post("look-mark", cell="4", wish="publish")
    rule = firms.desk.workspace.state.draft["rules"][-1]
    marks = {"industry": ["Food"], "region": ["North"], "status": ["publish"]}
    assert rule == {"rule": "manual", "marks": marks, "override": True}
    assert "<b>0</b> of 9" in firms.get("rules-effect")
    firms.post("look-mark", cell="4", wish="sensitive")
    rule = firms.desk.workspace.state.draft["rules"][-1]
    assert rule["marks"]["status"] == ["sensitive"]
    assert "override" not in rule
    again = read_job_of(firms)
    assert len(again.rules) == 2
    firms.post("rules-unmark", mark="0")
    assert len(firms.desk.workspace.state.draft["rules"]) == 1
    assert "no such cell" in firms.post("look-mark", cell="99", wish="publish").lower()
    assert "no such wish" in firms.post("look-mark", cell="1", wish="eat").lower()


def read_job_of(app: App) -> Job:
    """The job as its saved file says it."""
    app.post("save", name="saved.toml")
    return read_job(app.folder / "saved.toml")


def test_a_cell_is_explained(protected: App) -> None:
    """Why a cell is suppressed, and what publishing it would take, is told beside its facts."""
    page = protected.get("look-cell?cell=4")
    for fact in ("Contributors", "Largest contributions", "Sensitive by", "look-why?cell=4"):
        assert fact in page
    assert "sensitive itself" in protected.get("look-why?cell=4")
    assert "protects 1 sensitive cell" in protected.get("look-why?cell=5")
    for wrong in ("look-cell?cell=99", "look-why?cell=x", "look-window?rows=no"):
        assert protected.client.get(wrong).status_code == 400


def test_two_tabs_do_not_undo_each_other(firms: App) -> None:
    """A change made on an old page is refused, told, and nothing of the other tab is lost."""
    old = str(firms.desk.workspace.version)
    firms.post("rules", add="dominance")
    page = firms.post("rules", add="zero-cells", version=old)
    assert "changed in another tab" in page
    assert "changed in another tab" in firms.post("undo", screen="rules", version=old)
    rules = [rule["rule"] for rule in firms.desk.workspace.state.draft["rules"]]
    assert rules == ["p-percent", "dominance"]


def test_reloading_sends_nothing_again(firms: App) -> None:
    """After each change the browser is sent to a page that can be reloaded."""
    version = str(firms.desk.workspace.version)
    answer = firms.client.post(
        "rules", data={"add": "dominance", "version": version}, follow_redirects=False
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "rules")


def test_nothing_is_lost_when_the_application_ends(protected: App) -> None:
    """Draft, undo and result are there when it starts again; a broken state starts anew."""
    draft = protected.desk.workspace.state.draft
    again = App(protected.folder)
    assert again.desk.workspace.state.draft == draft
    assert again.desk.workspace.undoable == "add a rule"
    assert "Done and verified" in again.get("protect")
    assert "cannot deduce" in again.get("publish")
    again.desk.runs.end()
    (protected.folder / ".tacit" / "state.json").write_text("{broken")
    assert App(protected.folder).desk.workspace.state.draft == {}


def test_a_search_that_is_killed_is_told(app: App) -> None:
    """When the process of the search dies, the page says so, and the draft is as it was."""
    app.open("cells.csv", HARD)
    app.post("rules", add="min-frequency")
    app.post("protect-start")
    run = app.desk.runs.latest
    assert run is not None
    assert run._process is not None
    run._process.kill()
    assert app.wait() == "lost"
    assert "interrupted" in app.get("protect")
    assert app.desk.workspace.state.draft["rules"]


def test_stopping_keeps_the_best_safe_result(app: App) -> None:
    """A search that is stopped before its time ends with a release."""
    app.open("cells.csv", HARD)
    app.post("rules", add="min-frequency")
    app.post("protect", name="suppress", option__time_limit="600", option__gap="0", start="yes")
    run = app.desk.runs.latest
    assert run is not None
    until = time.monotonic() + 100
    while run.progress.best is None and not run.progress.is_over and time.monotonic() < until:
        time.sleep(0.05)
    app.post("protect-stop")
    assert app.wait() == "done"
    assert run.release.papers.audit.safe
    assert run.progress.seconds < 500


def test_what_cannot_be_protected_is_told(firms: App) -> None:
    """A job that has no safe outcome ends with the reason, and without anything to publish."""
    for cell in range(9):
        if cell != 4:
            firms.post("look-mark", cell=str(cell), wish="publish")
    firms.post("protect-start")
    assert firms.wait() == "failed"
    assert 'class="note wrong"' in firms.get("protect")
    assert firms.client.get("publish").status_code == 400
    assert firms.client.get("download?what=csv").status_code == 400


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "eat"}, "There is no such method"),
        ({"name": "suppress", "option__time_limit": "soon"}, "must be a number"),
        ({"name": "suppress", "option__time_limit": "-1"}, "must be positive"),
        ({"name": "suppress", "insiders": "spies"}, "cannot be"),
    ],
)
def test_wrong_options_are_told(firms: App, fields: dict[str, str], message: str) -> None:
    """What a method cannot be asked for is told on its screen."""
    assert message in firms.post("protect", **fields)
    assert "Method" in firms.get("protect")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", "", "first line is empty"),
        ("binary.csv", b"\x7fELF\x00x", "not a text file"),
        ("broken.toml", "[data", "not TOML"),
        ("broken.jj", "nonsense", ""),
        ("broken.parquet", b"PAR1 no", "not a Parquet file"),
        ("tree.hrc", "a\n@b\n", "not data by itself"),
    ],
)
def test_wrong_files_are_told(app: App, name: str, content: str | bytes, message: str) -> None:
    """A file that cannot be opened is told, whatever its name promises."""
    page = app.open(name, content)
    if message:
        assert message in page
    assert "Traceback" not in page
    assert "no such file" in app.post("open", name="absent.csv").lower()
    answer = app.client.post("upload", files={"file": ("virus.exe", b"x")})
    assert "no kind that can be opened" in answer.text


def test_a_jj_file_goes_straight_to_protection(app: App, tmp_path: Path) -> None:
    """A JJ file needs neither dimensions nor rules, and can be looked at and published."""
    from tacit.examples import get
    from tacit.io.jj import write_jj

    write_jj(get("003-figure-11").problem, tmp_path / "made.jj")
    app.post("open", name="made.jj")
    assert app.client.get("rules").status_code == 400
    app.post("protect-start")
    assert app.wait() == "done"
    assert "data-cell" in app.get("look-window")
    assert app.client.get("download?what=csv").content.startswith(b"cell,value,status")


def test_a_batch_file_of_tau_argus(app: App, shared: Path) -> None:
    """A batch file is opened with what it reads, and becomes a job."""
    for path in (shared / "tables" / "argus" / "ex2").iterdir():
        if path.is_file():
            shutil.copy(path, app.folder)
    page = app.post("open", name="batch_ex2.arb")
    assert "batch_ex2-job.toml" in page
    assert "cells" in app.get("rules-effect")


def test_jobs_are_text_and_back(firms: App) -> None:
    """The file of a job says what the draft says, and opening it gives the same draft."""
    firms.post("look-mark", cell="4", wish="sensitive")
    firms.post("table-edit", dimension="industry", total="T", tree="A b\n  Food\n  Steel")
    draft = firms.desk.workspace.state.draft
    text = firms.get("job.toml")
    assert text == job_text(draft)
    firms.open("again.toml", text)
    assert firms.desk.workspace.state.draft == draft
    assert job_from_mapping(draft, firms.folder / "x.toml").method == "suppress"


def test_methods_are_compared(firms: App) -> None:
    """Several methods run side by side, and their figures stand in one table."""
    page = firms.post("protect-compare", method=["suppress", "intervals"], time_limit="5")
    assert "Comparing" in page
    run = firms.desk.runs.comparison
    assert isinstance(run, Run)
    until = time.monotonic() + 100
    while not run.progress.is_over and time.monotonic() < until:
        time.sleep(0.05)
    # What was asked for stays to be seen.
    page = firms.get("protect")
    assert 'name="time_limit" value="5"' in page
    assert 'value="suppress" checked><label for="compare-' in page
    assert 'value="round"><label for="compare-' in page
    page = firms.get("protect-compared")
    assert "Methods side by side" in page
    assert page.count("<td>yes</td>") == 2
    assert "Tick at least one" in firms.post("protect-compare", time_limit="5")
    assert "positive number" in firms.post("protect-compare", method=["round"], time_limit="no")
    assert not (run.folder / RELEASE).exists()


def test_files_are_written_where_the_job_says(protected: App) -> None:
    """Public and confidential files are written by their names; nothing else is touched."""
    assert "Tick the files" in protected.post("publish", write="yes")
    before = {path.name for path in protected.folder.iterdir()}
    everything = ["csv", "excel", "html", "parquet", "jj", "report"]
    secret = ["table", "working_report", "evidence", "json"]
    protected.post("publish", output=[*everything, *secret], title="Firms", marks="c", write="yes")
    made = {path.name for path in protected.folder.iterdir()} - before
    assert len(made) == 10
    assert sum("confidential" in name for name in made) == 4
    assert b"Firms" in protected.client.get("preview").content
    assert json.loads((protected.folder / "firms-result.confidential.json").read_text())["status"]


def test_every_text_is_used_and_there() -> None:
    """Templates and screens use texts that exist; none is left over."""
    source = Path(__file__).parents[2] / "src" / "tacit" / "app"
    written = "".join(path.read_text() for path in [*source.rglob("*.py"), *source.rglob("*.html")])
    unused = []
    for name in texts():
        parts = name.split(".")
        stems = [name, f"{parts[0]}.", ".".join(parts[:-1])]
        if not any(f"'{stem}" in written or f'"{stem}' in written for stem in stems):
            unused.append(name)
    assert not unused


def test_a_workspace_needs_a_folder(tmp_path: Path) -> None:
    """A path that is no folder is refused."""
    with pytest.raises(InputError, match="not a folder"):
        Workspace(tmp_path / "absent")


def test_linked_tables(firms: App) -> None:
    """Tables that share cells are made here, protected together, and written one by one."""
    firms.post("table-linked", add="yes")
    assert len(firms.desk.workspace.state.draft["tables"]) == 2
    firms.post(
        "table-linked", dimension__0=["industry"], dimension__1=["region"], name__1="by place"
    )
    draft = firms.desk.workspace.state.draft
    assert draft["tables"] == [
        {"dimensions": ["industry"]},
        {"name": "by place", "dimensions": ["region"]},
    ]
    trees = firms.get("table-trees")
    assert "5</b> cells" in trees
    assert "by place: 3 cells" in trees
    assert "by place" in firms.get("look")
    firms.post("protect-start")
    assert firms.wait() == "done"
    page = firms.post("publish", output=["csv"], each_table="yes", write="yes")
    assert "firms-industry-published.csv, firms-by place-published.csv" in page
    firms.post("table-linked", dimension__0=[], dimension__1=["region"])
    assert 'class="note wrong"' in firms.get("table")
    firms.post("table-linked", remove="0", dimension__1=["region"])
    assert len(firms.desk.workspace.state.draft["tables"]) == 1


def test_a_batch_file_reads_nothing_elsewhere(tmp_path: Path) -> None:
    """A batch file that names a file outside the folder is refused."""
    (tmp_path / "outside.rda").write_text("x 1 1\n")
    folder = tmp_path / "inside"
    folder.mkdir()
    app = App(folder)
    batch = '<OPENMICRODATA> "../outside.rda"\n<OPENMETADATA> "../outside.rda"\n'
    page = app.open("b.arb", batch + '<SPECIFYTABLE> "x"|"<freq>"|""|""\n<READMICRODATA>\n')
    assert "outside the folder" in page
