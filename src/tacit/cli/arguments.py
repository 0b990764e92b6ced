"""Kinds of arguments that several commands take, checked while the command line is read."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable


def whole_number(least: int) -> Callable[[str], int]:
    """Whole numbers of at least so much."""

    def convert(text: str) -> int:
        if not text.isascii() or not text.isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
        return int(text)

    return convert


def number(*, above: float | None = None, least: float | None = None) -> Callable[[str], float]:
    """Finite numbers above a limit, or of at least so much."""

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


def add_tolerance(parser: argparse.ArgumentParser) -> None:
    """Let users say how exactly the table must add up."""
    parser.add_argument(
        "--tolerance",
        type=_share,
        metavar="X",
        help="a relation holds when its residual is at most this share of its terms; "
        "larger for tables rounded cell by cell (default: 1e-9)",
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
