"""The list of methods. A new one gets a line here; everything else looks methods up in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from tacit.errors import InputError, nearest

if TYPE_CHECKING:
    from tacit.options import Options
    from tacit.outcome import Outcome


@dataclass(frozen=True)
class Method:
    """Where a method is found; it is imported when it is asked for.

    Attributes:
        function: Module and name of the function that takes a problem and returns an outcome.
        options_class: Module and name of the class of its options.
        for_release: Options that are chosen where the outcome is to be published, unless
            something else is asked for. The function alone follows the papers.
        cell_choices: Options that name cells, themselves or in the `cells` of a list; tables may
            give them by codes.
    """

    function: str
    options_class: str
    for_release: Mapping[str, Any] = field(default_factory=dict)
    cell_choices: tuple[str, ...] = ()

    def run(self) -> Callable[..., Outcome]:
        """The function that protects a problem."""
        return cast("Callable[..., Outcome]", _import(self.function))

    def to_publish(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Options of an outcome that is to be published."""
        return {**self.for_release, **options}

    def options(self) -> type[Options]:
        """The class of its options."""
        return cast("type[Options]", _import(self.options_class))


METHODS: Mapping[str, Method] = {
    "suppress": Method(
        "tacit.methods.suppress.run:suppress", "tacit.methods.suppress.options:SuppressOptions"
    ),
    "intervals": Method(
        "tacit.methods.intervals.run:intervals",
        "tacit.methods.intervals.options:IntervalsOptions",
        for_release={"round_to": "auto"},
        cell_choices=("published", "withheld", "allowed"),
    ),
    "combined": Method(
        "tacit.methods.combined.run:combined",
        "tacit.methods.combined.options:CombinedOptions",
        for_release={"round_to": "auto"},
    ),
    "adjust": Method(
        "tacit.methods.adjust.run:adjust",
        "tacit.methods.adjust.options:AdjustOptions",
        cell_choices=("quality",),
    ),
    "round": Method(
        "tacit.methods.rounding.run:round", "tacit.methods.rounding.options:RoundOptions"
    ),
}
"""All methods by name."""

DEFAULT_METHOD = "suppress"
"""What protects a table where nobody names a method."""


def find_method(name: str) -> Method:
    """A method by its name.

    >>> find_method("supress")
    Traceback (most recent call last):
        ...
    tacit.errors.InputError: there is no method 'supress'; did you mean 'suppress'?
    """
    if name in METHODS:
        return METHODS[name]
    raise InputError(f"there is no method {name!r}; {nearest(str(name), [*METHODS])}")


def find_algorithm(method: str, name: str) -> Callable[[Any], None]:
    """The function `run` of an algorithm, which is imported when it is asked for.

    Args:
        method: The method's name.
        name: The algorithm as users type it; its file in the method's `algorithms` has `_` for `-`.
    """
    package = find_method(method).function.rpartition(".")[0]
    return cast(
        "Callable[[Any], None]", _import(f"{package}.algorithms.{name.replace('-', '_')}:run")
    )


def _import(place: str) -> Any:
    module, name = place.split(":")
    return getattr(import_module(module), name)
