"""Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest

from tacit.cli.interrupts import Interrupts, StoppedAtOnce


def test_once_asks_and_twice_ends() -> None:
    """The first Ctrl-C asks to stop, the second ends at once, and afterwards all is as before."""
    before = signal.getsignal(signal.SIGINT)
    called: list[str] = []
    with Interrupts(lambda: called.append("first"), lambda: called.append("last")) as interrupts:
        assert not interrupts.is_stopping
        signal.raise_signal(signal.SIGINT)
        assert interrupts.is_stopping
        with pytest.raises(StoppedAtOnce):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.set_wakeup_fd(-1) == -1
    assert called == ["first"]


def test_nothing_happens_without_ctrl_c() -> None:
    """Other signals are ignored."""
    called: list[str] = []
    signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        with Interrupts(lambda: called.append("first"), lambda: None) as interrupts:
            signal.raise_signal(signal.SIGUSR1)
        assert not interrupts.is_stopping
        assert called == []
    finally:
        signal.signal(signal.SIGUSR1, signal.SIG_DFL)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise on Windows")
def test_a_busy_process_ends_too() -> None:
    """A main thread that is deep in a solver is answered at once and ended by force."""
    code = (
        "import ctypes, os, signal, threading, time\n"
        "from tacit.cli.interrupts import Interrupts\n"
        "def press_twice():\n"
        "    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])\n"
        "    for _ in range(2):\n"
        "        time.sleep(0.2)\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(60)\n"
        "def say(text):\n"
        "    print(text, flush=True)\n"
        "with Interrupts(lambda: say('first'), lambda: say('last')):\n"
        # A signal would end the wait; so another thread takes it.
        "    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])\n"
        "    threading.Thread(target=press_twice, daemon=True).start()\n"
        "    ctypes.CDLL(None).poll(None, 0, 60000)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=30
    )
    assert found.returncode == 130
    assert found.stdout == "first\nlast\n"
    assert found.stderr == "tacit: stopped\n"


def test_other_threads_leave_signals_alone() -> None:
    """It does nothing where signals cannot be handled."""
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def work() -> None:
        with Interrupts(lambda: None, lambda: None) as interrupts:
            seen.append(interrupts.is_stopping)
            seen.append(signal.getsignal(signal.SIGINT) is before)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False, True]
