"""Members of groups, what they hold and subscribe to, as intervals with the bounds that polling can give."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from consumers.models import Client, ClientSubscription, Cluster, ConsumerGroup
from consumers.polling.members.client_round import OFFSET_STORE, outside_store
from consumers.polling.reading import GroupMembers, Member, MembersReading

from .clients import ClientAnswers, ClientKey, ClientRows, Continuity, by_topic, note_words
from .intervals import IntervalEnds, record_assignments
from .keyed_rows import WRITE_BATCH, EntityIds, rewrite, stamp
from .membership_gaps import gaps_of_lists, gaps_of_silence, store_gaps

# Connections: the addresses under which each broker lists a member. They are compared between two answers about a
# group.

Connections = dict[str, list[str]]  # addresses by broker; none where a slave that stands in for it lists the member


def connections_after(
    stored: Mapping[str, list[str]], member: Member, answer: GroupMembers, stand_ins: Collection[str]
) -> Connections:
    """`stand_ins`: brokers whose slave answered in place of the master. A client has a separate connection to each
    broker process (RocketMQ 5.4.0, MQClientInstance.sendHeartbeatToAllBroker). A slave therefore proves only that a
    member is listed. It does not prove that a member is missing, nor under which address the master lists the member. A
    broker that did not answer proves nothing.
    """
    after: Connections = {}
    for broker in sorted(stored.keys() | member.connections.keys()):
        reported = member.connections.get(broker)
        if broker in stand_ins:
            after[broker] = stored.get(broker, [])
        elif reported is not None:
            after[broker] = list(reported)
        elif broker not in answer.answered_by and not answer.complete:
            after[broker] = stored[broker]
    return after


def is_reconnected(before: Mapping[str, list[str]], after: Connections) -> bool:
    """Whether one broker lists the member under other addresses only. One more address is a second process; one less is
    the end of a process.
    """
    return any(before.get(broker) and now and not {*before[broker]} & {*now} for broker, now in after.items())


def is_duplicated(connections: Connections) -> bool:
    """Whether one broker lists two connections: two processes share the id."""
    return any(len(addresses) > 1 for addresses in connections.values())


# Members are stored as intervals: from the reading that first listed a connection to the reading that lacked the
# connection.
# A member that any broker lists is present. A member that no broker lists has left only if every broker answered.


def list_members(
    rows: ClientRows,
    groups: Mapping[str, int],
    answers: Iterable[GroupMembers],
    stand_ins: Collection[str],
    now: datetime,
) -> set[int]:
    """Returns the groups whose members changed. `groups`: group ids by name."""
    changed: set[int] = set()
    missing = set(rows.present)
    complete: set[int] = set()
    for answer in answers:
        group = groups[answer.group]
        if answer.complete:
            complete.add(group)
        for member in answer.members:
            missing.discard((group, member.client_id))
            if _list_member(rows, group, member, answer, stand_ins, now):
                changed.add(group)
    for key in missing:
        if key[0] in complete:
            rows.end(key)
            changed.add(key[0])
    return changed


def _list_member(
    rows: ClientRows, group: int, member: Member, answer: GroupMembers, stand_ins: Collection[str], now: datetime
) -> bool:
    key: ClientKey = (group, member.client_id)
    row = rows.present.get(key)
    connections = connections_after(row.connections if row else {}, member, answer, stand_ins)
    if row is None or is_reconnected(row.connections, connections):
        rows.begin(_interval(group, member, now))
        rows.present[key].listed_since = row.listed_since if row else now
        _connect(rows.present[key], row.connections if row else {}, connections, now)
        return True
    row.last_seen = now
    if row.connections == connections:
        return False
    _connect(row, row.connections, connections, now)
    row.address = member.address
    rows.touch(key)
    return True


def _interval(group: int, member: Member, now: datetime) -> Client:
    return Client(
        group_id=group,
        client_id=member.client_id,
        address=member.address,
        language=member.language,
        version=member.version,
        seen_since=now,
        last_seen=now,
    )


def _connect(row: Client, before: Mapping[str, list[str]], connections: Connections, now: datetime) -> None:
    row.connections = connections
    if before.keys() != connections.keys():
        row.listed_since = now
    if is_duplicated(connections):
        row.duplicated_since = row.duplicated_since or now
    elif row.duplicated_since is not None:
        # The start time belongs to either of the two processes; which one is not known.
        row.duplicated_since = row.started_at = None


# When a group last changed, and since when two complete readings in a row agree on its members, from the rows alone.
# A reading is complete when every broker and every listed member answered. Two kinds of members are left out, and
# groups settle without them: members that have been silent for too long, and members behind a proxy that forwards no
# requests.

# As long as a broker waits for a client's heartbeat (RocketMQ 5.4.0, BrokerConfig.channelExpiredTimeout).
WAITED_FOR = timedelta(seconds=120)


@dataclass(frozen=True)
class Agreement:
    """`whole`: every member answered in this reading. `whole_before`: when the last complete reading before this one
    was taken.
    """

    whole: bool
    whole_before: datetime | None


def agreements(
    rows: ClientRows, groups: Mapping[int, ConsumerGroup], answered: Iterable[ClientKey], now: datetime
) -> dict[int, Agreement]:
    """Agreements by group id. `groups` are the rows as they were before this reading."""
    answering = set(answered)
    members: dict[int, list[ClientKey]] = {pk: [] for pk in groups}
    for key, row in rows.present.items():
        silent_for = now - (rows.answered_at.get(key) or row.seen_since)
        if key in answering or row.running_info_error is None or silent_for < WAITED_FOR:
            members[key[0]].append(key)
    return {
        pk: Agreement(
            answering.issuperset(keys), _whole_before(groups[pk], [rows.answered_at.get(key) for key in keys])
        )
        for pk, keys in members.items()
    }


def _whole_before(group: ConsumerGroup, answered_at: list[datetime | None]) -> datetime | None:
    """When all members last answered in the same reading, provided that every broker answered in that reading."""
    if not answered_at:
        return group.membership_at
    at = answered_at[0]
    if at is None or len(set(answered_at)) > 1 or group.membership_at is None or group.membership_at < at:
        return None
    return at


def settle(
    group: ConsumerGroup, answer: GroupMembers, agreement: Agreement, *, is_changed: bool, now: datetime
) -> None:
    """Writes the agreement into the row. Partial answers are no agreement; they change only the columns that they
    cover.
    """
    is_changed = _note_sub_version(group, answer, is_changed) or is_changed
    if is_changed or (group.members_changed_at is None and (answer.complete or answer.members)):
        group.members_changed_at, group.settled_at = now, None
        return
    before, changed_at = agreement.whole_before, group.members_changed_at
    if before is None or changed_at is None or before < changed_at:
        return
    if group.settled_at is None and answer.complete and agreement.whole:
        group.settled_at = before


def _note_sub_version(group: ConsumerGroup, answer: GroupMembers, is_changed: bool) -> bool:
    """Whether the reported version proves a change of subscription. Brokers report different versions, and where
    members subscribe differently the newest version alternates. Only a version newer than any reported before for these
    members is a change.
    """
    reported, known = answer.sub_version, group.sub_version
    if reported is None or reported == known:
        return False
    if known is None or reported > known or (is_changed and answer.complete):
        group.sub_version = reported
    return known is not None and reported > known


# Who subscribes to what, with which expression, from when to when, as the members themselves report.
# A broker reports only the subscription of the member that registered last (RocketMQ 5.4.0,
# ConsumerGroupInfo.updateSubscription). Differing subscriptions are therefore visible only in the members' own answers.

Subscribed = tuple[int, str, str]  # group id, client id, topic
How = tuple[str, str | None]  # expression and its type


def record_subscriptions(groups: Mapping[str, int], reading: MembersReading, client_answers: ClientAnswers) -> None:
    """`groups`: the ids of groups about which this reading has news."""
    now = reading.taken_at
    present = ClientSubscription.objects.filter(group__in=groups.values(), gone_by=None)
    rows = present.values_list("group_id", "client_id", "topic", "expression", "expression_type", "pk")
    known: dict[Subscribed, tuple[How, int]] = {row[:3]: (row[3:5], row[5]) for row in rows}
    reported = _reported_subscriptions(groups, reading)
    interval_ends = IntervalEnds.of(groups, reading, reported.keys())
    expressions = {(*key, topic): how for key, topics in reported.items() for topic, how in topics.items()}
    going_on = {
        key
        for key, how in expressions.items()
        if key in known and known[key][0] == how and key[:2] not in client_answers.interrupted
    }
    ended = [pk for key, (_, pk) in known.items() if key not in going_on and interval_ends.says(key[:2])]
    stamp(ClientSubscription.objects.all(), ended, gone_by=now)
    begun = [
        ClientSubscription(
            group_id=group,
            client_id=client_id,
            topic=topic,
            expression=expression,
            expression_type=expression_type,
            seen_since=now,
            last_seen=now,
        )
        for (group, client_id, topic), (expression, expression_type) in sorted(
            expressions.items(), key=lambda item: item[0]
        )
        if (group, client_id, topic) not in going_on
    ]
    ClientSubscription.objects.bulk_create(begun, batch_size=WRITE_BATCH)
    stamp(ClientSubscription.objects.all(), [known[key][1] for key in going_on], last_seen=now)


def _reported_subscriptions(
    groups: Mapping[str, int], reading: MembersReading
) -> dict[tuple[int, str], dict[str, How]]:
    """Reported subscriptions by client, for clients that reported them."""
    reported: dict[tuple[int, str], dict[str, How]] = {}
    for client in reading.clients:
        if client.error is None and client.group in groups:
            topics = by_topic(client.group, client.subscriptions)
            if topics is not None:
                reported[groups[client.group], client.client_id] = topics
    return reported


GROUP_FIELDS = (
    "online",
    "members",
    "message_model",
    "consume_type",
    "consume_from_where",
    "membership_error",
    "offline_since",
    "moves_offline",
    "sub_version",
    "members_changed_at",
    "settled_at",
)


def record_members(
    cluster: Cluster, ids: EntityIds, reading: MembersReading, stand_ins: Collection[str], longest_silence: timedelta
) -> None:
    """`stand_ins`: brokers that a slave answered for. `longest_silence`: after a longer silence, a client that holds
    the same queue as before must prove that it held the queue without interruption, and the silence is stored.
    """
    now = reading.taken_at
    answers = {ids.groups[answer.group]: answer for answer in reading.groups if answer.group in ids.groups}
    with transaction.atomic():
        groups = {row.pk: row for row in _group_rows(cluster, answers.values())}
        names = {row.name: pk for pk, row in groups.items()}
        rows = ClientRows.of(groups)
        came_or_went = list_members(rows, names, answers.values(), stand_ins, now)
        listed = [(pk, member.client_id) for pk, answer in answers.items() for member in answer.members]
        client_answers = note_words(rows, names, reading.clients, Continuity(groups, longest_silence), now)
        rows.write(listed, client_answers.answered, now)
        answered_before = {key for key, at in rows.answered_at.items() if at is not None}
        # No interval of the other groups can begin, grow or end.
        heard = {groups[pk].name: pk for pk in came_or_went | {group for group, _ in client_answers.answered}}
        moved = record_assignments(ids, heard, reading, client_answers, answered_before)
        record_subscriptions(heard, reading, client_answers)
        store_gaps(
            gaps_of_lists((groups[pk] for pk, answer in answers.items() if answer.complete and pk in groups), now)
        )
        store_gaps(gaps_of_silence(rows, groups, client_answers.answered, longest_silence, now))
        agreed = agreements(rows, groups, client_answers.answered, now)
        _record_groups(groups, answers, agreed, came_or_went | client_answers.changed | moved, now)
        _record_outside_stores(came_or_went | client_answers.reset)


def _group_rows(cluster: Cluster, answers: Iterable[GroupMembers]) -> list[ConsumerGroup]:
    rows = cluster.groups.filter(name__in=[answer.group for answer in answers])
    return list(rows.defer("presence", "unsubscribed"))


def _record_groups(
    groups: Mapping[int, ConsumerGroup],
    answers: Mapping[int, GroupMembers],
    agreed: Mapping[int, Agreement],
    changed: Collection[int],
    now: datetime,
) -> None:
    differing: dict[int, tuple[Any, ...]] = {}
    subscribed, complete = [], []
    for pk, group in groups.items():
        answer = answers[pk]
        before, subscriptions = _values(group), group.subscriptions
        _note_answer(group, answer, now)
        settle(group, answer, agreed[pk], is_changed=pk in changed, now=now)
        if before != (after := _values(group)):
            differing[pk] = after
        if subscriptions != group.subscriptions:
            subscribed.append(group)
        if answer.complete:
            complete.append(pk)
    if differing:
        columns: dict[str, Sequence[Any]] = dict(zip(GROUP_FIELDS, zip(*differing.values(), strict=True), strict=True))
        rewrite(ConsumerGroup, list(differing), columns)
    ConsumerGroup.objects.bulk_update(subscribed, ["subscriptions"], batch_size=WRITE_BATCH // 10)
    stamp(ConsumerGroup.objects.all(), complete, membership_at=now)


def _values(group: ConsumerGroup) -> tuple[Any, ...]:
    return tuple(getattr(group, name) for name in GROUP_FIELDS)


def _note_answer(group: ConsumerGroup, answer: GroupMembers, now: datetime) -> None:
    group.membership_error = answer.error
    # One answering broker proves that a group is online; only all of them prove that it is not.
    group.online = True if answer.members else False if answer.complete else None
    group.members = len(answer.members) if answer.complete else None
    if answer.members:
        group.message_model = answer.message_model
        group.consume_type = answer.consume_type
        group.consume_from_where = answer.consume_from_where
        group.subscriptions = list(answer.subscriptions)
        group.offline_since, group.moves_offline = None, 0
    elif answer.complete:
        group.offline_since = group.offline_since or now


def _record_outside_stores(groups: Collection[int]) -> None:
    """For groups whose members joined, left or answered: updates the offset store class. Every answer that a present
    member ever gave about its store counts.
    """
    named: dict[int, set[str]] = {pk: set() for pk in groups}
    members = Client.objects.filter(group__in=groups, gone_by=None, settings__isnull=False)
    for pk, store in members.values_list("group_id", f"settings__{OFFSET_STORE}"):
        if store is not None and (outside := outside_store({OFFSET_STORE: store})) is not None:
            named[pk].add(outside)
    for pk, known in ConsumerGroup.objects.filter(pk__in=groups).values_list("pk", "outside_store"):
        store = min(named[pk], default=None)
        if store != known:
            ConsumerGroup.objects.filter(pk=pk).update(outside_store=store)
