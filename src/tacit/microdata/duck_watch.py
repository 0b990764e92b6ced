"""A DuckDB connection whose queries can be watched and stopped, and how much memory it takes."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from typing import Any, Self, TypeVar

import duckdb

from tacit.errors import InputError, StoppedError
from tacit.observer import Observer

SECONDS_BETWEEN_LOOKS = 0.1
_NOTHING_KNOWN = -1.0
_SETTINGS = {
    "enable_progress_bar": "true",
    "enable_progress_bar_print": "false",
    # A query must not find variables of the program by their names.
    "python_enable_replacements": "false",
}
_Result = TypeVar("_Result")


class WatchedConnection:
    """A separate connection to an empty database.

    Queries run in another thread. Meanwhile the one that asked tells the observer how far the
    query is, and ends it when the observer wants to stop or Ctrl-C is pressed.

    Args:
        observer: Who listens.
    """

    def __init__(self, observer: Observer):
        self._observer = observer
        self._duck = duckdb.connect()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tacit-duckdb")
        for name, setting in _SETTINGS.items():
            self._duck.execute(f"SET {name} = {setting}")
        # Progress is counted from the first moment on.
        self._duck.execute("SET progress_bar_time = 0")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self._thread.shutdown()
        self._duck.close()

    def execute(self, query: str, parameters: list[Any] | None = None) -> Self:
        """Run a query.

        Raises:
            StoppedError: The observer asked to stop.
        """
        self._watched(lambda: self._duck.execute(query, parameters))
        return self

    def fetchall(self) -> list[Any]:
        """The rows of the last query."""
        return self._watched(self._duck.fetchall)

    def fetchnumpy(self) -> dict[str, Any]:
        """The columns of the last query."""
        return self._watched(self._duck.fetchnumpy)

    def register(self, name: str, frame: Any) -> None:
        """Let queries read a frame."""
        try:
            self._duck.register(name, frame)
        except duckdb.Error as error:
            if KeyboardInterrupt.__name__ in str(error):
                # DuckDB looks at the frame by calling Python, and wraps what that raises.
                raise KeyboardInterrupt from None
            raise

    def unregister(self, name: str) -> None:
        """Forget a frame."""
        self._duck.unregister(name)

    def _watched(self, task: Callable[[], _Result]) -> _Result:
        running = self._thread.submit(task)
        stopped = False
        try:
            while not wait_for([running], SECONDS_BETWEEN_LOOKS).done:
                if not stopped and self._observer.should_stop():
                    stopped = True
                    self._duck.interrupt()
                share = self._duck.query_progress()
                if share > _NOTHING_KNOWN:
                    self._observer.on_progress(int(share), 100)
        except BaseException:
            # Ctrl-C, most likely: nobody waits for the query any more.
            self._duck.interrupt()
            wait_for([running])
            raise
        try:
            return running.result()
        except duckdb.InterruptException:
            raise StoppedError("the tabulation was stopped") from None


UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12} | {
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
    "TIB": 2**40,
}


def byte_count(text: str) -> int:
    """An amount of memory as a number of bytes.

    >>> byte_count("4 GB"), byte_count("512MiB")
    (4000000000, 536870912)
    """
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)\s*", text)
    if match is None or match[2].upper() not in UNITS or float(match[1]) <= 0:
        raise InputError(
            f"memory_limit is {text!r}; write an amount such as 4GB or 512MiB",
            key=("memory_limit",),
        )
    return int(float(match[1]) * UNITS[match[2].upper()])
