"""Errors about options say by their `key` which option they are about."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.errors import HierarchyError, InputError, TableError, about
from tacit.methods.registry import METHODS, find_method

PACKAGE = Path(tacit.__file__).parent
CHECKED = (
    PACKAGE / "options.py",
    PACKAGE / "table" / "bounds.py",
    PACKAGE / "table" / "weighting.py",
    *sorted(PACKAGE.glob("methods/*/options.py")),
    *sorted(PACKAGE.glob("rules/*.py")),
)


def _raised_by_checks(tree: ast.Module) -> Iterator[ast.Call]:
    """The errors that classes raise when they check what they are made of."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "__post_init__":
            for inner in ast.walk(node):
                if isinstance(inner, ast.Raise) and isinstance(inner.exc, ast.Call):
                    yield inner.exc


@pytest.mark.parametrize("path", CHECKED, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_checks_of_options_name_the_option(path: Path) -> None:
    """No check of an option or a parameter of a rule is without a key."""
    for call in _raised_by_checks(ast.parse(path.read_text())):
        assert "key" in {keyword.arg for keyword in call.keywords}, ast.unparse(call)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"time_limit": -1}, "time_limit"),
        ({"gap": -1}, "gap"),
        ({"seed": "one"}, "seed"),
        ({"tiem_limit": 1}, "tiem_limit"),
    ],
)
def test_options_of_all_methods(method: str, given: dict[str, Any], key: str) -> None:
    """A range, a type and an unknown name are found by the same path."""
    with pytest.raises(InputError) as caught:
        find_method(method).options().from_mapping(given)
    assert caught.value.key == (key,)


@pytest.mark.parametrize(
    ("method", "given", "key"),
    [
        ("suppress", {"max_suppressed": -1}, "max_suppressed"),
        ("intervals", {"round_to": -1}, "round_to"),
        ("combined", {"min_width": "much"}, "min_width"),
        ("adjust", {"block": 1}, "block"),
        ("round", {"base": 0}, "base"),
    ],
)
def test_options_of_one_method(method: str, given: dict[str, Any], key: str) -> None:
    """A method's own checks name their options, too."""
    with pytest.raises(InputError) as caught:
        find_method(method).options().from_mapping(given)
    assert caught.value.key == (key,)


@pytest.mark.parametrize("kind", [InputError, TableError, HierarchyError])
def test_keys_are_put_together_from_the_outside_in(kind: type[tacit.TacitError]) -> None:
    """Each function adds the part of the path that it knows."""
    with pytest.raises(kind) as caught, about("rules", 1), about("marks"):
        raise kind("wrong")
    assert caught.value.key == ("rules", 1, "marks")


def test_arguments_are_named_by_a_table_from_a_frame() -> None:
    """A column that is missing is blamed on the argument that names it."""
    frame = {"region": ["N", "S"], "turnover": [1, 2]}
    for arguments, key in (
        ({"value": "trunover"}, ("value",)),
        ({"value": "turnover", "top": ["turnover", "second"]}, ("top", 1)),
    ):
        with pytest.raises(TableError) as caught:
            tacit.Table.from_frame(frame, {"region": None}, **arguments)
        assert caught.value.key == key
    with pytest.raises(TableError) as caught:
        tacit.Table.from_frame(frame, {"regoin": None}, value="turnover")
    assert caught.value.key == ("dimensions", "regoin")
