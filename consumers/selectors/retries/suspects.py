"""Which groups may fail a retry condition: found in SQL among all groups, so that only these are judged one by one."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from django.db.models import Exists, F, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat, StrIndex
from django.db.models.lookups import GreaterThan

from consumers.models import GroupBroker, GroupKind, QueueSnapshot, TopicKind
from consumers.rocketmq.names import RETRY_PREFIX, retry_topic
from consumers.vocabulary.groups import BROADCASTING

from .broker_facts import KnownBroker
from .condition_rows import ConditionName
from .facts import READ, WRITE
from .rules.group import HEARTBEATS

UNREADABLE = (0, 2)
FIELDS = ("group__cluster_id", "group_id", "group__name", "broker", "changed_at")
OF_GROUP = ("group__kind", "group__message_model")
# Keys of clusters and names of their brokers.
Read = set[tuple[int, str]]


class Suspect(NamedTuple):
    """A group and a broker on which it may fail."""

    cluster_id: int
    group_id: int
    group: str
    broker: str
    since: datetime


def suspects(brokers: Iterable[KnownBroker], now: datetime) -> dict[ConditionName, list[Suspect]]:
    """Two queries. Brokers that were not read lately, and broadcasting groups, are left out."""
    read = {(broker.cluster_id, broker.name) for broker in brokers if broker.unread is None}
    found: dict[ConditionName, list[Suspect]] = {}
    for row, names in _unusual(read):
        for name in names:
            found.setdefault(name, []).append(row)
    absent = _absent(read, now)
    if absent:
        found[ConditionName.GROUP_EXISTS] = absent
    return found


def own_retry_topic(*permissions: int) -> Q:
    """That the group's own retry topic has one of these permissions. `said`: as both databases print the JSON,
    {"%RETRY%billing": 6}. LIKE would take the % of the name for a wildcard."""
    texts = [Concat(Value(f'"{RETRY_PREFIX}'), F("group__name"), Value(f'": {one}')) for one in permissions]
    return _or([GreaterThan(StrIndex("said", text), 0) for text in texts])


def with_permissions(rows: "QuerySet[GroupBroker]") -> "QuerySet[GroupBroker]":
    return rows.alias(said=Cast("retry_permissions", TextField()))


def _unusual(read: Read) -> list[tuple[Suspect, list[ConditionName]]]:
    """One pass over the rows, of which few are unusual: only of these the group is looked up, so that nothing is asked
    of the group in SQL."""
    queues = Q(configured=True, retry_queue_nums__lte=0) | Q(retry_queue_nums__gt=F("retry_read_queues"))
    # Names of topics hold no colon.
    shut = _or([GreaterThan(StrIndex("said", Value(f": {one}")), 0) for one in (0, 2, 4)])
    unusual = with_permissions(GroupBroker.objects.all()).filter(queues | Q(dlq_permission__in=UNREADABLE) | shut)
    numbers = ("retry_queue_nums", "retry_read_queues", "dlq_permission", "retry_permissions")
    found = []
    for *row, kind, model, asked, there, dead, permissions in unusual.values_list(*FIELDS, *OF_GROUP, *numbers):
        one = Suspect(*row)
        if (one.cluster_id, one.broker) in read and kind == GroupKind.USER and model != BROADCASTING:
            found.append((one, list(_names(one.group, asked, there, dead, permissions))))
    return sorted(found, key=lambda each: (each[0].group, each[0].broker))


def _names(
    group: str, asked: int | None, there: int | None, dead: int | None, permissions: dict[str, int]
) -> Iterator[ConditionName]:
    if asked is not None and asked <= 0:
        yield ConditionName.KEPT
    if asked is not None and there is not None and asked > there:
        yield ConditionName.RETRY_QUEUES
    if dead in UNREADABLE:
        yield ConditionName.DLQ_READABLE
    if any(not permission & READ for permission in permissions.values()):
        yield ConditionName.RETRY_READABLE
    if not permissions.get(retry_topic(group), WRITE) & WRITE:
        yield ConditionName.RETRY_WRITABLE


def _absent(read: Read, now: datetime) -> list[Suspect]:
    held = QueueSnapshot.objects.filter(
        group=OuterRef("group"), queue__broker=OuterRef("broker"), queue__topic__kind=TopicKind.NORMAL
    )
    rows = GroupBroker.objects.filter(Exists(held), configured=False, changed_at__lt=now - HEARTBEATS)
    found = []
    for *row, kind, model, online in rows.values_list(*FIELDS, *OF_GROUP, "group__online"):
        one = Suspect(*row)
        if online and (one.cluster_id, one.broker) in read and kind == GroupKind.USER and model != BROADCASTING:
            found.append(one)
    return sorted(found, key=lambda one: (one.group, one.broker))


def _or(claims: Iterable[Q | GreaterThan]) -> Q:
    found = Q()
    for claim in claims:
        found |= Q(claim)
    return found
