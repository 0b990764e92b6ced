"""Kinds of arguments that several commands take, checked while the command line is read."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from typing import Any

from tacit.errors import nearest
from tacit.tolerances import ADDITIVITY

_WEIGHTS = ("file", "unit", "value")
"""What a cell costs: as in the file, 1, or its value."""
INSIDERS = ("singletons", "contributors", "none")
"""Which contributors attack: those alone in a cell, all that the table knows, nobody."""
_ADDITIVITY = f"{ADDITIVITY:.0e}".replace("e-0", "e-")
_LARGEST_SEED = 10**9
"""Solvers count on from a seed, and must not run out of numbers."""


def whole_number(least: int) -> Callable[[str], int]:
    """Integers of at least this much."""

    def convert(text: str) -> int:
        if not text.isascii() or not text.isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
        return int(text)

    return convert


def number(*, above: float | None = None, least: float | None = None) -> Callable[[str], float]:
    """Finite numbers above a limit, or of at least a limit."""

    def convert(text: str) -> float:
        try:
            found = float(text)
        except ValueError:
            found = math.nan
        fits = math.isfinite(found)
        fits = fits and (above is None or found > above) and (least is None or found >= least)
        if not fits:
            wanted = f"above {above:g}" if above is not None else f"of at least {least:g}"
            raise argparse.ArgumentTypeError(f"{text!r} is not a number {wanted}")
        return found

    return convert


def one_of(kind: str, known: Sequence[str]) -> Callable[[str], str]:
    """One of a few names; for another one the nearest is named."""

    def convert(text: str) -> str:
        if text not in known:
            raise argparse.ArgumentTypeError(f"there is no {kind} {text!r}; {nearest(text, known)}")
        return text

    return convert


def named_option(text: str) -> tuple[str, Any]:
    """An option of a method by its name in Python; its value is written as in TOML."""
    name, equals, given = text.partition("=")
    name = name.strip().replace("-", "_")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not written NAME=VALUE")
    import tomllib

    try:
        return name, tomllib.loads(f"given = {given}")["given"]
    except tomllib.TOMLDecodeError:
        # Text needs no quotation marks here.
        return name, given.strip()


def seed(text: str) -> int:
    """A seed that every solver can count on from."""
    found = whole_number(0)(text)
    if found > _LARGEST_SEED:
        raise argparse.ArgumentTypeError(f"{text!r} is above the largest seed, {_LARGEST_SEED}")
    return found


def add_weights(parser: argparse.ArgumentParser) -> None:
    """Let users say what cells cost."""
    parser.add_argument(
        "--weights",
        type=one_of("kind of weights", _WEIGHTS),
        metavar="|".join(_WEIGHTS),
        help=f"what a cell costs: as in the file, 1, or its value (default: {_WEIGHTS[0]})",
    )


def add_tolerance(parser: argparse.ArgumentParser) -> None:
    """Let users say how exactly the table must add up."""
    parser.add_argument(
        "--tolerance",
        type=_share,
        metavar="X",
        help="a relation holds when its residual is at most this share of its terms; "
        f"larger for tables rounded cell by cell (default: {_ADDITIVITY})",
    )


def tolerance_of(arguments: argparse.Namespace) -> float:
    """The tolerance that the user chose, or the usual one."""
    from tacit.problem import ADDITIVITY_TOLERANCE

    chosen: float | None = arguments.tolerance
    return ADDITIVITY_TOLERANCE if chosen is None else chosen


def _share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share between 0 and 1")
    return number
