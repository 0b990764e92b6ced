"""Hierarchies in a job."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.errors import InputError
from tacit.hierarchy import Hierarchy
from tacit.jobs.hierarchies import Dimension, read_dimension
from tacit.jobs.sections import Section

NESTED = Hierarchy.from_nested({"A": ["A1", "A2"], "B": []})
FILES = {
    "pairs.csv": "code;above\nTotal;\nA;Total\nA1;A\nA2;A\nB;Total\n",
    "usual.csv": "child,parent\nA,Total\nA1,A\nA2,A\nB,Total\n",
    "tops.csv": "child,parent\nA,\nA1,A\nA2,A\nB,\n",
    "levels.csv": "section,division\nA,A1\nA,A2\nB,\n",
    "codes.csv": "child\nA1\nA2\nB\n",
    "tree.hrc": "A\n@A1\n@A2\nB\n",
    "other.hrc": "A\r\n..A1\r\n..A2\r\n\r\nB\r\n",
    "deep.hrc": "A\n@@A1\n",
    "twice.hrc": "A\n@A1\nB\n@A1\n",
    "marks.hrc": "A\n@\n",
    "empty.hrc": "\n",
    "circle.csv": "child,parent\nA,B\nB,A\n",
    "odd.hrc": None,
    "named.csv": "child,parent,label\nA,Total,Food\nA1,A,Fish\nA2,A,\nB,Total,Wood\n",
    "both.csv": "section,section_name,division,name\nA,Food,A1,Fish\nA,Food,A2,\nB,Wood,,\n",
    "labels.csv": "code,label\nA,Food\nA1,Fish\nB,Wood\n",
    "labels.cdl": "A,Food\nA1,Fish\nB,Wood\n",
}


def _dimension(folder: Path, text: str) -> Dimension:
    for name, content in FILES.items():
        (folder / name).write_bytes(b"\x81\n" if content is None else content.encode())
    (folder / "job.toml").write_text(text)
    return read_dimension(Section.read(folder / "job.toml"))


@pytest.mark.parametrize(
    "text",
    [
        'codes = {A = ["A1", "A2"], B = []}',
        'codes = ["A1", "A2", "B"]\nlengths = [1, 2]',
        'file = "pairs.csv"\nchild = "code"\nparent = "above"',
        'file = "usual.csv"',
        'file = "tops.csv"\ntotal = "Total"',
        'file = "levels.csv"\nlevels = ["section", "division"]',
        'file = "codes.csv"\nlengths = [1, 2]',
        'file = "tree.hrc"',
        'file = "other.hrc"\nindent = ".."',
        "lengths = [1, 2]",
    ],
)
def test_every_way_to_say_the_same(tmp_path: Path, text: str) -> None:
    """The same tree comes from nested codes, prefixes, pairs, levels and .hrc files."""
    assert _dimension(tmp_path, text).resolved(lambda: ["A1", "A2", "B"]) == NESTED


def test_codes_that_occur_are_asked_for_only_where_needed(tmp_path: Path) -> None:
    """A hierarchy that is written out needs no look at the data, and none at all is flat."""

    def never() -> list[object]:
        raise AssertionError

    assert _dimension(tmp_path, 'codes = ["a"]').resolved(never) == Hierarchy.flat(["a"])
    assert _dimension(tmp_path, "").resolved(never) is None


def test_a_total_of_ones_own(tmp_path: Path) -> None:
    """The code of the total can be chosen with every form."""
    for text in ('codes = ["A1"]', "lengths = [2]", "codes = {A1 = []}", 'file = "tree.hrc"'):
        found = _dimension(tmp_path, f'{text}\ntotal = "EU"').resolved(lambda: ["A1"])
        assert found is not None
        assert found.total == "EU"


LABELS = {"A": "Food", "A1": "Fish", "B": "Wood"}


@pytest.mark.parametrize(
    "text",
    [
        'file = "named.csv"',
        'file = "named.csv"\nlabel = "label"',
        'file = "both.csv"\nlevels = ["section", "division"]\nlabel = ["section_name", "name"]',
        'file = "tree.hrc"\nlabels = "labels.csv"',
        'file = "usual.csv"\nlabels = "labels.cdl"',
        'lengths = [1, 2]\nlabels = "labels.csv"',
        'codes = {A = ["A1", "A2"], B = []}\n[labels]\nA = "Food"\nA1 = "Fish"\nB = "Wood"',
    ],
)
def test_every_way_to_give_labels(tmp_path: Path, text: str) -> None:
    """The same labels come from the file of the hierarchy, a file of labels, and the job itself."""
    found = _dimension(tmp_path, text)
    assert found.resolved(lambda: ["A1", "A2", "B"]) == NESTED
    assert found.labels == LABELS
    named = [name for name in ("labels.csv", "labels.cdl", "tree.hrc", "named.csv") if name in text]
    assert {tmp_path / name for name in named} <= set(found.files)


def test_labels_of_a_file_give_way_to_those_beside_it(tmp_path: Path) -> None:
    """A label in the job takes the place of the one in the file of the hierarchy."""
    found = _dimension(tmp_path, 'file = "named.csv"\nlabels = {A1 = "Trout"}')
    assert found.labels == LABELS | {"A1": "Trout"}


def test_labels_of_unknown_codes(tmp_path: Path) -> None:
    """Labels of codes that do not exist are refused, unless the job says otherwise."""
    declared = _dimension(tmp_path, 'codes = ["A"]\nlabels = "labels.csv"')
    with pytest.raises(InputError, match=r"labels.csv: there are labels of A1, B, but no such"):
        declared.refuse_labels({"Total", "A"})
    inline = _dimension(tmp_path, 'codes = ["A"]\n[labels]\nA = "Food"\nQ = "Fish"')
    with pytest.raises(InputError, match=r"job.toml:4: .*there are labels of Q"):
        inline.refuse_labels({"Total", "A"})
    text = 'codes = ["A"]\nlabels = "labels.csv"\nunknown_labels = "ignore"'
    _dimension(tmp_path, text).refuse_labels({"Total", "A"})
    occurring = _dimension(tmp_path, 'labels = "labels.csv"')
    occurring.refuse_labels({"Total", "A"})
    with pytest.raises(InputError, match="labels of A, A1, B"):
        occurring.refuse_labels({"Total", "Q"})


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ('codes = ["a", "a"]', "job.toml:1", "codes a are listed more than once"),
        ('codes = ["a"]\nfile = "tree.hrc"', "job.toml:2", "give 'codes' or 'file', not both"),
        ("codes = 3", "job.toml:1", "'codes' must be a list or a table"),
        ("codes = {a = 3}", "job.toml:1", "below a there is 3"),
        ('child = "code"', "job.toml:1", "'child' needs a 'file'"),
        ('total = "T"', "job.toml:1", "'total' needs"),
        ("codes = {a = []}\nlengths = [1]", "job.toml:2", "for a plain list of 'codes'"),
        ('file = "tree.hrc"\nlengths = [1]', "job.toml:2", "leave out 'lengths'"),
        ('file = "tree.hrc"\nchild = "a"', "job.toml:2", "a .hrc file has no columns"),
        ('file = "usual.csv"\nindent = "@"', "job.toml:2", "not a .hrc file: leave out 'indent'"),
        ('file = "levels.csv"\nlevels = ["a"]\nchild = "b"', "job.toml:2", "not both"),
        ('file = "levels.csv"\nlevels = ["a"]\nlengths = [1]', "job.toml:3", "not both"),
        ('file = "usual.csv"\nparent = "a"\nlengths = [1]', "job.toml:3", "not both"),
        ('file = "usual.csv"\nchild = "cod"', "usual.csv", "there is no column 'cod'"),
        ('file = "circle.csv"', "circle.csv", "codes lie below themselves"),
        ('file = "tops.csv"', "tops.csv", "there are 2 codes without a parent"),
        ('file = "none.csv"', "none.csv", "the file cannot be read"),
        ('file = "none.doc"', "none.doc", "must end in .csv"),
        ('file = "deep.hrc"', "deep.hrc:2", "more than one level below"),
        ('file = "twice.hrc"', "twice.hrc:4", "A1 is listed more than once"),
        ('file = "marks.hrc"', "marks.hrc:2", "marks but no code"),
        ('file = "empty.hrc"', "empty.hrc", "holds no codes"),
        ('file = "named.csv"\nlabel = "word"', "named.csv", "there is no column 'word'"),
        ('file = "named.csv"\nlabel = ["a", "b"]', "job.toml:2", "'label' names one column"),
        (
            'file = "both.csv"\nlevels = ["section", "division"]\nlabel = "name"',
            "job.toml:3",
            "'label' names 1 columns for 2 levels",
        ),
        ('file = "tree.hrc"\nlabel = "name"', "job.toml:2", "a .hrc file has no columns"),
        ('label = "name"', "job.toml:1", "'label' needs a 'file'"),
        ('labels = "none.csv"', "none.csv", "the file cannot be read"),
        ("[labels]\nA = 3", "job.toml:2", "a label must be a text"),
        ('unknown_labels = "ignore"', "job.toml:1", "'unknown_labels' needs 'labels'"),
        ('file = "odd.hrc"', "odd.hrc:1", "not text in UTF-8, and probably not in cp1252"),
    ],
)
def test_what_is_no_hierarchy_is_named(tmp_path: Path, text: str, where: str, message: str) -> None:
    """Faults are reported at their line of the job, or of the file that has them."""
    with pytest.raises(InputError) as raised:
        _dimension(tmp_path, text)
    assert message in str(raised.value)
    assert str(raised.value).startswith(f"{tmp_path / where}: ")
