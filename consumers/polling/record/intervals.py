"""Which client held which queue from when to when, and topics that no member subscribes to any more.

An interval ends in three cases: its client answered and no longer holds the queue; its client restarted, or was
silent for so long that it may have lost the queue meanwhile; a complete member list lacks the client. A client that
did not answer keeps its intervals: silence is not a loss.

The oldest held message counts as the same while its offset is the same within an interval. `head_since` is the first
reading that saw that message; null while the client holds none.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from consumers.models import Assignment, Client, Cluster, ConsumerGroup, Queue
from consumers.polling.brokers.joined import kind_in_group
from consumers.polling.reading import GroupMembers, MembersReading

from .clients import ClientAnswers, ClientKey
from .keyed_rows import WRITE_BATCH, EntityIds, rewrite, stamp


# Topics that a group has offsets of but no member subscribes to, and since when.
#
# A broker reports the subscription of the member that registered last. Only the members' own answers cover all
# subscriptions (RocketMQ 5.4.0, ConsumerGroupInfo.updateSubscription).
def record_unsubscribed(cluster: Cluster, members: MembersReading, rows: pa.Table) -> None:
    """`rows` are those of the same reading. A group without members, or with a partial answer, keeps its
    stored topics.
    """
    answers = {answer.group: answer for answer in members.groups if answer.complete and answer.members}
    if not answers:
        return
    lacking = _lacking(answers, rows)
    noted = dict(cluster.groups.exclude(unsubscribed={}).values_list("name", "unsubscribed"))
    asked = {group for group in answers if lacking.get(group) or group in noted}
    subscribed = _subscribed_topics(cluster, {group for group in asked if lacking.get(group)})
    changed: dict[str, dict[str, str]] = {}
    for group in asked:
        before = noted.get(group, {})
        after = unsubscribed(before, lacking.get(group, set()), subscribed.get(group), members.taken_at)
        if after != before:
            changed[group] = after
    stored = list(cluster.groups.filter(name__in=list(changed)).only("name"))
    for row in stored:
        row.unsubscribed = changed[row.name]
    ConsumerGroup.objects.bulk_update(stored, ["unsubscribed"], batch_size=200)


def unsubscribed(
    before: Mapping[str, str], lacking: set[str], subscribed: set[str] | None, now: datetime
) -> dict[str, str]:
    """`lacking`: topics missing from the broker's answer. `subscribed`: topics that all members subscribe to; null if a
    member has not reported its subscriptions. While it is null, no topic is added.
    """
    if subscribed is None:
        return {topic: since for topic, since in before.items() if topic in lacking}
    return {topic: before.get(topic, now.isoformat()) for topic in sorted(lacking - subscribed)}


def _lacking(answers: Mapping[str, GroupMembers], rows: pa.Table) -> dict[str, set[str]]:
    is_committed = pc.and_(pc.equal(rows["kind"], "normal"), pc.is_valid(rows["consumer_offset"]))
    chosen = pc.and_(is_committed, pc.is_in(rows["group"], value_set=pa.array(sorted(answers), pa.string())))
    pairs = rows.filter(chosen).group_by(["group", "topic"]).aggregate([])
    lacking: dict[str, set[str]] = {}
    for group, topic in zip(pairs["group"].to_pylist(), pairs["topic"].to_pylist(), strict=True):
        if not any(subscription["topic"] == topic for subscription in answers[group].subscriptions):
            lacking.setdefault(group, set()).add(topic)
    return lacking


def _subscribed_topics(cluster: Cluster, groups: set[str]) -> dict[str, set[str]]:
    """The topics that the present members of each group subscribe to, for groups where every member reported its
    subscriptions.
    """
    present = Client.objects.filter(group__cluster=cluster, group__name__in=groups, gone_by=None)
    subscribed: dict[str, set[str]] = {}
    silent: set[str] = set()
    for group, subscriptions in present.values_list("group__name", "subscriptions"):
        if subscriptions is None:
            silent.add(group)
        else:
            subscribed.setdefault(group, set()).update(one["topic"] for one in subscriptions)
    return {group: topics for group, topics in subscribed.items() if group not in silent}


@dataclass(frozen=True)
class IntervalEnds:
    """Which intervals this reading may end: those of the clients in `spoke`, which answered themselves, and those of
    clients that a complete member list lacks (`members`, client ids by group id). Silence ends no interval.
    """

    spoke: Collection[ClientKey]
    members: Mapping[int, frozenset[str]]

    @classmethod
    def of(cls, groups: Mapping[str, int], reading: MembersReading, answered: Collection[ClientKey]) -> "IntervalEnds":
        members = {
            groups[answer.group]: frozenset(member.client_id for member in answer.members)
            for answer in reading.groups
            if answer.complete and answer.group in groups
        }
        return cls(answered, members)

    def says(self, key: ClientKey) -> bool:
        group, client_id = key
        return key in self.spoke or (group in self.members and client_id not in self.members[group])


# The names below are the same in the client's answer and in the row, where `last_seen` is the time of the answer.
MEMORY = (
    "commit_offset",
    "cached_min",
    "cached_max",
    "cached_count",
    "cached_mib",
    "locked",
    "dropped",
    "last_pull_at",
    "last_consume_at",
    "last_lock_at",
)

HEAD = MEMORY.index("cached_min")

KEY = ("group_id", "client_id", "queue_id")

Holding = tuple[int, str, int]  # group id, client id, queue id

Memory = tuple[Any, ...]  # the values of MEMORY


@dataclass(frozen=True)
class _Known:
    pk: int
    head_since: datetime | None
    memory: Memory

    def head_since_with(self, memory: Memory, now: datetime) -> datetime | None:
        is_same = memory[HEAD] is not None and memory[HEAD] == self.memory[HEAD]
        return self.head_since if is_same and self.head_since is not None else _head_since(memory, now)


def record_assignments(
    ids: EntityIds,
    groups: Mapping[str, int],
    reading: MembersReading,
    client_answers: ClientAnswers,
    answered_before: Collection[ClientKey],
) -> set[int]:
    """Returns the groups in which a client of `answered_before` reported that it got or lost a queue. Retry topics do
    not count. `groups`: the ids of groups about which this reading has news.
    """
    now = reading.taken_at
    known = _known(groups.values())
    held = _held(ids, groups, reading)
    interval_ends = IntervalEnds.of(groups, reading, client_answers.answered)
    lost = {holding for holding in known.keys() - held.keys() if interval_ends.says(holding[:2])}
    broken = {holding for holding in known.keys() - lost if holding[:2] in client_answers.interrupted}
    going_on = held.keys() & (known.keys() - broken)
    stamp(Assignment.objects.all(), [known[holding].pk for holding in lost | broken], gone_by=now)
    begun = [_row(holding, held[holding], now) for holding in sorted(held.keys() - going_on)]
    Assignment.objects.bulk_create(begun, batch_size=WRITE_BATCH)
    heads = {holding: known[holding].head_since_with(held[holding], now) for holding in going_on}
    moved = [
        holding
        for holding in going_on
        if held[holding] != known[holding].memory or heads[holding] != known[holding].head_since
    ]
    _rewrite([known[one].pk for one in moved], [held[one] for one in moved], [heads[one] for one in moved], now)
    stamp(Assignment.objects.all(), [known[holding].pk for holding in going_on.difference(moved)], last_seen=now)
    differing = (held.keys() - known.keys()) | {holding for holding in lost if holding[:2] in client_answers.answered}
    return _outside_retries({holding for holding in differing if holding[:2] in answered_before}, groups)


def _known(groups: Collection[int]) -> dict[Holding, _Known]:
    present = Assignment.objects.filter(group__in=groups, gone_by=None)
    rows = present.values_list(*KEY, "pk", "head_since", *MEMORY)
    return {row[:3]: _Known(row[3], row[4], row[5:]) for row in rows}


def _held(ids: EntityIds, groups: Mapping[str, int], reading: MembersReading) -> dict[Holding, Memory]:
    memory_of = attrgetter(*MEMORY)
    held: dict[Holding, Memory] = {}
    for client in reading.clients:
        if client.group not in groups:
            continue
        for queue in client.queues:
            pk = ids.queues.get((queue.topic, queue.broker, queue.queue_id))
            if pk is not None and not queue.dropped:
                held[groups[client.group], client.client_id, pk] = memory_of(queue)
    return held


def _outside_retries(holdings: Collection[Holding], groups: Mapping[str, int]) -> set[int]:
    """The groups with a changed queue that does not belong to the group's own retry topics."""
    topics = dict(Queue.objects.filter(pk__in={queue for *_, queue in holdings}).values_list("pk", "topic__name"))
    names = {pk: name for name, pk in groups.items()}
    return {group for group, _, queue in holdings if kind_in_group(names[group], topics[queue]) != "retry"}


def _row(holding: Holding, memory: Memory, now: datetime) -> Assignment:
    values = dict(zip(KEY, holding, strict=True)) | dict(zip(MEMORY, memory, strict=True))
    return Assignment(seen_since=now, last_seen=now, head_since=_head_since(memory, now), **values)


def _head_since(memory: Memory, now: datetime) -> datetime | None:
    return now if memory[HEAD] is not None else None


def _rewrite(keys: list[int], memories: list[Memory], heads: list[datetime | None], now: datetime) -> None:
    if keys:
        columns: dict[str, Sequence[Any]] = dict(zip(MEMORY, zip(*memories, strict=True), strict=True))
        rewrite(Assignment, keys, columns | {"head_since": heads, "last_seen": [now] * len(keys)})
