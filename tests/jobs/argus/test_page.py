"""The page on tau-ARGUS jobs says what becomes of everything that a batch file may hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.io.argus.apriori import COMMANDS as DECISIONS
from tacit.io.argus.batch import COMMANDS, METHODS, NOT_FOR_USERS, RULE_PARAMETERS

PAGE = (Path(__file__).parents[3] / "docs" / "tau-argus.md").read_text()
TABLES = [line for line in PAGE.splitlines() if line.startswith("| `")]
FIRST = " ".join(line.split("|")[1] for line in TABLES)


@pytest.mark.parametrize("name", [*COMMANDS, *NOT_FOR_USERS])
def test_every_command_is_on_the_page(name: str) -> None:
    """Each has a row that says what becomes of it."""
    assert f"`<{name}>`" in FIRST


@pytest.mark.parametrize("name", [*RULE_PARAMETERS, *METHODS])
def test_every_rule_and_method_is_on_the_page(name: str) -> None:
    """Each has a row with its parameters."""
    assert f"`{name}(" in FIRST


@pytest.mark.parametrize("name", DECISIONS)
def test_every_decision_is_on_the_page(name: str) -> None:
    """Each command of a priori files has a row."""
    assert f"`{name}`" in FIRST
