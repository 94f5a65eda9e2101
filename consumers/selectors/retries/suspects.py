"""Which groups may fail a retry condition: found in SQL among all groups, so that only these are judged one by one."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from django.db.models import Exists, F, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat, StrIndex
from django.db.models.lookups import GreaterThan

from consumers.models import GroupBroker, GroupKind, QueueSnapshot, TopicKind
from consumers.polling.flags import BROADCASTING
from consumers.rocketmq.names import RETRY_PREFIX, retry_topic

from .broker_facts import KnownBroker
from .condition_rows import ConditionName
from .facts import READ, WRITE
from .rules.group import HEARTBEATS

UNREADABLE = (0, 2)


class Suspect(NamedTuple):
    """A group and a broker on which it may fail."""

    cluster_id: int
    group_id: int
    group: str
    broker: str
    since: datetime


def suspects(brokers: Iterable[KnownBroker], now: datetime) -> dict[ConditionName, list[Suspect]]:
    """Two queries. Brokers that were not read lately, and broadcasting groups, are left out."""
    rows = _told(brokers)
    found: dict[ConditionName, list[Suspect]] = {}
    for row, names in _unusual(rows):
        for name in names:
            found.setdefault(name, []).append(row)
    absent = _absent(rows, now)
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


def _unusual(rows: "QuerySet[GroupBroker]") -> Iterator[tuple[Suspect, list[ConditionName]]]:
    """One pass over the rows, of which few are unusual."""
    queues = Q(configured=True, retry_queue_nums__lte=0) | Q(retry_queue_nums__gt=F("retry_read_queues"))
    # Names of topics hold no colon.
    shut = _or([GreaterThan(StrIndex("said", Value(f": {one}")), 0) for one in (0, 2, 4)])
    unusual = with_permissions(rows).filter(queues | Q(dlq_permission__in=UNREADABLE) | shut)
    fields = ("group__cluster_id", "group_id", "group__name", "broker", "changed_at")
    numbers = ("retry_queue_nums", "retry_read_queues", "dlq_permission", "retry_permissions")
    for *row, asked, there, dead, permissions in unusual.values_list(*fields, *numbers):
        yield Suspect(*row), list(_names(Suspect(*row).group, asked, there, dead, permissions))


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


def _absent(rows: "QuerySet[GroupBroker]", now: datetime) -> list[Suspect]:
    held = QueueSnapshot.objects.filter(
        group=OuterRef("group"), queue__broker=OuterRef("broker"), queue__topic__kind=TopicKind.NORMAL
    )
    absent = rows.filter(configured=False, group__online=True, changed_at__lt=now - HEARTBEATS)
    fields = ("group__cluster_id", "group_id", "group__name", "broker", "changed_at")
    return [Suspect(*row) for row in absent.filter(Exists(held)).values_list(*fields)]


def _told(brokers: Iterable[KnownBroker]) -> "QuerySet[GroupBroker]":
    by_cluster: dict[int, list[str]] = {}
    for broker in brokers:
        if broker.unread is None:
            by_cluster.setdefault(broker.cluster_id, []).append(broker.name)
    if not by_cluster:
        return GroupBroker.objects.none()
    read = _or([Q(group__cluster=cluster, broker__in=names) for cluster, names in by_cluster.items()])
    rows = GroupBroker.objects.filter(read, group__kind=GroupKind.USER).exclude(group__message_model=BROADCASTING)
    return rows.order_by("group__name", "broker")


def _or(claims: Iterable[Q | GreaterThan]) -> Q:
    found = Q()
    for claim in claims:
        found |= Q(claim)
    return found
