"""Labels of codes: shown to readers, and without any effect on protection."""

from __future__ import annotations

import csv
import dataclasses
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.errors import HierarchyError, InputError, TableError
from tacit.hierarchy import Hierarchy
from tacit.io.cells import read_columns
from tacit.io.exports import Presentation, write_published
from tacit.io.labels import read_labels
from tacit.release import Published
from tacit.release.labels import Labels
from tacit.report.arrangement import arrange
from tests.release.tables import HIDDEN, TABLE, linked, mask, published

WORDS = {"industry": {"A1": "Fishing", "A": "Food", "A2": "Food"}, "region": {"N": "North"}}


def _labelled() -> Published:
    return published(tacit.Suppression(mask(*HIDDEN)), table=TABLE.with_labels(WORDS))


def _heads(choice: Labels) -> dict[str, list[str]]:
    frame = _labelled().columns(flags="none", labels=choice)
    return {name: column.tolist() for name, column in frame.items() if name != "value"}


def test_labels_of_listed_cells() -> None:
    """Labels stand in columns of their own, with the codes, in their place, or nowhere."""
    codes = {name: TABLE.codes(name).tolist() for name in ("industry", "region")}
    assert _heads("none") == codes
    beside = _heads("beside")
    assert [*beside] == ["industry", "industry_label", "region", "region_label"]
    assert beside["industry"] == codes["industry"]
    assert beside["industry_label"] == [WORDS["industry"].get(c, "") for c in codes["industry"]]
    together = {c: f"{c} {label}" for c, label in WORDS["industry"].items()}
    assert _heads("together")["industry"] == [together.get(c, c) for c in codes["industry"]]
    # Food is the label of two codes, which have to stay apart.
    instead = together | {"A1": "Fishing"}
    assert _heads("instead")["industry"] == [instead.get(c, c) for c in codes["industry"]]
    with pytest.raises(InputError, match=r"labels cannot be 'besides'.*beside"):
        _heads("besides")  # type: ignore[arg-type]


def test_labels_of_rows_and_columns() -> None:
    """A pivot has labels after its codes, and frames made of it have codes alone."""
    pivot = _labelled().pivot()
    assert pivot.row_texts() == (
        ("Total",),
        ("A Food",),
        ("A1 Fishing",),
        ("A2 Food",),
        ("B",),
    )
    assert pivot.column_texts("instead") == ("Total", "North", "S")
    assert pivot.to_text().splitlines()[0].split() == ["industry", "Total", "N", "North", "S"]
    assert "A1 Fishing</th>" in pivot.to_html()
    assert "Fishing" not in pivot.to_html(labels="none")
    assert [*pivot.to_frame("dict")] == ["industry", "Total", "N", "S"]
    assert [*pivot.to_frame("dict", labels="together")] == ["industry", "Total", "N North", "S"]


def _texts_in(path: Path) -> str:
    if path.suffix == ".parquet":
        return str(read_columns(path))
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as book:
            return book.read("xl/sharedStrings.xml").decode()
    return path.read_text()


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx", ".html"])
def test_every_format_shows_labels(tmp_path: Path, suffix: str) -> None:
    """Each format for people or programs holds labels, unless they are not wanted."""
    for choice, expected in ((None, True), ("together", True), ("none", False)):
        path = tmp_path / f"table{suffix}"
        write_published(_labelled(), path, Presentation(labels=choice))  # type: ignore[arg-type]
        assert ("Fishing" in _texts_in(path)) is expected


def test_published_labels_come_back(tmp_path: Path) -> None:
    """What a published CSV file says of codes and labels are the labels that were given."""
    _labelled().to_csv(tmp_path / "table.csv")
    with open(tmp_path / "table.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    found = {row["industry"]: row["industry_label"] for row in rows if row["industry_label"]}
    assert found == WORDS["industry"]


def test_formulas_in_labels_are_neutralised(tmp_path: Path) -> None:
    """A label that a spreadsheet would compute is text in CSV files, as codes are."""
    table = TABLE.with_labels({"region": {"N": "=1+1"}})
    published(tacit.Suppression(mask(*HIDDEN)), table=table).to_csv(tmp_path / "table.csv")
    assert "N,'=1+1," in (tmp_path / "table.csv").read_text()


def test_columns_of_labels_have_free_names() -> None:
    """A dimension called like a column of labels keeps its name, and no column is lost."""
    table = tacit.Table.from_frame(
        {"a": ["x"], "a_label": ["y"], "cell_a": ["z"], "value": [1.0]},
        {"a": None, "a_label": None, "cell_a": None},
    ).with_labels({"a": {"x": "ex"}, "a_label": {"y": "why"}, "cell_a": {"z": "zed"}})
    outcome = tacit.Outcome(
        status=tacit.Status.FEASIBLE, solution=tacit.Suppression(np.zeros(table.cell_count, bool))
    )
    columns = Published.of(table, outcome).columns("a_label", "none")
    assert len(columns) == 7
    assert columns["a_label"].tolist() == table.codes("a_label").tolist()
    assert {"ex", "why", "zed"} <= {text for column in columns.values() for text in column.tolist()}


def test_linked_tables_share_labels() -> None:
    """Labels of a dimension that two linked tables divide differently are shown for both."""
    found = linked()
    grid = found.grids[0]
    named = grid.dimensions["industry"].with_labels({"A": "Food"})
    labelled = dataclasses.replace(grid, dimensions={**grid.dimensions, "industry": named})
    shown = found.replace(grids=(labelled, *found.grids[1:]))
    assert "A Food" in [codes[0] for codes in shown.pivot(table=1).row_texts()]


def test_reports_show_labels() -> None:
    """Rows of heat maps and of the table in a report are named with labels."""
    assert "A1 Fishing" in arrange(_labelled()).rows.labels


def _mapping() -> st.SearchStrategy[dict[str, str]]:
    words = st.text("abc =,;\n", min_size=1, max_size=6)
    return st.dictionaries(st.sampled_from(["Total", "A", "A1", "A2", "B"]), words)


@given(_mapping())
def test_labels_change_no_protection(labels: dict[str, str]) -> None:
    """Whatever the labels, the problem, the hierarchy as an identity, and cells are the same."""
    named = TABLE.with_labels({"industry": labels})
    before, after = TABLE.dimensions["industry"], named.dimensions["industry"]
    assert before == after
    assert hash(before) == hash(after)
    assert list(named.labels) == list(TABLE.labels)
    ours, theirs = TABLE.problem(), named.problem()
    assert np.array_equal(ours.value, theirs.value)
    assert abs(ours.relations - theirs.relations).sum() == 0
    expected = {code: " ".join(label.split()) for code, label in labels.items()}
    assert after.labels == {code: label for code, label in expected.items() if label}


@given(_mapping())
def test_labels_survive_recoding(labels: dict[str, str]) -> None:
    """Codes that remain keep their labels; merged ones have none until somebody gives one."""
    merged = tacit.recode(TABLE.with_labels({"industry": labels}), {"industry": {"M": ["A", "B"]}})
    known = TABLE.with_labels({"industry": labels}).dimensions["industry"].labels
    total = {code: label for code, label in known.items() if code == "Total"}
    assert merged.dimensions["industry"].labels == total
    dropped = tacit.recode(TABLE.with_labels({"industry": labels}), {"industry": 1})
    kept = {code: label for code, label in known.items() if code in ("Total", "A", "B")}
    assert dropped.dimensions["industry"].labels == kept


def test_wrong_labels_are_refused() -> None:
    """Labels of codes or dimensions that do not exist, and two labels of one code, are named."""
    industry = Hierarchy.flat(["A", "B"])
    with pytest.raises(HierarchyError, match="labels of C, but no such codes below Total"):
        industry.with_labels({"C": "Food"})
    assert industry.with_labels({"C": "Food", "A": "Fish"}, unknown="ignore").labels == {
        "A": "Fish"
    }
    with pytest.raises(HierarchyError, match="code A has two labels"):
        industry.with_labels({"code": ["A", "A"], "label": ["x", "y"]})
    with pytest.raises(HierarchyError, match="dimension industry: there are labels of C"):
        TABLE.with_labels({"industry": {"C": "Food"}})
    with pytest.raises(TableError, match="no dimension size"):
        TABLE.with_labels({"size": {}})
    with pytest.raises(HierarchyError, match=r"the label of code A, a.* control character"):
        industry.with_labels({"A": "a\x00"})


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_labels_from_frames(backend: str) -> None:
    """A frame of any library gives labels; a code without one is left as it is."""
    import narwhals as nw

    chosen: Any = backend
    frame = nw.from_dict({"nace": ["A", "B"], "text": ["Food", None]}, backend=chosen).to_native()
    found = Hierarchy.flat(["A", "B"]).with_labels(frame, "nace", "text")
    assert found.labels == {"A": "Food"}


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("l.csv", "code,label\nA,Food\nB,\n", {"A": "Food"}),
        ("l.csv", "nace;text\nA;Food, drinks\n", {"A": "Food, drinks"}),
        ("l.csv", "label,level,code\nFood,1,A\n", {"A": "Food"}),
        ("l.cdl", "A,Food\n  B,Wood, paper\n", {"A": "Food", "B": "Wood, paper"}),
        ("l.csv", "code,label\nA,Food\nA,Fish\n", "l.csv: code A has two labels"),
        ("l.csv", "a,b,c\nA,Food,1\n", "there is no column 'code'; labels need columns"),
        ("none.csv", None, "the file cannot be read"),
    ],
)
def test_files_of_labels(tmp_path: Path, name: str, content: str | None, found: Any) -> None:
    """Files of labels have columns code and label, two columns, or are code lists of tau-ARGUS."""
    if content is not None:
        (tmp_path / name).write_text(content)
    if isinstance(found, dict):
        assert read_labels(tmp_path / name) == found
        return
    with pytest.raises(InputError, match=found):
        read_labels(tmp_path / name)
