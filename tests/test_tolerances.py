"""Tolerances stand in one module, each with its reason."""

from __future__ import annotations

import ast
from pathlib import Path

from tacit import tolerances

SOURCE = Path(tolerances.__file__).parent

NOT_TOLERANCES = {
    ("app/screens/protect.py", 1e-10): "the least objective that a gap is a share of",
    ("comparison/run.py", 5e-5): "digits that are shown",
    ("generators/contributions.py", 1e-6): "the range of an option",
    ("methods/adjust/units.py", 1e-9): "the size of a unit",
    ("methods/suppress/weights.py", 1e-4): "a cost of heuristics",
    ("methods/suppress/weights.py", 1e-6): "a cost of heuristics",
    ("methods/suppress/weights.py", 1e-9): "the size of a unit",
    ("options.py", 1e-4): "the default of an option",
}
"""Small numbers elsewhere that decide nothing about what is equal, met or zero."""


def _small_numbers(path: Path) -> set[float]:
    return {
        node.value
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, float)
        and 0 < node.value < 1e-3
    }


def test_small_numbers_stand_in_the_module_of_tolerances() -> None:
    """A literal below a thousandth is a tolerance, and has its name and reason in one place."""
    found = {
        (path.relative_to(SOURCE).as_posix(), number)
        for path in SOURCE.rglob("*.py")
        if path.name != "tolerances.py"
        for number in _small_numbers(path)
    }
    assert found == set(NOT_TOLERANCES)


def test_tolerances_have_reasons_and_are_used() -> None:
    """Each is followed by a text that says what it is for, and somebody imports it."""
    body = ast.parse((SOURCE / "tolerances.py").read_text()).body
    names = set()
    for node, follower in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign):
            assert isinstance(node.targets[0], ast.Name)
            names.add(node.targets[0].id)
            assert isinstance(follower, ast.Expr), node.targets[0].id
            assert isinstance(follower.value, ast.Constant)
    assert names
    imported = {
        alias.name
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == "tacit.tolerances"
        for alias in node.names
    }
    assert names == imported
