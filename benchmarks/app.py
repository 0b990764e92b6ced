"""How fast the application answers on a table of a million cells, and what memory it takes.

Run with `python -m benchmarks.app`; writes `benchmarks/results/app.csv`. `tacit app` is started as
users start it, for a folder with a finished table of 1,000 by 1,000 codes (1,002,001 cells with its
totals), which is looked at before it is protected. Measured are the first page, from the start of
the process; the first window, for which the table is read; 200 windows at random places, one after
the other; and the same by 20 readers at once. Memory is the peak of the server's process.
"""

from __future__ import annotations

import argparse
import csv
import http.client
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np

SIDE = 1000
SCROLLS = 200
READERS = 20
HEIGHT, WIDTH = 24, 9
"""Rows and columns in sight on a large screen."""
FIRST = urlencode({"top": 0, "left": 0, "height": HEIGHT, "width": WIDTH})
_PAUSE = 0.1
"""Seconds between two questions whether the table is there."""
RESULTS = Path(__file__).parent / "results" / "app.csv"
LIMITS = {
    "first page, seconds": 1.0,
    "window, 95th percentile, seconds": 0.2,
    "readers at once, errors": 0.0,
    "memory, gigabytes": 1.0,
}
"""What each figure may be at most."""


class Visitor:
    """A browser as far as the server can tell.

    Args:
        address: The address that was printed.
        cookie: The cookie of one who has entered; None to enter.
    """

    def __init__(self, address: str, cookie: str | None = None):
        parts = urlsplit(address)
        self._folder = parts.path.rpartition("/")[0]
        self._origin = f"http://{parts.netloc}"
        self._connection = http.client.HTTPConnection(parts.netloc, timeout=300)
        self.cookie = cookie
        if cookie is None:
            self._connection.request("GET", f"{parts.path}?{parts.query}")
            answer = self._connection.getresponse()
            answer.read()
            self.cookie = (answer.getheader("set-cookie") or "").partition(";")[0]

    def get(self, path: str) -> bytes:
        """A page; anything but one is an error."""
        return self._ask("GET", path, None)

    def post(self, path: str, **fields: str) -> bytes:
        """Send a form."""
        return self._ask("POST", path, urlencode(fields))

    def _ask(self, method: str, path: str, body: str | None) -> bytes:
        headers = {"Cookie": self.cookie or "", "Origin": self._origin}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self._connection.request(method, f"{self._folder}/{path}", body, headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status not in (200, 303):
            raise RuntimeError(f"{method} {path}: {answer.status}")
        return content


def generate(path: Path) -> None:
    """Write a finished table without its totals; the same every time."""
    values = np.random.default_rng(1).integers(1, 100_000, (SIDE, SIDE))
    with path.open("w") as stream:
        stream.write("row,column,value,count\n")
        for row, line in enumerate(values.tolist()):
            stream.writelines(
                f"r{row:04d},c{column:04d},{value},{value % 9 + 1}\n"
                for column, value in enumerate(line)
            )


def scrolled(visitor: Visitor, seed: int, scrolls: int) -> list[float]:
    """How long each of several windows took."""
    random = np.random.default_rng(seed)
    taken = []
    for top, left in random.integers(0, SIDE, (scrolls, 2)).tolist():
        query = urlencode({"top": top, "left": left, "height": HEIGHT, "width": WIDTH})
        began = time.perf_counter()
        content = visitor.get(f"look-window?{query}")
        taken.append(time.perf_counter() - began)
        if b"data-cell" not in content:
            raise RuntimeError(f"a window without cells: {query}")
    return taken


def peak_memory(process: int) -> float:
    """The most memory that a process had, in gigabytes; Linux only."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    peak = next(line for line in lines if line.startswith("VmHWM"))
    return int(peak.split()[1]) * 1024 / 1e9


def measured(folder: Path) -> dict[str, float]:
    """All figures."""
    generate(folder / "million.csv")
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "tacit", "app", str(folder), "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            visitor = Visitor(address)
            visitor.get("start")
            found = {"first page, from the start of the process, seconds": _since(began)}
            began = time.perf_counter()
            visitor.get("start")
            found["first page, seconds"] = _since(began)
            visitor.post("open", name="million.csv")
            began = time.perf_counter()
            while b"data-cell" not in visitor.get(f"look-window?{FIRST}"):
                # The page tells how far the reading is meanwhile.
                time.sleep(_PAUSE)
            found["first window, with the table read, seconds"] = _since(began)
            taken = scrolled(visitor, 1, SCROLLS)
            found["window, median, seconds"] = float(np.median(taken))
            found["window, 95th percentile, seconds"] = float(np.percentile(taken, 95))
            found |= _crowd(address, visitor.cookie)
            found["memory, gigabytes"] = peak_memory(server.pid)
        finally:
            server.terminate()
    return found


def _since(began: float) -> float:
    return time.perf_counter() - began


def _crowd(address: str, cookie: str | None) -> dict[str, float]:
    """Many readers at once."""

    def read(seed: int) -> list[float] | None:
        try:
            return scrolled(Visitor(address, cookie), seed, SCROLLS // READERS)
        except (OSError, RuntimeError, http.client.HTTPException):
            return None

    with ThreadPoolExecutor(READERS) as pool:
        answers = [*pool.map(read, range(100, 100 + READERS))]
    taken = [seconds for each in answers if each is not None for seconds in each]
    return {
        "readers at once, errors": float(sum(each is None for each in answers)),
        "readers at once, 95th percentile, seconds": float(np.percentile(taken or [np.nan], 95)),
    }


def main(out: Path) -> int:
    """Measure, print, write; returns how many figures are above their limits."""
    with tempfile.TemporaryDirectory(prefix="tacit-") as name:
        # A key of its own, away from that of whoever measures.
        os.environ["XDG_STATE_HOME"] = f"{name}/state"
        folder = Path(name) / "folder"
        folder.mkdir()
        found = measured(folder)
    with out.open("w", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(["figure", "measured", "at most"])
        for figure, amount in found.items():
            table.writerow([figure, f"{amount:.4g}", LIMITS.get(figure, "")])
            print(f"{figure:54}{amount:>10.4f}{LIMITS.get(figure, ''):>8}")
    return sum(found[figure] > limit for figure, limit in LIMITS.items())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How fast the application answers.")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where to write the figures")
    sys.exit(main(parser.parse_args().out))
