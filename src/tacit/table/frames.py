"""Data frames as input: any of pandas, polars and pyarrow, or a dict of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tacit.errors import HierarchyError, InputError, TableError, first_few, name_columns
from tacit.hierarchy import DEFAULT_TOTAL, Hierarchy, code_text
from tacit.problem import Floats, Integers

FRAME_LIBRARIES = ("pandas", "polars", "pyarrow")


class FrameReader:
    """Reads columns out of whatever kind of frame was handed over.

    Attributes:
        backend: The library the frame belongs to; None for a dict of columns or any other library.
    """

    def __init__(self, frame: Any):
        self.backend: str | None = None
        self._is_frame = not isinstance(frame, Mapping)
        if isinstance(frame, Mapping):
            self._columns: Mapping[str, Any] = {str(name): frame[name] for name in frame}
            lengths = {len(column) for column in self._columns.values()}
            if len(lengths) > 1:
                raise TableError(f"the columns have different lengths: {sorted(lengths)}")
            self.row_count = lengths.pop() if lengths else 0
            return
        # Slow to import, and needed for frames only.
        import narwhals as nw

        try:
            opened = nw.from_native(frame, eager_only=True)
        except TypeError:
            raise TableError(
                f"{type(frame).__name__} is not a data frame; give one of pandas, polars or "
                "pyarrow, or a dict of columns"
            ) from None
        library = opened.implementation.name.lower()
        self.backend = library if library in FRAME_LIBRARIES else None
        self._columns = {name: opened[name] for name in opened.columns}
        self.row_count = len(opened)

    def _column(self, name: str) -> Any:
        if name not in self._columns:
            raise TableError(f"there is no column {name}; {name_columns(self._columns)}")
        return self._columns[name]

    def entries(self, name: str) -> list[Any]:
        """A column as a list."""
        column = self._column(name)
        if self._is_frame:
            listed: list[Any] = column.to_list()
            return listed
        return column.tolist() if isinstance(column, np.ndarray) else list(column)

    def numbers(self, name: str) -> Floats:
        """A column as numbers, NaN where one is missing."""
        column = self._column(name)
        try:
            given = column.to_numpy() if self._is_frame else column
            return np.array(given, dtype=np.float64)
        except (TypeError, ValueError):
            pass
        numbers = np.full(self.row_count, np.nan)
        for row, entry in enumerate(self.entries(name)):
            try:
                numbers[row] = np.nan if entry is None else float(entry)
            except (TypeError, ValueError):
                raise TableError(
                    f"column {name} contains something that is not a number, first in row "
                    f"{row + 1}; write numbers with a decimal point and without units"
                ) from None
        return numbers

    def codes(self, name: str, hierarchy: Hierarchy | None) -> tuple[Hierarchy, Integers]:
        """A column of codes as positions in a hierarchy.

        Without a hierarchy the codes that occur are put below one total: the code `Total`,
        in whatever case it is written.
        """
        entries = self.entries(name)
        text: dict[Any, str] = {}
        for entry in dict.fromkeys(entries):
            try:
                text[entry] = code_text(entry)
            except HierarchyError as error:
                row = next(row for row, other in enumerate(entries) if other is entry)
                raise TableError(f"column {name}, row {row}: {error}") from None
        if hierarchy is None:
            codes = dict.fromkeys(text.values())
            total = [code for code in codes if code.casefold() == DEFAULT_TOTAL.casefold()]
            hierarchy = Hierarchy.flat(codes, total=total[0] if total else DEFAULT_TOTAL)
        unknown = [code for code in text.values() if code not in hierarchy]
        if unknown:
            raise TableError(
                f"codes {first_few(unknown)} of dimension {name} are not in its hierarchy "
                f"{hierarchy!r}; add them there or correct the frame"
            )
        position = {entry: hierarchy.positions[code] for entry, code in text.items()}
        return hierarchy, np.fromiter(map(position.__getitem__, entries), np.int64, len(entries))


def to_frame(columns: Mapping[str, npt.NDArray[Any]], backend: str | None) -> Any:
    """Columns as a data frame of the given library, or as the dict they are."""
    if backend is None or backend == "dict":
        return dict(columns)
    if backend not in FRAME_LIBRARIES:
        raise InputError(f"{backend} is not a known library; use pandas, polars, pyarrow or dict")
    import narwhals as nw

    return nw.from_dict(dict(columns), backend=cast("Any", backend)).to_native()
