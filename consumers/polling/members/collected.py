"""The membership part of a reading: whom to ask is planned from the rows, under a budget."""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from consumers.models import Client, Cluster, GroupKind
from consumers.polling.members.client_round import ClientRound
from consumers.polling.reading import ClientReading, GroupMembers, Member, MembersReading
from consumers.vocabulary.reasons import PollProblem, stored_reason

from .membership import AskedBroker, Budget, Silences, Turn, read_groups


@dataclass(frozen=True)
class KnownMember:
    """`connections`: the member's addresses by the name of each broker. `answered_at`: null if the member never
    answered.
    """

    connections: Mapping[str, Sequence[str]]
    answered_at: datetime | None = None


@dataclass(frozen=True)
class KnownGroup:
    sub_version: datetime | None = None
    members_changed_at: datetime | None = None
    settled_at: datetime | None = None
    members: dict[str, KnownMember] = field(default_factory=dict)


NEVER_SEEN = KnownGroup()


@dataclass(frozen=True)
class Rotation:
    """`groups` in the order of asking. `topics`: the topics of the brokers (null: unknown).

    `blocked`: groups with a member that holds a message and does not finish it.
    """

    groups: Sequence[str]
    known: Mapping[str, KnownGroup] = field(default_factory=dict)
    topics: Collection[str] | None = None
    blocked: Collection[str] = frozenset()

    def of(self, group: str) -> KnownGroup:
        return self.known.get(group, NEVER_SEEN)


def rotation(
    cluster: Cluster,
    seen: Iterable[str],
    topics: Collection[str] | None = None,
    blocked: Collection[str] = frozenset(),
) -> Rotation:
    """Groups that were never asked first, then the groups not asked for the longest time. Takes two queries."""
    asked_at: dict[str, datetime | None] = {}
    known: dict[str, KnownGroup] = {}
    columns = ("name", "membership_at", "sub_version", "members_changed_at", "settled_at")
    for name, at, *values in cluster.groups.filter(kind=GroupKind.USER).values_list(*columns):
        asked_at[name], known[name] = at, KnownGroup(*values)
    present = Client.objects.filter(group__cluster=cluster, gone_by=None)
    for group, client, connections, at in present.values_list(
        "group__name", "client_id", "connections", "running_info_at"
    ):
        if group in known:
            known[group].members[client] = KnownMember(connections, at)
    names = sorted(
        {*asked_at, *seen}, key=lambda name: (asked_at.get(name) is not None, asked_at.get(name) or name, name)
    )
    return Rotation(names, known, topics, blocked)


# Some groups cannot wait for their turn: their members are rebalancing, or may be.


def has_changed(answer: GroupMembers, known: KnownGroup) -> bool:
    """Whether members, their connections or the newest change that a broker reported differ from the rows.

    If a broker did not answer, a missing member is not known to have left. Only a newer time is a change: brokers
    report the time of the member that registered last, so the time alternates where members subscribe differently. A
    client whose clock is ahead hides later changes of others; their turn in the rotation shows these changes.
    """
    present = {member.client_id: member for member in answer.members}
    if present.keys() - known.members.keys() or (answer.complete and known.members.keys() - present.keys()):
        return True
    if answer.sub_version is not None and (known.sub_version is None or answer.sub_version > known.sub_version):
        return True
    return any(_is_elsewhere(answer, member, known.members[client_id]) for client_id, member in present.items())


def is_restless(known: KnownGroup, patience_seconds: float, now: datetime) -> bool:
    """Whether the group changed recently: what follows the change must not be missed."""
    changed_at = known.members_changed_at
    return changed_at is not None and (now - changed_at).total_seconds() < patience_seconds


def _is_elsewhere(answer: GroupMembers, member: Member, known: KnownMember) -> bool:
    return any(
        sorted(member.connections.get(broker, ())) != sorted(known.connections.get(broker, ()))
        for broker in answer.answered_by
    )


# Selects whom a reading asks: complete groups, hurried groups before the groups not asked for the longest time.
# The end of a rebalance is evaluated from two complete readings of a group in a row, so a group is never split: the
# last group may exceed the budget. A quarter of the budget is reserved for the rotation, because flapping hurried
# groups would starve the others. Blocked groups come after groups that change: only their members' newest answers show
# why a message is not finished.

KEPT_FOR_ROTATION = 4  # one in four calls

LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Plan:
    """`clients` in the order of asking: clients that fell silent come last, since each may hold its call for seconds.

    `groups`: the groups of these clients. `hurried`: the number of these groups that are asked out of turn.
    """

    clients: Sequence[tuple[str, Member]] = ()
    groups: Collection[str] = ()
    hurried: int = 0


def plan_sweep(rotation: Rotation, groups: int, budget: Budget, now: datetime) -> list[str]:
    """At most this many groups: recently changed groups first, but never more than half of them."""
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
    """`askable`: the members of each group that a call can reach in this reading."""
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
        """Adds groups in their order while fewer than `calls` calls are planned."""
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
    """Whether the group changed recently, or two complete readings that agree are still missing and can be had."""
    if is_restless(known, budget.patience_seconds, now):
        return True
    can_be_whole = answer.complete and len(askable) == len(answer.members)
    return known.settled_at is None and can_be_whole and _all_answer(answer, askable, silences)


def _all_answer(answer: GroupMembers, askable: Sequence[Member], silences: Silences) -> bool:
    """Whether every member answered when it was last asked."""
    return not any(silences.fell_silent((answer.group, member.client_id)) for member in askable)


def _asked_at(known: KnownGroup, asked_at: datetime | None) -> datetime:
    answer_times = [member.answered_at for member in known.members.values() if member.answered_at is not None]
    return max([*answer_times, asked_at or LONG_AGO])


# 5.4.0, RemotingProtocolServer: GET_CONSUMER_RUNNING_INFO is not among what a proxy serves.
BEHIND_A_PROXY = stored_reason(PollProblem.BEHIND_PROXY)


async def collect_members(
    turn: Turn,
    cluster: str,
    brokers: Sequence[AskedBroker],
    unread: str | None,
    rotation: Rotation,
    silences: Silences,
) -> MembersReading:
    """`brokers` are followed by the proxies: clients of a proxy register there, so a proxy is asked like one more
    broker (5.4.0, ConsumerManagerActivity).
    """
    clock, budget = asyncio.get_running_loop().time, turn.budget
    before, began = turn.pool.spent(), clock()
    names = plan_sweep(rotation, budget.membership_calls // max(len(brokers), 1), budget, turn.now)
    answers = await read_groups(turn, brokers, names, unread, rotation.topics)
    swept = clock()
    who = _Reach({broker.address for broker in brokers if broker.passes_on}, silences, turn)
    askable = {answer.group: who.askable(answer) for answer in answers}
    plan = plan_clients(answers, askable, rotation, silences, budget, turn.now)
    unasked = list(who.out_of_reach(answers, plan.groups))
    asking = ClientRound(turn, silences, rotation.topics)
    clients = await asking.read(plan.clients)
    # Assignments get at least a quarter of the calls, or they would never be asked for where clients are many.
    left = max(budget.running_info_calls - asking.asked, budget.running_info_calls // KEPT_FOR_ROTATION)
    clients = await asking.assign(clients, plan.clients, left)
    spent = turn.pool.spent()
    return MembersReading(
        cluster=cluster,
        taken_at=turn.now,
        groups=tuple(answers),
        clients=(*clients, *unasked),
        calls=spent.calls - before.calls,
        bytes=spent.bytes_received - before.bytes_received,
        seconds=clock() - began,
        sweep_seconds=swept - began,
        running_info_seconds=clock() - swept,
        groups_hurried=plan.hurried,
        clients_asked=asking.asked,
    )


class _Reach:
    """Which clients cannot be asked in this reading, and why."""

    def __init__(self, addresses: set[str], silences: Silences, turn: Turn) -> None:
        self._addresses, self._silences, self._now = addresses, silences, turn.now
        silences.forget_old(turn.now)

    def askable(self, answer: GroupMembers) -> list[Member]:
        return [member for member in answer.members if self._hindrance(answer.group, member) is None]

    def out_of_reach(self, answers: Sequence[GroupMembers], asked: Collection[str]) -> Iterator[ClientReading]:
        """Silent members of groups that were asked, and all members that no broker reaches."""
        for answer in answers:
            for member in answer.members:
                reason = self._hindrance(answer.group, member)
                if reason == BEHIND_A_PROXY or (reason is not None and answer.group in asked):
                    yield ClientReading(answer.group, member.client_id, error=reason)

    def _hindrance(self, group: str, member: Member) -> str | None:
        if member.broker_address not in self._addresses:
            return BEHIND_A_PROXY
        return self._silences.not_asked((group, member.client_id), self._now)
