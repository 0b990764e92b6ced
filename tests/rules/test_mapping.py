"""Rules, bounds and weights read from files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tacit import InputError
from tacit.rules import (
    RULES,
    Dominance,
    GroupDisclosure,
    Manual,
    MinFrequency,
    MissingSafe,
    PPercent,
    PriorPosterior,
    Request,
    SmallCounts,
    ZeroCells,
    bounds_from_mapping,
    from_mapping,
    weighting_from_mapping,
)
from tacit.table import Rule
from tests.rules.slow import table_of

WRITTEN = """
[[rules]]
rule = "min-frequency"
minimum = 3
percent = 15
[[rules]]
rule = "dominance"
n = 1
k = 75
levels = "upper"
[[rules]]
rule = "p-percent"
p = 10
holding = true
[[rules]]
rule = "prior-posterior"
p = 10
q = 50.5
coalition = 2
[[rules]]
rule = "zero-cells"
level = 1
empty = true
[[rules]]
rule = "request"
share = 10
name = "asked"
[[rules]]
rule = "small-counts"
minimum = 3
[[rules]]
rule = "group-disclosure"
by = ["sex"]
absent = "known"
[[rules]]
rule = "missing-safe"
codes = {sex = "9"}
"""


def test_every_rule_can_be_read() -> None:
    """All rules are written in TOML by their names and fields."""
    read = [from_mapping(table) for table in tomllib.loads(WRITTEN)["rules"]]
    wanted: list[Rule] = [
        MinFrequency(3, percent=15),
        Dominance(1, 75, levels="upper"),
        PPercent(10, holding=True),
        PriorPosterior(10, 50.5, coalition=2),
        ZeroCells(level=1, empty=True),
        Request(share=10, name="asked"),
        SmallCounts(3),
        GroupDisclosure(by=["sex"], absent="known"),
        MissingSafe({"sex": "9"}),
    ]
    assert read == wanted
    assert {type(rule) for rule in read} | {Manual} == set(RULES.values())


def test_marks_lie_beside_the_file(tmp_path: Path) -> None:
    """The path of marks is counted from the folder of the file that names it."""
    (tmp_path / "marks.csv").write_text("code\nc0\n")
    rule = from_mapping({"rule": "manual", "marks": "marks.csv"}, folder=tmp_path)
    assert table_of([[5], [4]]).apply(rule).is_sensitive.tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"p": 10}, "the key 'rule' is missing; it names one of min-frequency"),
        ({"rule": "p-precent"}, "there is no rule 'p-precent'; did you mean 'p-percent'"),
        ({"rule": "secrecy"}, "there is no rule 'secrecy'; known are min-frequency"),
        ({"rule": "p-percent"}, "the key 'p' is missing"),
        ({"rule": "p-percent", "p": 10, "holdings": True}, "did you mean 'holding'"),
        ({"rule": "p-percent", "p": 10, "zzz": 1}, "unknown key 'zzz'; known are"),
        ({"rule": "p-percent", "p": "10"}, "'p' must be a number; it is a text"),
        ({"rule": "p-percent", "p": True}, "'p' must be a number; it is true or false"),
        ({"rule": "p-percent", "p": 10, "coalition": 1.5}, "'coalition' must be a whole number"),
        ({"rule": "p-percent", "p": 10, "holding": 1}, "'holding' must be true or false"),
        ({"rule": "p-percent", "p": 10, "levels": "up"}, "'levels' must be one of 'both'"),
        ({"rule": "p-percent", "p": 100}, "p must be a number above 0 and below 100"),
        (
            {"rule": "group-disclosure", "by": 3},
            "'by' must be a text or a list; it is a whole number",
        ),
        ({"rule": ["p-percent"]}, "there is no rule"),
        ("p-percent", "must be a table"),
    ],
)
def test_mistakes_in_files(mapping: Any, message: str) -> None:
    """Mistakes are refused with their place and the nearest word that would be right."""
    with pytest.raises(InputError, match=message) as error:
        from_mapping(mapping, where="rules[2]")
    assert str(error.value).startswith("rules[2]")


def test_bounds_and_weights() -> None:
    """Bounds and weights are read, and refused, in the same way."""
    assert bounds_from_mapping({"upper_factor": 2}).upper_factor == 2.0
    assert bounds_from_mapping({"upper": [3, 4, 5]}).upper == [3, 4, 5]
    with pytest.raises(
        InputError, match="bounds: 'upper' must be a number or a list; it is a text"
    ):
        bounds_from_mapping({"upper": "high"})
    with pytest.raises(InputError, match="bounds: unknown key 'uper_factor'; did you mean 'upper_"):
        bounds_from_mapping({"uper_factor": 2})
    with pytest.raises(InputError, match="bounds: upper_factor must be a number not below 1"):
        bounds_from_mapping({"upper_factor": 0.2})
    assert weighting_from_mapping("unit").by == "unit"
    with pytest.raises(InputError, match="weights: there are no weights 'unity'; did you mean"):
        weighting_from_mapping("unity")
    with pytest.raises(InputError, match="weights must be a table"):
        weighting_from_mapping(3)  # type: ignore[arg-type]
