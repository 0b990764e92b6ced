"""Fixtures that all tests share."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# Whoever starts the tests in the background may have had Ctrl-C ignored: some tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Timing on a shared machine says nothing about correctness; the same examples every run do.
settings.register_profile("tacit", deadline=None, derandomize=True)
settings.load_profile("tacit")

SHARED = Path(os.environ.get("TACIT_SHARED") or Path(__file__).parents[2] / "shared")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The directory with public instances; a test that needs it skips where it is absent."""
    if not (SHARED / "instances").is_dir():
        reason = f"no public instances at {SHARED}; set TACIT_SHARED to where they are"
        # A public host has no copy and says so; anywhere else in CI their absence is a fault.
        if os.environ.get("CI") == "true" and os.environ.get("TACIT_SHARED") != "none":
            pytest.fail(reason)
        pytest.skip(reason)
    return SHARED
