"""`run_argus`: runs a batch file of tau-ARGUS as it is."""

from __future__ import annotations

from pathlib import Path

from tacit.errors import InputError
from tacit.io.argus.batch import read_batch
from tacit.jobs.argus.listener import ArgusListener
from tacit.jobs.argus.session import Session
from tacit.release import Release


def run_argus(
    path: str | Path,
    *,
    out_dir: str | Path | None = None,
    time_limit: float | None = None,
    listener: ArgusListener | None = None,
) -> list[Release]:
    """Run a batch file of tau-ARGUS as it is.

    Files that it names by paths of another machine are looked for beside it, whatever their case.

    Args:
        path: The batch file (`.arb`).
        out_dir: The folder for everything that is written; by default that of the batch file.
        time_limit: Seconds for each table, in place of the minutes in the batch file.
        listener: Listens to what happens; may stop tabulation and search.

    Returns:
        A release for each table that was protected, in the order of their numbers; tables that
        were linked have one together.

    Raises:
        InputError: Something that is wrong or has no counterpart, with its line.
        NoReleaseError: No safe outcome exists for a table, or none was found.
    """
    path = Path(path)
    batch = read_batch(path)
    out = path.parent if out_dir is None else Path(out_dir)
    if not out.is_dir():
        raise InputError("this is not a folder; create it", path=out)
    with Session(batch, out, time_limit, listener or ArgusListener()) as session:
        session.run()
        return session.releases()
