"""Help: beside every field of every page stand its name, what it is for, and an example."""

from __future__ import annotations

import dataclasses
from html.parser import HTMLParser

import pytest

from tacit.app.screens.rules import OFFERED
from tacit.methods.registry import METHODS
from tests.app.conftest import FIRMS, App

CUBE = "size,industry,region,value,count\n" + "".join(
    f"s{s},i{i},r{r},{s * 31 + i * 7 + r * 3 + 1},{(s + i + r) % 5 + 2}\n"
    for s in range(2)
    for i in range(3)
    for r in range(3)
)
VOID = ("input", "link", "meta", "br", "img", "hr", "rect", "polyline", "polygon")
ALONE = ("radio", "checkbox")


@dataclasses.dataclass
class Element:
    """An element of a page."""

    tag: str
    given: dict[str, str]
    above: Element | None
    inside: list[Element] = dataclasses.field(default_factory=list)
    words: str = ""

    def all(self) -> list[Element]:
        """The element with everything inside."""
        return [self, *(each for part in self.inside for each in part.all())]

    def closest(self, *wanted: str) -> Element | None:
        """The nearest element around it of a tag, or of a class such as `.field`."""
        at = self.above
        while at is not None:
            names = {at.tag, *(f".{name}" for name in at.given.get("class", "").split())}
            if names & {*wanted}:
                return at
            at = at.above
        return None


class Page(HTMLParser):
    """A page as a tree."""

    def __init__(self, text: str):
        super().__init__()
        self.top = self._at = Element("", {}, None)
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        made = Element(tag, {name: each or "" for name, each in attrs}, self._at)
        self._at.inside.append(made)
        if tag not in VOID:
            self._at = made

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element without anything inside."""
        self._at.inside.append(Element(tag, {name: each or "" for name, each in attrs}, self._at))

    def handle_endtag(self, tag: str) -> None:
        """An element ends."""
        at: Element | None = self._at
        while at is not None and at.tag != tag:
            at = at.above
        if at is not None and at.above is not None:
            self._at = at.above

    def handle_data(self, data: str) -> None:
        """Text within an element."""
        self._at.words += data.strip()


def lacking(text: str) -> list[str]:
    """The fields of a page that lack a name, help, or an example."""
    top = Page(text).top
    named = {each.given["for"] for each in top.all() if each.tag == "label" and "for" in each.given}
    found = []
    for field in top.all():
        kind = field.given.get("type", "text")
        if field.tag not in ("input", "select", "textarea") or kind == "hidden":
            continue
        name = field.given.get("id") or field.given.get("name", "?")
        if field.given.get("id") not in named and field.closest("label") is None:
            found.append(f"{name}: no label")
        # One help serves the choices of a group, or a column of a table.
        places = ("fieldset", ".field", "table") if kind in ALONE else (".field",)
        place, helped = field.closest(*places), False
        while place is not None and not helped:
            helps = [e for e in place.all() if "help" in e.given.get("class", "").split()]
            helped = bool(helps)
            for help_ in helps:
                words = [e for e in help_.all() if e.given.get("class") == "example"]
                if not words or not all(e.words for e in words):
                    found.append(f"{name}: no example")
            place = place.closest("table") if kind in ALONE else None
        if not helped:
            found.append(f"{name}: no help")
    return found


def test_what_lacks_help_is_found() -> None:
    """A field without a name, help or example does not slip through."""
    assert lacking('<input id="a">') == ["a: no label", "a: no help"]
    helped = '<details class="help"><p class="example">1</p></details>'
    field = f'<div class="field"><label for="a">A</label>{helped}<select id="a"></select></div>'
    assert lacking(field) == []
    assert lacking(field.replace("example", "no")) == ["a: no example"]
    assert lacking(field + '<textarea id="b"></textarea>') == ["b: no label", "b: no help"]


def test_every_field_of_records_has_help(app: App) -> None:
    """From the file to the published table, in every state that adds fields."""
    pages = {"start": app.get("start")}
    (app.folder / "tree.csv").write_text("child,parent\nAll,\nFood,All\nSteel,All\n")
    app.open("firms.csv", FIRMS)
    pages["data"] = app.get("data")
    for way in ("flat", "lengths", "file"):
        app.post(
            "table",
            way__0=way,
            lengths__0="1, 4, 5",
            file__0="tree.csv",
            labels__1="",
            way__1="flat",
        )
        pages[f"table {way}"] = app.get("table")
        pages[f"trees {way}"] = app.get("table-trees")
    pages["edit"] = app.get("table-edit?dimension=region")
    app.post("table", way__0="flat", way__1="flat")
    app.post("table-linked", add="yes")
    pages["linked"] = app.get("table")
    app.post("table-linked", dimension__0=["industry"], dimension__1=["region"])
    for rule in OFFERED:
        app.post("rules", add=rule)
    pages["rules"] = app.get("rules")
    while app.desk.workspace.state.draft["rules"]:
        app.post("rules", remove="0")
    app.post("rules", add="p-percent")
    pages["effect"] = app.get("rules-effect")
    for method in METHODS:
        app.post("protect", name=method)
        pages[f"protect {method}"] = app.get("protect")
    app.post("protect", name="suppress")
    pages["look"] = app.get("look")
    app.post("protect-start")
    assert app.wait() == "done"
    pages["cell"] = app.get("look-cell?cell=1")
    pages["publish"] = app.get("publish")
    assert {name: lacking(page) for name, page in pages.items() if lacking(page)} == {}
    assert sum(page.count("<input") + page.count("<select") for page in pages.values()) > 300


def test_every_field_of_finished_tables_has_help(app: App) -> None:
    """A table of three dimensions has fields of its own."""
    app.open("cube.csv", CUBE)
    app.post("rules", add="min-frequency")
    for path in ("data", "table", "table-trees", "rules-suggest", "look"):
        assert lacking(app.get(path)) == [], path
    assert 'id="view-fixed-1"' in app.get("look")


@pytest.mark.parametrize("kind", ["sheets", "layout"])
def test_every_field_about_how_files_are_written_has_help(app: App, kind: str) -> None:
    """Sheets of workbooks and layouts of records are asked for with help."""
    if kind == "sheets":
        import xlsxwriter

        path = app.folder / "firms.xlsx"
        with xlsxwriter.Workbook(str(path)) as book:
            for name in ("Notes", "Data"):
                sheet = book.add_worksheet(name)
                for row, line in enumerate(FIRMS.splitlines()):
                    sheet.write_row(row, 0, line.split(","))
        app.post("open", name=path.name)
        assert 'id="written-sheet"' in app.get("data")
    else:
        layout = "Region 1 2\n  <RECODEABLE>\nTurnover 4 6\n  <NUMERIC>\n"
        (app.folder / "firms.rda").write_text(layout)
        app.open("firms.asc", "N1 000900\nN2 000020\n")
        assert 'id="written-layout"' in app.get("data")
    assert lacking(app.get("data")) == []
