"""How each cell is published, in codes that computers read: tacit's own, or those of SDMX."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError, nearest

if TYPE_CHECKING:
    from tacit.release.published import Published

Flags: TypeAlias = Literal["status", "sdmx", "none"]


class PublishedStatus(StrEnum):
    """How a reader sees a cell."""

    VALUE = "published"
    """With a value."""
    INTERVAL = "interval"
    """As an interval."""
    SUPPRESSED = "suppressed"
    """Not at all. Readers are not told whether the cell is sensitive or protects another one."""


class ConfidentialityStatus(StrEnum):
    """Codes of the SDMX code list CL_CONF_STATUS, version 1.3."""

    FREE = "F"
    """Free for publication."""
    NOT_FOR_PUBLICATION = "N"
    """Not for publication: no more is said about the cell."""
    CONFIDENTIAL = "C"
    """Confidential statistical information: the cell is itself sensitive."""
    SECONDARY = "D"
    """Secondary confidentiality set by the sender: the cell protects others."""


class ObservationStatus(StrEnum):
    """Codes of the SDMX code list CL_OBS_STATUS, version 2.2."""

    NORMAL = "A"
    """Normal value."""
    SUPPRESSED = "Q"
    """Missing value; suppressed."""


SDMX_COLUMNS = ("CONF_STATUS", "OBS_STATUS")

MEANINGS: Mapping[str, str] = {
    PublishedStatus.VALUE: "published",
    PublishedStatus.INTERVAL: "published as an interval, to protect respondents",
    PublishedStatus.SUPPRESSED: "not published, to protect respondents",
    "primary": "would itself disclose too much about respondents",
    "secondary": "would help to deduce others",
    "CONF_STATUS F": "free for publication",
    "CONF_STATUS N": "not for publication",
    "CONF_STATUS C": "confidential statistical information",
    "CONF_STATUS D": "secondary confidentiality set by the sender, not for publication",
    "OBS_STATUS A": "normal value",
    "OBS_STATUS Q": "missing value; suppressed",
}
"""What flags mean, in words for readers."""


def flag_columns(published: Published, flags: Flags) -> dict[str, npt.NDArray[np.str_]]:
    """The columns that say how each cell is published.

    Args:
        published: What readers may see.
        flags: `status` for one column of `PublishedStatus`, and a second one, `confidentiality`,
            where it is told which cells are primary; `sdmx` for CONF_STATUS and OBS_STATUS;
            `none` for no column.
    """
    if flags not in get_args(Flags):
        raise InputError(f"there are no flags {flags!r}; {nearest(str(flags), get_args(Flags))}")
    if flags == "none":
        return {}
    hidden, primary = published.is_hidden, published.primary
    if flags == "status":
        columns = {"status": published.status}
        if primary is not None:
            told = np.where(primary, "primary", np.where(hidden, "secondary", ""))
            columns["confidentiality"] = told
        return columns
    confidential = np.full(published.cell_count, ConfidentialityStatus.NOT_FOR_PUBLICATION.value)
    if primary is not None:
        confidential[:] = ConfidentialityStatus.SECONDARY.value
        confidential[primary] = ConfidentialityStatus.CONFIDENTIAL.value
    confidential[~hidden] = ConfidentialityStatus.FREE.value
    observed = np.where(hidden, ObservationStatus.SUPPRESSED.value, ObservationStatus.NORMAL.value)
    return dict(zip(SDMX_COLUMNS, (confidential, observed), strict=True))


def flag_meanings(columns: Mapping[str, npt.NDArray[np.str_]]) -> list[tuple[str, str]]:
    """The flags that occur, each with what it means."""
    found: list[tuple[str, str]] = []
    for name, column in columns.items():
        for flag in np.unique(column[column != ""]).tolist():
            shown = f"{name} {flag}" if name in SDMX_COLUMNS else flag
            found.append((shown, MEANINGS[shown]))
    return found
