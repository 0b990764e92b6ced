"""Parquet: one row per cell, for computers."""

from __future__ import annotations

from pathlib import Path

from tacit.errors import InputError
from tacit.io.cells import write_columns
from tacit.release.flags import Flags
from tacit.release.labels import Labels
from tacit.release.published import Published


def write_parquet(
    published: Published,
    path: str | Path,
    *,
    value: str = "value",
    flags: Flags = "status",
    labels: Labels = "beside",
) -> None:
    """Write a Parquet file, one row per cell; see `Published.to_parquet`.

    Raises:
        InputError: The file cannot be written.
    """
    if not str(path).lower().endswith(".parquet"):
        raise InputError("the name of a Parquet file must end in .parquet", path=path)
    write_columns(published.columns(value, flags, labels), Path(path))
