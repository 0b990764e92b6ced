"""Files as people write them, through the screens: encodings, decimal signs, Excel, fixed width."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.app.workspace import Draft
from tacit.jobs import read_job
from tacit.jobs.job import Microdata
from tacit.table import Table
from tests.app.conftest import FIRMS, App

COMMA = "Betrieb;Branche;Größe;Umsatz\n" + "\n".join(
    f"b{place};{branch};{size};{turnover}"
    for place, (branch, size, turnover) in enumerate(
        [
            ("Süd", "groß", "1.900,5"),
            ("Süd", "groß", "20,25"),
            ("Süd", "klein", "80,0"),
            ("Nord", "groß", "70,5"),
            ("Nord", "klein", "90,75"),
            ("Nord", "klein", "85,0"),
        ]
    )
)
COMMA_TOTAL = 2247.0
RECORDS = "".join(
    f"{branch:<4}{region:>2}{turnover:>7}\n"
    for branch, region, turnover in [
        ("Food", "N", "900.5"),
        ("Food", "S", "20"),
        ("Iron", "N", "11"),
        ("Iron", "S", "80"),
        ("Iron", "S", "0.5"),
    ]
)
LAYOUT = """Branch 1 4
  <RECODEABLE>
Region 5 2
  <RECODEABLE>
Turnover 7 7
  <NUMERIC>
  <DECIMALS> 1
"""


def draft(app: App) -> Draft:
    """What the job says so far."""
    return app.desk.workspace.state.draft


def judged(app: App) -> Table:
    """The table with its sensitive cells, of the job as it is saved."""
    app.post("rules", add="min-frequency")
    workspace = app.desk.workspace
    table = app.desk.tables.judged(workspace.job(), workspace.state.draft)
    assert isinstance(table, Table)
    return table


def write_workbook(path: Path, **sheets: list[list[object]]) -> None:
    """Write an Excel file."""
    import xlsxwriter

    with xlsxwriter.Workbook(path) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for place, row in enumerate(rows):
                sheet.write_row(place, 0, row)


def test_latin_1_with_decimal_comma(app: App) -> None:
    """What was recognised is shown, and the table has the right total without a word."""
    page = app.open("betriebe.csv", COMMA.encode("latin-1"))
    assert "text in cp1252, columns separated by semicolons, decimal comma" in page
    assert "The encoding is a guess" in page
    assert "Größe" in page
    assert "1.900,5, 20,25" in page
    assert draft(app)["data"] == {"microdata": "betriebe.csv", "value": "Umsatz"}
    app.post("data", source="microdata", role__1="code", role__2="code", role__3="value")
    assert list(draft(app)["dimensions"]) == ["Branche", "Größe"]
    assert "The total is 2\u202f247." in app.get("data-read")
    table = judged(app)
    assert table.value[0] == COMMA_TOTAL
    assert table.is_sensitive.any()


def test_a_wrong_encoding_is_told_beside_the_field(app: App) -> None:
    """The reader's message stands there, nothing is lost, and the right one is saved in the job."""
    app.open("betriebe.csv", COMMA.encode("latin-1"))
    app.post("data", source="microdata", role__0="contributor", role__1="code", role__3="value")
    page = app.post("data", source="microdata", encoding="utf-8", role__1="code", role__3="value")
    assert 'id="wrong-encoding"' in page
    assert "this is not text in UTF-8" in page
    assert draft(app)["data"]["value"] == "Umsatz"
    page = app.post("data", source="microdata", encoding="klingon")
    assert "encoding &#39;klingon&#39; is not known" in page
    assert 'value="klingon"' in page
    assert list(draft(app)["dimensions"]) == ["Branche"]
    page = app.post("data", source="microdata", encoding="cp850")
    assert "wrong-encoding" not in page
    page = app.post("data", source="microdata", encoding="latin-1")
    assert "wrong-encoding" not in page
    assert draft(app)["data"] == {
        "microdata": "betriebe.csv",
        "encoding": "latin-1",
        "value": "Umsatz",
    }
    assert judged(app).value[0] == COMMA_TOTAL
    app.post("save", name="betriebe.toml")
    data = read_job(app.folder / "betriebe.toml").data
    assert isinstance(data, Microdata)
    assert data.arguments["encoding"] == "latin-1"


def test_columns_follow_the_encoding(app: App) -> None:
    """A column whose name reads otherwise in another encoding keeps its role and its hierarchy."""
    app.open("betriebe.csv", COMMA.encode("latin-1"))
    roles = {"role__0": "none", "role__1": "none", "role__2": "code", "role__3": "value"}
    app.post("data", source="microdata", **roles)
    app.post("table", way__0="flat", total__0="Alle")
    said = draft(app)["dimensions"]["Größe"]
    app.post("data", source="microdata", encoding="cp850", **roles)
    (name,) = draft(app)["dimensions"]
    assert name == "Größe".encode("latin-1").decode("cp850")
    app.post("data", source="microdata", encoding="", **roles)
    assert draft(app)["dimensions"] == {"Größe": said}
    assert "encoding" not in draft(app)["data"]


def test_an_encoding_that_cannot_be_guessed(app: App) -> None:
    """Such a file is opened all the same: the page asks for its encoding, and then has columns."""
    page = app.open("betriebe.csv", COMMA.encode("cp850"))
    assert 'id="wrong-encoding"' in page
    page = app.post("data", source="microdata", encoding="cp850")
    assert "Größe" in page
    assert draft(app)["data"]["value"] == "Umsatz"
    assert judged(app).value[0] == COMMA_TOTAL


@pytest.mark.parametrize(("decimal", "total"), [("comma", 3.75), ("point", 3750.0)])
def test_an_unclear_decimal_sign_is_asked_for(app: App, decimal: str, total: float) -> None:
    """Numbers that could mean two things are what the user says."""
    page = app.open("t.csv", "region;turnover\nN;1,250\nS;2,500\n")
    assert "not clear: choose" in page
    assert "number" in page
    app.post("data", source="microdata", role__0="code", role__1="value", decimal=decimal)
    assert draft(app)["data"]["decimal"] == ("," if decimal == "comma" else ".")
    assert judged(app).value[0] == total


def test_wrong_signs_are_told(app: App) -> None:
    """Equal signs, and numbers that are not written as said, are told in the reader's words."""
    app.open("betriebe.csv", COMMA)
    roles = {"role__1": "code", "role__3": "value"}
    page = app.post("data", source="microdata", decimal="comma", thousands="comma", **roles)
    assert 'id="wrong-thousands"' in page
    assert "they must differ" in page
    assert draft(app)["data"]["value"] == "Umsatz"
    page = app.post("data", source="microdata", decimal="point", thousands="none", **roles)
    assert draft(app)["data"]["thousands"] == ""
    assert 'class="note wrong"' in app.get("data-read")
    app.post("data", source="microdata", decimal="comma", thousands="point", **roles)
    assert judged(app).value[0] == COMMA_TOTAL


def test_a_workbook_to_a_published_table(app: App) -> None:
    """Of an Excel file the sheet can be chosen, and its table is protected and published."""
    header, *lines = [line.split(",") for line in FIRMS.splitlines()]
    rows: list[list[object]] = [[*header], *([*line[:3], float(line[3])] for line in lines)]
    write_workbook(app.folder / "made.xlsx", Notes=[["About"], ["Firms"]], Data=rows)
    content = (app.folder / "made.xlsx").read_bytes()
    answer = app.client.post("upload", files={"file": ("firms.xlsx", content)})
    assert answer.status_code == 200
    assert '<option value="Notes" selected>' in answer.text
    page = app.post("data", source="microdata", sheet="Data")
    assert '<option value="Data" selected>' in page
    assert draft(app)["data"] == {
        "microdata": "firms.xlsx",
        "sheet": "Data",
        "contributor": "firm",
        "value": "turnover",
    }
    page = app.post("data", source="microdata", sheet="Other")
    assert 'id="wrong-sheet"' in page
    assert "the sheets are Notes, Data" in page
    app.post("data", source="microdata", sheet="Data")
    assert draft(app)["data"]["value"] == "turnover"
    table = judged(app)
    assert table.value[0] == 1592
    app.post("rules", remove="0")
    app.post("rules", add="p-percent")
    app.post("protect-start")
    assert app.wait() == "done"
    page = app.post("publish", output=["csv"], write="yes")
    assert "Written: firms-published.csv" in page
    assert ",1592" in (app.folder / "firms-published.csv").read_text()


def test_records_of_fixed_width(app: App) -> None:
    """Records with a layout of the same name are opened with it, and roles are those it says."""
    (app.folder / "other.rda").write_text("Nothing 1 1\n  <RECODEABLE>\n")
    files = [("file", ("firms.asc", RECORDS.encode())), ("file", ("firms.rda", LAYOUT.encode()))]
    page = app.client.post("upload", files=files).text
    assert '<option value="firms.rda" selected>' in page
    assert "900.5, 20" in page
    assert draft(app)["data"] == {
        "microdata": "firms.asc",
        "layout": "firms.rda",
        "value": "Turnover",
    }
    assert list(draft(app)["dimensions"]) == ["Branch", "Region"]
    table = judged(app)
    assert table.value[0] == 1012
    assert table.cell_count == 9


def test_records_whose_layout_comes_later(app: App) -> None:
    """Without a layout the page asks for one; a wrong one is told beside the field."""
    page = app.open("firms.asc", RECORDS)
    assert 'id="wrong-layout"' in page
    (app.folder / "places.rda").write_text(LAYOUT)
    (app.folder / "wrong.rda").write_text("Branch one 4\n")
    assert '<option value="places.rda">' in app.get("data")
    page = app.post("data", source="microdata", layout="wrong.rda")
    assert 'id="wrong-layout"' in page
    assert "wrong.rda" in page
    app.post("data", source="microdata", layout="places.rda")
    assert draft(app)["data"]["layout"] == "places.rda"
    assert judged(app).value[0] == 1012


def test_what_else_a_job_says_about_data_stays(app: App) -> None:
    """Changing a role loses nothing that the screen does not show."""
    (app.folder / "firms.csv").write_text(FIRMS)
    said = 'missing = { code = "99" }\nmemory_limit = "1GB"\n'
    job = (
        f'[data]\nmicrodata = "firms.csv"\nvalue = "turnover"\n{said}[dimensions]\nregion = {{}}\n'
    )
    app.open("job.toml", job)
    app.post("data", source="microdata", missing="refuse", role__2="code", role__3="value")
    assert draft(app)["data"]["missing"] == {"code": "99"}
    assert draft(app)["data"]["memory_limit"] == "1GB"
