"""`tacit info`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tacit.cli.commands.info import describe
from tacit.cli.main import main
from tacit.io.jj import write_jj
from tacit.problem import Problem

from .conftest import Files

MIXED = Problem(
    value=[7777, -3333, 4444, 0, 0, 0, 5],
    lower=-9999,
    upper=99999,
    weight=[7777, 3333, 4444, 1, 1, 1, 5],
    relations=[[1, 1, -1, 0, 0, 0, 0], [0, 0, 0, 1, 2, -1, 0]],
    sensitive=[0, 3],
    upper_level=[1234, 0],
    must_publish=[False, False, False, False, False, True, False],
)


def test_a_description_counts_what_there_is() -> None:
    """Every count is that of the table at hand."""
    facts = describe(MIXED)
    memory = facts.pop("memory")
    assert memory == MIXED.nbytes
    assert facts == {
        "cells": 7,
        "relations": 2,
        "coefficients": 6,
        "sensitive": 2,
        "must_publish": 1,
        "zero": 3,
        "negative": 1,
        "in_no_relation": 1,
        "components": 3,
        "largest_component": 3,
        # The factor 2 keeps the second relation from being a network.
        "network_cells": 3,
        "levels": {"lower": 0, "upper": 1, "sliding": 0, "none": 1},
        "weights": "value",
    }
    assert describe(MIXED.replace(weight=1.0))["weights"] == "unit"
    assert describe(MIXED.replace(weight=2.0))["weights"] == "own"
    assert describe(Problem(value=[]))["largest_component"] == 0


def test_a_sound_table_is_described_without_its_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither the text nor the JSON holds a value or a level."""
    table, out = tmp_path / "table.jj", tmp_path / "info.json"
    write_jj(MIXED, table)
    assert main(["info", str(table), "--json", str(out)]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert "7: 2 sensitive, 1 must be published, 3 zero, 1 negative" in told.out
    assert "in part, 50% of the cells" in told.out
    for secret in ("7777", "3333", "4444", "1234"):
        assert secret not in told.out + out.read_text()
    facts = json.loads(out.read_text())
    assert facts["cells"] == 7
    assert facts["violations"] == []


def test_what_is_wrong_is_said_with_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All violations appear, in the message as in the JSON."""
    table, out = tmp_path / "table.jj", tmp_path / "info.json"
    value = MIXED.value.copy()
    value[2] += 1
    write_jj(MIXED.replace(value=value, weight=np.full(7, -1.0)), table)
    assert main(["info", str(table), "--json", str(out)]) == 1
    told = capsys.readouterr()
    assert "sound       no: additivity, weight" in told.out
    assert told.err.startswith(f"tacit: {table}: this table is wrong")
    assert "do not add up in 1 relation: relation 0" in told.err
    assert "the weight is negative: cell 0" in told.err
    wrong = json.loads(out.read_text())["violations"]
    assert [violation["condition"] for violation in wrong] == ["additivity", "weight"]
    assert wrong[0]["relations"] == [0]


def test_rounded_tables_pass_with_a_tolerance(tmp_path: Path) -> None:
    """A table that adds up but for rounding is sound to those who allow for it."""
    table = tmp_path / "table.jj"
    write_jj(Problem(value=[333.3, 333.3, 666.7], relations=[[1, 1, -1]]), table)
    assert main(["info", str(table)]) == 1
    assert main(["info", str(table), "--tolerance", "1e-3"]) == 0


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("job.toml", "", "job.toml: there is no [data]; it names what to protect"),
        ("bad.jj", "0\n1\n0 x 1 s 0 9 0 0 0\n0\n", "bad.jj:3: "),
        ("job.arb", "<SUPPRESS>\n", "job.arb: this is a tau-ARGUS batch file"),
    ],
)
def test_other_files_are_refused(
    tmp_path: Path, name: str, content: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An input that cannot be read is named with its line."""
    path = tmp_path / name
    path.write_text(content)
    assert main(["info", str(path)]) == 1
    assert message in capsys.readouterr().err


def test_outputs_are_refused_before_any_work(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    """A directory, a missing directory or the input itself is no place for the output."""
    table = str(files.table)
    for output, message in (
        (files.folder, "this is a directory"),
        (files.folder / "nowhere" / "out.json", "does not exist"),
        (files.table, "would replace an input"),
    ):
        before = files.table.read_bytes()
        assert main(["info", table, "--json", str(output)]) == 1
        told = capsys.readouterr()
        assert message in told.err
        assert told.out == ""
        assert files.table.read_bytes() == before
