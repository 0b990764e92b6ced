"""The list of methods."""

from __future__ import annotations

import dataclasses
import inspect
from typing import get_args, get_type_hints

import pytest

import tacit
from tacit.methods.registry import METHODS, find_algorithm, find_method
from tacit.options import Options


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_there(name: str) -> None:
    """Each line leads to a public function of that name and to the options that it takes."""
    method = find_method(name)
    run = method.run()
    assert run is getattr(tacit, name)
    assert issubclass(method.options(), Options)
    taken = inspect.signature(run).parameters
    assert {"observer", "tolerance", "time_limit", "gap", "seed"} <= set(taken)


@pytest.mark.parametrize("name", METHODS)
def test_defaults_are_those_of_the_options(name: str) -> None:
    """A call without an option means what its options mean without it."""
    method = find_method(name)
    defaults = {field.name: field.default for field in dataclasses.fields(method.options())}
    taken = inspect.signature(method.run()).parameters
    if name == "round":
        # Drawn in secret where chance rounds, and otherwise that of the options.
        assert defaults.pop("seed") == 1
        assert taken["seed"].default is None
    shared = defaults.keys() & taken.keys()
    assert {"algorithm", "time_limit", "gap"} <= shared
    assert {each: taken[each].default for each in shared} == {
        each: defaults[each] for each in shared
    }


@pytest.mark.parametrize("name", METHODS)
def test_methods_say_what_to_do_with_a_table(name: str) -> None:
    """A table, or anything else that is no problem, is refused in words."""
    run = find_method(name).run()
    table = tacit.examples.get("002-figure-2.4").table
    with pytest.raises(tacit.InputError, match=r"table\.problem\(\), or use tacit\.protect"):
        run(table)
    with pytest.raises(tacit.InputError, match="not on list"):
        run([20, 22, 42])


def test_what_is_not_there_is_refused() -> None:
    """The nearest name is offered, or all there are."""
    with pytest.raises(tacit.InputError, match="did you mean 'suppress'"):
        find_method("suppres")
    with pytest.raises(tacit.InputError, match=f"known are {', '.join(METHODS)}"):
        find_method("")


@pytest.mark.parametrize("method", METHODS)
def test_every_algorithm_has_a_file_of_its_name(method: str) -> None:
    """What a user may type is found in the package of the method, in a file of that name."""
    package = find_method(method).run().__module__.removesuffix(".run")
    names = get_args(get_type_hints(find_method(method).options())["algorithm"])
    assert "auto" in names
    for name in names:
        found = find_algorithm(method, name)
        assert found.__name__ == "run"
        assert found.__module__ == f"{package}.algorithms.{name.replace('-', '_')}"
