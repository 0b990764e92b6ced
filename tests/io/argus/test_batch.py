"""Batch files: every command, in the spellings that occur, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.errors import InputError
from tacit.io.argus.batch import COMMANDS, NOT_FOR_USERS, read_batch
from tacit.io.argus.commands import (
    Apriori,
    Clear,
    Logbook,
    OpenMicrodata,
    ReadTable,
    Recode,
    RuleCall,
    SafetyRule,
    Solver,
    SpecifyTable,
    Suppress,
    WriteTable,
)


def _read(folder: Path, *lines: str) -> list[object]:
    path = folder / "job.arb"
    path.write_bytes("\r\n".join(lines).encode("cp1252"))
    return list(read_batch(path).commands)


def _refused(folder: Path, line: str) -> str:
    path = folder / "job.arb"
    path.write_text(f"// comment\n{line}\n")
    with pytest.raises(InputError) as caught:
        read_batch(path)
    assert caught.value.line == 2
    return str(caught.value)


def test_comments_and_empty_lines_are_passed_over(tmp_path: Path) -> None:
    """Both kinds of comments, in another code page, and lines count as they stand."""
    found = _read(tmp_path, "// été", r"\\ \\server", "", "<CLEAR>", "  <clear>  // behind it")
    assert found == [Clear(line=4), Clear(line=5)]


def test_files_may_stand_without_quotes(tmp_path: Path) -> None:
    """Quotes are optional, and paths of other machines stay as they are."""
    found = _read(
        tmp_path, r'<OPENMICRODATA> "V:\a b\données.asc"', "<LOGBOOK> x.log", '<LOGBOOK> "a//b.log"'
    )
    assert found == [
        OpenMicrodata(line=1, file=r"V:\a b\données.asc"),
        Logbook(line=2, file="x.log"),
        Logbook(line=3, file="a//b.log"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"a""b"|"r"||', {"response": "r"}),
        ('"a""b"|"r"', {"response": "r"}),
        ('"a" "b"|<freq>|""|""', {"response": None}),
        ('"a","b"|< FREQ >|"s"|-2', {"response": None, "shadow": "s", "cost": -2}),
        ('"a""b"|"r"|"r"|"r",0.5', {"response": "r", "shadow": "r", "cost": "r", "power": 0.5}),
        ('"a""b"|"r"||"c"|0', {"response": "r", "cost": "c", "power": 0.0}),
        ("a b|r||-1", {"response": "r", "cost": -1}),
    ],
)
def test_tables_are_specified_in_many_ways(
    tmp_path: Path, text: str, expected: dict[str, object]
) -> None:
    """Fields may be empty, missing or repeated, and the power stands in two places."""
    (found,) = _read(tmp_path, f"<SPECIFYTABLE> {text}")
    assert found == SpecifyTable(line=1, explanatory=("a", "b"), **expected)  # type: ignore[arg-type]


def test_rules_keep_their_order_and_parameters(tmp_path: Path) -> None:
    """Empty parts between bars mean nothing, and names are written in any case."""
    (found,) = _read(tmp_path, "<SAFETYRULE> P(10,100,1)|NK( 3 , 75 )||freq(3)|Zero(0.5)|WGT(1)|")
    assert isinstance(found, SafetyRule)
    assert found.rules == (
        RuleCall("P", (10, 100, 1)),
        RuleCall("NK", (3, 75)),
        RuleCall("FREQ", (3,)),
        RuleCall("ZERO", (0.5,)),
        RuleCall("WGT", (1,)),
    )


@pytest.mark.parametrize(
    ("text", "totals", "keep"),
    [("", 0, False), ("0", 0, False), ("1", 1, False), ("1T", 1, True), ("2 F", 2, False)],
)
def test_totals_of_tables(tmp_path: Path, text: str, totals: int, keep: bool) -> None:
    """What becomes of totals is a number, with a letter or without."""
    (found,) = _read(tmp_path, f"<READTABLE> {text}")
    assert found == ReadTable(line=1, totals=totals, keep_status=keep)


def test_recodes_and_a_priori_files(tmp_path: Path) -> None:
    """A recode names a file or a level; an a priori file a separator and two switches."""
    found = _read(
        tmp_path,
        "<RECODE> 1, Size, GK.grc",
        '<RECODE> 2,"Region",2',
        '<APRIORI> "x.hst",1,";"',
        '<APRIORY> "x.hst",2,",",1,0',
        '<APRIORI> "x.hst",1,"\\t",0,1',
    )
    assert found == [
        Recode(line=1, table=1, variable="Size", file="GK.grc"),
        Recode(line=2, table=2, variable="Region", level=2),
        Apriori(line=3, file="x.hst", table=1, separator=";"),
        Apriori(
            line=4, file="x.hst", table=2, separator=",", ignore_errors=True, expand_trivial=False
        ),
        Apriori(line=5, file="x.hst", table=1, separator="\t"),
    ]


def test_methods_and_outputs(tmp_path: Path) -> None:
    """Parameters at the end may be missing; options of outputs are letters, a number or nothing."""
    found = _read(
        tmp_path,
        "<SUPPRESS> GH(1,40,0)",
        "<SUPPRESS> MOD(0,5,1,1,1,20000,0.99,1.01)",
        '<SUPPRESS> CKM(1) "p.txt"|"q.txt"',
        '<WRITETABLE> (1, 3, AS+SE-, "out.txt")',
        '<WRITETABLE> (1,1,,"a,b.csv")',
        '<SOLVER> CPLEX,"c:\\lic.ilm"',
    )
    assert found == [
        Suppress(line=1, method="GH", table=1, parameters=(40, 0)),
        Suppress(line=2, method="MOD", table=0, parameters=(5, 1, 1, 1, 20000, 0.99, 1.01)),
        Suppress(line=3, method="CKM", table=1, text='"p.txt"|"q.txt"'),
        WriteTable(line=4, table=1, format=3, options="AS+SE-", file="out.txt"),
        WriteTable(line=5, table=1, format=1, options="", file="a,b.csv"),
        Solver(line=6, name="CPLEX", licence="c:\\lic.ilm"),
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("READTABLE", "begins with a command"),
        ("<READTABEL>", "did you mean 'READTABLE'?"),
        ("<COVER>", "internal to tau-ARGUS"),
        ("<JJ> x", "does nothing in tau-ARGUS"),
        ("<CLEAR> all", "nothing belongs behind <CLEAR>"),
        ("<LOGBOOK>", "name of a file is missing"),
        ('<SPECIFYTABLE> |"r"', "no explanatory variable"),
        ('<SPECIFYTABLE> "a""a"|"r"', "named twice"),
        ('<SPECIFYTABLE> "a"', "the response is missing"),
        ('<SPECIFYTABLE> "a"|"r"||-4', "cost -4 is not known"),
        ('<SPECIFYTABLE> "a"|"r"||"c",-1', "power of the costs is negative"),
        ('<SPECIFYTABLE> "a"|"r"|||1|2', "with | between them"),
        ("<SAFETYRULE> Q(1)", "there is no rule Q"),
        ("<SAFETYRULE> NK(1)", "NK has 1 parameters; write 2"),
        ("<SAFETYRULE> P(x)", "a parameter of P is 'x'"),
        ("<SAFETYRULE> P(-1)", "negative"),
        ("<SAFETYRULE> P(nan)", "a parameter of P is 'nan'"),
        ("<SAFETYRULE> MIS(2)", "MIS is 0 or 1"),
        ("<SAFETYRULE> P(1) P(2)", "put | between rules"),
        ("<SAFETYRULE> P", "write it as in P(10,1)"),
        ("<READTABLE> 3", "write 0, 1, 1T, 2 or nothing"),
        ("<RECODE> 1,Size", "a table, a variable and a file or level"),
        ("<RECODE> x,Size,2", "the number of the table is 'x'"),
        ('<APRIORI> "x"', "a file, a table and a separator"),
        ('<APRIORI> "x",1,";;"', "one character"),
        ('<APRIORI> "x",1,";",2', "write 0 or 1"),
        ("<SUPPRESS> OPT", "write it as in"),
        ("<SUPPRESS>", "name a method"),
        ("<SUPPRESS> OPTI(1)", "did you mean 'OPT'?"),
        ("<SUPPRESS> OPT()", "needs the number of a table"),
        ("<SUPPRESS> OPT(0,1)", "only GH, MOD take 0"),
        ("<SUPPRESS> NET(1,5)", "NET has 1 parameters behind the table"),
        ("<SUPPRESS> OPT(1.5)", "whole number"),
        ('<WRITETABLE> (1,8,,"x")', "from 1 to 7"),
        ("<WRITETABLE> (1,3,AS+)", "table, format, options and file"),
        ("<SOLVER> GUROBI", "there is no solver GUROBI"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(tmp_path: Path, line: str, told: str) -> None:
    """The message says what to write instead."""
    assert told in _refused(tmp_path, line)


def test_a_file_without_commands_is_refused(tmp_path: Path) -> None:
    """Comments alone do nothing."""
    path = tmp_path / "job.arb"
    path.write_text("// nothing\n")
    with pytest.raises(InputError, match="there are no commands"):
        read_batch(path)


def test_no_command_is_both_read_and_refused() -> None:
    """What is known but refused has no reader."""
    assert not set(COMMANDS) & set(NOT_FOR_USERS)
