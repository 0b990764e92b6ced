"""Kernels are compiled by numba at their first call, and kept in a cache beside their modules.

That takes seconds, once after installation, and nobody can be asked to stop meanwhile: clocks stand
still, so that a short time limit is not used up before the search begins. All kernels take `njit`
from here. `python -m tacit.precompile` compiles everything beforehand.
"""

from __future__ import annotations

from typing import Any

from numba import njit
from numba.core import event

from tacit.clock import standstill

__all__ = ["njit"]


class _Compilations(event.Listener):
    """Stops clocks while something is compiled; what comes from the cache takes no time."""

    def on_start(self, event: Any) -> None:  # noqa: ARG002 numba's interface
        """A compilation begins, maybe within another one."""
        standstill.begin()

    def on_end(self, event: Any) -> None:  # noqa: ARG002 numba's interface
        """A compilation ends, by an interrupt or an error, too."""
        standstill.end()


event.register("numba:compile", _Compilations())  # type: ignore[no-untyped-call]
