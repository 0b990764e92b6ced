"""Contributors and holdings of records that DuckDB reads: numbered, with what is known of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.arrays import Booleans, Integers
from tacit.microdata.duck_columns import TEXT, WHOLE, SqlColumns
from tacit.microdata.duck_watch import WatchedConnection
from tacit.microdata.report import refuse_several_holdings
from tacit.microdata.specification import Specification
from tacit.table.contributors import ALONE, CONTRIBUTOR, HOLDING, numbers_of, numbers_without_codes

MOST_RECORDS = 2**31 - 1
"""At most this many records can be ordered at once."""


class Units:
    """The contributors of records, or else their holdings, each with a number.

    Attributes:
        holding: The number of the holding of each contributor, increasing, where there are some.
        asked: Which contributors asked for protection, where that is known.
    """

    def __init__(
        self,
        duck: WatchedConnection,
        wanted: Specification,
        columns: SqlColumns,
        table: str,
        *,
        token: int,
        record_count: int,
        are_tidy: bool,
    ):
        """Prepare.

        Args:
            duck: The connection.
            wanted: Which columns say who contributes.
            columns: How columns are read.
            table: The records.
            token: The number of the source, which tells contributors without codes apart.
            record_count: How many records there are.
            are_tidy: Whether the codes of contributors are as they are to be.
        """
        self._duck = duck
        self._wanted = wanted
        self._columns = columns
        self._table = table
        self._token = token
        self._record_count = record_count
        self._are_tidy = are_tidy
        self._lowest: int | None = None
        self.holding: Integers | None = None
        self.asked: Booleans | None = None

    def _one(self, query: str) -> Any:
        ((entry,),) = self._duck.execute(query).fetchall()
        return entry

    def internal_numbers(self, units: Integers, holdings: bool) -> Integers:
        """Internal numbers of contributors or holdings, by their numbers in this source."""
        wanted = self._wanted
        if wanted.contributor is None and not holdings:
            return numbers_without_codes(self._token, units)
        if self._lowest is not None:
            return numbers_of(CONTRIBUTOR, [str(unit + self._lowest) for unit in units.tolist()])
        if wanted.contributor is None:
            return self._numbers_of_owners(units, HOLDING)
        if not holdings:
            return self._numbers_of_owners(units, CONTRIBUTOR)
        # Each holding by its first contributor; numbers of both increase together.
        assert self.holding is not None
        return self._numbers_of_owners(np.searchsorted(self.holding, units), None)

    def _numbers_of_owners(self, units: Integers, kind: str | None) -> Integers:
        """Internal numbers of units of the table `units`; no kind asks for their holdings."""
        self._duck.register("chosen", {"place": np.arange(len(units)), "number": units})
        holding = "CAST(holding AS VARCHAR)" if kind is None else "NULL"
        named = self._duck.execute(
            f"SELECT place, coalesce({holding}, CAST(owner AS VARCHAR)) AS code, "
            f"{holding} IS NOT NULL AS is_holding FROM chosen JOIN units USING (number)"
        ).fetchnumpy()
        self._duck.unregister("chosen")
        found = numbers_without_codes(self._token + 1, units)
        codes = np.asarray(named["code"], object)
        held = np.asarray(named["is_holding"], bool)
        kinds = {kind: np.ones(len(codes), bool)} if kind else {HOLDING: held, ALONE: ~held}
        for each, those in kinds.items():
            found[named["place"][those]] = numbers_of(each, codes[those].tolist())
        return found

    def numbered(self, name: str) -> tuple[str, str]:
        """How to number contributors, or else holdings: an expression, and a join it needs."""
        wanted, unit = self._wanted, self._columns.unit(name)
        plain = wanted.holding is None and wanted.request is None
        if plain and self._columns.types[name] in WHOLE:
            low, high = self._duck.execute(
                f"SELECT min({unit}), max({unit}) FROM {self._table}"
            ).fetchall()[0]
            if low is not None and high - low < min(max(4 * self._record_count, 10**6), 2**31 - 1):
                self._lowest = low
                return f"CAST(coalesce(r.owner - {low}, -1) AS INTEGER)", ""
        with_holding = wanted.contributor is not None and wanted.holding is not None
        with_request = wanted.contributor is not None and wanted.request is not None
        self._list_units(name, with_holding, with_request)
        if not self._are_tidy and self._has_untidy_units(with_holding):
            self._list_units(name, with_holding, with_request)
        if with_holding:
            self._read_holdings()
        if with_request:
            flags = "SELECT coalesce(asked, 0) > 0 AS asked FROM units ORDER BY number"
            self.asked = self._duck.execute(flags).fetchnumpy()["asked"]
        missing = "-1"
        if wanted.contributor is None:
            # A record without holding is one of its own.
            count = self._one("SELECT count(*) FROM units")
            missing = f"{count} + row_number() OVER () - 1"
        kind = "INTEGER" if 2 * self._record_count < MOST_RECORDS else "BIGINT"
        join = "LEFT JOIN units ON units.owner = r.owner"
        return f"CAST(coalesce(units.number, {missing}) AS {kind})", join

    def _list_units(self, name: str, with_holding: bool, with_request: bool) -> None:
        """All contributors, or else holdings, numbered in a table of their own."""
        wanted, unit = self._wanted, self._columns.unit(name)
        known, order = [f"{unit} AS owner"], "owner"
        if with_holding:
            holding = self._columns.unit(str(wanted.holding))
            known += [f"min({holding}) AS holding", f"max({holding}) AS other"]
            order = "holding NULLS LAST, owner"
        if with_request:
            known.append(f"max({self._columns.flag(str(wanted.request))}) AS asked")
        # In order: holdings lie together, sums of weights are rounded alike, and among equal
        # contributors the same ones are listed in every run.
        self._duck.execute(
            "CREATE OR REPLACE TEMP TABLE units AS SELECT *, "
            f"row_number() OVER (ORDER BY {order}) - 1 AS number "
            f"FROM (SELECT {', '.join(known)} FROM {self._table} WHERE {unit} IS NOT NULL "
            "GROUP BY 1)"
        )

    def _has_untidy_units(self, with_holding: bool) -> bool:
        """Whether contributors or holdings have something around them; noted where they do."""
        wanted, columns = self._wanted, self._columns
        places = {"owner": wanted.owner, **({"holding": wanted.holding} if with_holding else {})}
        found = False
        for column, name in places.items():
            if name is None or name in columns.untidy or self._columns.types[name] not in TEXT:
                continue
            odd = columns.is_untidy(column)
            if self._duck.execute(f"SELECT 1 FROM units WHERE {odd} LIMIT 1").fetchall():
                columns.untidy |= {name}
                found = True
        return found

    def _read_holdings(self) -> None:
        wanted = self._wanted
        several = int(self._one("SELECT count(*) FROM units WHERE holding <> other"))
        if several:
            refuse_several_holdings(several, str(wanted.contributor), str(wanted.holding))
        read = self._duck.execute(
            "SELECT CAST(dense_rank() OVER (ORDER BY holding NULLS LAST) AS INTEGER) AS holding, "
            "holding IS NULL AS alone FROM units ORDER BY number"
        ).fetchnumpy()
        # Contributors without holding come last and are holdings of their own.
        self.holding = read["holding"] - 1 + np.maximum(np.cumsum(read["alone"]) - 1, 0)
