"""Members of one group that differ in what they must agree on, as each of them says of itself."""

from collections.abc import Callable, Hashable, Mapping
from datetime import datetime

from consumers.selectors.ownership.shares.member_facts import MemberFacts

from .evidence import Evidence

Differing = dict[str, list[MemberFacts]]  # by what they say


def differing(evidence: Evidence, said: Callable[[MemberFacts], str | None]) -> Differing:
    """Empty where all that say anything agree. Those that have not said (None) prove no difference."""
    found: Differing = {}
    for member in evidence.members:
        value = said(member) if member.spoke else None
        if value is not None:
            found.setdefault(value, []).append(member)
    return found if len(found) > 1 else {}


def since(found: Differing) -> datetime:
    """When the second of them came to be."""
    return second(value_since(found, lambda member: member.seen_since))


def value_since(found: Differing, began: Callable[[MemberFacts], datetime]) -> dict[str, datetime]:
    return {value: min(began(member) for member in members) for value, members in found.items()}


def second(times: Mapping[Hashable, datetime] | Mapping[str, datetime]) -> datetime:
    return sorted(times.values())[1]


def ids_by_value(found: Differing) -> dict[str, list[str]]:
    """As facts."""
    return {value: sorted(member.client_id for member in members) for value, members in sorted(found.items())}
