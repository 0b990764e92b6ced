"""Columns of any data frame as checked numpy arrays."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from numbers import Real
from typing import Any, Literal, TypeAlias, get_args

import narwhals as nw
import numpy as np
import numpy.typing as npt

from tacit.errors import InputError
from tacit.problem import Booleans, Floats, Integers

Backend: TypeAlias = Literal["pandas", "polars", "pyarrow", "dict"]


class Columns:
    """A frame that came in, read column by column.

    Args:
        given: A frame of pandas, polars or pyarrow, or a mapping from names to sequences.
        role: What the frame holds, for messages.
    """

    def __init__(self, given: Any, role: str):
        self.role = role
        self._columns: dict[str, Any] = {}
        if isinstance(given, Mapping):
            self._columns = {str(name): given[name] for name in given}
        else:
            try:
                frame = nw.from_native(given)
            except TypeError:
                raise InputError(
                    f"the {role} must be a frame of pandas, polars or pyarrow, or lists by column "
                    f"name; this is {type(given).__name__}"
                ) from None
            eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
            self._columns = {name: eager[name] for name in eager.columns}
        lengths = {len(column) for column in self._columns.values()}
        if len(lengths) > 1:
            raise InputError(f"the columns of the {role} have different lengths")
        self._length = lengths.pop() if lengths else 0

    def __len__(self) -> int:
        return self._length

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    @property
    def names(self) -> list[str]:
        """Names of all columns."""
        return list(self._columns)

    def need(self, *names: str) -> None:
        """Refuse a frame that lacks one of the columns."""
        missing = [name for name in names if name not in self]
        if missing:
            raise InputError(
                f"the {self.role} need a column {missing[0]!r}; they have "
                f"{', '.join(self.names) or 'none'}"
            )

    def refuse(self, name: str, bad: Booleans, reason: str) -> None:
        """Raise an error that names the first bad row, if there is one."""
        rows = np.flatnonzero(bad)
        if len(rows):
            more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
            raise InputError(
                f"column {name!r} of the {self.role}, row {rows[0]}{more}: {reason}; rows are "
                "counted from 0"
            )

    def numbers(self, name: str, default: float | None = None) -> Floats:
        """A column of numbers.

        Args:
            name: The column.
            default: Stands in for missing entries and for the whole column where it is absent;
                without it both are refused.
        """
        if name not in self and default is not None:
            return np.full(len(self), default)
        self.need(name)
        numbers, missing = self._numbers(name)
        missing |= np.isnan(numbers)
        if default is None:
            self.refuse(name, missing, "the entry is missing")
        else:
            numbers = np.where(missing, default, numbers)
        return numbers

    def integers(self, name: str, default: int | None = None) -> Integers:
        """A column of whole numbers; `default` as for `numbers`."""
        numbers = self.numbers(name, default)
        fits = (np.abs(numbers) < 2.0**53) & (numbers == np.trunc(numbers))
        self.refuse(name, ~fits, "this must be a whole number")
        return numbers.astype(np.int64)

    def texts(self, name: str, default: str | None = None) -> npt.NDArray[np.str_]:
        """A column of texts; a missing entry is the default, or refused without one."""
        self.need(name)
        entries, missing = self._entries(name)
        if default is None:
            self.refuse(name, missing, "the entry is missing")
        filled = np.where(missing, "" if default is None else default, entries)
        return filled.astype(np.str_)

    def keys(self, name: str) -> npt.NDArray[Any]:
        """A column of identifiers: numbers where it is numeric, texts otherwise."""
        return self.texts(name) if self.is_text(name) else self.integers(name)

    def is_text(self, name: str) -> bool:
        """Whether a column holds texts rather than numbers."""
        column = self._columns[name]
        if isinstance(column, nw.Series) and column.dtype != nw.Object:
            return not column.dtype.is_numeric()
        entries, missing = self._entries(name)
        present = entries[~missing]
        return len(present) > 0 and isinstance(present[0], str)

    def _entries(self, name: str) -> tuple[npt.NDArray[Any], Booleans]:
        """A column as Python objects, and which of them are missing."""
        column = self._columns[name]
        entries = np.empty(len(self), object)
        if isinstance(column, nw.Series):
            missing = np.array(column.is_null().to_numpy(), bool)
            entries[:] = column.to_list()
        else:
            entries[:] = column.tolist() if isinstance(column, np.ndarray) else list(column)
            # None, and NaN: the only thing that differs from itself.
            missing = np.asarray((entries == np.array(None)) | (entries != entries), bool)
        return entries, missing

    def _numbers(self, name: str) -> tuple[Floats, Booleans]:
        column = self._columns[name]
        if isinstance(column, nw.Series) and column.dtype.is_numeric():
            missing = np.array(column.is_null().to_numpy(), bool)
            return np.array(column.cast(nw.Float64).to_numpy(), np.float64), missing
        if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
            return column.astype(np.float64), np.zeros(len(self), bool)
        entries, missing = self._entries(name)
        try:
            # numpy finds the common type: anything that is not a number shows in it.
            present = np.array(entries[~missing].tolist())
        except ValueError:
            present = entries[~missing]
        if present.dtype.kind not in "iuf" or present.ndim != 1:
            self._refuse_other_than_numbers(name, entries, missing)
        numbers = np.full(len(self), np.nan)
        numbers[~missing] = present.astype(np.float64)
        return numbers, missing

    def _refuse_other_than_numbers(
        self, name: str, entries: npt.NDArray[Any], missing: Booleans
    ) -> None:
        is_other = [
            isinstance(entry, bool) or not isinstance(entry, Real | Decimal)
            for entry in entries.tolist()
        ]
        self.refuse(name, np.array(is_other) & ~missing, "this is not a number")

    @staticmethod
    def build(data: Mapping[str, Any], backend: Backend) -> Any:
        """A frame of the given library from columns."""
        known = get_args(Backend)
        if backend not in known:
            raise InputError(f"unknown backend {backend!r}; known are {', '.join(known)}")
        if backend == "dict":
            return {name: np.asarray(column).tolist() for name, column in data.items()}
        try:
            return nw.from_dict(dict(data), backend=backend).to_native()
        except ImportError:
            raise InputError(
                f"{backend} is not installed; install it or choose another backend"
            ) from None
