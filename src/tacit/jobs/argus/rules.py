"""Rules of tau-ARGUS (`<SAFETYRULE>`) as those of tacit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tacit.errors import InputError
from tacit.io.argus.commands import (
    RuleCall,
)
from tacit.rules import Dominance, MinFrequency, PPercent, PriorPosterior, Request, ZeroCells
from tacit.table import Rule, Table, Verdict

DEFAULT_MANUAL = 20.0
"""The protection levels of cells that are marked by hand, in percent, where MAN is not given."""

MOST_LISTED = 50
"""At most so many of the largest contributors are listed for requests; others count as the last."""

INDIVIDUAL = {"P": 2, "NK": 2, "FREQ": 1, "REQ": 1}
"""How many rules of a kind are about contributors; those behind are about holdings."""


@dataclass(frozen=True, kw_only=True)
class SafetyRules:
    """The rules of a table.

    Attributes:
        rules: What judges the cells.
        requests: The shares above which requests count, one for each code that asks.
        request: The minimum number of contributors and the percentage of the request rule.
        manual: The protection levels of cells that are marked by hand, in percent.
        holding: Whether any rule is about holdings.
        weighted: Whether sampling weights count.
        missing_safe: Whether cells with codes for missing values are safe whatever rules say.
    """

    rules: tuple[Rule, ...] = ()
    requests: tuple[float, float] | None = None
    request: tuple[int, float] = (0, 0.0)
    manual: float = DEFAULT_MANUAL
    holding: bool = False
    weighted: bool = False
    missing_safe: bool = False

    @property
    def largest_needed(self) -> int:
        """How many of the largest contributions rules need."""
        needed = [getattr(rule, "largest_needed", 0) for rule in self.rules]
        # So many contributors may have more than a share, and the next one surely has less.
        asked = [int(100 / share) + 1 for share in self.requests or () if share > 0]
        return max([2, *needed, *(min(each, MOST_LISTED) for each in asked)])

    def request_rule(self, share: float) -> Request:
        """The request rule for those who count above a share of the total."""
        minimum, percent = self.request
        return Request(share=share, minimum=minimum, percent=percent)


def safety_rules(calls: Iterable[RuleCall]) -> SafetyRules:
    """The rules that a batch file gives a table.

    Args:
        calls: The rules as written.

    Raises:
        InputError: Parameters that no rule can have, or a rule without counterpart.
    """
    calls = list(calls)
    single = {call.name: call.parameters[0] for call in calls if call.name in _SWITCHES}
    weighted = single.get("WGT", 0) == 1
    rules: list[Rule] = []
    requests, request = None, (0, 0.0)
    place: Counter[str] = Counter()
    on_holdings = False
    for call in calls:
        place[call.name] += 1
        holding = place[call.name] > INDIVIDUAL.get(call.name, 1)
        if call.name in INDIVIDUAL and place[call.name] > 2 * INDIVIDUAL[call.name]:
            raise InputError(
                f"there are more than {2 * INDIVIDUAL[call.name]} rules {call.name}; half of "
                "them are about contributors, the others about holdings"
            )
        if call.name == "REQ" and any(call.parameters[:2]):
            if holding:
                raise InputError(
                    "a second REQ is about requests of holdings, which tacit does not know; "
                    "leave it out, the first one protects every contributor that asks"
                )
            requests = (call.parameters[0], call.parameters[1])
            request = (
                int(call.parameters[2]) if len(call.parameters) > 3 else 0,
                call.parameters[-1],
            )
        made = (
            _RULES[call.name](call.parameters, holding, weighted) if call.name in _RULES else None
        )
        if made is not None:
            rules.append(made)
            on_holdings |= holding
    return SafetyRules(
        rules=tuple(rules),
        requests=requests,
        request=request,
        manual=single.get("MAN", DEFAULT_MANUAL),
        holding=on_holdings,
        weighted=weighted,
        missing_safe=single.get("MIS", 0) == 1,
    )


_SWITCHES = ("MAN", "MIS", "WGT")


def _whole(number: float, name: str) -> int:
    if number != int(number):
        raise InputError(f"{name} is {number:g}; write a whole number")
    return int(number)


def _p_rule(parameters: Sequence[float], holding: bool, _weighted: bool) -> Rule | None:
    p, *rest = parameters
    if p == 0:
        return None
    q = rest[0] if len(rest) == 2 else 100.0
    coalition = max(_whole(rest[-1] if rest else 1, "the coalition of P"), 1)
    if q == 100:
        return PPercent(p, coalition, holding)
    return PriorPosterior(p, q, coalition, holding)


def _nk_rule(parameters: Sequence[float], holding: bool, _weighted: bool) -> Rule | None:
    n, k = parameters
    # Nobody contributes more than everything.
    if n == 0 or k == 0 or k == 100:
        return None
    return Dominance(_whole(n, "n of NK"), k, holding)


def _freq_rule(parameters: Sequence[float], holding: bool, weighted: bool) -> Rule | None:
    minimum, *rest = parameters
    if minimum == 0:
        return None
    percent = rest[0] if rest else 0.0
    return MinFrequency(
        minimum, weighted=weighted and not holding, holding=holding, percent=percent
    )


def _zero_rule(parameters: Sequence[float], _holding: bool, _weighted: bool) -> Rule:
    return ZeroCells(level=parameters[0] or None)


_RULES: Mapping[str, Callable[[Sequence[float], bool, bool], Rule | None]] = {
    "P": _p_rule,
    "NK": _nk_rule,
    "FREQ": _freq_rule,
    "ZERO": _zero_rule,
}


@dataclass(frozen=True, eq=False)
class JudgedElsewhere:
    """A rule that judges another table of the same cells.

    Attributes:
        rule: The rule.
        other: The table with what it needs to know.
    """

    rule: Request
    other: Table

    @property
    def largest_needed(self) -> int:
        """As the rule says."""
        return self.rule.largest_needed

    def judge(self, _table: Table) -> Verdict:
        """What the rule says of the other table."""
        return self.rule.judge(self.other)
