"""The whole way, from a file to a published table, without a browser."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from tacit.cli.main import main
from tests.app.conftest import App

VARIABLES = """firm,industry,region,turnover,domestic,exports
a,Food,North,900,600,300
b,Food,North,20,12,8
c,Food,North,11,8,3
d,Food,South,80,70,10
e,Food,South,75,40,35
f,Food,South,60,33,27
g,Steel,North,70,50,20
h,Steel,North,66,41,25
i,Steel,North,58,38,20
j,Steel,South,90,60,30
k,Steel,South,85,55,30
l,Steel,South,77,52,25
"""
EVERYTHING = ("csv", "excel", "html", "parquet", "jj", "report")


def test_from_records_to_the_file_of_the_command_line(firms: App, tmp_path: Path) -> None:
    """The download is the file that the command line writes with the saved job, byte by byte."""
    assert "12" in firms.get("data")
    assert "9</b> cells" in firms.get("table-trees")
    assert "<b>1</b> of 9 cells are sensitive" in firms.get("rules-effect")
    firms.post("protect-start")
    assert firms.wait() == "done"
    assert "Done and verified" in firms.get("protect")
    assert 'aria-rowcount="4"' in firms.get("look")
    assert "cannot deduce" in firms.get("publish")
    page = firms.post("publish", output=["csv", "report"], write="yes")
    assert "Written: firms-published.csv, firms-report.html" in page
    made = {each: firms.client.get(f"download?what={each}").content for each in ("csv", "report")}
    firms.post("save", name="firms.toml")
    written = {"csv": tmp_path / "firms-published.csv", "report": tmp_path / "firms-report.html"}
    assert {name: path.read_bytes() for name, path in written.items()} == made
    for path in written.values():
        path.unlink()
    assert main(["protect", str(tmp_path / "firms.toml"), "--quiet"]) == 0
    assert {name: path.read_bytes() for name, path in written.items()} == made


def test_the_sample_is_two_clicks(app: App) -> None:
    """A first-time visitor gets a finished result without filling in anything."""
    assert "Try it with sample data" in app.get("start")
    assert "Protect the table" in app.post("sample")
    assert app.wait() == "done"
    assert "Look at the table" in app.get("protect-progress")


def downloaded(app: App, key: str, table: int | None = None) -> tuple[str, bytes]:
    """The name and content of a file that the page offers."""
    answer = app.client.get(f"download?what={key}" + ("" if table is None else f"&table={table}"))
    assert answer.status_code == 200, answer.text
    disposition = answer.headers["content-disposition"]
    if "filename*=" in disposition:
        return unquote(disposition.rpartition("''")[2]), answer.content
    return disposition.rpartition("filename=")[2].strip('"'), answer.content


def written_by_command(app: App, job: str, names: list[str]) -> dict[str, bytes]:
    """What the command line writes with a job of the folder."""
    assert main(["protect", str(app.folder / job), "--quiet"]) == 0
    return {name: (app.folder / name).read_bytes() for name in names}


def test_linked_tables_have_a_file_each(firms: App) -> None:
    """Each of linked tables has its own download, which `{table}` gives on the command line."""
    (firms.folder / "names.csv").write_text("code,label\nFood,Food and drink\nSteel,Steel\n")
    firms.post("table", way__0="flat", labels__0="names.csv", way__1="flat")
    firms.post("table-linked", add="yes")
    firms.post(
        "table-linked",
        dimension__0=["industry", "region"],
        dimension__1=["region"],
        name__1="by place",
    )
    firms.post("protect-start")
    assert firms.wait() == "done"
    page = firms.get("publish")
    assert page.count("each table by itself") == len(EVERYTHING) + 2
    firms.post("publish", output=list(EVERYTHING), each_table="yes", title="Firms")
    made = dict(downloaded(firms, key, table) for key in EVERYTHING for table in (0, 1))
    assert "firms-by place-published.csv" in made
    assert b"Food and drink" in made["firms-industry-region-published.html"]
    firms.post("save", name="firms.toml")
    assert written_by_command(firms, "firms.toml", [*made]) == made
    whole = dict(downloaded(firms, key) for key in EVERYTHING)
    firms.post("publish", output=list(EVERYTHING), title="Firms")
    firms.post("save", name="firms.toml")
    assert written_by_command(firms, "firms.toml", [*whole]) == whole
    for wrong in ("csv&table=2", "csv&table=-1", "csv&table=x", "json&table=0", "nonsense"):
        assert firms.client.get(f"download?what={wrong}").status_code == 400


def test_several_variables_with_marks(app: App) -> None:
    """A table of several variables is made, marked and published here as by the command line."""
    page = app.open("firms.csv", VARIABLES)
    roles = {"role__0": "contributor", "role__1": "code", "role__2": "code"}
    values = {f"role__{place}": "value" for place in (3, 4, 5)}
    page = app.post("data", source="microdata", **roles, **values)
    assert "tick &#39;Several columns" in page
    app.post("data", source="microdata", several="yes", **roles, **values)
    assert app.desk.workspace.state.draft["data"]["value"] == ["turnover", "domestic", "exports"]
    app.post("table-linked", equations="turnover = domestic + exports")
    app.post("rules", add="p-percent")
    assert "of 27 cells are sensitive" in app.get("rules-effect")
    shown = app.get("look")
    assert "exports" in shown
    window = app.get("look-window?table=2")
    cell = re.findall(r'data-cell="(\d+)"', window)[-1]
    assert "variable=exports" in app.get(f"look-cell?cell={cell}")
    app.post("look-mark", cell=cell, wish="secondary")
    marks = app.desk.workspace.state.draft["rules"][-1]["marks"]
    assert {name: column[0] for name, column in marks.items()} == {
        "variable": "exports",
        "industry": "Steel",
        "region": "South",
        "status": "secondary",
    }
    assert "variable=exports" in app.get("rules")
    app.post("protect-start")
    assert app.wait() == "done"
    release = app.desk.runs.latest
    assert release is not None
    assert release.release.published.is_hidden[int(cell)]
    app.post("publish", output=list(EVERYTHING), each_table="yes")
    made = dict(downloaded(app, key, table) for key in EVERYTHING for table in range(3))
    app.post("save", name="several.toml")
    made = {name.replace("firms-", "several-", 1): each for name, each in made.items()}
    app.post("publish", output=list(EVERYTHING), each_table="yes")
    app.post("save", name="several.toml")
    assert written_by_command(app, "several.toml", [*made]) == made
    # And the other way round: the job of the command line, opened here.
    draft = app.desk.workspace.state.draft
    app.post("open", name="several.toml")
    assert app.desk.workspace.state.draft == draft
    app.post("protect-start")
    assert app.wait() == "done"
    assert dict([downloaded(app, "csv", 2)]).items() <= made.items()
