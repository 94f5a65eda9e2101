"""Whom a reading asks: groups whole, the hurried before the longest unasked.

Two whole readings of a group in a row are what an end of its rebalance is judged by, so a group is never split: the
last one may exceed the budget. A quarter of it is kept from the hurried, who would starve the others while they flap.
Blocked groups come after those that change: why a message is not finished is told by their members' newest words alone.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from consumers.polling.reading import GroupMembers, Member

from .hurry import has_changed, is_restless
from .known_groups import KnownGroup, Rotation
from .silences import Silences
from .turn import Budget

KEPT_FOR_ROTATION = 4  # one in four calls
LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Plan:
    """`clients` in the order of asking: those that fell silent last, since each may hold its call for seconds.

    `groups`: theirs. `hurried`: how many of these are not asked because it is their turn.
    """

    clients: Sequence[tuple[str, Member]] = ()
    groups: Collection[str] = ()
    hurried: int = 0


def plan_sweep(rotation: Rotation, groups: int, budget: Budget, now: datetime) -> list[str]:
    """So many groups, those that changed a moment ago first, but never more than half of them."""
    if len(rotation.groups) <= groups:
        return list(rotation.groups)
    restless = [name for name in rotation.groups if is_restless(rotation.of(name), budget.patience_seconds, now)]
    chosen = dict.fromkeys(restless[: groups // 2])
    chosen.update(dict.fromkeys(name for name in rotation.groups if name not in chosen))
    return list(chosen)[:groups]


def plan_clients(
    answers: Sequence[GroupMembers],
    askable: Mapping[str, Sequence[Member]],
    rotation: Rotation,
    silences: Silences,
    budget: Budget,
    now: datetime,
) -> Plan:
    """`askable`: the members of each group that a question can reach in this reading."""
    changed, unsettled, blocked, others = set(), [], [], []
    for answer in answers:
        known = rotation.of(answer.group)
        if not askable.get(answer.group):
            continue
        if has_changed(answer, known):
            changed.add(answer.group)
        if answer.group in changed or _is_unsettled(answer, askable[answer.group], known, silences, budget, now):
            unsettled.append(answer.group)
        elif answer.group in rotation.blocked and _all_answer(answer, askable[answer.group], silences):
            blocked.append(answer.group)
        else:
            others.append(answer.group)

    def turn(group: str) -> tuple[bool, datetime, str]:
        return group not in changed, _asked_at(rotation.of(group), silences.asked_at.get(group)), group

    chosen = _Chosen(askable)
    calls = budget.running_info_calls
    unsettled.sort(key=turn)
    blocked.sort(key=turn)
    chosen.take([*unsettled, *blocked], calls - calls // KEPT_FOR_ROTATION)
    chosen.take(sorted(others, key=turn), max(calls, chosen.calls + calls // KEPT_FOR_ROTATION))
    chosen.take([*unsettled, *blocked], calls)
    clients = [(group, member) for group in chosen.groups for member in askable[group]]
    clients.sort(key=lambda asked: silences.fell_silent((asked[0], asked[1].client_id)))
    return Plan(clients, chosen.groups, len(chosen.groups.keys() & {*unsettled, *blocked}))


class _Chosen:
    def __init__(self, askable: Mapping[str, Sequence[Member]]) -> None:
        self.groups: dict[str, None] = {}
        self._askable = askable
        self.calls = 0

    def take(self, groups: Sequence[str], calls: int) -> None:
        """Groups in their order while fewer than so many calls are planned."""
        for group in groups:
            if self.calls >= calls:
                return
            if group not in self.groups:
                self.groups[group] = None
                self.calls += len(self._askable[group])


def _is_unsettled(
    answer: GroupMembers,
    askable: Sequence[Member],
    known: KnownGroup,
    silences: Silences,
    budget: Budget,
    now: datetime,
) -> bool:
    """It changed a moment ago, or two whole readings that agree are still to come and can be had."""
    if is_restless(known, budget.patience_seconds, now):
        return True
    can_be_whole = answer.complete and len(askable) == len(answer.members)
    return known.settled_at is None and can_be_whole and _all_answer(answer, askable, silences)


def _all_answer(answer: GroupMembers, askable: Sequence[Member], silences: Silences) -> bool:
    """None of them was silent when it was asked last."""
    return not any(silences.fell_silent((answer.group, member.client_id)) for member in askable)


def _asked_at(known: KnownGroup, asked_at: datetime | None) -> datetime:
    spoke = [member.spoke_at for member in known.members.values() if member.spoke_at is not None]
    return max([*spoke, asked_at or LONG_AGO])
