"""Rules of tau-ARGUS mean what those of tacit mean, for contributors and for holdings."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from tacit.errors import InputError
from tacit.io.argus.commands import RuleCall
from tacit.jobs.argus.rules import safety_rules
from tacit.rules import Dominance, MinFrequency, PPercent, PriorPosterior, ZeroCells
from tests.jobs.argus.small_jobs import Office


def _calls(*given: tuple[str, tuple[float, ...]]) -> list[RuleCall]:
    return [RuleCall(name, parameters) for name, parameters in given]


def test_the_first_rules_are_about_contributors_the_last_about_holdings() -> None:
    """Two P and two NK for each, one FREQ; those with zeros mean none."""
    found = safety_rules(
        _calls(
            ("P", (0, 0)), ("P", (20, 5)), ("P", (10, 50, 2)), ("P", (0, 0, 0)),
            ("NK", (0, 0)), ("NK", (3, 75)), ("NK", (1, 60)),
            ("FREQ", (3, 30)), ("FREQ", (2, 10)),
            ("ZERO", (7,)), ("MAN", (15,)), ("MIS", (1,)), ("WGT", (0,)),
        )
    )  # fmt: skip
    assert found.rules == (
        PPercent(20, 5),
        PriorPosterior(10, 50, 2, holding=True),
        Dominance(3, 75),
        Dominance(1, 60, holding=True),
        MinFrequency(3, percent=30),
        MinFrequency(2, percent=10, holding=True),
        ZeroCells(level=7),
    )
    assert (found.manual, found.missing_safe, found.weighted, found.holding) == (
        15,
        True,
        False,
        True,
    )
    assert found.largest_needed == 6


def test_without_rules_nothing_is_judged() -> None:
    """Rules that mean none leave no trace."""
    found = safety_rules(_calls(("NK", (0, 0)), ("P", (0,)), ("FREQ", (0, 0)), ("NK", (2, 100))))
    assert (found.rules, found.holding, found.requests) == ((), False, None)


@pytest.mark.parametrize(
    "calls",
    [
        _calls(*[("P", (10.0, 1.0))] * 5),
        _calls(*[("REQ", (10.0, 1.0, 0.0, 5.0))] * 2),
        _calls(("NK", (1.5, 70))),
        _calls(("P", (120, 1))),
        _calls(("P", (50, 20, 1))),
    ],
)
def test_rules_that_cannot_be_are_refused(calls: list[RuleCall]) -> None:
    """Too many of a kind, requests of holdings, or parameters that no rule has."""
    with pytest.raises(InputError):
        safety_rules(calls)


def _cells(office: Office) -> dict[tuple[str, str], list[int]]:
    """The records of each cell of region x size, by plain Python."""
    areas = {"1": "No", "2": "No", "3": "So", "10": "So"}
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, record in enumerate(office.records):
        regions = ["Total", record.region.rjust(2)]
        regions += [areas[record.region]] if record.region in areas else []
        for region in regions:
            for size in ("Total", record.size):
                found[region, size].append(number)
    return found


def _sensitive(office: Office, rules: str) -> set[tuple[str, str]]:
    office.run(rules=rules)
    table = office.heard.tables[1]
    pairs = list(zip(table.codes("region").tolist(), table.codes("size").tolist(), strict=True))
    return {pairs[cell] for cell in np.flatnonzero(table.is_sensitive)}


def _p_percent(amounts: list[float], p: float, n: int) -> bool:
    largest = sorted(amounts, reverse=True)
    rest = sum(largest[n + 1 :])
    return bool(largest) and p / 100 * largest[0] > rest + 1e-9


def test_values_counts_and_p_percent_by_contributors(office: Office) -> None:
    """Each record is a contributor; all values and sensitive cells agree with plain Python."""
    cells, records = _cells(office), office.records
    expected = {
        cell
        for cell, numbers in cells.items()
        if _p_percent([records[n].turnover for n in numbers], 30, 2) or len(numbers) < 9
    }
    assert _sensitive(office, "P(30,2)|FREQ(9,20)") == expected
    assert expected
    table = office.heard.tables[1]
    for place, cell in enumerate(zip(table.codes("region"), table.codes("size"), strict=True)):
        numbers = cells.get((str(cell[0]), str(cell[1])), [])
        assert np.isclose(table.value[place], sum(records[n].turnover for n in numbers))


def test_holdings_count_as_one(office: Office) -> None:
    """Rules behind the second of their kind judge holdings."""
    cells, records = _cells(office), office.records
    expected = set()
    for cell, numbers in cells.items():
        together: dict[int, float] = defaultdict(float)
        for n in numbers:
            together[records[n].firm] += records[n].turnover
        if _p_percent(list(together.values()), 60, 1) or len(together) < 12:
            expected.add(cell)
    assert _sensitive(office, "P(0,0)|P(0,0)|P(60,1)|FREQ(0,0)|FREQ(12,5)") == expected
    assert expected


def test_missing_values_are_safe_if_asked_for(office: Office) -> None:
    """Cells of missing values are sensitive by the same rules as others, unless MIS is 1."""
    with_missing = _sensitive(office, "FREQ(9,20)|MIS(0)")
    assert any(region == "99" for region, _ in with_missing)
    assert _sensitive(office, "FREQ(9,20)|MIS(1)") == {
        cell for cell in with_missing if cell[0] != "99"
    }


def test_requests_by_two_codes_have_two_shares(office: Office) -> None:
    """Each code counts above its own share of the total."""
    cells, records = _cells(office), office.records
    shares = {"1": 4.0, "2": 20.0}
    expected = {
        cell
        for cell, numbers in cells.items()
        if any(
            records[n].ask in shares
            and 100 * records[n].turnover
            > shares[records[n].ask] * sum(records[m].turnover for m in numbers)
            for n in numbers
        )
    }
    found = _sensitive(office, "REQ(4,20,0,10)")
    assert found == expected
    assert _sensitive(office, "REQ(4,4,10)") > found


def test_weights_count_where_asked_for(office: Office) -> None:
    """With WGT(1) a record stands for as many as its weight, in values and in counts."""
    cells, records = _cells(office), office.records
    expected = {
        cell for cell, numbers in cells.items() if sum(records[n].weight for n in numbers) < 20
    }
    assert _sensitive(office, "FREQ(20,10)|WGT(1)") == expected
    total = sum(record.weight * record.turnover for record in records)
    assert np.isclose(office.heard.tables[1].value[0], total)
